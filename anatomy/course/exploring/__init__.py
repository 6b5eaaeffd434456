"""`explore(model, text)`: one sentence on its way through a Transformer. How it is made: docs/explorer.md.

In a notebook the page is live while its kernel runs. Saved, exported and on the website it shows the states it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anatomy.course.exploring.explorer import Explorer
    from anatomy.course.exploring.packing import State

__all__ = ["Exploration", "explore"]


class Exploration:
    """What `explore` returns: shows itself as a page.

    Attributes
    ----------
    states
        The runs that the page holds; the first is shown first.
    """

    def __init__(self, explorer: Explorer, states: Sequence[State], examples: Sequence[str]) -> None:
        from anatomy.course.exploring.still import key_of

        self.explorer, self.states, self.examples = explorer, tuple(states), list(examples)
        self.key = key_of(self.states)

    def __repr__(self) -> str:
        from anatomy.course.exploring.still import title

        return title(self.states[0])

    def html(self) -> str:
        """The page in a frame, with the same in words below it. It needs no other file and no network."""
        from anatomy.course.exploring.still import framed

        return framed(self.states, self.key)

    def page(self, notebooks: str = "") -> str:
        """The page as a file of its own; `notebooks` is where its links to exercises begin."""
        from anatomy.course.exploring.still import page

        return page(self.states, notebooks=notebooks)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display({"text/html": self.html(), "text/plain": repr(self)}, raw=True)
        try:
            from anatomy.course.exploring.live import Link
        except ImportError:  # without anywidget, as on Colab, the page shows the states that it holds
            return
        display(Link(self.explorer, self.key, self.examples))


def explore(
    model: Any,
    text: str,
    words: Any,
    *,
    written: str | None = None,
    also: Sequence[str] = (),
    examples: Sequence[str] = (),
    start: str = "⟨start⟩",
    end: str = "⟨end⟩",
) -> Exploration | None:
    """Show one text on its way through a model: every step, its numbers, and the line of code that computes it.

    Parameters
    ----------
    model
        A `TransformerEncoder` (07), `GPT` (09), `Transformer` (10) or `Llama` (14), yours or the course's.
    text
        What it reads.
    words
        Its tokenizer, or the list of its symbols in the order of their ids.
    written
        What an encoder–decoder has written so far; None: it writes by itself.
    also
        Changes, such as "no-mask", whose runs the saved page holds as well.
    examples
        Other texts that the live page offers.
    start, end
        An encoder–decoder's symbols for the beginning and the end of what it writes.

    Returns
    -------
    Exploration or None
        None in a kernel that grades or checks a whole notebook, where nothing is shown.

    Raises
    ------
    NotExplorable
        When the model is none of these, or can't read the text. The message says what to do.
    """
    from anatomy.engine.checking import hands_over

    if hands_over():
        return None
    from anatomy.course.exploring.explorer import Explorer

    explorer = Explorer(model, words, start=start, end=end)
    first = explorer.state(text, written)
    kept = first.header["written"]
    return Exploration(explorer, [first, *(explorer.state(text, kept, [change]) for change in also)], examples)
