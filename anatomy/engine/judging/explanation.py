"""What the judge says of a difference."""

from __future__ import annotations

from dataclasses import dataclass

EXAMPLE = "an example"
"""The claim of an explanation that only shows one place where an answer differs."""


@dataclass(frozen=True)
class Explanation:
    """A headline, and a sentence with the numbers behind it.

    `claim` must hold in every case that differs, so it has no sizes and numbers of a single case. Where it is empty,
    the headline is the claim.
    """

    headline: str
    detail: str = ""
    claim: str = ""

    @property
    def claims(self) -> str:
        return self.claim or self.headline
