"""The mistakes with a name that a class makes, who holds each, and what it costs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anatomy.classroom.grading.class_report.questions import Questions
from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.class_report.unnamed import by_number
from anatomy.classroom.grading.report import Mark


@dataclass(frozen=True)
class Mistake:
    """A mistake with a name: who holds it, of how many who have a mark for the exercise, and the points it costs them.

    Of a quiz, `question` has the question's words, as Markdown, `options` what could be chosen, where that is known,
    and `chosen` what was; the sentence then begins with it.
    """

    name: str
    sentence: str
    notebook: str
    exercise: str
    number: str
    question: str
    options: tuple[str, ...]
    chosen: str
    holders: tuple[str, ...]
    of: int
    lost: float


def named_mistakes(
    records: Sequence[Record], numbers: Mapping[str, Mapping[str, str]], asked: Questions
) -> tuple[Mistake, ...]:
    """Those that cost the class most points first; of equally dear ones, in the order of the course."""
    of = Counter((one.notebook, mark.exercise) for one in records for mark in one.result.marks
                 if mark.points is not None)  # fmt: skip
    made: dict[tuple[str, str, str], list[tuple[Record, Mark]]] = defaultdict(list)
    for one in records:
        for mark in one.result.marks:
            for name in mark.mistakes:
                made[one.notebook, mark.exercise, name].append((one, mark))
    found = []
    for (slug, exercise, name), those in made.items():
        sentence = Counter(mark.mistakes[name] for _, mark in those).most_common(1)[0][0]
        title, _, rest = sentence.partition(": ")
        question, chosen = "", ""
        options: tuple[str, ...] = ()
        if known := asked.get((slug, exercise), {}).get(title):
            options, chosen = known.options, _option(name, title, those[0][0].answers.get(exercise, ""))
            chosen = next((words for words in options if _is_same(words, chosen)), chosen)
            question = f"**{title}**: {known.words}" if known.words else f"**{title}**"
            sentence = f"“{chosen}”: {rest}"
        holders = tuple(sorted(one.student for one, _ in those))
        lost = round(sum(mark.lost for _, mark in those), 6)
        found.append(Mistake(
            name, sentence, slug, exercise, numbers[slug][exercise], question, options, chosen, holders,
            of[slug, exercise], lost,
        ))  # fmt: skip
    return tuple(sorted(found, key=lambda one: (-one.lost, *in_course(one))))


def in_course(mistake: Mistake) -> tuple[str, tuple[str, int], str]:
    """By what mistakes are put in the order of the course."""
    return mistake.notebook, by_number(mistake.number), mistake.name


def _is_same(option: str, other: str) -> bool:
    """Whether two spellings are of one option."""
    return _in_a_name(option).lower() == _in_a_name(other).lower()


def _in_a_name(words: str) -> str:
    """As these words stand in a mistake's name."""
    return re.sub("[ -]", "_", words)


def _option(name: str, question: str, answer: str) -> str:
    """The option that a quiz's mistake is about, spelled as in the `answer` of one who chose it."""
    before = _in_a_name(question)
    option = name.partition("__")[2].removeprefix(f"{before}_")
    spelled = re.search(re.escape(option).replace("_", "[ _-]"), answer, re.IGNORECASE)
    return spelled[0] if spelled else option.replace("_", " ")
