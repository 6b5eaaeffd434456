"""What of a notebook's HTML may reach a browser: text, tables, pictures that are in the page; nothing that runs.

nbconvert's own `clean_html` also drops paragraphs and headings, so pages read badly, and its `markdown2html` lets
everything through, which Formgrader's pages rely on. These two replace them in both (see ``nbgrader_config.py``).
"""

from __future__ import annotations

import re
from functools import cache

from bleach.css_sanitizer import CSSSanitizer
from bleach.sanitizer import Cleaner
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p",
    "pre", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th",
    "thead", "tr", "u", "ul",
}  # fmt: skip
_ANYWHERE = {"aria-hidden", "aria-label", "class", "dir", "id", "lang", "role", "style", "title"}
_SOMEWHERE = {
    "a": {"href", "name"},
    "img": {"alt", "height", "src", "width"},
    "li": {"value"},
    "ol": {"start"},
    "td": {"align", "colspan", "rowspan", "scope"},
    "th": {"align", "colspan", "rowspan", "scope"},
}
_CSS = {
    "background-color", "border", "border-collapse", "border-left", "border-radius", "color", "font-size", "font-style",
    "font-weight", "height", "line-height", "margin", "margin-top", "max-width", "min-width", "opacity", "padding",
    "text-align", "vertical-align", "white-space", "width",
}  # fmt: skip
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[\w+/=\s]*\Z|(?![/\\])[^:]*\Z")
_LINK = re.compile(r"(?:https?:|mailto:|#)|(?![/\\])[^:]*\Z", re.IGNORECASE)


def clean(html: str | bytes) -> str:
    """The HTML without scripts, frames, forms, foreign pictures and all that is not on the list of plain things."""
    return str(_cleaner().clean(html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)))


@pass_context
def markdown(context: Context, source: str) -> str:
    """A text cell as HTML, cleaned; formulas are left to MathJax."""
    renderer = IPythonRenderer(escape=False, attachments=context.get("cell", {}).get("attachments", {}))
    return clean(MarkdownWithMath(renderer=renderer).render(source))


@cache
def _cleaner() -> Cleaner:
    return Cleaner(
        tags=_TAGS,
        attributes=_allowed,
        protocols={"http", "https", "mailto", "data"},
        strip=True,
        css_sanitizer=CSSSanitizer(allowed_css_properties=_CSS),
    )


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and bool(_PICTURE.match(value))
    if name == "href":
        return tag == "a" and bool(_LINK.match(value))
    return name in _ANYWHERE or name in _SOMEWHERE.get(tag, ())
