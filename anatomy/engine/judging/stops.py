"""Explain errors that a student's code raises, by the symptom that the student sees."""

from __future__ import annotations

import re
from typing import Any

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import is_deliberate
from anatomy.engine.judging.explanation import Explanation
from anatomy.engine.judging.symptoms import advice
from anatomy.engine.judging.wording import brief
from anatomy.engine.observing.observation import CaseObservation, Raised

_REASON = 120
"""The most characters of an error's message that a headline holds."""
_FEW = 6
"""Numbers of a list that is shown in full."""


def explain_error(found: CaseObservation, expected: CaseObservation, case: Case) -> Explanation:
    """Explain an answer that raises an error, is too slow, or does not refuse what it should."""
    error = found.error or Raised()
    wanted = expected.error_type or "an error"
    if found.outcome == "not attempted":
        return Explanation("A part of this is not written yet.", "It raises NotImplementedError.")
    if found.outcome == "too slow":
        where = f" It was stopped{_place(error)}." if error.line else ""
        return Explanation("It did not finish.", f"One call took {error.message}.{where} {_inputs(case)}".strip())
    if found.outcome == "returned":
        if isinstance(found.value, dict) and str(found.value.get("$other")).endswith(f" {wanted}"):
            return Explanation(f"You return the `{wanted}`: an error that is returned stops nothing.",
                               f"Write `raise` for `return`. {_inputs(case)}".strip())  # fmt: skip
        what = "nothing (None)" if found.value is None else "a result"
        return Explanation(f"This input should be refused with a clear `{wanted}`.",
                           f"Yours returns {what}. {_inputs(case)}".strip())  # fmt: skip
    if found.outcome != "raised":
        return Explanation("Nothing was observed.", "The check did not get as far as running your answer.")
    if error.type == "BadSignature":
        return Explanation(error.message, claim=error.type)
    where, message = _place(error), _message(error)
    (reason, rest), stops = _reason(message), f"It stops with `{error.type}`{where}"
    if expected.outcome == "raised":
        if error.code and is_deliberate(found):
            return Explanation(f"It is refused with `{error.type}`; a `{wanted}` is needed.", message)
        luck = (
            f"A `{wanted}` is required, but this one came by luck: test for such an input and raise it yourself."
            if error.type == wanted
            else f"A crash doesn't count as a refusal: raise a `{wanted}` before it comes to that."
        )
        return Explanation(f"{stops}{reason}", f"{rest} {luck} {_inputs(case)}".strip(), stops)
    if error.type == "NotImplementedError" and error.code and is_deliberate(found):
        return Explanation(f"A part of this is not written yet{where}.")
    if error.code and is_deliberate(found):
        return Explanation(f"It refuses a good input{where}.", f"{error.type}: {message} {_inputs(case)}".strip())
    detail = " ".join(filter(None, (rest, advice(error), _inputs(case))))
    return Explanation(f"{stops}{reason}", detail, stops)


def explain_message(found: CaseObservation, missing: list[str], case: Case) -> Explanation:
    """Explain a refusal whose message lacks words."""
    said = found.error.message if found.error else ""
    words = " and ".join(f"“{one.partition('|')[0]}” or the like" if "|" in one else one for one in missing)
    yours = f"Yours says “{said}”." if said else "Yours says nothing."
    return Explanation(f"It is refused, but the message must name {words}.", f"{yours} {_inputs(case)}".strip())


def _place(error: Raised) -> str:
    """The line of the student's cells that raised an error."""
    if not error.line:
        return ""
    code = f", `{error.code}`" if error.code else ""
    if not error.caller:
        return f" in your line {error.line}{code}"
    if error.caller == error.within:
        return f" in your line {error.line}{code}, called from line {error.caller_line}"
    called = f"called from line {error.caller_line} of your `{error.caller}`"
    return f" in line {error.line} of your `{error.within}`{code}, {called}"


def _message(error: Raised) -> str:
    """A library's message without its hints, as a sentence: its first line, and the next one behind a colon."""
    said = re.split(" Hint|, but expected one of:", error.message)[0]  # whose list of signatures is long
    lines = [line.strip() for line in said.strip().splitlines()] or [""]
    text = " ".join(lines[: 2 if lines[0].endswith(":") else 1])
    if len(text) > 240:
        text = f"{text[:240].rpartition(' ')[0]} …"
    return text if not text or re.search(r"[.?!…]$", text) else f"{text}."


def _reason(message: str) -> tuple[str, str]:
    """An error's message as the end of a headline; one that is too long for that begins the detail."""
    if not message:
        return ".", ""
    if len(message) <= _REASON:
        return f": {message}", ""
    return ".", message


def _inputs(case: Case) -> str:
    shapes = [f"{name} of shape {tuple(value.shape)}" for name, value in case.args.items() if isinstance(value, Tensor)]
    if shapes:
        others = [f"{name} = {brief(value)}" for name, value in case.args.items() if _is_short(value)]
        return f"Arguments: {', '.join(shapes + others)}."
    sizes = [f"{letter} = {size}" for letter, size in case.sizes.items()]
    return f"Sizes here: {', '.join(sizes)}." if sizes else ""


def _is_short(value: Any) -> bool:
    """Whether a value is a number, a word or a list of a few."""
    if isinstance(value, list | tuple):
        return len(value) <= _FEW and all(isinstance(one, int | float) for one in value)
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _FEW * 4)
