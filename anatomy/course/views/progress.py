"""A bar that fills while something trains."""

from __future__ import annotations

import html
from typing import Any


class ProgressBar:
    """A bar in the notebook that fills by one step at each call, and names the latest loss.

    It shows itself when it is made. A saved notebook keeps it as it stood at the end; plain text viewers get words.

    >>> bar = ProgressBar(total=30, title="Fine-tuning")  # doctest: +SKIP
    >>> bar(0.69)  # doctest: +SKIP
    """

    def __init__(self, total: int, title: str = "Training") -> None:
        if total < 1:
            raise ValueError(f"a bar needs at least one step; total is {total}")
        from IPython.display import display

        self.total, self.title, self.done = total, title, 0
        self.loss: float | None = None
        self._handle: Any = display(self._bundle(), raw=True, display_id=True)

    def __call__(self, loss: float | None = None) -> None:
        """One step further; `loss` is shown."""
        self.done, self.loss = self.done + 1, loss
        if self._handle is not None:  # outside a notebook there is none
            self._handle.update(self._bundle(), raw=True)

    @property
    def words(self) -> str:
        loss = "" if self.loss is None else f", loss {self.loss:.3f}"
        return f"{self.title}: {self.done} of {self.total} steps{loss}"

    def _bundle(self) -> dict[str, str]:
        words = html.escape(self.words, quote=True)
        bar = (
            f'<label style="font-family:sans-serif;font-size:13px">'
            f'<progress value="{self.done}" max="{self.total}" style="width:16em;vertical-align:middle"></progress>'
            f" {words}</label>"
        )
        return {"text/html": bar, "text/plain": self.words}
