"""Text to ids and back: a tokenizer of the library's, or a list of symbols, one for each character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from anatomy.course.exploring.parts import NotExplorable

LISTED = 2000
"""The largest vocabulary that a state lists."""


class Words(Protocol):
    """What turns a text into ids, and ids into what a picture calls them."""

    def ids(self, text: str) -> list[int]: ...

    def names(self, ids: Sequence[int]) -> list[str]: ...

    def text(self, ids: Sequence[int]) -> str: ...

    def size_fits(self, vocabulary: int) -> bool:
        """Whether a model with so many ids can have been trained with these."""
        ...

    @property
    def vocabulary(self) -> list[str] | None: ...


class Symbols:
    """One symbol for each character; longer ones, such as ⟨end⟩, never stand in a text."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self.symbols = list(symbols)
        self.number = {symbol: number for number, symbol in enumerate(self.symbols)}

    def ids(self, text: str) -> list[int]:
        unknown = sorted({character for character in text if character not in self.number})
        if unknown:
            several = "characters" if len(unknown) > 1 else "character"
            raise NotExplorable(
                f"The model does not know the {several} {' '.join(map(repr, unknown))}. It reads "
                f"{''.join(symbol for symbol in self.symbols if len(symbol) == 1).strip()!r}."
            )
        return [self.number[character] for character in text]

    def names(self, ids: Sequence[int]) -> list[str]:
        return [self.symbols[number] for number in ids]

    def text(self, ids: Sequence[int]) -> str:
        return "".join(symbol for symbol in self.names(ids) if len(symbol) == 1)

    def size_fits(self, vocabulary: int) -> bool:
        return len(self.symbols) == vocabulary

    @property
    def vocabulary(self) -> list[str] | None:
        return self.symbols if len(self.symbols) <= LISTED else None


class Pieces:
    """A tokenizer of the library's, with the special tokens that it adds."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def names(self, ids: Sequence[int]) -> list[str]:
        return [str(name) for name in self.tokenizer.convert_ids_to_tokens(list(ids))]

    def text(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def size_fits(self, vocabulary: int) -> bool:
        return len(self.tokenizer) <= vocabulary  # tables are often padded to a round number

    @property
    def vocabulary(self) -> list[str] | None:
        size = len(self.tokenizer)
        return self.names(range(size)) if size <= LISTED else None


def words_of(given: Any) -> Words:
    """What `explore` was given, as `Words`. Raises NotExplorable for anything else."""
    if isinstance(given, Symbols | Pieces):
        return given
    if hasattr(given, "convert_ids_to_tokens"):
        return Pieces(given)
    if isinstance(given, dict):
        given = sorted(given, key=given.__getitem__)
    if isinstance(given, str | list | tuple) and given and all(isinstance(symbol, str) for symbol in given):
        return Symbols(given)
    raise NotExplorable(
        "explore() needs the model's tokens: pass a tokenizer, or the list of its symbols in the order of their "
        'ids, as in explore(model, "time flies", alphabet).'
    )
