"""The link between the page and a running kernel: a widget of one line, which passes messages on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from anatomy.course.exploring.answering import run, welcome
from anatomy.course.exploring.explorer import Explorer
from anatomy.course.exploring.packing import State


class Link(anywidget.AnyWidget):
    """Answers the page that has the same key, as long as the kernel lives."""

    _esm = Path(__file__).with_name("live.js")
    key = traitlets.Unicode().tag(sync=True)

    def __init__(self, explorer: Explorer, key: str, examples: list[str]) -> None:
        super().__init__(key=key)
        self._explorer, self._examples = explorer, examples
        self.on_msg(self._answer)

    def _answer(self, widget: Any, message: Any, buffers: Any) -> None:
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "hello":
            self.send(welcome(self._explorer, self._examples))
        elif kind == "run":
            result = run(self._explorer, message)
            if isinstance(result, State):
                self.send({"type": "state", "number": message.get("number"), "header": result.header}, [result.buffer])
            else:
                self.send(result)
