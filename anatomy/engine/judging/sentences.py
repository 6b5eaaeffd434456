"""The sentences of mistakes, with the sizes of a case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anatomy.engine.exercise import Case
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake


def diagnosis_of(mistake: Mistake, case: Case) -> Diagnosis:
    """What the card says of a recognized mistake, with this case's sizes."""
    sentence = _sentence(mistake, case)
    if mistake.parts:
        sentence = f"In the part that `{mistake.parts[0].exercise}` does: {sentence}"
    return Diagnosis(sentence, mistake=mistake.name)


def diagnoses_of_two(one: Mistake, two: Mistake, case: Case) -> tuple[Diagnosis, ...]:
    """What the card says of two mistakes at once."""
    return (
        Diagnosis(f"Two mistakes at once. The first: {_sentence(one, case)}", mistake=one.name),
        Diagnosis(f"The second: {_sentence(two, case)}", mistake=two.name),
    )


def _sentence(mistake: Mistake, case: Case) -> str:
    """The mistake's sentence with this case's sizes. It leaves out pieces that name sizes of other cases."""
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
    """The pieces of a sentence. A piece ends with a full stop, a question or exclamation mark, or a semicolon."""
    return (found.group() for found in re.finditer(r".+?(?:[.?!;](?=\s|$)\s*|$)", sentence, re.DOTALL))
