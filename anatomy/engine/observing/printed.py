"""What an answer prints while it is observed: the beginning is kept, the rest costs nothing."""

from __future__ import annotations

import io

LINES, CHARACTERS = 20, 1500


class Printed(io.TextIOBase):
    """Takes whatever is printed, and keeps the beginning of what comes before `stop`."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[str] = []
        self._room = CHARACTERS + 1

    def write(self, text: str) -> int:
        if self._room > 0:
            self._kept.append(text[: self._room])
            self._room -= len(text)
        return len(text)

    def stop(self) -> None:
        """Keep nothing of what follows: the same code runs again, and prints the same again."""
        self._room = 0

    @property
    def text(self) -> str:
        return cut("".join(self._kept))


def encodable(text: str) -> str:
    """A text of Python's own type, with a question mark for each lone surrogate: UTF-8 has none, nor have messages."""
    if type(text) is str and text.isascii():
        return text
    return str.encode(text, "utf-8", "replace").decode("utf-8")


def cut(text: str) -> str:
    """At most `LINES` lines and `CHARACTERS` characters, with "…" where something is left out."""
    text = encodable(text).rstrip()
    if len(text) > CHARACTERS:
        text = f"{text[: CHARACTERS - 1]}…"
    lines = text.splitlines()
    return "\n".join([*lines[: LINES - 1], "…"] if len(lines) > LINES else lines)
