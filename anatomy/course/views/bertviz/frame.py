"""An interactive view in a frame of its own: an `<iframe srcdoc>` that carries everything it needs.

The frame's page holds the few elements that BertViz's scripts fill, in the clear, and one compressed script: jQuery,
d3, the data, BertViz's script for the view as the installed package has it, and ours around it. A frame has a document
of its own, so that views never get into each other's way, and it asks no network for anything. The same input gives
the same bytes.

Untrusted notebooks and feedback pages drop frames. What remains there is the text inside the frame, which says so,
and what stands below it: the same content as a still picture and a table.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from anatomy.course.views.bertviz.libraries import NOTICES, library
from anatomy.course.views.style import THEMES

ROOT = "bertviz"  # id of the outermost element: BertViz makes one up at random, but a frame has one view only
PAIR = (
    "All", "Sentence A -> Sentence A", "Sentence B -> Sentence B", "Sentence A -> Sentence B",
    "Sentence B -> Sentence A",
)  # fmt: skip
"""What a pair of sentences can be seen as; `before.js` cuts them out of the first, in this order."""


@dataclass(frozen=True)
class FramedView:
    """What a view function returns: shows itself as a frame with its still equivalent below.

    `page` is the frame's own document, `width` its largest width and `height` its height in pixels until its script
    has measured it. `words` say what it shows, `still` is HTML without scripts that has the same content, folded under
    the line `summary`.
    """

    page: str
    width: int
    height: int
    words: str
    still: str
    summary: str

    def html(self) -> str:
        """HTML that needs no other file and no network."""
        return (
            f'{THEMES}<iframe class="anatomy-themed" title="{html.escape(self.words)}" '
            f'srcdoc="{html.escape(self.page)}" '
            f'style="display:block;box-sizing:border-box;width:100%;max-width:{self.width}px;height:{self.height}px;'
            'margin:4px 0 6px;border:1px solid #d5dbe2;border-radius:4px;background:#fff">'
            "The interactive view is not shown here: this page shows no frames, or the notebook is not trusted. (In "
            "JupyterLab: View → Activate Command Palette, then Trust Notebook.) What it shows follows without it."
            "</iframe>\n"
            f"<details><summary>{html.escape(self.summary)}</summary>\n{self.still}\n</details>"
        )

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.words}


def framed(
    view: str,
    attention: list[dict[str, Any]],
    *,
    controls: Sequence[tuple[str, str]],
    sentence_b_start: int | None,
    width: int,
    height: int,
    words: str,
    still: str,
    summary: str = "The same as a still picture and a table",
    **params: Any,
) -> FramedView:
    """A view that draws anywhere: BertViz's `{view}_view.js` with its data, then our `{view}.js`.

    `attention` has one entry for each part that the view can show; one that is a pair of sentences comes whole, and
    the frame cuts it. `controls` are id and label of the choices above the drawing, `params` what else BertViz's
    script is told.
    """
    names = PAIR if sentence_b_start is not None else [part["name"] for part in attention]
    params |= {
        "attention": attention, "sentence_b_start": sentence_b_start, "default_filter": "0", "root_div_id": ROOT,
        "display_mode": "light",
    }  # fmt: skip
    data = f"window.bertviz_params = {json.dumps(params, separators=(',', ':'))}"
    sources = [library("jquery"), library("d3"), data, _file("before.js"), _bertviz(view), _file("fit.js"),
               _file("keys.js"), _file(f"{view}.js"), _file("after.js")]  # fmt: skip
    packed = zlib.compress(";\n".join(sources).encode(), 9)
    page_parts = {
        "NOTICES": NOTICES,
        "TITLE": html.escape(words),
        "ELEMENTS": _elements(controls, names),
        "PAYLOAD": base64.b64encode(packed).decode("ascii"),
    }
    page = re.sub(r"{{(\w+)}}", lambda match: page_parts[match[1]], _file("page.html"))
    return FramedView(page, width, height, words, still, summary)


def _elements(controls: Sequence[tuple[str, str]], names: Sequence[str | None]) -> str:
    """The elements that BertViz's scripts look for: a choice for each control, one between the parts, the drawing."""
    choices = [f'<label>{label}: <select id="{identity}"></select></label>' for identity, label in controls]
    if len(names) > 1:
        options = "".join(
            f'<option value="{index}">{html.escape(str(name))}</option>' for index, name in enumerate(names)
        )
        choices.append(f'<label>Attention: <select id="filter">{options}</select></label>')
    return f'<div id="{ROOT}">{" ".join(choices)}<div id="vis"></div></div>'


def _bertviz(view: str) -> str:
    """BertViz's script for a view, without the addresses of its libraries, its data taken from where ours puts them."""
    import bertviz

    script = (files(bertviz) / f"{view}_view.js").read_text(encoding="utf-8")
    script = re.sub(r"require\.config\(\{.*?\}\);", "", script, flags=re.DOTALL)
    return re.sub(r"const params = PYTHON_PARAMS;.*", "const params = window.bertviz_params;", script)


@cache
def _file(name: str) -> str:
    return (files("anatomy.course.views.bertviz") / name).read_text(encoding="utf-8")
