"""The course's table of contents: every notebook, in order, with the module that carries its exercises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anatomy.class_edition import class_edition
from anatomy.errors import UserError

PACKAGE = Path(__file__).parent
"""The folder of this package."""


class NoSuchNotebook(UserError):
    """A notebook was asked for that does not exist."""


@dataclass(frozen=True)
class Notebook:
    """One notebook, which is one nbgrader assignment.

    `slug` names its folder and file (``source/<slug>/<slug>.ipynb``); `module` names its Python modules
    (``anatomy/exercises/<module>.py``, and likewise in ``reference``, ``variants`` and ``misconceptions``).
    """

    slug: str
    module: str
    title: str

    @property
    def number(self) -> int:
        return int(self.slug[:2])


_WHOLE = (
    Notebook("00-start-here", "start_here", "Start here"),
    Notebook("01-embedding-lookup", "embedding_lookup", "From text to vectors"),
    Notebook("02-attention-scores", "attention_scores", "Attention scores"),
    Notebook("03-softmax", "softmax", "Softmax and weighted values"),
    Notebook("04-heads", "heads", "Heads"),
    Notebook("05-encoder-layer", "encoder_layer", "The encoder layer"),
    Notebook("06-positional-encodings", "positional_encodings", "Positional encodings"),
    Notebook("07-encoder", "encoder", "The encoder with real weights"),
    Notebook("08-classification-head", "classification_head", "Classification heads"),
    Notebook("09-causal-mask", "causal_mask", "The causal mask: a model that writes"),
    Notebook("10-encoder-decoder", "encoder_decoder", "Encoder and decoder: reading one, writing another"),
    Notebook("11-bertviz", "bertviz", "BertViz: what heads look at"),
    Notebook("12-pretraining", "pretraining", "Pretraining: text as its own teacher"),
    Notebook("13-family-tree", "family_tree", "The family tree"),
)

_edition = class_edition()
NOTEBOOKS = tuple(book for book in _WHOLE if _edition is None or book.slug in _edition.notebooks)
"""The whole course; in the edition for a class, as far as it has come."""


def notebook(slug: str) -> Notebook:
    """The notebook of that slug.

    Raises
    ------
    KeyError
        When no notebook has this slug; the message lists those that do.
    """
    for candidate in NOTEBOOKS:
        if candidate.slug == slug:
            return candidate
    raise KeyError(f"No notebook is called {slug!r}. The course has: {', '.join(n.slug for n in NOTEBOOKS)}.")


def find(name: str) -> Notebook:
    """The notebook that `name` means: a slug, a number, a module or the path of any of its files.

    Raises
    ------
    NoSuchNotebook
        When it means none; the message lists those that exist.
    """
    word = Path(name.rstrip("/")).stem if name.endswith((".ipynb", "/")) or "/" in name else name
    for item in NOTEBOOKS:
        if word in (item.slug, item.module) or (word.isdigit() and int(word) == item.number):
            return item
    try:
        return notebook(word)
    except KeyError as error:
        raise NoSuchNotebook(error.args[0]) from None
