"""Explain a difference without knowing the exercise: from shapes, names, numbers and errors alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import groupby

from torch import Tensor

from anatomy.exercises.spec import Case
from anatomy.judging.compare import Difference, close, same_numbers
from anatomy.judging.errors import explain_error, explain_message
from anatomy.judging.expectations import Expectations
from anatomy.judging.relations import relate
from anatomy.judging.relations.comparison import Relation
from anatomy.judging.relations.lists import relate_lists
from anatomy.judging.relations.places import wrong_entries
from anatomy.judging.relations.sizes import relate_numbers, shape_in_letters
from anatomy.judging.verdict import Diagnosis
from anatomy.judging.where import where_it_happens
from anatomy.judging.wording import brief, kind, names
from anatomy.observing.observation import CaseObservation

_FIRST = ("error", "message", "names", "shared", "in place", "not repeatable", "type", "shape", "dtype", "values",
          "rule", "noise", "no gradient", "gradient error")  # fmt: skip
"""Kinds of differences in the order in which they are spoken of; before all of them comes a result that is None."""

EXAMPLE = "an example"
"""The claim of what is no relation: just one place where an answer differs."""

_LATE = {"train mode": 1, "gradients": 2}
"""Aspects that are not spoken of before the plain result is right."""


def explain_each(
    expectations: Expectations, differences: list[Difference], open_cases: Collection[int]
) -> dict[int, Diagnosis]:
    """What can be said of these cases: case → diagnosis, one for each property that they ask for.

    `differences` are those of all cases; what is said to hold somewhere must not hold elsewhere, too.
    """
    groups: dict[str | None, list[Difference]] = {}
    for difference in sorted(differences, key=lambda one: one.case):
        if difference.case in open_cases:
            groups.setdefault(expectations.cases[difference.case].asks, []).append(difference)
    firsts = [(min(group, key=_urgency), group) for group in groups.values()]
    if nothing := [row for row in firsts if _is_nothing(row[0])]:
        firsts = [row for row in firsts if row in nothing or not _is_elsewhere(row[0])]
    if any(not _is_late(first) for first, _ in firsts):
        firsts = [row for row in firsts if not _is_late(row[0]) or row[0].kind == "no gradient"]
    wrong = {difference.case for difference in differences}
    explained: dict[int, Diagnosis] = {}
    told: set[tuple[str, str]] = set()
    for first, group in firsts:
        said = _explain(expectations, first, group)
        if (first.kind, said.claims) in told or (said.claims == EXAMPLE and first.kind in {kind for kind, _ in told}):
            continue  # one more example of the same adds nothing
        if isinstance(first.found, str) and first.found in {one.headline for one in explained.values()}:
            continue  # a rule has said it
        told.add((first.kind, said.claims))
        where = where_it_happens(expectations, first.case, wrong)
        explained[first.case] = Diagnosis(said.headline, " ".join(filter(None, (said.detail, where))))
    return explained


def _is_late(difference: Difference) -> bool:
    return difference.aspect in _LATE


def _urgency(difference: Difference) -> tuple[int, bool, int, int]:
    late = _LATE.get(difference.aspect, 0)
    return late, not _is_nothing(difference), _FIRST.index(difference.kind), difference.case


def _is_nothing(difference: Difference) -> bool:
    """Whether a function returned None where it should return something."""
    return difference.kind == "type" and difference.found is None and not difference.where


def _is_elsewhere(difference: Difference) -> bool:
    """Whether an error came from what was done with a result, not from the student's own lines."""
    error = difference.found.error if difference.kind == "error" else None
    return error is not None and not error.line


def _explain(expectations: Expectations, first: Difference, group: list[Difference]) -> Relation:
    alike = [one for one in group if (one.kind, one.where, one.aspect) == (first.kind, first.where, first.aspect)]
    alike = [next(rows) for _, rows in groupby(alike, key=lambda one: one.case)]  # billed to several properties
    alike.sort(key=lambda one: one is not first)
    return _EXPLAIN[first.kind](expectations, alike)


# ---- values ---------------------------------------------------------------------------------------------------------


def _explain_values(expectations: Expectations, alike: list[Difference]) -> Relation:
    first = alike[0]
    found, expected, case = first.found, first.expected, expectations.cases[first.case]
    what = _what(first)
    if isinstance(found, Tensor) and isinstance(expected, Tensor):
        said = _relate(expectations, alike) or _smallest_difference(expectations, alike)
    elif isinstance(found, list) and isinstance(expected, list):
        said = _relate_lists(expectations, alike)
    elif isinstance(found, str) and isinstance(expected, str) and expectations.exercise.run is not None:
        said = Relation(f"Seen: “{found}”. Expected: “{expected}”.")
    else:
        said = _relate_values(expectations, alike)
    if not isinstance(found, Tensor) and case.asks and not first.where:
        what = f"“{case.asks}”: {what}"
    return Relation(what + said.headline, said.detail, said.claims)


def _what(difference: Difference) -> str:
    """Which result is spoken of, as the beginning of a sentence."""
    if difference.aspect == "gradients":
        return f"The gradient of `{difference.where}`: "
    where = _at(difference.where)
    if difference.aspect == "train mode":
        return f"In training mode{f', {where}' if where else ''}: "
    return f"{where[0].upper()}{where[1:]}: " if where else ""


def _at(where: str) -> str:
    """``"[0]['scores']"`` in words."""
    keys = re.findall(r"\[(?:'([^']*)'|(\d+))\]", where)
    return ", ".join(f"`{name}`" if name else f"result {index}" for name, index in keys)


def _relate(expectations: Expectations, alike: list[Difference]) -> Relation | None:
    """A relation between tensors that holds in all cases."""
    first, exercise, cases = alike[0], expectations.exercise, expectations.cases
    axes: Callable[[Case], Case] = lambda case: case  # noqa: E731
    if first.aspect == "gradients":  # a gradient has the axes of its input
        exercise, axes = replace(exercise, returns=""), lambda case: replace(case, returns="")
    if first.expected.dim() == 0:
        numbers = [(cases[one.case], one.found.item(), one.expected.item()) for one in alike if _both_tensors(one)]
        if said := relate_numbers(numbers):
            return said
    rows = sorted(filter(_both_tensors, alike), key=lambda one: -one.expected.numel())
    (case, found, expected), *others = ((axes(cases[one.case]), one.found, one.expected) for one in rows)
    return relate(found, expected, case, exercise, tuple(others))


def _both_tensors(one: Difference) -> bool:
    return isinstance(one.found, Tensor) and isinstance(one.expected, Tensor)


def _smallest_difference(expectations: Expectations, alike: list[Difference]) -> Relation:
    """One entry that differs, of the smallest result that differs."""
    one = min(filter(_both_tensors, alike), key=lambda one: one.expected.numel())
    found, expected = one.found, one.expected
    if found.dim() == 0:
        here = _arguments(expectations.cases[one.case])
        return Relation(f"Yours is {brief(found)}, expected {brief(expected)}.", here, EXAMPLE)
    wrong = wrong_entries(found, expected)
    wrong = wrong if wrong.any() else found.double() != expected.double()
    place = tuple(wrong.nonzero()[0].tolist())
    gap = (found.double() - expected.double()).abs()[wrong]
    by = f", by up to {gap.max().item():.3g}" if found.is_floating_point() and gap.isfinite().all() else ""
    return Relation(
        f"Values differ: at {list(place)} yours is {found[place].item():.4g}, expected {expected[place].item():.4g}.",
        f"{int(wrong.sum())} of {found.numel()} entries differ{by}; the shape {tuple(found.shape)} is right.",
        EXAMPLE,
    )


def _relate_lists(expectations: Expectations, alike: list[Difference]) -> Relation:
    """What relates lists in all cases, else the smallest two."""
    rows = [one for one in alike if isinstance(one.found, list) and isinstance(one.expected, list)]
    said = [relate_lists(one.found, one.expected) for one in rows]
    shortest = min(range(len(rows)), key=lambda i: len(repr(rows[i].expected)) + len(repr(rows[i].found)))
    one, relation = rows[shortest], said[shortest]
    if len({other.claims for other in said}) > 1:
        relation = Relation(f"Yours is {brief(one.found)}, expected {brief(one.expected)}.", claim=EXAMPLE)
    here = _arguments(expectations.cases[one.case])
    return Relation(relation.headline, " ".join(filter(None, (relation.detail, here))), relation.claims)


def _relate_values(expectations: Expectations, alike: list[Difference]) -> Relation:
    """Numbers, strings and the like: a relation made of sizes, else the smallest two."""
    rows = [(expectations.cases[one.case], one.found, one.expected) for one in alike]
    if all(isinstance(value, int | float) for _, *pair in rows for value in pair) and (said := relate_numbers(rows)):
        return said
    case, found, expected = min(rows, key=lambda row: len(brief(row[2])))
    return Relation(f"Yours is {brief(found)}, expected {brief(expected)}.", _arguments(case), EXAMPLE)


def _arguments(case: Case) -> str:
    """The call of a case, as far as it can be written in a line."""
    plainly = (Tensor, int, float, str, list, tuple, dict)
    shown = [f"{name} = {brief(value)}" for name, value in case.args.items() if isinstance(value, plainly)]
    sizes = [f"{letter} = {size}" for letter, size in case.sizes.items()]
    tensors = any(isinstance(value, Tensor) for value in case.args.values())
    given = [f"for {', '.join(sizes)}"] if sizes and not tensors else []
    given += [f"with {', '.join(shown)}"] if shown else []
    return f"That is {' '.join(given)}." if given else ""


# ---- shapes, types and names ----------------------------------------------------------------------------------------


def _explain_shape(expectations: Expectations, alike: list[Difference]) -> Relation:
    first, exercise, cases = alike[0], expectations.exercise, expectations.cases
    case = cases[first.case]
    others = tuple((cases[one.case], one.found, one.expected) for one in alike[1:] if _both_tensors(one))
    letters = (case.returns or exercise.returns).split()
    wanted = f" = ({', '.join(letters)})" if len(letters) == first.expected.dim() else ""
    spelled = shape_in_letters([(cases[one.case], tuple(one.found.shape)) for one in alike if _both_tensors(one)])
    shapes = f"is {tuple(first.found.shape)}{f' = {spelled}' if spelled else ''}; expected is " \
             f"{tuple(first.expected.shape)}{wanted}"  # fmt: skip
    what = _what(first)
    if relation := relate(first.found, first.expected, case, exercise, others):
        detail = f"{relation.detail} The shape of yours {shapes}.".strip()
        return Relation(what + relation.headline, detail, relation.claims)
    if spelled and wanted:
        return Relation(f"{what}The shape is {spelled}; expected is ({', '.join(letters)}).",
                         f"In the first try yours {shapes}.")  # fmt: skip
    return Relation(f"{what}The shape {shapes}.", claim=EXAMPLE)


def _explain_type(expectations: Expectations, alike: list[Difference]) -> Relation:
    first = alike[0]
    found, expected = first.found, first.expected
    if _is_nothing(first):
        module = expectations.exercise.kind == "module"
        return Relation(f"Your {'`forward`' if module else 'function'} returns nothing (None).",
                         "Is a `return` missing at its end?")  # fmt: skip
    what = _what(first)
    if isinstance(found, str) and expectations.exercise.run is not None:
        return Relation(f"{what}Seen: “{found}”. Expected is {brief(expected)}.")
    if isinstance(expected, str) and expectations.exercise.run is not None:
        asks = expectations.cases[first.case].asks
        return Relation(f"You return {kind(found)}, so “{asks}” can't be looked at.")
    if isinstance(found, list) and isinstance(expected, list):
        return Relation(f"{what}You return {len(found)} things; {len(expected)} are wanted.")
    headline = f"{what}You return {kind(found)}; {kind(expected)} is wanted."
    if all(same_numbers(one.found, one.expected) for one in alike):
        return Relation(headline, "The numbers are right.")
    if (place := _inside(alike)) is not None:
        return Relation(headline, f"What is at place {place} of it is the expected result.")
    shown = f" = {brief(found)}" if isinstance(found, str | int | float) else ""
    shape = f" of shape {tuple(expected.shape)}" if isinstance(expected, Tensor) and expected.dim() else ""
    about = " ".join(filter(None, (f"Yours{shown}." if shown else "", f"Wanted{shape}." if shape else "")))
    return Relation(headline, about.replace("Yours =", "Yours is").replace("Wanted of", "It should be of"))


def _inside(alike: list[Difference]) -> int | None:
    """The place at which the expected tensor stands in a list, the same in all cases."""
    for place in range(4):
        if all(
            isinstance(one.found, list)
            and len(one.found) > place
            and isinstance(one.expected, Tensor)
            and isinstance(one.found[place], Tensor)
            and one.found[place].shape == one.expected.shape
            and close(one.found[place], one.expected)
            for one in alike
        ):
            return place
    return None


def _explain_dtype(expectations: Expectations, alike: list[Difference]) -> Relation:
    first = alike[0]
    right = not first.found.is_complex() and all(close(one.found.to(one.expected.dtype), one.expected) for one in alike)
    return Relation(f"{_what(first)}The values have type {_dtype(first.found)}, expected is {_dtype(first.expected)}.",
                     "The numbers themselves are right." if right else "")  # fmt: skip


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _explain_names(expectations: Expectations, alike: list[Difference]) -> Relation:
    mine, right = alike[0].found, alike[0].expected
    missing, extra = [name for name in right if name not in mine], [name for name in mine if name not in right]
    if isinstance(mine, dict) and not mine:
        return Relation("PyTorch finds no parameters in your module.",
                         "Layers must be attributes, or sit in an `nn.ModuleList`: a plain list hides them from "
                         f"`parameters()`. Expected: {names(right)}.")  # fmt: skip
    what = f"{_what(alike[0])}The keys differ" if not isinstance(mine, dict) else "The parameters of your module differ"
    if missing and (prefix := _prefix(missing, extra)):
        return Relation(f"{what}: all stand behind `{prefix}`.",
                         f"For example `{prefix}{missing[0]}`, where `{missing[0]}` is wanted.")  # fmt: skip
    shapes = [
        f"`{name}` has shape {tuple(mine[name])}, expected {tuple(right[name])}"
        for name in right
        if isinstance(mine, dict) and name in mine and mine[name] != right[name]
    ]
    lacking, more = _whole(missing, mine), _whole(extra, right)
    one_lacks, one_more = ("is" if len(listed) == 1 else "are" for listed in (lacking, more))
    parts = [f"{names(lacking, 3)} {one_lacks} missing"] if lacking else []
    if more:
        parts.append(f"there {one_more} {names(more, 3)}" if lacking else f"{names(more, 3)} {one_more} not expected")
    said, rest = (parts, shapes) if parts else (shapes[:1], shapes[1:])
    return Relation(f"{what}: {'; '.join(said)}.", f"{'; '.join(rest[:4])}." if rest else "")


def _whole(absent: list[str], others: Collection[str]) -> list[str]:
    """Absent names, with one for a whole layer: its path, as far as no other name begins with it."""

    def shortest(name: str) -> str:
        words = name.split(".")
        paths = (".".join(words[:count]) for count in range(1, len(words) + 1))
        return next(path for path in paths if not any(f"{other}.".startswith(f"{path}.") for other in others))

    return list(dict.fromkeys(map(shortest, absent)))


def _prefix(missing: list[str], extra: list[str]) -> str:
    """What stands before all the names that are missing; empty where they were not just moved."""
    for name in extra:
        prefix = name.removesuffix(missing[0])
        if prefix and prefix != name and sorted(prefix + one for one in missing) == sorted(extra):
            return prefix
    return ""


def _explain_shared(expectations: Expectations, alike: list[Difference]) -> Relation:
    mine, right = alike[0].found, alike[0].expected
    if extra := [group for group in mine if group not in right]:
        return Relation(f"{names(extra[0])} are one and the same parameter.", "Each is to have numbers of its own.")
    return Relation(f"{names(right[0])} are to be one and the same parameter.", "Yours are separate.")


# ---- side effects and gradients -------------------------------------------------------------------------------------


def _explain_in_place(expectations: Expectations, alike: list[Difference]) -> Relation:
    name = alike[0].where
    value = expectations.cases[alike[0].case].args.get(name)
    instead = {
        Tensor: "make a new tensor instead",
        dict: "work on a copy of the dict",
        list: "work on a copy of the list",
    }
    advice = next((text for kind, text in instead.items() if isinstance(value, kind)), "leave it as it is")
    return Relation(f"You change `{name}` in place.",
                     f"Whoever calls your function still needs it as it was; {advice}.")  # fmt: skip


def _explain_noise(expectations: Expectations, alike: list[Difference]) -> Relation:
    if alike[0].found:
        return Relation("In training mode nothing is random.", "The dropout that is asked for has no effect.")
    return Relation("In training mode the result is random.", "Nothing here should be left to chance.")


def _explain_no_gradient(expectations: Expectations, alike: list[Difference]) -> Relation:
    if alike[0].found is None:
        return Relation(f"No gradient reaches `{alike[0].where}`.",
                         "Values alone are not enough: training needs the way back. `detach`, `.data`, `.item`, "
                         "`torch.no_grad`, NumPy or building a new tensor from numbers cut it.")  # fmt: skip
    return Relation(f"A gradient reaches `{alike[0].where}`, and none should.")


def _explain_gradient_error(expectations: Expectations, alike: list[Difference]) -> Relation:
    error = alike[0].found
    if error is None:
        return Relation("Gradients can be computed, and there should be none.")
    said = explain_error(CaseObservation("raised", error=error), CaseObservation("returned"), Case({}))
    return Relation("The values are computed, but not the gradients.", f"{said.headline} {said.detail}".strip())


_EXPLAIN: dict[str, Callable[[Expectations, list[Difference]], Relation]] = {
    "error": lambda expectations, alike: explain_error(
        alike[0].found, alike[0].expected, expectations.cases[alike[0].case]
    ),
    "message": lambda expectations, alike: explain_message(
        alike[0].found, alike[0].expected, expectations.cases[alike[0].case]
    ),
    "names": _explain_names,
    "shared": _explain_shared,
    "in place": _explain_in_place,
    "not repeatable": lambda expectations, alike: Relation(
        "The same input gives another result each time.",
        "Is there noise (dropout, random initial values at every call), or something kept from the last call?",
    ),
    "noise": _explain_noise,
    "type": _explain_type,
    "shape": _explain_shape,
    "dtype": _explain_dtype,
    "values": _explain_values,
    "rule": lambda expectations, alike: Relation(str(alike[0].found)),
    "gradient error": _explain_gradient_error,
    "no gradient": _explain_no_gradient,
}
