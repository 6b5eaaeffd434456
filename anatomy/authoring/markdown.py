"""Markdown as markdown-it reads it, with formulas: what a text is made of, and where in it stands what is no prose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

_FORMULAS = {"allow_labels": False, "allow_space": False, "allow_blank_lines": False, "double_inline": True}
"""As JupyterLab reads them, but for prices: a dollar before a space opens no formula."""
_KINDS = {"backticks": "code", "math_inline": "formula", "html_inline": "tag"}
_KINDS |= dict.fromkeys(("link", "image", "autolink"), "address")
"""markdown-it's rule → what it finds in a line."""


class Piece(NamedTuple):
    """A `heading`, the `heads` or a `row` of a table, or other `text`: a paragraph, a displayed formula, some HTML.

    `text` has no marks of headings and list items. `cells` are a row's, and `heads` those of its table's heads.
    """

    kind: str
    text: str
    cells: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


def pieces(source: str) -> Iterator[Piece]:
    """What a text is made of, in order. Blocks of code are left out."""
    parser, tokens = _parser(), [Token("", "", 0)]
    parser.block.parse(source, parser, {}, tokens)
    row, heads = list[str](), tuple[str, ...]()
    for before, token in pairwise(tokens):
        match token.type, before.type:
            case "inline", "th_open" | "td_open":
                row.append(token.content)
            case "inline", "heading_open":
                yield Piece("heading", token.content)
            case "inline" | "math_block" | "html_block", _:
                yield from (Piece("text", part) for part in _parts(f"{token.markup}{token.content}{token.markup}"))
            case "tr_close", last:
                kind = "heads" if last == "th_close" else "row"
                heads = tuple(row) if kind == "heads" else heads
                yield Piece(kind, f"| {' | '.join(row)} |", tuple(row), heads)
                row = []


def prose(source: str, **signs: str) -> str:
    """A text's pieces, `masked`, with empty lines between them."""
    return "\n\n".join(masked(piece.text, **signs) for piece in pieces(source))


def plain(text: str) -> str:
    """The words of a heading, or of another piece of one line, without marks and tags."""
    tokens = _parser().inline.parse(text, _parser(), {}, [])
    return "".join(token.content for token in tokens if token.type != "html_inline")


def masked(text: str, **signs: str) -> str:
    """A piece's text with a sign instead of each letter of some kinds; all else stays, and stays where it is.

    Parameters
    ----------
    signs
        Kind → sign. Kinds are `code`, `formula`, `tag` and the `address` of a link with its brackets.
    """
    letters = list(text)
    for kind, start, end in _places(text):
        if kind in signs:
            letters[start:end] = (letter if letter == "\n" else signs[kind] for letter in text[start:end])
    return "".join(letters)


def as_html(source: str) -> str:
    """The text as a part of a web page, in which links and pictures are found however they were written."""
    return str(_parser().render(source))


def _parts(text: str) -> Iterator[str]:
    """A paragraph's text, in parts if there are displayed formulas among its lines."""
    cuts = [place for _, *ends in _places(text) if text.startswith("$$", ends[0]) for place in ends]
    return (text[start:end] for start, end in pairwise([0, *cuts, len(text)]))


def _places(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, first position and the position after the last, of all in a piece that is no prose."""
    found: dict[str, Any] = {"text": text, "places": []}
    _parser().inline.parse(text, _parser(), found, [])
    code = 0
    for kind, start, end in found["places"]:
        yield kind, max(start, text.rfind("](", start, end)) if kind == "address" else start, end
        if text[start:end] == "<code>":
            code = end
        elif text[start:end] == "</code>":
            yield "code", code, start


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt().enable("table").use(dollarmath_plugin, **_FORMULAS)
    rules = parser.inline.ruler
    for name, rule in zip(rules.get_active_rules(), rules.getRules(), strict=True):
        if name in _KINDS:
            rules.at(name, _noting(_KINDS[name], rule))
    return parser


def _noting(kind: str, rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """The rule, which also notes where in the text it found something; words for a picture are a text of their own."""

    def noting(state: StateInline, silent: bool) -> bool:
        start = state.pos
        found = rule(state, silent)
        if found and not silent and state.src == state.env.get("text"):
            state.env["places"].append((kind, start, state.pos))
        return found

    return noting
