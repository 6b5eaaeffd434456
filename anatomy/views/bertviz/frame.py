"""An interactive view in a frame of its own: an `<iframe srcdoc>` that carries everything it needs.

The frame's page holds BertViz's few elements in the clear and one compressed script: jQuery, d3, a stand-in for
require.js, BertViz's script with its data. A frame has a document of its own, so that views never get into each
other's way, and it asks no network for anything. The same input gives the same bytes.

Untrusted notebooks and feedback pages drop frames. What remains there is the text inside the frame, which says so,
and what stands below it: the same content as a still picture and a table.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from anatomy.views.bertviz.libraries import NOTICES, library

ROOT = "bertviz"  # id of BertViz's outermost element: it makes one up at random, but a frame has one view only


@dataclass(frozen=True)
class FramedView:
    """What a view function returns: shows itself as a frame with its still equivalent below.

    `page` is the frame's own document, `height` its height in pixels until its script has measured it, `words` say
    what it shows, `still` is HTML without scripts that has the same content.
    """

    page: str
    height: int
    words: str
    still: str

    def html(self) -> str:
        """HTML that needs no other file and no network."""
        return (
            f'<iframe title="{html.escape(self.words)}" srcdoc="{html.escape(self.page)}" '
            f'style="display:block;box-sizing:border-box;width:100%;max-width:660px;height:{self.height}px;'
            'margin:4px 0 6px;border:1px solid #d5dbe2;border-radius:4px;background:#fff">'
            "The interactive view is not shown here, because this notebook is not trusted or this page shows no "
            "frames. What follows has the same content.</iframe>\n"
            f"<details><summary>The same as a still picture and a table</summary>\n{self.still}\n</details>"
        )

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.words}


def framed(drawn: str, *, script: str, height: int, words: str, still: str) -> FramedView:
    """What BertViz returned with `html_action="return"`, as a view that draws anywhere.

    `script` is the name of a file of ours here that runs after BertViz's.
    """
    elements, code = _parts(drawn)
    sources = [library("jquery"), library("d3"), _file("before.js"), code, _file(script), _file("after.js")]
    packed = zlib.compress(";\n".join(sources).encode(), 9)
    parts = {
        "NOTICES": NOTICES,
        "TITLE": html.escape(words),
        "ELEMENTS": elements,
        "PAYLOAD": base64.b64encode(packed).decode("ascii"),
    }
    page = re.sub(r"{{(\w+)}}", lambda match: parts[match[1]], _file("page.html"))
    return FramedView(page, height, words, still)


def _parts(drawn: str) -> tuple[str, str]:
    """BertViz's elements and its script, without what comes from a network, its random id and its second copy of the
    data (in a comment)."""
    opening, closing, start = '<script type="text/javascript">', "</script>", "const params = "
    head, _, rest = drawn.partition(opening)
    code = rest[: rest.rindex(closing)]
    elements = re.sub(r"<script[^>]*></script>", "", head).strip()
    begin = code.index(start) + len(start)
    params, end = json.JSONDecoder().raw_decode(code, begin)
    elements = elements.replace(params["root_div_id"], ROOT)
    params["root_div_id"] = ROOT
    before = re.sub(r"require\.config\(\{.*?\}\);", "", code[:begin], flags=re.DOTALL)
    after = code[code.index("\n", end) :]
    return elements, f"{before}{json.dumps(params, separators=(',', ':'))};{after}"


@cache
def _file(name: str) -> str:
    return (files("anatomy.views.bertviz") / name).read_text(encoding="utf-8")
