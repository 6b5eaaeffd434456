"""Tables and code, as a browser does not show them by itself.

The empty corner of a table's head, which names nothing, is a plain cell: screen readers announce no heading. A shape in
a cell is not broken. Each line of code is an element that knows its indent, so that a long one can go on further to the
right.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_EMPTY = re.compile(r'<th class="(head[^"]*)"><p></p></th>')
_TAG = re.compile(r"<[^>]*>")
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_SHAPE = re.compile(r"\((?:[A-Z0-9…][^\s()<>,]*, )+[A-Z0-9…][^\s()<>,]*\)")
_ATTRIBUTE = re.compile(r'(?<=</span>)(?=<span class="o">\.</span>)')
_CODE = re.compile(
    r'(<div class="highlight-[a-z]+ notranslate"><div class="highlight"><pre><span></span>)(.*?)(?=</pre>)',
    re.DOTALL,
)


def empty_corners(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" in context:
        context["body"] = _EMPTY.sub(r'<td class="\1"></td>', context["body"])


def whole_shapes(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    def whole(cell: re.Match[str]) -> str:
        return _SHAPE.sub(lambda shape: shape[0].replace(" ", "\u00a0"), cell[0])

    if "body" in context:
        context["body"] = _CELL.sub(whole, context["body"])


def line_of_code(line: str) -> str:
    """A line that may break before the dot of an attribute."""
    text = _TAG.sub("", line)
    line = _ATTRIBUTE.sub("<wbr>", line)
    indent = len(text) - len(text.lstrip(" "))
    style = f' style="--indent:{indent}"' if indent else ""
    return f'<span class="line"{style}>{line}</span>'


def lines_of_code(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    def in_lines(code: re.Match[str]) -> str:
        return code[1] + "".join(map(line_of_code, code[2].splitlines(keepends=True)))

    if "body" in context:
        context["body"] = _CODE.sub(in_lines, context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    for change in (empty_corners, whole_shapes, lines_of_code):
        app.connect("html-page-context", change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
