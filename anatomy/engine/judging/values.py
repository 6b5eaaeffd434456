"""Explain values that differ: by a relation that holds in all cases, else by the smallest example."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import Difference, close
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explanation import EXAMPLE, Explanation
from anatomy.engine.judging.relations import relate
from anatomy.engine.judging.relations.lists import relate_lists
from anatomy.engine.judging.relations.places import wrong_entries
from anatomy.engine.judging.relations.sizes import relate_numbers
from anatomy.engine.judging.wording import brief


def explain_values(expectations: Expectations, alike: list[Difference]) -> Explanation:
    first = alike[0]
    found, expected, case = first.found, first.expected, expectations.cases[first.case]
    what = what_result(first)
    if not isinstance(found, Tensor) and case.asks and not first.where:
        what = f"“{case.asks}”: {what}"
    if isinstance(found, Tensor) and isinstance(expected, Tensor):
        said = _of_another_name(expectations, alike) or _relate(expectations, alike)
        said = said or _smallest_difference(expectations, alike)
    elif isinstance(found, list) and isinstance(expected, list):
        said = _relate_lists(expectations, alike)
    elif isinstance(found, str) and isinstance(expected, str) and expectations.exercise.describe is not None:
        said = Explanation(
            found if found.endswith(".") else f"{'seen' if what else 'Seen'} is “{found}”, expected is “{expected}”."
        )
    else:
        said = _relate_values(expectations, alike)
    of_gradient = first.aspect == "gradients"
    detail = said.detail.replace("Your values are", "The gradient's values are") if of_gradient else said.detail
    return Explanation(what + said.headline, detail, said.claims)


def what_result(difference: Difference) -> str:
    """The name of a result, as the beginning of a sentence."""
    if difference.aspect == "gradients":
        return f"The gradient of `{difference.where}`: "
    where = at(difference.where)
    if difference.aspect == "train mode":
        return f"In training mode{f', {where}' if where else ''}: "
    return f"{where[0].upper()}{where[1:]}: " if where else ""


def at(where: str) -> str:
    """A place such as ``"[0]['scores']"`` in words."""
    keys = re.findall(r"\['([^']*)'\]|((?:\[\d+\])+)", where)
    return ", ".join(f"`{name}`" if name else _result(places) for name, places in keys)


def _result(places: str) -> str:
    if places.count("[") == 1 and (number := int(places[1:-1])) < len(_ORDINALS):
        return f"the {_ORDINALS[number]} result"
    return f"result {places}"


_ORDINALS = ("first", "second", "third", "fourth")


def _of_another_name(expectations: Expectations, alike: list[Difference]) -> Explanation | None:
    """Of a result with names, such as a model's parameters: another name to which the found values belong."""
    if alike[0].aspect != "values" or not re.fullmatch(r"\['[^']*'\]", alike[0].where):
        return None
    named = [expectations.expected[one.case].value for one in alike]
    own = alike[0].where[2:-2]
    fits = [
        {name for name, value in some.items() if name != own and isinstance(value, Tensor) and _same(one.found, value)}
        for one, some in zip(alike, named, strict=True)
        if isinstance(some, dict)
    ]
    names = sorted(set.intersection(*fits)) if fits else []
    if len(names) != 1:
        return None
    return Explanation(f"These are the values of `{names[0]}`.", f"Each name has its own; `{own}` has others.")


def _same(found: Any, expected: Tensor) -> bool:
    return isinstance(found, Tensor) and found.shape == expected.shape and close(found, expected)


def _relate(expectations: Expectations, alike: list[Difference]) -> Explanation | None:
    """A relation between tensors that holds in all cases."""
    first, exercise, cases = alike[0], expectations.exercise, expectations.cases
    axes: Callable[[Case], Case] = lambda case: case  # noqa: E731
    if first.aspect == "gradients":  # a gradient has its input's axes, not the result's
        exercise, axes = replace(exercise, returns=""), lambda case: replace(case, returns="")
    if first.expected.dim() == 0:
        numbers = [(cases[one.case], one.found.item(), one.expected.item()) for one in alike if both_tensors(one)]
        if said := relate_numbers(numbers):
            return said
    rows = sorted(filter(both_tensors, alike), key=lambda one: (cases[one.case].drawn, _shows_little(one), one.case))
    (case, found, expected), *others = ((axes(cases[one.case]), one.found, one.expected) for one in rows)
    tries = {min(one.case, expectations.twin(one.case)) for one in alike}  # with two seeds a case says the same twice
    alone = len(tries) == 1 and len(cases) > len(expectations.seeds)
    return relate(found, expected, case, exercise, tuple(others), alone)


def _shows_little(one: Difference) -> bool:
    """Whether an axis of the result has size 1, so that many relations hold along it by chance."""
    return 1 in one.expected.shape


def both_tensors(one: Difference) -> bool:
    return isinstance(one.found, Tensor) and isinstance(one.expected, Tensor)


def _smallest_difference(expectations: Expectations, alike: list[Difference]) -> Explanation:
    """One entry that differs, of the smallest result that differs in a chosen case."""
    cases = expectations.cases
    one = min(filter(both_tensors, alike), key=lambda one: (cases[one.case].drawn, one.expected.numel()))
    found, expected = one.found, one.expected
    if found.dim() == 0:
        here = _arguments(expectations.cases[one.case])
        return Explanation(f"Yours is {brief(found)}, expected {brief(expected)}.", here, EXAMPLE)
    wrong = wrong_entries(found, expected)
    wrong = wrong if wrong.any() else found.double() != expected.double()
    place = tuple(wrong.nonzero()[0].tolist())
    gap = (found.double() - expected.double()).abs()[wrong]
    by = f", by up to {gap.max().item():.3g}" if found.is_floating_point() and gap.isfinite().all() else ""
    return Explanation(
        f"Values differ: at {list(place)} yours is {found[place].item():.4g}, expected {expected[place].item():.4g}.",
        f"{int(wrong.sum())} of {found.numel()} entries differ{by}; the shape {tuple(found.shape)} is right."
        f"{_given(cases[one.case])}",
        EXAMPLE,
    )


def _given(case: Case) -> str:
    """The shapes of what was passed in: a picture may be of another case."""
    shapes = [f"{name} {tuple(value.shape)}" for name, value in case.args.items() if isinstance(value, Tensor)]
    return f" That is for {', '.join(shapes)}." if shapes else ""


def _relate_lists(expectations: Expectations, alike: list[Difference]) -> Explanation:
    """A relation between lists that holds in all cases, else the smallest two lists."""
    rows = [one for one in alike if isinstance(one.found, list) and isinstance(one.expected, list)]
    said = [relate_lists(one.found, one.expected) for one in rows]
    shortest = min(range(len(rows)), key=lambda i: len(repr(rows[i].expected)) + len(repr(rows[i].found)))
    one, best = rows[shortest], said[shortest]
    if len({other.claims for other in said}) > 1:
        best = Explanation(f"Yours is {brief(one.found)}, expected {brief(one.expected)}.", claim=EXAMPLE)
    here = _arguments(expectations.cases[one.case])
    return Explanation(best.headline, " ".join(filter(None, (best.detail, here))), best.claims)


def _relate_values(expectations: Expectations, alike: list[Difference]) -> Explanation:
    """Explain numbers, strings and the like: by a relation made of sizes, else by the two shortest values."""
    rows = [(expectations.cases[one.case], one.found, one.expected) for one in alike]
    if all(isinstance(value, int | float) for _, *pair in rows for value in pair) and (said := relate_numbers(rows)):
        return said
    case, found, expected = min(rows, key=lambda row: len(brief(row[2])))
    return Explanation(f"Yours is {brief(found)}, expected {brief(expected)}.", _arguments(case), EXAMPLE)


def _arguments(case: Case) -> str:
    """The arguments of a case, as far as they fit in a line."""
    plainly = (Tensor, int, float, str, list, tuple, dict)
    shown = [f"{name} = {brief(value)}" for name, value in case.args.items() if isinstance(value, plainly)]
    sizes = [f"{letter} = {size}" for letter, size in case.sizes.items()]
    tensors = any(isinstance(value, Tensor) for value in case.args.values())
    given = [f"for {', '.join(sizes)}"] if sizes and not tensors else []
    given += [f"with {', '.join(shown)}"] if shown else []
    return f"That is {' '.join(given)}." if given else ""
