"""The family tree of the Transformer: a drawing whose boxes are links, and the same as a table.

Both are made from `family_members.FAMILY`. The drawing is SVG inside the page and loads nothing; where a page takes
drawings out (a notebook that is not trusted), its names and links remain.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from anatomy.course.views.family_members import BRANCHES, FAMILY, Member
from anatomy.course.views.style import LEGIBLE, THEMES
from anatomy.engine.cards.markup import scrolling

WIDTH, BOX, TALL, ROW, TOP = 800, 128, 40, 49, 58  # pixels
COLORS = {"root": "#46525f", "encoder": "#0072b2", "decoder": "#b84a00", "both": "#00795a", "beyond": "#8f3f70"}
PLACES = {  # name → row; the column is the year
    "Transformer": 7,
    "BERT": 2, "RoBERTa": 0, "DeBERTa": 0, "DistilBERT": 1, "BigBird": 1, "ELECTRA": 2, "ALBERT": 3, "XLM": 4,
    "XLM-R": 5,
    "GPT": 7, "GPT-2": 7, "GPT-3": 7, "GPT-Neo": 7, "CTRL": 8, "GPT-J": 8,
    "T5": 10, "M2M-100": 11, "BART": 12,
    "ViT": 14, "CLIP": 14,
}  # fmt: skip
HEADINGS = {"encoder": 0, "decoder": 6.75, "both": 9.75, "beyond": 13.75}
FIRST, LAST = 2017, 2021
STYLE = """
  .family text { font-family: "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #2d3844; }
  .family .name { font-size: 13.5px; font-weight: 700; text-anchor: middle; }
  .family .size { font-size: 11.5px; text-anchor: middle; }
  .family .year { font-size: 14px; font-weight: 700; text-anchor: middle; fill: #46525f; }
  .family .branch { font-size: 13.5px; font-weight: 700; }
  .family .note { font-size: 12px; fill: #46525f; }
  .family a:hover rect, .family a:focus rect { stroke-width: 3; }
  .family a:hover .name, .family a:focus .name { text-decoration: underline; }
"""


@dataclass(frozen=True)
class FamilyTree:
    """What `family_tree` returns: shows itself as a drawing with links."""

    svg: str
    words: str

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        fits = f"max-width:100%;min-width:{WIDTH * LEGIBLE:.0f}px;height:auto"
        svg = self.svg.replace('<svg class="family"', f'<svg class="family anatomy-themed" style="{fits}"', 1)
        page = THEMES + scrolling(svg, "The family tree. It scrolls where the page is narrow.")
        return {"text/html": page, "text/plain": self.words}


@dataclass(frozen=True)
class FamilyTable:
    """What `family_table` returns: shows itself as a table, in notebooks that are not trusted, too."""

    markdown: str

    def __repr__(self) -> str:
        return self.markdown

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/markdown": self.markdown, "text/plain": self.markdown}


def family_tree() -> FamilyTree:
    """The models of notebook 13 as a tree that grows to the right, year by year; each box links to its source."""
    bottom = TOP + ROW * (max(PLACES.values()) + 1.2) + 12
    height = round(bottom + 34)
    parts = [
        f'<svg class="family" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="group" aria-labelledby="family-title" aria-describedby="family-desc">',
        '<title id="family-title">The family tree of the Transformer, 2017 to 2021</title>',
        f'<desc id="family-desc">{html.escape(in_words())}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="14" fill="#ffffff" stroke="#d5dbe2"/>',
    ]
    for year in range(FIRST, LAST + 1):
        x = _x(year) + BOX / 2
        parts.append(f'<path d="M{x:g} {TOP - 22} V{bottom:g}" stroke="#edf0f3"/>')
        parts.append(f'<text class="year" x="{x:g}" y="30">{year}</text>')
    for branch, row in HEADINGS.items():
        place = f'x="{_x(2018):g}" y="{_y(row) - 12:g}" style="fill:{COLORS[branch]}"'
        parts.append(f'<text class="branch" {place}>{BRANCHES[branch]}</text>')
    parts += [_line(member) for member in FAMILY if member.parent]
    parts += [_box(member) for member in FAMILY]
    note = "Each box is a link to the paper or the model's page. Sizes: parameters as published (M million, B billion)."
    parts += [f'<text class="note" x="16" y="{height - 16}">{note}</text>', "</svg>"]
    return FamilyTree("\n".join(parts), in_words())


def family_table() -> FamilyTable:
    """The same as a table: what each model comes from, what it changed, its objective, size and source."""
    lines = [
        "| model | year | from | what changed | trained to | parameters | source |",
        "|---|---|---|---|---|---|---|",
    ]
    for branch, heading in BRANCHES.items():
        if branch != "root":
            lines.append(f"| **{heading}** | | | | | | |")
        for m in FAMILY:
            if m.branch == branch:
                cells = (f"[{m.name}]({m.link})", m.year, m.parent, m.changed, m.objective, m.size, m.source)
                lines.append(f"| {' | '.join(map(str, cells))} |")
    return FamilyTable("\n".join(lines))


def _x(year: int) -> float:
    return 16 + (year - FIRST) * (WIDTH - 32 - BOX) / (LAST - FIRST)


def _y(row: float) -> float:
    return TOP + 6 + row * ROW


def _line(member: Member) -> str:
    """From the parent's right edge along its trunk to the child's left; to one of the same year straight down."""
    parent = next(one for one in FAMILY if one.name == member.parent)
    y, end = _y(PLACES[parent.name]) + TALL / 2, _y(PLACES[member.name]) + TALL / 2
    if parent.year == member.year:
        return _path(f"M{_x(member.year) + BOX / 2:g} {y + TALL / 2:g} V{end - TALL / 2:g}", member.branch)
    start, trunk = _x(parent.year) + BOX, _x(parent.year) + BOX + 16
    stem = _path(f"M{start:g} {y:g} H{trunk:g} V{end:g}", parent.branch)
    return stem + _path(f"M{trunk:g} {end:g} H{_x(member.year):g}", member.branch)


def _path(path: str, branch: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{COLORS[branch]}" stroke-width="1.8" stroke-linejoin="round"/>'


def _box(member: Member) -> str:
    x, y, color = _x(member.year), _y(PLACES[member.name]), COLORS[member.branch]
    middle = x + BOX / 2
    box = f'x="{x:g}" y="{y:g}" width="{BOX}" height="{TALL}" rx="8" fill="#ffffff" stroke="{color}" stroke-width="1.8"'
    return (
        f'<a href="{html.escape(member.link)}" target="_blank" rel="noopener">'
        f"<title>{html.escape(f'{member.name}: {member.changed}. {member.source}.')}</title>\n"
        f"<rect {box}/>\n"
        f'<text class="name" x="{middle:g}" y="{y + 17:g}">{html.escape(member.name)}</text>\n'
        f'<text class="size" x="{middle:g}" y="{y + 32:g}">{html.escape(member.size)}</text></a>'
    )


def in_words() -> str:
    """The tree in sentences: who comes from whom."""
    text = "A tree that grows from left to right, a column for each year from 2017 to 2021. "
    for branch, heading in BRANCHES.items():
        text += f"{heading}: {'; '.join(_in_brief(member) for member in FAMILY if member.branch == branch)}. "
    return text.strip()


def _in_brief(member: Member) -> str:
    facts = [str(member.year), f"from {member.parent}" if member.parent else "", member.size]
    return f"{member.name} ({', '.join(filter(None, facts))})"
