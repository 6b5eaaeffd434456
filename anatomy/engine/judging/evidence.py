"""Whether an observation shows that the answer ran on these very inputs.

A forged observation may hold a right answer's results on other inputs. It may also hold what needs no answer: a shape,
an error, a result that agrees with itself, the input. So an answer earns points beyond its form only if one result is
evidence. Such a result is right or a known mistake's, it is more than the input, and it depends on the seed: the result
of another seed would be wrong in its place. Drawn cases are no evidence: another seed's have other shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import compare
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import described
from anatomy.engine.observing.plain_data import plain, same

FORM = "shape"
"""The property that needs no evidence: an answer has it by its form alone."""

NO_EVIDENCE = "counts once a result is right"
"""What a card says of a property that seems to hold while there is no evidence."""


BY_CHANCE = 1 / 4
"""The share of the distinct results that must be known if all known ones are whole numbers or texts. Another seed's may
equal these by chance. One known result with fractions is enough."""


def is_evidence(
    expectations: Expectations, raw: list[CaseObservation], found: list[CaseObservation], known: Iterable[int]
) -> bool:
    """Whether what was seen in the `known` cases could only be seen there.

    Parameters
    ----------
    raw, found
        What was observed: as the kernel sent it, and in the judge's words.
    known
        The cases with the right numbers or a mistake's. Their gradients and types may be wrong.
    """
    if len(expectations.seeds) < 2:
        return True  # there is no other seed to compare with
    if len(found) < len(expectations.cases):
        return False
    asked = expectations.exercise
    exercise = replace(asked, properties={name: n for name, n in asked.properties.items() if name != "gradients"})

    @cache
    def is_distinct(index: int) -> bool:
        here, elsewhere, case = found[index], raw[expectations.twin(index)], expectations.cases[index]
        if here.outcome != "returned" or elsewhere.outcome != "returned" or _is_given(raw[index].value, case):
            return False
        there = described(exercise, case, CaseObservation("returned", elsewhere.value))
        return bool(compare(exercise, [case], [there], [CaseObservation("returned", here.value)]))

    chosen = {index for index, case in enumerate(expectations.cases) if not case.drawn}
    distinct = [index for index in sorted(chosen.intersection(known), key=expectations.cost) if is_distinct(index)]
    if not distinct or any(_has_fractions(found[index].value) for index in distinct):
        return bool(distinct)
    return len(distinct) >= BY_CHANCE * sum(map(is_distinct, chosen))


def _has_fractions(value: Any) -> bool:
    return any(
        (isinstance(leaf, Tensor) and leaf.is_floating_point() and bool((leaf != leaf.round()).any()))
        or (isinstance(leaf, float) and not leaf.is_integer())
        for leaf in _nodes(value)
    )


def _is_given(value: Any, case: Case) -> bool:
    """Whether a result is a part of the input, one number in all entries, or made of such results."""
    given = [*_nodes(plain(list(case.args.values()))), *_nodes(plain(list(case.init)))]

    def is_given(node: Any) -> bool:
        if isinstance(node, Tensor) and node.numel() > 1 and bool((node == node.flatten()[0]).all()):
            return True
        if any(same(node, part) for part in given):
            return True
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        return bool(inner) and all(isinstance(one, Tensor | list | dict) and is_given(one) for one in inner)

    return is_given(value)


def _nodes(tree: Any) -> Iterator[Any]:
    """Plain data and everything in it."""
    yield tree
    for inner in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(inner)
