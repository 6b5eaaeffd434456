"""A check whose verdict is reached elsewhere: what was seen of an answer is sent, and the judge's answer shown.

Right answers and mistakes need not be on this machine. `docs/judge-service.md` describes what is sent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

from anatomy.engine.cards.markup import COLORS, frame, line, title
from anatomy.engine.checking.calling import VERSION, CheckUnavailable, UnknownKey, call
from anatomy.engine.checking.joining import KEY, command_for_key, is_key_set, is_private
from anatomy.engine.exercise import Exercise
from anatomy.engine.observing.observation import Observation

STATUSES = ("right", "wrong", "not attempted")


@dataclass(frozen=True)
class Said:
    """A mistake that the judge has named."""

    mistake: str
    headline: str


@dataclass(frozen=True)
class RemoteVerdict:
    """What the judge answers. Its `status` is one of `STATUSES`."""

    exercise: str
    status: str
    points: int
    max_points: int
    headline: str
    html: str
    text: str
    diagnoses: tuple[Said, ...]


def ask(address: str, exercise: Exercise, seen: Observation, parts: list[Observation]) -> RemoteVerdict:
    """Have the answer to an exercise judged, as it was seen together with the earlier ones that it calls.

    Raises
    ------
    CheckUnavailable
        When no verdict comes.
    """
    from anatomy.engine.observing.records import encode

    request = {"version": VERSION, "observation": encode(seen), "parts": [encode(part) for part in parts]}
    said = call(address, "check", json.dumps(request).encode())
    return _answer(exercise, said)


def _answer(exercise: Exercise, said: dict[str, Any]) -> RemoteVerdict:
    kinds = {"status": str, "points": int, "max_points": int, "headline": str, "html": str, "text": str}
    if any(not isinstance(said.get(name), kind) for name, kind in kinds.items()) or said["status"] not in STATUSES:
        raise CheckUnavailable("The judge's reply can't be read: ask your instructor.")
    mistakes = said.get("mistakes")
    named = mistakes.items() if isinstance(mistakes, dict) else ()
    diagnoses = tuple(Said(name, text) for name, text in named if isinstance(text, str))
    return RemoteVerdict(exercise.name, **{name: said[name] for name in kinds}, diagnoses=diagnoses)


def open_way(address: str) -> str:
    """What a student should know of an address at which keys travel in the open; empty for another one."""
    if is_private(address):
        return ""
    return f"{address} is not https: others on the network can read your key. Tell your instructor."


def command_after(reason: CheckUnavailable) -> str:
    """What to type in a terminal so that the judge answers next time; empty where no command helps."""
    return command_for_key() if isinstance(reason, UnknownKey) else ""


# ---------------------------------------------------------------------------------------------- in a notebook


_warned: set[str] = set()


def check(address: str, exercise: Exercise, namespace: dict[str, Any]) -> RemoteVerdict:
    """Have an answer judged, show the card and note how far the student is.

    Raises
    ------
    CheckUnavailable
        When no verdict comes, after a card that says so.
    """
    from IPython.display import display

    from anatomy.engine.checking.looking import look_for_judge
    from anatomy.engine.checking.progress_file import note_check

    try:
        answer = ask(address, exercise, *look_for_judge(exercise, namespace))
    except CheckUnavailable as reason:
        display(_unavailable(reason), raw=True)
        raise
    note_check(answer, namespace.get(exercise.name))
    display({"text/html": answer.html, "text/plain": answer.text}, raw=True)
    if (warning := open_way(address)) and address not in _warned:
        _warned.add(address)
        display(_small_card("Your key travels in the open.", warning), raw=True)
    return answer


def _unavailable(reason: CheckUnavailable) -> dict[str, str]:
    first = "Your answer was not checked."
    if command := command_after(reason):
        if is_key_set():
            more = f"{reason} {KEY} holds the one that counts here. In the terminal from which you start JupyterLab:"
            return _small_card(first, more, command, "Start JupyterLab again, then run this cell again.")
        return _small_card(first, f"{reason} Then store it in a terminal:", command, "After that, run this cell again.")
    return _small_card(first, f"{reason} Go on working; run this cell again later.")


def _small_card(first: str, more: str, command: str = "", last: str = "") -> dict[str, str]:
    """Sentences, and between them a command on a line of its own."""
    lines = [escape(more), f"<code>{escape(command)}</code>" if command else "", escape(last)]
    head = title(first, "ungraded")
    card = frame(COLORS["ungraded"], [head, *map(line, filter(None, lines))])
    text = "\n".join(filter(None, (f"{first} {more}", f"    {command}" if command else "", last)))
    return {"text/html": f'<div role="status">{card}</div>', "text/plain": text}
