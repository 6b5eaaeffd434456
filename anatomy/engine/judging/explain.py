"""Explain differences by shapes, names, numbers and errors alone. Nothing here knows the exercise."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import groupby

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import Difference, Kind
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explanation import EXAMPLE, Explanation
from anatomy.engine.judging.forms import (
    explain_dtype,
    explain_names,
    explain_shape,
    explain_shared,
    explain_type,
    is_nothing,
)
from anatomy.engine.judging.relations.comparison import constant_ratio
from anatomy.engine.judging.relations.numbers import FACTOR
from anatomy.engine.judging.relations.sizes import is_factor
from anatomy.engine.judging.stops import explain_error, explain_message
from anatomy.engine.judging.values import explain_values, what_result
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.judging.where import where_it_happens
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import AFTER_ANOTHER, BESIDE_ANOTHER, OVERWRITTEN
from anatomy.engine.observing.plain_data import tensors

_FIRST = (Kind.ERROR, Kind.MESSAGE, Kind.NAMES, Kind.SHARED, Kind.IN_PLACE, Kind.NOT_REPEATABLE, Kind.TYPE, Kind.SHAPE,
          Kind.DTYPE, Kind.VALUES, Kind.RULE, Kind.NOISE, Kind.NO_GRADIENT, Kind.GRADIENT_ERROR)  # fmt: skip
"""The kinds of difference, the most urgent first. A result that is None is more urgent than all of them."""

_OF_ALL = (Kind.TYPE, Kind.DTYPE)
"""The kinds whose explanation looks at the results of all cases, whatever these ask for."""

_LATE = {"train mode": 1, "gradients": 2}
"""Aspects that wait until the plain result is right."""


def explain_each(
    expectations: Expectations, differences: list[Difference], open_cases: Collection[int]
) -> dict[int, Diagnosis]:
    """Explain the open cases: case → diagnosis, one for each property that they ask for.

    `differences` are those of all cases: a diagnosis says where something happens only if it happens nowhere else. What
    it says of the numbers holds in the drawn cases, too.
    """
    groups: dict[str | None, list[Difference]] = {}
    cases = expectations.cases
    for difference in sorted(differences, key=lambda one: one.case):
        if difference.case in open_cases:
            groups.setdefault(cases[difference.case].asks, []).append(difference)
    drawn = [one for one in differences if cases[one.case].drawn and one.case not in open_cases and _may_refute(one)]
    firsts = [
        (min(group, key=_urgency), group + [one for one in drawn if cases[one.case].asks in (asks, None)])
        for asks, group in groups.items()
    ]
    for first, group in [row for row in firsts if row[0].kind == Kind.DTYPE]:  # to convert it mends no gradient
        cut = (one for one in group if one.kind == Kind.NO_GRADIENT and one.found is None and one.case != first.case)
        firsts += [(one, group) for one in [next(cut, None)] if one]
    if any(is_nothing(first) for first, _ in firsts):
        firsts = [row for row in firsts if is_nothing(row[0]) or not _is_elsewhere(row[0])]
    if expectations.exercise.act and any(first.kind == Kind.IN_PLACE for first, _ in firsts):
        firsts = [row for row in firsts if row[0].kind == Kind.IN_PLACE]  # an act's next call gets what is changed
    if any(not _is_late(first) for first, _ in firsts):
        firsts = [row for row in firsts if not _is_late(row[0]) or row[0].kind == Kind.NO_GRADIENT]
    from_numbers = any(cases[first.case].asks is None and _differ_as(Tensor, first) for first, _ in firsts)
    if from_numbers or any(_is_random(first) for first, _ in firsts):  # what is told in words was read from these
        firsts = [row for row in firsts if not _differ_as(str, row[0])]
    wrong = {difference.case for difference in differences}
    explained: dict[int, Diagnosis] = {}
    told: set[tuple[Kind, str]] = set()
    for first, group in firsts:
        said = _explain(expectations, first, differences if first.kind in _OF_ALL else group)
        if said.claims == FACTOR and any(_is_no_such_factor(one, first, said, cases[one.case]) for one in differences):
            headline = said.headline.replace("Only a constant factor", "A constant factor")
            said = Explanation(headline, f"{said.detail} In other tries, more than that differs.", said.claims)
        if (first.kind, said.claims) in told or (said.claims == EXAMPLE and first.kind in {kind for kind, _ in told}):
            continue  # another example of the same adds nothing
        if isinstance(first.found, str) and first.found in {one.headline for one in explained.values()}:
            continue  # a rule has said it already
        if said.headline.removeprefix(what_result(first)) in {one.headline for one in explained.values()}:
            continue  # of the whole result it was said
        told.add((first.kind, said.claims))
        is_example = said.claims == EXAMPLE
        if is_example and (idle := _idle(expectations, differences)):
            said, is_example = Explanation(idle, f"{said.headline} {said.detail}"), False
        varies = first.kind == Kind.NOT_REPEATABLE  # between two runs of one case
        where = "" if varies else where_it_happens(expectations, first.case, wrong)
        headline, asks = said.headline, cases[first.case].asks
        if explained and asks and not where and headline[:1] not in "“`":  # it need not be so elsewhere
            headline = f"“{asks}”: {headline}"
        explained[first.case] = Diagnosis(headline, said.detail, is_example=is_example, condition=where)
    return explained


def _idle(expectations: Expectations, differences: list[Difference]) -> str:
    """The parameters that no gradient reaches in any case, though others have one: the result does not follow them."""
    stopped = {one.case for one in differences if one.kind == Kind.ERROR}
    missing = {
        index: set[str]()
        for index, (case, known) in enumerate(zip(expectations.cases, expectations.expected, strict=True))
        if known.gradients and case.asks in (None, "gradients") and index not in stopped
    }
    for one in differences:
        if one.aspect == "gradients":
            without = one.kind == Kind.NO_GRADIENT and one.found is None
            missing.setdefault(one.case, set()).update([one.where] if without else [])
    known = expectations.expected[min(missing, default=0)]
    common = set.intersection(*missing.values()) if missing else set()
    names = sorted(name for name in common if name in (known.parameters or {}))
    if not names or len(names) == len(known.gradients or {}):
        return ""
    has = "has no effect on your result: no gradient reaches it" if len(names) == 1 else \
        "have no effect on your result: no gradient reaches them"  # fmt: skip
    return f"{' and '.join(f'`{name}`' for name in names[:2])} {has}." if len(names) <= 2 else ""


def _may_refute(difference: Difference) -> bool:
    """Whether a result has enough in it to contradict a sentence: no axis of size 1, and not one number everywhere."""
    expected = difference.expected
    return not isinstance(expected, Tensor) or (min(expected.shape, default=2) > 1 and len(expected.unique()) > 1)


def _is_no_such_factor(difference: Difference, first: Difference, said: Explanation, case: Case) -> bool:
    """Whether it is the same result as the first one in another case, where not this factor alone is off."""
    found, expected = difference.found, difference.expected
    if (difference.kind, difference.where, difference.aspect) != (first.kind, first.where, first.aspect):
        return False
    if not isinstance(found, Tensor) or not isinstance(expected, Tensor) or found.shape != expected.shape:
        return False
    if expected.numel() < 2 or not expected.any() or not (found + expected).isfinite().all():
        return False
    ratio, name = constant_ratio(found, expected), said.headline.partition("off: ")[2].rstrip(".")
    return ratio is None or bool(name and not is_factor(ratio, name, case))


def _differ_as(kind: type, difference: Difference) -> bool:
    """Whether the results are numbers or words, and not the expected ones."""
    return difference.kind == Kind.VALUES and isinstance(difference.found, kind)


def _is_random(difference: Difference) -> bool:
    """Whether the same call gives something else each time."""
    if difference.kind != Kind.NOT_REPEATABLE:
        return False
    reasons = {one for one in difference.found or () if isinstance(one, str)}
    return not reasons & {AFTER_ANOTHER, BESIDE_ANOTHER, OVERWRITTEN}


def _is_late(difference: Difference) -> bool:
    return difference.aspect in _LATE


def _urgency(difference: Difference) -> tuple[int, bool, int, int]:
    late = _LATE.get(difference.aspect, 0)
    return late, not is_nothing(difference), _FIRST.index(difference.kind), difference.case


def _is_elsewhere(difference: Difference) -> bool:
    """Whether an error comes from the use of a result, and not from the student's own lines."""
    error = difference.found.error if difference.kind == Kind.ERROR else None
    return error is not None and not error.line


def _explain(expectations: Expectations, first: Difference, group: list[Difference]) -> Explanation:
    alike = [one for one in group if (one.kind, one.where) == (first.kind, first.where)]
    if first.kind != Kind.TYPE:  # a wrong type is wrong in all cases, and its explanation looks at all
        alike = [one for one in alike if one.aspect == first.aspect]
    alike = [next(rows) for _, rows in groupby(alike, key=lambda one: one.case)]  # each may cost several properties
    alike.sort(key=lambda one: one is not first)
    return _EXPLAIN[first.kind](expectations, alike)


# ---- side effects and gradients -------------------------------------------------------------------------------------


def _explain_in_place(expectations: Expectations, alike: list[Difference]) -> Explanation:
    name = alike[0].where
    value = expectations.cases[alike[0].case].args.get(name)
    instead = {
        Tensor: "make a new tensor instead",
        dict: "work on a copy of the dict",
        list: "work on a copy of the list",
    }
    if isinstance(value, list | tuple | dict) and any(True for _ in tensors(value)):
        return Explanation(f"You change `{name}` in place.",
                           "The caller still needs it as it was, and the tensors in it: make new ones.")  # fmt: skip
    advice = next((text for of_type, text in instead.items() if isinstance(value, of_type)), "leave it as it is")
    return Explanation(f"You change `{name}` in place.",
                       f"The caller still needs it as it was; {advice}.")  # fmt: skip


def _explain_not_repeatable(expectations: Expectations, alike: list[Difference]) -> Explanation:
    if any(OVERWRITTEN in (one.found or ()) for one in alike):
        return Explanation(
            "A later call changes what an earlier one has returned.",
            "Whoever keeps the first result finds something else in it. Make a new result in each call.",
        )
    if all(AFTER_ANOTHER in (one.found or ()) for one in alike):
        return Explanation(
            "After another input it gives something else, or stops.",
            "What does it keep of an earlier call? Whatever depends on the input is made at each call.",
        )
    if all(BESIDE_ANOTHER in (one.found or ()) for one in alike):
        return Explanation(
            "Once another module of your class is built, it gives something else, or stops.",
            "The class keeps something that belongs to one module. Keep it on `self`.",
        )
    if expectations.exercise.kind == "module" and any(seen.train_again for seen in expectations.expected):
        return Explanation(
            "In eval mode, too, the same input gives another result each time.",
            "Does something drop there? `nn.Dropout` follows the module's mode, `F.dropout` does only with "
            "`training=self.training`. Or is something kept from the last call, or read before it is set?",
        )
    return Explanation(
        "The same input gives another result each time.",
        "Is something drawn at random (dropout, initial values, a choice), kept from the last call, or read before it "
        "is set (`torch.empty`)? Or does rounding decide, as where a matrix is nearly singular?",
    )


def _explain_noise(expectations: Expectations, alike: list[Difference]) -> Explanation:
    if alike[0].found:
        return Explanation("In training mode the result is random.", "Nothing here should be left to chance.")
    return Explanation("In training mode nothing is random.", "The required dropout has no effect.")


_CUTS = (
    "`detach`, `.data`, `.item`, `.tolist`, `torch.no_grad`, NumPy, a new `nn.Parameter` or a new tensor made of "
    "numbers cuts them."
)
_CUTTING = re.compile(
    r"detach|\.data\b|\.item\b|\.tolist\b|no_grad|inference_mode|numpy|\bnp\.|Parameter\(|\btensor\(|requires_grad|"
    r"\bfloat\(|\bint\(|\bmath\."
)
"""What cuts gradients off, as a program says it."""


def without_cuts(detail: str, source: str) -> str:
    """A detail without the list of what cuts gradients off, where the program has nothing of it."""
    return detail if _CUTTING.search(source) else detail.replace(_CUTS, "").rstrip()


def _explain_no_gradient(expectations: Expectations, alike: list[Difference]) -> Explanation:
    if alike[0].found is None:
        why = f"Right values are not enough: training needs their gradients. {_CUTS}"
        return Explanation(f"No gradient reaches `{alike[0].where}`.", why)
    return Explanation(f"A gradient reaches `{alike[0].where}`, and none should.")


def _explain_gradient_error(expectations: Expectations, alike: list[Difference]) -> Explanation:
    error = alike[0].found
    if error is None:
        return Explanation("Gradients can be computed, and there should be none.")
    said = explain_error(CaseObservation("raised", error=error), CaseObservation("returned"), Case({}))
    return Explanation("The values are computed, but not the gradients.", f"{said.headline} {said.detail}".strip())


_EXPLAIN: dict[Kind, Callable[[Expectations, list[Difference]], Explanation]] = {
    Kind.ERROR: lambda expectations, alike: explain_error(
        alike[0].found, alike[0].expected, expectations.cases[alike[0].case]
    ),
    Kind.MESSAGE: lambda expectations, alike: explain_message(
        alike[0].found, alike[0].expected, expectations.cases[alike[0].case]
    ),
    Kind.NAMES: explain_names,
    Kind.SHARED: explain_shared,
    Kind.IN_PLACE: _explain_in_place,
    Kind.NOT_REPEATABLE: _explain_not_repeatable,
    Kind.NOISE: _explain_noise,
    Kind.TYPE: explain_type,
    Kind.SHAPE: explain_shape,
    Kind.DTYPE: explain_dtype,
    Kind.VALUES: explain_values,
    Kind.RULE: lambda expectations, alike: Explanation(str(alike[0].found)),
    Kind.GRADIENT_ERROR: _explain_gradient_error,
    Kind.NO_GRADIENT: _explain_no_gradient,
}
