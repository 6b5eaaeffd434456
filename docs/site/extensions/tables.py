"""The empty corner of a table's head, which names nothing, is a plain cell: screen readers announce no heading."""

import re
from typing import Any

from sphinx.application import Sphinx

_EMPTY = re.compile(r'<th class="(head[^"]*)"><p></p></th>')


def empty_corners(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" in context:
        context["body"] = _EMPTY.sub(r'<td class="\1"></td>', context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", empty_corners)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
