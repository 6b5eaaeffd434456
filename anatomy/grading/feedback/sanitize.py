"""What of a notebook's HTML may reach a browser: text, tables, pictures that are in the page; nothing that runs.

nbconvert's own `clean_html` also drops paragraphs and headings, so pages read badly, and its `markdown2html` lets
everything through, which Formgrader's pages rely on. The functions here replace them in both, and put an end to what
is so large that it would hold up grading or a browser (see ``nbgrader_config.py``).

A class's pages share most of their text, so what was made from short pieces of it is kept for the next page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape
from typing import Any
from urllib.parse import unquote

from bleach.css_sanitizer import CSSSanitizer
from bleach.html5lib_shim import Filter
from bleach.sanitizer import Cleaner
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.filters.ansi import ansi2html
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

MOST_HTML, MOST_TAGS, MOST_TEXT = 4_000_000, 20_000, 50_000
"""Characters of HTML, tags in it, and characters of text, code or output beyond which a piece is not shown whole."""
_SHORT = 20_000
"""Characters of a piece that is kept for other pages, and of code that is colored."""

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
_COVERS = re.compile(r"-\s*\.?\d|(?<![#\w])\d{4}|\dv[a-z]|calc", re.IGNORECASE)
"""In a style's value: what could lay a piece of the page over another one."""
_CLASSES = re.compile(r"[a-z]{1,2}\d?|highlight|hl-\w+|hll|dataframe|anchor-link|ansi-[\w-]+")
"""Classes that mean colors and the like. The others could borrow Formgrader's own, such as its fixed bars."""
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[\w+/=\s]*\Z")
_LINK = re.compile(r"(?:https?:|mailto:|#)|(?!/)[\w ./()-]*\.ipynb(?:#|\Z)", re.IGNORECASE)
_OWN = "in-"
"""What ids in the HTML get in front, so that none is one of the page's around it."""
_TOO_LARGE = "<p><em>This is too large to be shown here.</em></p>"


def clean(html: str | bytes) -> str:
    """The HTML without scripts, frames, forms, foreign pictures and all that is not on the list of plain things."""
    text = html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)
    if len(text) > MOST_HTML or text.count("<") > MOST_TAGS:
        return _TOO_LARGE
    return _kept_clean(text) if len(text) < _SHORT else _cleaned(text)


@pass_context
def markdown(context: Context, source: str) -> str:
    """A text cell as HTML, cleaned; formulas are left to MathJax."""
    attachments = context.get("cell", {}).get("attachments", {})
    if len(source) > MOST_TEXT:
        return f"<pre>{escape(_cut(source))}</pre>"
    if attachments or len(source) > _SHORT:
        return clean(_rendered(source, attachments))
    return _kept_markdown(source)


@pass_context
def highlight(context: Context, source: str, metadata: Any = None) -> str:
    """Code in colors, in the notebook's language; a cell of many pages without."""
    if len(source) > _SHORT:
        return f"<pre>{escape(_cut(source))}</pre>"
    language = context["nb"].metadata.get("language_info", {}) if "nb" in context else {}
    magics = (metadata or {}).get("magics_language")
    return _highlighted(source, str(magics or language.get("pygments_lexer") or language.get("name") or "ipython3"))


def ansi(text: str) -> str:
    """Printed text as HTML, with its colors."""
    return str(ansi2html(_cut(str(text))))


# ---------------------------------------------------------------------------------------------- cleaning


@lru_cache(maxsize=500)
def _kept_clean(html: str) -> str:
    return _cleaned(html)


@lru_cache(maxsize=500)
def _kept_markdown(source: str) -> str:
    return clean(_rendered(source, {}))


@lru_cache(maxsize=500)
def _highlighted(source: str, language: str) -> str:
    return str(Highlight2HTML(pygments_lexer=language)(source))


def _rendered(source: str, attachments: Any) -> str:
    return MarkdownWithMath(renderer=IPythonRenderer(escape=False, attachments=attachments)).render(source)


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}\n… ({len(text) - MOST_TEXT} more characters are not shown here)"


def _cleaned(html: str) -> str:
    return str(_cleaner().clean(html))


@cache
def _cleaner() -> Cleaner:
    return Cleaner(
        tags=_TAGS,
        attributes=_allowed,
        protocols={"http", "https", "mailto", "data"},
        strip=True,
        css_sanitizer=_Styles(allowed_css_properties=_CSS),
        filters=[_Tidy],
    )


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and bool(_PICTURE.match(value) or _is_beside(value))
    if name == "href":
        return tag == "a" and bool(_LINK.match(value))
    return name in _ANYWHERE or name in _SOMEWHERE.get(tag, ())


def _is_beside(path: str) -> bool:
    """Whether a picture's path leads to a file in the notebook's folder, as browsers read it."""
    path = re.sub(r"[\t\r\n]", "", unquote(path)).strip()
    return not path.startswith(("/", "\\")) and ":" not in path and ".." not in path


class _Styles(CSSSanitizer):
    def sanitize_css(self, style: str) -> str:
        parts = super().sanitize_css(style).split(";")
        return ";".join(part for part in parts if not _COVERS.search(part.partition(":")[2]))


class _Tidy(Filter):
    """Ids and classes that meet none of the page's around it; a word for pictures that have none."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for token in super().__iter__():
            if token["type"] in ("StartTag", "EmptyTag"):
                _tidy(token["name"], token["data"])
            yield token


def _tidy(tag: str, attributes: dict[tuple[None, str], str]) -> None:
    for key in ((None, "id"), (None, "name")):
        if key in attributes:
            attributes[key] = _OWN + attributes[key]
    if (href := attributes.get((None, "href"), "")).startswith("#"):
        attributes[None, "href"] = f"#{_OWN}{href[1:]}"
    if (classes := attributes.pop((None, "class"), "")) and (kept := filter(_CLASSES.fullmatch, classes.split())):
        attributes[None, "class"] = " ".join(kept)
    if tag == "img" and (None, "alt") not in attributes:
        attributes[None, "alt"] = "No description has been provided for this image"
