"""What cards are made of: a frame, its lines, and prose with `code`, **strong** and *emphasized* words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

COLORS = {"right": "#1a7f37", "wrong": "#c4320a", "not attempted": "#6e7781", "ungraded": "#9a6700"}
SIGNS = {"right": "✓", "wrong": "✗", "not attempted": "○", "ungraded": "?"}
MARKED = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<b>[^*`]+)\*\*|(?<![\w*])\*(?P<em>\w[^*`]*)\*(?![\w*])")
"""What is marked in a sentence of a card; each kind's name is that of its HTML element."""

_SHAPE = re.compile(r"<code>.*?</code>|(?P<shape>\((?:[A-Z0-9…][^\s(),]*, ){1,4}[A-Z0-9…][^\s(),]*\))")


def prose(text: str) -> str:
    """Escaped text with its marks set and no line break in a shape; what stands in code is left as it is."""

    def in_tags(found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        return f"<{kind}>{found[kind]}</{kind}>"

    def whole(found: re.Match[str]) -> str:
        return f'<span style="white-space:nowrap">{found[0]}</span>' if found["shape"] else found[0]

    return _SHAPE.sub(whole, MARKED.sub(in_tags, escape(text)))


def plain(text: str) -> str:
    """Text without its marks, for a terminal."""
    return MARKED.sub(lambda found: found[found.lastgroup or 0], text)


def frame(color: str, blocks: Iterable[str]) -> str:
    """A box with a colored edge, readable in light and dark themes."""
    style = (
        f"border-left:5px solid {color};padding:.5em .9em;margin:.3em 0;max-width:52em;"
        "background-color:rgba(127,127,127,.08);line-height:1.45"
    )
    return f'<div style="{style}">{"".join(blocks)}</div>'


def line(html: str) -> str:
    """A block of a card, a little apart from the one above."""
    return f'<div style="margin-top:.3em">{html}</div>'


def scrolling(html: str, label: str) -> str:
    """What may be wider than the page scrolls by itself, with the keyboard, too; `label` says what it is.

    Many systems hide scroll bars: what goes on fades out at the right. Where it ends there is room for that.
    """
    style = "overflow-x:auto;padding-right:20px;mask-image:linear-gradient(to left,transparent,#000 20px)"
    return f'<div role="group" aria-label="{escape(label)}" tabindex="0" style="{style}">{html}</div>'


def chip(kind: str, word: str = "") -> str:
    """The sign of `kind`, white on its color: 4.5 to 1 in every theme. For the eye only, unless `word` says it."""
    style = f"color:#fff;background-color:{COLORS[kind]};padding:0 .3em;font-weight:700"
    said = f'title="{word}"' if word else 'aria-hidden="true"'
    return f'<span style="{style}" {said}>{SIGNS[kind]}</span>'


def title(html: str, kind: str = "") -> str:
    """The first line of a card; its sign is for the eye only."""
    before = f"{chip(kind)} " if kind else ""
    return f'<div style="font-weight:600">{before}{html}</div>'
