"""The sentences of mistakes, with the sizes of a case."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from anatomy.engine.exercise import Case
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake


def diagnosis_of(mistake: Mistake, case: Case) -> Diagnosis:
    """What the card says of a recognized mistake, with this case's sizes."""
    sentence = _sentence(mistake, Case({}) if mistake.parts else case)
    if mistake.parts:
        sentence = f"{sentence} A wrong `{mistake.parts[0].exercise}` gives the same."
    return Diagnosis(sentence, mistake=mistake.name)


_GIVES_THE_SAME = re.compile(r" A wrong `(\w+)` gives the same\.$")


def of_what_is_called(diagnoses: Iterable[Diagnosis], names: Collection[str]) -> tuple[Diagnosis, ...]:
    """The diagnoses without a word on parts that are not among the names that the program reads."""

    def kept(found: re.Match[str]) -> str:
        return found[0] if found[1] in names else ""

    return tuple(replace(one, headline=_GIVES_THE_SAME.sub(kept, one.headline)) for one in diagnoses)


_THE_REST = re.compile(r"(?:The [\w ]+ (?:is|are) right|Right for [\w ]+), but (\w)")
"""What a sentence says of the rest of the answer. Beside a second mistake it need not be so."""


_MEASURE = re.compile(r"\btimes (?:too|as) (?:small|large|much|many)\b")
"""What a piece says of the size of the results. Beside a second mistake it is another one."""


_FIRST, _SECOND = "Two mistakes at once. (1) ", "(2) "


def named(diagnoses: Iterable[Diagnosis]) -> dict[str, str]:
    """The name of each recognized mistake, and its sentence for those who see it without the others of its card."""
    found = {one.mistake: one.headline for one in diagnoses if one.mistake}
    return {name: sentence.removeprefix(_FIRST).removeprefix(_SECOND) for name, sentence in found.items()}


def diagnoses_of_two(one: tuple[Mistake, Case], two: tuple[Mistake, Case]) -> tuple[Diagnosis, ...]:
    """What the card says of two mistakes at once, each with its case: of each only what is true beside the other."""
    first, second = (
        _beside_another(_sentence(wrong, Case({}) if wrong.parts else case))  # a part has other letters for its sizes
        for wrong, case in (one, two)
    )
    return (
        Diagnosis(f"{_FIRST}{first}", mistake=one[0].name),
        Diagnosis(f"{_SECOND}{second}", mistake=two[0].name),
    )


def diagnoses_of_one_and_a_place(mistake: Mistake, case: Case, place: Diagnosis) -> tuple[Diagnosis, ...]:
    """What the card says of a mistake that is left where a right value is put in some place."""
    first = _beside_another(_sentence(mistake, Case({}) if mistake.parts else case))
    second = place.headline.replace("all results are right", "only the first is left")
    return Diagnosis(f"{_FIRST}{first}", mistake=mistake.name), replace(place, headline=f"{_SECOND}{second}")


def _beside_another(sentence: str) -> str:
    """What still holds of a sentence where another mistake is made, too."""
    first, *others = _pieces(_THE_REST.sub(lambda found: found[1].upper(), sentence))
    return _ended("".join((first, *(piece for piece in others if not _MEASURE.search(piece)))))


def _sentence(mistake: Mistake, case: Case) -> str:
    """The mistake's sentence with this case's sizes.

    Of sizes that only other cases have, the first piece names the letters. Later pieces are left out.
    """
    sizes = {**case.sizes, **{f"root_{k}": f"{v**0.5:.3g}" for k, v in case.sizes.items()}}
    return _ended("".join(_filled(mistake.sentence, sizes)))


def _ended(text: str) -> str:
    """A text with a full stop at its end where a later piece is left out."""
    return re.sub(r"[;,]$", ".", text.strip())


def _filled(sentence: str, sizes: dict[str, object]) -> Iterable[str]:
    for index, piece in enumerate(_pieces(sentence)):
        try:
            yield piece.format_map(sizes)
        except KeyError:
            bare = re.sub(r"\s*\([^()]*\{\w+\}[^()]*\)", "", piece)
            bare = bare if index else _in_letters(bare)
            if "{" not in bare:
                yield bare


def _in_letters(piece: str) -> str:
    """A piece with the letters of its sizes: "you divide by D" for "you divide by D = {D}"."""
    bare = re.sub(r"\s*=\s*\{\w+\}", "", piece)
    return re.sub(r"\{(root_)?(\w+)\}", lambda found: f"√{found[2]}" if found[1] else found[2], bare)


def _pieces(sentence: str) -> Iterator[str]:
    """The pieces of a sentence. A piece ends with a full stop, a question or exclamation mark, or a semicolon."""
    return (found.group() for found in re.finditer(r".+?(?:[.?!;](?=\s|$)\s*|$)", sentence, re.DOTALL))
