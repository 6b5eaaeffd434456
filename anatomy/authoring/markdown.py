"""Markdown as markdown-it reads it, with formulas: what a text is made of, and where in it stands what is no prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

_TITLE = re.compile("[A-Z].{12,}")
"""What is a title when it stands in italics, as that of a paper; a word in italics is none."""
_FORMULAS = {"allow_labels": False, "allow_space": False, "allow_blank_lines": False, "double_inline": True}
"""As JupyterLab reads them, but for prices: a dollar before a space opens no formula."""


@dataclass(frozen=True)
class Piece:
    """A `heading`, a `paragraph`, a displayed `formula`, the `heads` or a `row` of a table, or a block of `html`.

    `text` has no marks of headings and list items. `cells` are a row's, and `heads` those of its table's heads.
    """

    kind: str
    text: str
    cells: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


def pieces(source: str) -> Iterator[Piece]:
    """What a text is made of, in order. Blocks of code are left out."""
    heads: tuple[str, ...] = ()
    row: list[str] = []
    before = ""
    parser, tokens = _parser(), list[Token]()
    parser.block.parse(source, parser, {}, tokens)
    for token in tokens:
        match token.type, before:
            case "inline", "th_open" | "td_open":
                row.append(token.content)
            case "inline", "heading_open":
                yield Piece("heading", token.content)
            case "inline", _:
                yield from _parted(token.content)
            case "math_block", _:
                yield Piece("formula", f"$${token.content}$$")
            case "html_block", _:
                yield Piece("html", token.content)
            case "tr_close", "th_close":
                heads, row = tuple(row), []
                yield Piece("heads", f"| {' | '.join(heads)} |", heads)
            case "tr_close", _:
                yield Piece("row", f"| {' | '.join(row)} |", tuple(row), heads)
                row = []
        before = token.type


def prose(source: str, **signs: str) -> str:
    """A text's pieces, `masked`, with empty lines between them."""
    return "\n\n".join(masked(piece.text, **signs) for piece in pieces(source))


def plain(text: str) -> str:
    """The words of a heading, or of another piece of one line, without marks and tags."""
    return "".join(token.content for token in _inline(text) if token.type != "html_inline")


def masked(text: str, **signs: str) -> str:
    """A piece's text with a sign instead of each letter of some kinds; all else stays, and stays where it is.

    Parameters
    ----------
    signs
        Kind → sign. Kinds are `code`, `formula`, `address` (of a link, with its brackets), `tag` and `title`.
    """
    letters = list(text)
    for kind, start, end in _places(text):
        if kind in signs:
            letters[start:end] = (letter if letter == "\n" else signs[kind] for letter in text[start:end])
    return "".join(letters)


def as_html(source: str) -> str:
    """The text as a part of a web page, in which links and pictures are found however they were written."""
    return str(_parser().render(source))


def _parted(paragraph: str) -> Iterator[Piece]:
    """A paragraph, in parts if there are displayed formulas among its lines."""
    last = 0
    for token in _inline(paragraph) if "$$" in paragraph else ():
        if token.type == "math_inline_double":
            start, end = token.meta["place"]
            yield Piece("paragraph", paragraph[last:start])
            yield Piece("formula", paragraph[start:end])
            last = end
    yield Piece("paragraph", paragraph[last:])


def _places(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, first position and the position after the last, of all in a piece that is no prose."""
    italics = code = 0
    for token in _inline(text):
        start, end = token.meta.get("place", (0, 0))
        match token.type, token.content:
            case "code_inline", _:
                yield "code", start, end
            case "math_inline" | "math_inline_double", _:
                yield "formula", start, end
            case "link_close" | "image", _:
                yield "address", max(text.rfind("](", start, end), start), end
            case "em_open", _:
                italics = end
            case "em_close", _ if _TITLE.fullmatch(text, italics, start):
                yield "title", italics, start
            case "html_inline", _:
                yield "tag", start, end
                if token.content == "<code>":
                    code = end
                elif token.content == "</code>" and code:
                    yield "code", code, start


def _inline(text: str) -> list[Token]:
    """The tokens of a piece's text."""
    parser, tokens = _parser(), list[Token]()
    return parser.inline.parse(text, parser, {}, tokens)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt().enable("table")
    parser.use(dollarmath_plugin, **_FORMULAS)
    rules = parser.inline.ruler
    for name, rule in zip(rules.get_active_rules(), rules.getRules(), strict=True):
        rules.at(name, _with_place(rule))
    return parser


def _with_place(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """The rule, which notes in each new token from where to where in the text it read."""

    def noting(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        found = rule(state, silent)
        for token in state.tokens[known:] if found else ():
            token.meta.setdefault("place", (start, state.pos))
        return found

    return noting
