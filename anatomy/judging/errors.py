"""Errors that a student's code raises, said from the symptom that the student sees."""

from __future__ import annotations

import re

from torch import Tensor

from anatomy.exercises.spec import Case
from anatomy.observing.observation import CaseObservation, Raised

_SYMPTOMS: tuple[tuple[str, str], ...] = (
    (r"size of tensor a \(\d+\) must match|Expected size .* but got|mat1 and mat2|must have same reduction dim|"
     r"shapes cannot be multiplied|inner dimensions|operands could not be broadcast|subscript .* has size",
     "Two tensors do not fit together. Write each shape behind its line as a comment: which axis must meet which?"),
    (r"invalid for input of size|view size is not compatible",
     "The new shape has another number of elements, or the memory is not in the order that `view` needs "
     "(`reshape`, or `contiguous()` first)."),
    (r"index out of range|out of bounds|IndexError", "An index is larger than the axis it points into."),
    (r"leaf Variable that requires grad|in-?place operation",
     "An input is changed in place while its gradient is needed: make a new tensor instead."),
    (r"Dimension out of range", "This tensor has fewer axes than the one you name; negative axes count from the end."),
    (r"expected (m1 and m2|scalar type|all tensors).*|same dtype", "Two tensors have different number types."),
    (r"has no attribute", "The object has no such name: look for a typing slip, or for a line that never set it."),
    (r"not callable", "A pair of parentheses follows something that is no function."),
    (r"unhashable|not subscriptable|not iterable", "This value is of another kind than its line expects: print it."),
)  # fmt: skip


def explain_error(found: CaseObservation, expected: CaseObservation, case: Case) -> tuple[str, str]:
    """Headline and detail for an answer that raised, was too slow, or did not raise where it should."""
    error = found.error or Raised()
    wanted = expected.error_type or "an error"
    if found.outcome == "not attempted":
        return "A part of this is not written yet.", "It raises NotImplementedError where the exercise needs a result."
    if found.outcome == "too slow":
        return "It did not finish.", f"One call took {error.message}: look for a loop that never ends."
    if found.outcome == "returned":
        return f"This input should be refused with a clear `{wanted}`.", f"Yours returns a result. {_inputs(case)}"
    if found.outcome != "raised":
        return "Nothing was observed.", "The check did not get as far as running your answer."
    if error.type == "BadSignature":
        return "The arguments don't fit.", error.message
    if expected.outcome == "raised":
        return f"It is refused with `{error.type}`; a clear `{wanted}` is wanted.", error.message
    where = f" in your line {error.line}, `{error.code}`" if error.line else ""
    said = f"{error.type}: {error.message}"
    advice = next((text for pattern, text in _SYMPTOMS if re.search(pattern, said, re.I | re.S)), "")
    detail = f"{error.message.rstrip('.')}. {advice} {_inputs(case)}" if error.message else f"{advice} {_inputs(case)}"
    return f"It stops with `{error.type}`{where}.", " ".join(detail.split())


def _inputs(case: Case) -> str:
    shapes = [f"{name} {tuple(value.shape)}" for name, value in case.args.items() if isinstance(value, Tensor)]
    return f"Shapes here: {', '.join(shapes)}." if shapes else ""
