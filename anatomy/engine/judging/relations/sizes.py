"""Relations made of a case's sizes: a factor such as √D, a count that is off by 3·D, a shape in letters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from anatomy.engine.exercise import Case
from anatomy.engine.judging.explanation import Explanation
from anatomy.engine.judging.relations.comparison import Comparison, constant_ratio

MOST = 64
"""The largest multiple of a size that may explain a difference of counts."""


def explain_factor(ratio: float, comparison: Comparison) -> tuple[str, str]:
    """The size that explains a factor in every case that has one: the ends of the headline and of the detail."""
    others = [
        (other, one.case) for one in comparison.others if (other := constant_ratio(one.found, one.expected)) is not None
    ]
    for name, (known, number) in _factors(comparison.case).items():
        if not _is_factor(ratio, known):
            continue
        if all(is_factor(other, name, case) for other, case in others):
            if name == f"{known:.4g}":  # "and 2 = 2" says nothing
                return f": {name}", ""
            equals = f" = {number}" if number else ""
            return f": {name}", f", and {name}{equals}" + (f" = {known:.4g}" if number != f"{known:.4g}" else "")
    return "", ""


def is_factor(ratio: float, name: str, case: Case) -> bool:
    """Whether a ratio is what this name stands for in a case."""
    return _is_factor(ratio, _factors(case).get(name, (0.0, ""))[0])


def _is_factor(ratio: float, known: float) -> bool:
    return known > 1 and math.isclose(known, abs(ratio) if abs(ratio) > 1 else 1 / abs(ratio), rel_tol=1e-4)


def _factors(case: Case) -> dict[str, tuple[float, str]]:
    """Factors that appear in mistakes: name → (value, the same with numbers for the sizes)."""
    known: dict[str, tuple[float, str]] = {}
    sizes = {letter: size for letter, size in case.sizes.items() if size}
    for letter, size in sizes.items():
        known[f"√{letter}"] = math.sqrt(size), f"√{size}"
        known[letter] = float(size), str(size)
    for first, one in sizes.items():
        for second, two in sizes.items():
            if one > two:
                known[f"{first}/{second}"] = one / two, f"{one}/{two}"
                known[f"√({first}/{second})"] = math.sqrt(one / two), f"√({one}/{two})"
            if first < second:
                known[f"{first}·{second}"] = float(one * two), f"{one}·{two}"
                known[f"√({first}·{second})"] = math.sqrt(one * two), f"√({one}·{two})"
                for third, three in sizes.items():
                    if third not in (first, second):
                        over = f"√({first}·{second}/{third})", f"√({one}·{two}/{three})"
                        known[over[0]] = math.sqrt(one * two / three), over[1]
    return known | {"2": (2.0, ""), "1/ln 2": (1 / math.log(2), ""), "√2": (math.sqrt(2), "")}


Numbers = Sequence[tuple[Case, float, float]]  # case, found, expected


def relate_numbers(numbers: Numbers) -> Explanation | None:
    """A relation between single numbers that holds in all cases: a factor or a difference made of the sizes.

    It needs at least two different pairs of numbers: many relations explain a single one.
    """
    if len({(found, expected) for _, found, expected in numbers}) < 2:
        return None
    if not all(math.isfinite(found) and math.isfinite(expected) for _, found, expected in numbers):
        return None
    return _number_factor(numbers) or _number_difference(numbers)


def _number_factor(numbers: Numbers) -> Explanation | None:
    if not all(found and expected for _, found, expected in numbers):
        return None
    if all(math.isclose(found, -expected, rel_tol=1e-5) for _, found, expected in numbers):
        return Explanation("The sign is reversed.", "Every value is the expected one times −1.")
    first, found, expected = numbers[0]
    up = abs(found) > abs(expected)
    for name in _factors(first):
        if all(_explains(case, name, mine / right, up) for case, mine, right in numbers):
            way = "times" if up else "divided by"
            known, number = _factors(first)[name]
            equals = f" = {number}" if number and number != f"{known:.4g}" else ""
            value = "" if name == f"{known:.4g}" else f"{name}{equals} = {known:.4g}: "
            return Explanation(f"Yours is the expected number {way} {name}.",
                               f"In the first, {value}yours is {found:.6g}, expected {expected:.6g}.")  # fmt: skip
    return None


def _explains(case: Case, name: str, ratio: float, up: bool) -> bool:
    known = _factors(case).get(name, (0.0, ""))[0]
    return ratio > 0 and (ratio > 1) == up and _is_factor(ratio, known)


def _number_difference(numbers: Numbers) -> Explanation | None:
    if not all(found == int(found) and expected == int(expected) for _, found, expected in numbers):
        return None
    gaps = [(case, int(found - expected)) for case, found, expected in numbers]
    first, gap = gaps[0]
    for letters, product in _products(first.sizes):
        times, rest = divmod(gap, product)
        if rest or not 0 < abs(times) <= MOST:
            continue
        if all(other == times * math.prod(case.sizes.get(one, 0) for one in letters) for case, other in gaps):
            name = "·".join((*([str(abs(times))] if abs(times) > 1 else []), *letters))
            way = "more" if times > 0 else "less"
            return Explanation(f"Yours is {name} {way} than expected.",
                               f"In the first, {name} = {abs(gap):,}: yours is {numbers[0][1]:,.0f}, "
                               f"expected {numbers[0][2]:,.0f}.")  # fmt: skip
    return None


def _products(sizes: Mapping[str, int]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Three letters, two, or one, and their product. The longest come first, so that 2·D·D is not read as 48·D."""
    for count in (3, 2, 1):
        for letters in combinations_with_replacement(sizes, count):
            yield letters, math.prod(sizes[letter] for letter in letters)


Shapes = Sequence[tuple[Case, tuple[int, ...]]]


def shape_in_letters(shapes: Shapes, others: Shapes = ()) -> str:
    """The letters that spell these shapes in all their cases, e.g. ``"(B, S, Dv)"``. Empty if there are none.

    `others` are what has the right shape, and can contradict the letters, too.
    """
    (first, shape), known = shapes[0], (*shapes, *others)
    if not shape or len({other for _, other in shapes}) < 2 or any(len(other) != len(shape) for _, other in known):
        return ""
    named = []
    for axis in range(len(shape)):
        fits = [
            name
            for name in _axis_names(first.sizes)
            if all(_axis_names(case.sizes).get(name) == other[axis] for case, other in known)
        ]
        if not fits:
            return ""
        named.append(fits[0])
    return f"({', '.join(named)})"


def _axis_names(sizes: Mapping[str, int]) -> dict[str, int]:
    """The lengths that an axis may have: a size, 1, or the product of two sizes."""
    products = {f"{a}·{b}": sizes[a] * sizes[b] for a in sizes for b in sizes if a < b}
    return {**sizes, "1": 1, **products}
