"""Whether a program's text looks as if a listed mistake had been made in it.

That alone proves nothing: of the mistakes that students were found to have made, half look so, of all others one in
twelve. It keeps apart mistakes that give the same results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from anatomy.engine.mistakes import Mistake

_WORD = re.compile(r"\w+|\*\*|//|[=!<>]=|\S")
_NO_CODE = re.compile(r'#.*|"""[\s\S]*?"""')

_LONGEST = 3
"""Words of a run that is looked for."""

_SHARE = 0.5
"""How much of what a mistake writes must stand in the program."""
_GONE = 0.8
"""How much of what a mistake only takes away must be missing in the program."""

Runs = Counter[tuple[str, ...]]


def looks_like(mistake: Mistake, text: str) -> bool:
    """Whether what the mistake writes stands in a text; of one that only takes away, whether that is missing there."""
    written, gone = _changes(mistake)
    here = _runs(text)
    if written:
        return _length(run for run in written if here[run]) >= _SHARE * _length(written)
    return bool(gone) and _length(run for run in gone if not here[run]) >= _GONE * _length(gone)


def only_leaves_out(mistake: Mistake) -> bool:
    """Whether the mistake writes no word of its own, and only takes away."""
    written, _ = _changes(mistake)
    return not any(len(run) == 1 for run in written)


@cache
def _changes(mistake: Mistake) -> tuple[Runs, Runs]:
    """The runs of words that it writes, and those that it takes away."""
    while not mistake.edits and mistake.parts:
        mistake = mistake.parts[0]
    if not mistake.edits:
        return Counter(), Counter()
    right, wrong = _runs(mistake.right_source), _runs(mistake.source)
    return wrong - right, right - wrong


def _runs(text: str) -> Runs:
    words = _WORD.findall(_NO_CODE.sub("", text))
    return Counter(
        tuple(words[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(words) - length + 1)
    )


def _length(runs: Iterable[tuple[str, ...]]) -> int:
    return sum(map(len, runs))
