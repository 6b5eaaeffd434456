"""Which verdicts say that an answer or its check came to no end, in the words of `grading.verdicts` and the judge."""

from __future__ import annotations

import re

_STOPPED = re.compile(
    r"(did not finish( in time)?|ended its kernel|took too much memory|sent messages that can't be read)\.$"
)
_BROKEN = re.compile(r"(kept the check from working|^The check could not look at your answer)\.$")


def was_stopped(status: str, said: str) -> bool:
    """Whether the verdict, in one line, is that the answer was stopped or ended its kernel."""
    return _says(_STOPPED, status, said)


def broke_the_check(status: str, said: str) -> bool:
    """Whether the verdict, in one line, is that nothing arrived from the check."""
    return _says(_BROKEN, status, said)


def _says(what: re.Pattern[str], status: str, said: str) -> bool:
    own_words = said.startswith("It stops with")  # an error's message, which may say anything
    return status == "wrong" and not own_words and bool(what.search(said))
