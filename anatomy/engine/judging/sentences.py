"""Mistakes' sentences, with the sizes of the case that they are said of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anatomy.engine.exercise import Case
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake


def diagnosis_of(mistake: Mistake, case: Case) -> Diagnosis:
    """What a recognized mistake is called on the card, with this case's sizes."""
    sentence = _sentence(mistake, case)
    if mistake.parts:
        sentence = f"In the part that `{mistake.parts[0].exercise}` does: {sentence}"
    return Diagnosis(sentence, mistake=mistake.name)


def diagnoses_of_two(one: Mistake, two: Mistake, case: Case) -> tuple[Diagnosis, ...]:
    """What two mistakes made at once are called."""
    return (
        Diagnosis(f"Two mistakes at once. The first: {_sentence(one, case)}", mistake=one.name),
        Diagnosis(f"The second: {_sentence(two, case)}", mistake=two.name),
    )


def _sentence(mistake: Mistake, case: Case) -> str:
    """The mistake's sentence with this case's sizes. What names a size that the case does not have is left out."""
    sizes = {**case.sizes, **{f"root_{k}": f"{v**0.5:.3g}" for k, v in case.sizes.items()}}
    return "".join(_filled(mistake.sentence, sizes)).strip()


def _filled(sentence: str, sizes: dict[str, object]) -> Iterable[str]:
    for piece in _pieces(sentence):
        try:
            yield piece.format_map(sizes)
        except KeyError:
            bare = re.sub(r"\s*\([^()]*\{\w+\}[^()]*\)", "", piece)
            if "{" not in bare:
                yield bare


def _pieces(sentence: str) -> Iterator[str]:
    """The sentence cut behind each full stop, question mark and semicolon."""
    return (found.group() for found in re.finditer(r".+?(?:[.?!;](?=\s|$)\s*|$)", sentence, re.DOTALL))
