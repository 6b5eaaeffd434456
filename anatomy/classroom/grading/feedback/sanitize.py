"""What of a notebook's HTML may reach a browser: text, tables, pictures that are in the page; nothing that runs.

nbconvert's own `clean_html` also drops paragraphs and headings, so pages read badly, and its `markdown2html` lets
everything through, which Formgrader's pages rely on. The functions here replace them in both, and put an end to what
is so large that it would hold up grading or a browser (see ``nbgrader_config.py``).

Formulas become MathML here: a text that was cleaned has them as code, and what the converter makes of that code is
cleaned by a list of its own. No MathML that a student wrote is let through.

A class's pages share most of their text, so what was made from short pieces of it is kept for the next page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import Any
from urllib.parse import unquote

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.ansi import ansi2html
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from anatomy.authoring.formulas import IN_HTML, mathml

MOST_HTML, MOST_TAGS, MOST_ENTITIES, MOST_WORDS = 4_000_000, 20_000, 50_000, 100_000
"""Characters of HTML, and tags, ``&`` and ends of words in it, beyond which it is not shown: a parser takes time that
grows with the square of what it finds in one place, such as attributes in a tag."""
MOST_TEXT = 50_000
"""Characters of text, code or output beyond which a piece is not shown whole."""
MOST_FORMULA = 1_000
"""Characters of a formula beyond which it is shown as it is written."""
_SHORT = 20_000
"""Characters of a piece that is kept for other pages, and of code that is colored."""

_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p",
    "pre", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th",
    "thead", "tr", "u", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"aria-hidden", "aria-label", "class", "dir", "id", "lang", "role", "style", "title"},
    "a": {"href", "name"},
    "img": {"alt", "height", "src", "width"},
    "li": {"value"},
    "ol": {"start"},
    "td": {"align", "colspan", "rowspan", "scope"},
    "th": {"align", "colspan", "rowspan", "scope"},
}
_CSS = (
    "background-color", "border", "border-collapse", "border-left", "border-radius", "color", "font-size", "font-style",
    "font-weight", "height", "line-height", "margin", "margin-top", "max-width", "min-width", "opacity", "padding",
    "text-align", "vertical-align", "white-space", "width",
)  # fmt: skip
_DECLARATION = re.compile(
    rf"\s*(?:{'|'.join(_CSS)})\s*:(?:[\w\s#%.,+-]|(?:rgb|hsl)a?\([\d\s.,%]*\))+", re.IGNORECASE | re.ASCII
)
"""One of these properties with a plain value: nothing is computed, quoted, escaped, commented or fetched."""
_COVERS = re.compile(r"-\s*\.?\d|(?<![#\w])(?:\d{4}|[\d.]+e\+?\d)|\dv[a-z]", re.IGNORECASE)
"""In a style's value: what could lay a piece of the page over another one."""
_CLASSES = re.compile(r"[a-z]{1,2}\d?|formula|formula-block|highlight|hl-\w+|hll|dataframe|anchor-link|ansi-[\w-]+")
"""Classes that mean colors and the like. The others could borrow Formgrader's own, such as its fixed bars."""
_DATA_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[\w+/=\s]*\Z")
_LINK = re.compile(r"(?:https?:|mailto:|#)|(?!/)[\w ./()-]*\.ipynb(?:#|\Z)", re.IGNORECASE)
_PICTURE_TAG = re.compile(r'<img((?: [\w-]+="[^"<>]*")*)>')
_ATTRIBUTE = re.compile(r' ([\w-]+)="([^"]*)"')
"""As nh3 writes them: it escapes quotes and angle brackets in attributes."""
_OWN = "in-"
"""What ids in the HTML get in front, so that none is one of the page's around it."""
_END_OF_WORD = re.compile(r"""[\s/"']+""")
"""What can part attributes."""
_FORMULA = re.compile(r'<code class="formula(-block)?">([^<]*)</code>')
"""A formula in HTML that was cleaned. No attribute can hold this: there angle brackets are escaped."""
_MATHML = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mphantom", "mroot", "mrow", "mspace", "msqrt", "msub",
    "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
_MATHML_ATTRIBUTES = {
    "accent", "class", "display", "displaystyle", "form", "linethickness", "lspace", "mathvariant", "maxsize",
    "minsize", "movablelimits", "notation", "rspace", "scriptlevel", "stretchy", "symmetric", "width",
}  # fmt: skip
_MATHML_VALUE = re.compile(r"[a-z -]+|[+-]?\d?(?:\.\d+)?(?:em)?", re.ASCII)
"""A word or a small number: `\\hspace{9999em}` would push what follows out of the page."""
_TOO_LARGE = "<p><em>This is too large to be shown here.</em></p>"


class Cleaned(str):
    """HTML that was cleaned, and has its formulas."""


def clean(html: str | bytes) -> str:
    """The HTML without scripts, frames, forms, foreign pictures and all that is not on the list of plain things."""
    if isinstance(html, Cleaned):
        return html
    text = html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)
    if (
        len(text) > MOST_HTML
        or text.count("<") > MOST_TAGS
        or text.count("&") > MOST_ENTITIES
        or sum(1 for _ in _END_OF_WORD.finditer(text)) > MOST_WORDS
    ):
        return _TOO_LARGE
    return _kept_clean(text) if len(text) < _SHORT else _cleaned(text)


@pass_context
def markdown(context: Context, source: str, attachments: Any = None) -> str:
    """A text cell as HTML, cleaned, with formulas as MathML."""
    attachments = attachments or context.get("cell", {}).get("attachments", {})
    if len(source) > MOST_TEXT:
        return f"<pre>{escape(_cut(source))}</pre>"
    if attachments or len(source) > _SHORT:
        return _text(source, attachments)
    return _kept_markdown(source)


@pass_context
def highlight(context: Context, source: str, metadata: Any = None) -> str:
    """Python in colors; other languages, which a magic may name, and cells of many pages without."""
    if len(source) > _SHORT or (metadata or {}).get("magics_language", "python") != "python":
        return f"<pre>{escape(_cut(source))}</pre>"
    return _highlighted(source)


def ansi(text: str) -> str:
    """Printed text as HTML, with its colors."""
    return str(ansi2html(_cut(str(text))))


# ---------------------------------------------------------------------------------------------- cleaning


@lru_cache(maxsize=500)
def _kept_clean(html: str) -> str:
    return _cleaned(html)


@lru_cache(maxsize=500)
def _kept_markdown(source: str) -> str:
    return _text(source, {})


@lru_cache(maxsize=500)
def _highlighted(source: str) -> str:
    return str(Highlight2HTML(pygments_lexer="ipython3")(source))


def _text(source: str, attachments: Any) -> str:
    rendered = MarkdownWithMath(renderer=_Renderer(escape=False, attachments=attachments)).render(source)
    return Cleaned(_FORMULA.sub(lambda found: _formula(unescape(found[2]), bool(found[1])), clean(rendered)))


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, which gives up at a picture that a cell shows and has not, such as a copied cell.

    It leaves formulas to a script. Here they become code of a class by which they are found when all is cleaned.
    """

    def inline_math(self, body: str) -> str:
        return f'<code class="formula">{escape(body)}</code>'

    def block_math(self, body: str) -> str:
        return f'<code class="formula-block">{escape(body)}</code>'

    def latex_environment(self, name: str, body: str) -> str:
        name = name.rstrip("*")
        name = "aligned" if name in ("align", "equation", "gather") else name  # which the converter does not know
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def block_html(self, html: str) -> str:
        return str(super().block_html(IN_HTML.sub(lambda found: self.inline_math(unescape(found[1])), html)))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):
            name = unquote(url.partition(":")[2])  # names are quoted in links, and not where they are kept
            if name not in self.attachments:
                return f"<em>The picture {escape(name)} is not in this notebook.</em>"
            url = f"attachment:{name}"
        return str(super().image(text, url, title))


@lru_cache(maxsize=2000)
def _formula(tex: str, block: bool) -> str:
    """As MathML, or as it is written when that can't be."""
    try:
        if len(tex) > MOST_FORMULA:
            raise ValueError("too long")
        made = mathml(tex, block)
    except ValueError:
        return f"<code>{escape(tex)}</code>"
    return nh3.clean(made, tags=_MATHML, attributes={"*": _MATHML_ATTRIBUTES}, attribute_filter=_plain_value)


def _plain_value(tag: str, name: str, value: str) -> str | None:
    return value if _MATHML_VALUE.fullmatch(value) else None


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}\n… ({len(text) - MOST_TEXT} more characters are not shown here)"


def _cleaned(html: str) -> str:
    kept = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_filtered,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel=None,
    )
    return _PICTURE_TAG.sub(_with_alternative_text, kept)


def _filtered(tag: str, name: str, value: str) -> str | None:
    """What an attribute's value becomes; None removes it."""
    if name == "src":
        return value if _DATA_PICTURE.match(value) or _is_in_notebooks_folder(value) else None
    if name == "href":
        if not _LINK.match(value):
            return None
        return f"#{_OWN}{value[1:]}" if value.startswith("#") else value
    if name in ("id", "name"):
        return _OWN + value
    if name == "class":
        return " ".join(filter(_CLASSES.fullmatch, value.split())) or None
    if name == "style":
        return _style(value)
    return value


def _is_in_notebooks_folder(path: str) -> bool:
    """Whether a picture's path leads to a file in the notebook's folder, as browsers read it."""
    path = re.sub(r"[\t\r\n]", "", unquote(path)).strip()
    return not path.startswith(("/", "\\")) and ":" not in path and ".." not in path


def _style(text: str) -> str | None:
    """The declarations that are on the list and whose values are plain, or None when there are none."""
    kept = [
        declaration.strip()
        for declaration in text.split(";")
        if _DECLARATION.fullmatch(declaration) and not _COVERS.search(declaration.partition(":")[2])
    ]
    return "".join(f"{declaration};" for declaration in kept) or None


def _with_alternative_text(picture: re.Match[str]) -> str:
    """The tag of a picture, with a word for those that have none."""
    if any(name == "alt" for name, _ in _ATTRIBUTE.findall(picture[1])):
        return picture[0]
    return f'<img{picture[1]} alt="No description has been provided for this image">'
