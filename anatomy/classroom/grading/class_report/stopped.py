"""Which verdicts say that an answer did not come to its end, in the words of `grading.verdicts` and the judge."""

from __future__ import annotations

import re

_STOPPED = re.compile(
    r"(did not finish( in time)?|ended its kernel|took too much memory|sent messages that can't be read)\.$"
)


def was_stopped(status: str, said: str) -> bool:
    """Whether the verdict, in one line, is that the answer was stopped or ended its kernel."""
    own_words = said.startswith("It stops with")  # an error's message, which may say anything
    return status == "wrong" and not own_words and bool(_STOPPED.search(said))
