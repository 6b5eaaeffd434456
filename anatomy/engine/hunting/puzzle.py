"""A bug as a puzzle: what it returns beside what is needed, and four sentences of which one is true of it."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import cache

from anatomy.engine.exercise import SEEDS, seed_from
from anatomy.engine.hunting.bugs import Bug
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.likeness import IN_EVERYTHING
from anatomy.engine.judging.recognize import makes
from anatomy.engine.judging.sentences import diagnosis_of
from anatomy.engine.judging.verdict import Example
from anatomy.engine.judging.wording import brief
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.plain_data import tensors
from anatomy.engine.reading.copies import in_a_copy
from anatomy.engine.reading.resemblance import looks_like
from anatomy.engine.reading.smallest import smallest_example
from anatomy.engine.reading.trials import Budget, Trials

LETTERS = "abcd"
MOST_RUNS = 400
"""How many smaller inputs are tried: a number, not a time, so that the same example is found everywhere."""
MOST_SECONDS = 20.0
"""Of computing: far more than these runs take."""
TOO_ALIKE = 0.75
"""Sentences that share more than this part of their words are hard to tell apart."""
ALL_OF_IT = 0.95
"""One sentence says what another says, in whatever order, when it has this part of its words."""


@dataclass(frozen=True)
class Puzzle:
    """A bug and what is asked about it.

    Attributes
    ----------
    sentences
        Letter → what may be wrong.
    letter
        The one that is.
    sizes
        The sizes that the sentences name, those of the check: ``"T = 5, D = 8"``.
    example
        A small input on which bug and contract differ; None where that does not show in what is returned.
    """

    bug: Bug
    sentences: dict[str, str]
    letter: str
    sizes: str
    example: Example | None


@cache
def puzzle_of(bug: Bug) -> Puzzle:
    """The puzzle that a bug makes, the same for everybody."""
    expectations, mistake = Expectations(bug.asked, SEEDS), bug.mistake
    found = [expectations.with_mistake(mistake, index) for index in range(len(expectations.cases))]
    trials = Trials(expectations, found, Budget(float("inf"), MOST_RUNS))
    wrong = frozenset(trials.wrong)
    case = expectations.cases[min(wrong)]
    infinite = [index for index in wrong if not all(bool(one.isfinite().all()) for one in tensors(found[index].value))]
    told = {diagnosis_of(mistake, case).headline: bug}

    def fails_alike(other: Bug) -> bool:
        """Whether both overflow alike somewhere: a sentence about that would be true of this bug, too."""
        return any(IN_EVERYTHING.looks_so(expectations, index, other.mistake, found[index]) for index in infinite)

    for other in _neighbors(bug):
        sentence = diagnosis_of(other.mistake, case).headline
        is_apart = not any(other.texts & one.texts or _too_alike(sentence, known) for known, one in told.items())
        if is_apart and not (fails_alike(other) or makes(other.mistake, expectations, found, wrong)):
            told[sentence] = other
        if len(told) == len(LETTERS):
            break
    order = list(told)
    random.Random(seed_from(mistake.name)).shuffle(order)
    named = sorted({size for one in told.values() for size in re.findall(r"\{(?:root_)?(\w+)\}", one.mistake.sentence)})
    return Puzzle(
        bug,
        dict(zip(LETTERS, order, strict=False)),
        LETTERS[order.index(next(iter(told)))],
        ", ".join(f"{letter} = {case.sizes[letter]}" for letter in named if letter in case.sizes),
        _example(trials, mistake),
    )


def _example(trials: Trials, mistake: Mistake) -> Example | None:
    """The smallest one; of an error where a result is needed at least the error."""

    def work() -> Iterator[dict[str, str] | None]:
        found = smallest_example(trials, mistake.answer)
        yield asdict(found) if found else None

    for found in filter(None, in_a_copy(work, MOST_SECONDS)):
        return Example(**found)
    for index, seen in sorted(trials.visible.items()):
        if seen.found.error and seen.expected.outcome == "returned":
            error, case = seen.found.error, trials.expectations.cases[index]
            call = f"{mistake.exercise}, as the check calls it{f' {case.note}' if case.note else ''}"
            return Example(call, brief(seen.expected.value), f"{error.type}: {error.message}".splitlines()[0])
    return None


def _neighbors(bug: Bug) -> list[Bug]:
    """Wrong answers to the same exercise with which this bug shares no wrong line and no text, the nearest first.

    Near is what needs few names that the program lacks: its sentence speaks of what is there. Then what changes the
    same line, costs the same properties, and stands close by in the module. Of two mistakes in the parameters what
    is said of one is often true of the other: a missing `weight` and one of another name.
    """
    known = [one for one in bug.asked.mistakes.values() if one.edits]
    place, own, there = known.index(bug.mistake), bug.texts, _names(bug)

    def distance(other: Bug) -> tuple[int, bool, bool, int]:
        strange = len(_names(other) - there)
        elsewhere = not bug.replaced & other.replaced
        far = abs(known.index(other.mistake) - place)
        return strange, elsewhere, set(other.mistake.breaks) != set(bug.mistake.breaks), far

    text = bug.mistake.source  # what another one writes may stand in it: its sentence would be true, too
    others = [Bug("", one, bug.asked) for one in known if one is not bug.mistake and not looks_like(one, text)]
    names = "parameters" in bug.mistake.breaks
    others = [one for one in others if not one.texts & own and not (names and "parameters" in one.mistake.breaks)]
    return sorted(others, key=distance)


def _names(bug: Bug) -> set[str]:
    """The names in a program: of its variables, of what it calls, of attributes."""
    return set(re.findall(r"[^\W\d]\w*", "\n".join(bug.lines)))


def _too_alike(one: str, other: str) -> bool:
    """Whether two sentences are hard to tell apart, or one says all that the other says."""
    if SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio() >= TOO_ALIKE:
        return True
    words, others = (Counter(re.findall(r"\w+|[^\w\s`.,;:()]", text.lower())) for text in (one, other))
    return (words & others).total() >= ALL_OF_IT * min(words.total(), others.total())
