"""Explain a wrong form: the shape, the type or the names of a result."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection
from itertools import accumulate

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import Difference, Kind, close, same_numbers
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explanation import EXAMPLE, Explanation
from anatomy.engine.judging.relations import relate
from anatomy.engine.judging.relations.sizes import shape_in_letters
from anatomy.engine.judging.values import both_tensors, what_result
from anatomy.engine.judging.wording import brief, names, sort_of


def is_nothing(difference: Difference) -> bool:
    """Whether a function returns None where it should return a result."""
    return difference.kind == Kind.TYPE and difference.found is None and not difference.where


def explain_shape(expectations: Expectations, alike: list[Difference]) -> Explanation:
    first, exercise, cases = alike[0], expectations.exercise, expectations.cases
    case = cases[first.case]
    others = tuple((cases[one.case], one.found, one.expected) for one in alike[1:] if both_tensors(one))
    letters = (case.returns or exercise.returns).split()
    wanted = f" = ({', '.join(letters)})" if len(letters) == first.expected.dim() else ""
    spelled = shape_in_letters([(cases[one.case], tuple(one.found.shape)) for one in alike if both_tensors(one)],
                               _of_right_shape(expectations, alike))  # fmt: skip
    shapes = f"is {tuple(first.found.shape)}{f' = {spelled}' if spelled else ''}; expected is " \
             f"{tuple(first.expected.shape)}{wanted}"  # fmt: skip
    what = what_result(first)
    if said := relate(first.found, first.expected, case, exercise, others):
        detail = f"{said.detail} The shape of yours {shapes}.".strip()
        return Explanation(what + said.headline, detail, said.claims)
    if spelled and wanted:
        return Explanation(f"{what}The shape is {spelled}; expected is ({', '.join(letters)}).",
                           f"In the first try yours {shapes}.")  # fmt: skip
    return Explanation(f"{what}The shape {shapes}.", claim=EXAMPLE)


def _of_right_shape(expectations: Expectations, alike: list[Difference]) -> list[tuple[Case, tuple[int, ...]]]:
    """The other cases that ask the same, with their shapes, which are right."""
    differ, asks = {one.case for one in alike}, expectations.cases[alike[0].case].asks
    pairs = [(expectations.cases[index], seen.value) for index, seen in enumerate(expectations.expected)
             if index not in differ and expectations.cases[index].asks == asks]  # fmt: skip
    return [(case, tuple(value.shape)) for case, value in pairs if isinstance(value, Tensor)]


def explain_type(expectations: Expectations, alike: list[Difference]) -> Explanation:
    first = alike[0]
    found, expected = first.found, first.expected
    if is_nothing(first):
        module = expectations.exercise.kind == "module"
        return Explanation(f"Your {'`forward`' if module else 'function'} returns nothing (None).",
                           "Each way through it must end with a `return` of the result.")  # fmt: skip
    what = what_result(first)
    if isinstance(found, str) and expectations.exercise.describe is not None:
        is_record = isinstance(expected, dict)  # in which the judge keeps what it saw: no student knows it
        words = f"Seen is “{found}”." if is_record else f"Seen is “{found}”, expected is {brief(expected)}."
        seen = found if found.endswith(".") else words
        return Explanation(f"{what}{seen}", claim=found)
    if isinstance(expected, str) and expectations.exercise.describe is not None:
        asks = expectations.cases[first.case].asks
        return Explanation(f"You return {sort_of(found)}, so “{asks}” can't be looked at.")
    if isinstance(found, list) and isinstance(expected, list):
        counts = sorted({len(one.found) for one in alike if isinstance(one.found, list)})
        many = " or ".join(map(str, counts)) if len(counts) < 3 else f"{counts[0]} to {counts[-1]}"
        return Explanation(f"{what}You return {many} thing{'s' * (counts != [1])}; {len(expected)} are needed.")
    other = str(found["$other"]).rstrip(".") if isinstance(found, dict) and "$other" in found else ""
    if other and not re.fullmatch(r"an? \w+", other) and expectations.exercise.describe is not None:
        return Explanation(f"{what}{other}.")
    headline = f"{what}You return {sort_of(found)}; {sort_of(expected)} is needed."
    if all(same_numbers(one.found, one.expected) for one in alike):
        return Explanation(headline, "The numbers are right.")
    if (place := _inside(alike)) is not None:
        return Explanation(headline, f"Item {place} of it is the expected result.")
    shown = f" = {brief(found)}" if isinstance(found, str | int | float) else ""
    shape = f" of shape {tuple(expected.shape)}" if isinstance(expected, Tensor) and expected.dim() else ""
    about = " ".join(filter(None, (f"Yours{shown}." if shown else "", f"Wanted{shape}." if shape else "")))
    return Explanation(headline, about.replace("Yours =", "Yours is").replace("Wanted of", "It should be of"))


def _inside(alike: list[Difference]) -> int | None:
    """The place of the expected tensor in a list, if it is the same in all cases."""
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


def explain_dtype(expectations: Expectations, alike: list[Difference]) -> Explanation:
    first = alike[0]
    right = not first.found.is_complex() and all(close(one.found.to(one.expected.dtype), one.expected) for one in alike)
    types = f"The values have type {_dtype(first.found)}, expected is {_dtype(first.expected)}."
    return Explanation(f"{what_result(first)}{types}",
                       "The numbers themselves are right." if right else "")  # fmt: skip


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def explain_names(expectations: Expectations, alike: list[Difference]) -> Explanation:
    mine, right = alike[0].found, alike[0].expected
    missing, extra = [name for name in right if name not in mine], [name for name in mine if name not in right]
    if isinstance(mine, dict) and not mine:
        return Explanation("PyTorch finds no parameters in your module.",
                           "Layers must be attributes, or sit in an `nn.ModuleList`: a plain list hides them from "
                           f"`parameters()`. Expected: {names(right)}.")  # fmt: skip
    what = (
        f"{what_result(alike[0])}The keys differ"
        if not isinstance(mine, dict)
        else "The parameters of your module differ"
    )
    if missing and (prefix := _prefix(missing, extra)):
        return Explanation(f"{what}: all names begin with `{prefix}`.",
                           f"For example `{prefix}{missing[0]}`, where `{missing[0]}` is needed.")  # fmt: skip
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
    return Explanation(f"{what}: {'; '.join(said)}.", f"{'; '.join(rest[:4])}." if rest else "")


def _whole(absent: list[str], others: Collection[str]) -> list[str]:
    """Absent names. One name stands for a whole absent layer: the shortest path that no other name begins with."""
    begun = sorted(f"{other}." for other in others)

    def is_begun(path: str) -> bool:
        place = bisect_left(begun, path)
        return place < len(begun) and begun[place].startswith(path)

    def shortest(name: str) -> str:
        paths = accumulate(name.split("."), "{}.{}".format)
        return next((path for path in paths if not is_begun(f"{path}.")), name)

    return list(dict.fromkeys(map(shortest, absent)))


def _prefix(missing: list[str], extra: list[str]) -> str:
    """The prefix that all missing names have among the extra ones. Empty if there is none."""
    names = set(extra)
    for name in extra if len(names) == len(missing) else ():
        prefix = name.removesuffix(missing[0])
        if prefix and prefix != name and all(prefix + one in names for one in missing):
            return prefix
    return ""


def explain_shared(expectations: Expectations, alike: list[Difference]) -> Explanation:
    mine, right = alike[0].found, alike[0].expected
    if extra := [group for group in mine if group not in right]:
        owners = {tuple(name.rpartition(".")[0] for name in group) for group in extra}
        if len(extra) > 1 and len(owners) == 1 and all(layers := next(iter(owners))):
            named = " and ".join(f"`{layer}`" for layer in layers)
            return Explanation(f"{named} are one and the same layer.", "Each must have numbers of its own.")
        return Explanation(f"{names(extra[0])} are one and the same parameter.", "Each must have numbers of its own.")
    return Explanation(f"{names(right[0])} must be one and the same parameter.", "Yours are separate.")
