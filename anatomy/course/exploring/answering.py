"""What a host answers to the page's messages, in a notebook and on a server alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anatomy.course.exploring.explorer import Explorer
from anatomy.course.exploring.packing import State
from anatomy.engine.errors import UserError


def welcome(explorer: Explorer, examples: Sequence[str] = ()) -> dict[str, Any]:
    """What the page learns when it says hello: what can be taken away, and sentences to begin with."""
    return {"type": "welcome", "changes": explorer.choices(), "examples": list(examples)}


def run(explorer: Explorer, message: dict[str, Any]) -> State | dict[str, Any]:
    """The state that a message asks for, or a message that says what is the matter."""
    text, written, changes = message.get("text"), message.get("written"), message.get("changes", [])
    number = message.get("number")
    if not isinstance(text, str) or not isinstance(written, str | None) or not _are_names(changes):
        return problem(number, "The page asked for something that is no run.")
    try:
        return explorer.state(text, written, changes)
    except UserError as why:
        return problem(number, str(why))
    except Exception as error:  # the student's own code
        return problem(number, f"The model's code stopped with {type(error).__name__}: {error}")


def problem(number: Any, message: str) -> dict[str, Any]:
    return {"type": "problem", "number": number if isinstance(number, int) else 0, "message": message}


def _are_names(changes: Any) -> bool:
    return isinstance(changes, list) and all(isinstance(change, str) for change in changes)
