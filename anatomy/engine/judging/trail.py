"""What became of each sentence that a card might say: for authors who ask why a card says what it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from anatomy.engine.exercise import Case

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)


@contextmanager
def kept() -> Iterator[list[str]]:
    """While this lasts, what is noted goes into the list that it yields."""
    notes: list[str] = []
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def note(claim: str, became: str) -> None:
    """Note what became of a claim, once."""
    notes = _NOTES.get()
    if notes is not None and (line := f"{claim}: {became}") not in notes:
        notes.append(line)


def in_words(case: Case) -> str:
    """A case by its sizes, and whether it was drawn."""
    sizes = ", ".join(f"{letter} = {size}" for letter, size in case.sizes.items())
    asks = f"“{case.asks}”" if case.asks else ""
    words = ", ".join(filter(None, (asks, sizes, case.note)))
    return f"{'a drawn' if case.drawn else 'a chosen'} case{f' ({words})' if words else ''}"
