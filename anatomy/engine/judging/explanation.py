"""What is said of a difference: a headline, a detail, and what of it must hold in other cases too."""

from __future__ import annotations

from dataclasses import dataclass

EXAMPLE = "an example"
"""The claim of an explanation that shows one place where an answer differs, and no more."""


@dataclass(frozen=True)
class Explanation:
    """A headline, and a sentence with the numbers behind it.

    `claim` is what must be found in every case that differs, without the sizes and numbers of one case. It is the
    headline where it is empty.
    """

    headline: str
    detail: str = ""
    claim: str = ""

    @property
    def claims(self) -> str:
        return self.claim or self.headline
