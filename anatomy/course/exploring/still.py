"""The page that needs nothing else: in a saved notebook, in an exported page, on the website.

The page holds its states, its script and its style. Below its frame stands the same in words, folded: for screen
readers, and for notebooks that nobody has trusted, where frames are dropped.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from anatomy.course.exploring.packing import State

ROOM = 2_900_000
"""Bytes that a page's states, script and style may take."""
HEIGHT = 1500
"""Pixels of the frame before its page has measured itself."""


def page(states: Sequence[State], *, key: str = "", host: str = "none", notebooks: str = "") -> str:
    """The page as one HTML file. `host` says who computes: "frame", "server" or "none"; `notebooks` is where links to
    exercises begin."""
    room = (ROOM - len(_file("explorer.js")) - len(_file("explorer.css"))) // len(states)
    packed = [f'<script type="text/plain" class="state">{state.within(room).compressed()}</script>' for state in states]
    values = {
        "TITLE": html.escape(title(states[0])),
        "STYLE": _file("explorer.css"),
        "SCRIPT": _file("explorer.js"),
        "NOTICES": _file("LICENSES.txt").replace("--", "- -"),
        "STATES": "\n".join(packed),
        "KEY": html.escape(key),
        "HOST": host,
        "NOTEBOOKS": html.escape(notebooks),
    }
    return re.sub(r"{{(\w+)}}", lambda match: values[match[1]], _file("page.html"))


def key_of(states: Sequence[State]) -> str:
    """A key for the page's messages: the same for the same states."""
    return hashlib.sha256(b"".join(state.packed() for state in states)).hexdigest()[:16]


def framed(states: Sequence[State], key: str) -> str:
    """The page in a frame, and what stands below it."""
    text = html.escape(page(states, key=key, host="frame"))
    label = html.escape(title(states[0]))
    return (
        f'<iframe class="anatomy-explorer" title="{label}" srcdoc="{text}" style="display:block;box-sizing:border-box;'
        f'width:100%;height:{HEIGHT}px;margin:4px 0;border:1px solid #8a96a3;border-radius:6px">'
        "The interactive page is not shown here: this page shows no frames, or the notebook is not trusted. (In "
        "JupyterLab: View → Activate Command Palette, then Trust Notebook.) What follows says the same in words."
        f"</iframe>\n<details><summary>The same in words</summary>\n{in_words(states[0])}\n</details>"
    )


def title(state: State) -> str:
    """What the page shows, in one line."""
    header = state.header
    return f"{header['model']['name']}: “{header['text']}”, step by step"


def in_words(state: State) -> str:
    """Tables of the strongest attention in each layer, the mean over its heads, and of the most probable tokens."""
    tables = []
    for stack in state.header["stacks"]:
        names = {one["name"]: one["tokens"] for one in state.header["stacks"]}
        for number, layer in enumerate(stack["layers"]):
            for attention in layer["attentions"]:
                place = f"{stack['name']}.{number}.{attention['name']}"
                mean = state.array(f"{place}.weights").mean(axis=0)  # (T, S)
                keys = names[attention["keys"]]
                rows = [[query, keys[int(row.argmax())], f"{row.max():.0%}"]
                        for query, row in zip(stack["tokens"], mean, strict=True)]  # fmt: skip
                tables.append(_table(
                    f"{stack['name'].capitalize()}, layer {number}, {attention['name']}-attention: the key with the "
                    "largest weight, mean over the heads", ("query", "key", "weight"), rows,
                ))  # fmt: skip
    if state.header["kind"] != "encoder":
        tables.append(_table("What comes next, most probable first", ("token", "probability"), likely(state)))
    return "\n".join(tables)


def likely(state: State, most: int = 5) -> list[list[str]]:
    """The tokens that most probably follow the last one, and how probable each is."""
    header = state.header
    if header["vocabulary"] is None:
        named, rest = header["likely"][-1], header["rest"][-1]
        total = np.logaddexp.reduce([rest, *(value for _, _, value in named)])
        return [[repr(word), f"{np.exp(value - total):.1%}"] for _, word, value in named[:most]]
    (name,) = [step["array"] for step in header["stacks"][-1]["output"] if step["kind"] == "probabilities"]
    last = state.array(name)[-1]
    best = np.argsort(-last, kind="stable")[:most]
    return [[repr(header["vocabulary"][int(one)]), f"{last[one]:.1%}"] for one in best]


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    first = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table>"
    )


@cache
def _file(name: str) -> str:
    return (files("anatomy.course.exploring") / "page" / name).read_text(encoding="utf-8")
