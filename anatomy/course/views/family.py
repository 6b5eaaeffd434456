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
PLACES = {  # name → row; the column follows from the year
    "Transformer": 7,
    "BERT": 2, "RoBERTa": 0, "DeBERTa": 0, "DistilBERT": 1, "BigBird": 1, "ELECTRA": 2, "ALBERT": 3, "XLM": 4,
    "XLM-R": 5,
    "GPT": 7, "GPT-2": 7, "GPT-3": 7, "GPT-Neo": 7, "CTRL": 8, "GPT-J": 8,
    "T5": 10, "M2M-100": 11, "BART": 12,
    "ViT": 14, "CLIP": 14,
    "InstructGPT": 17, "Chinchilla": 18, "PaLM": 19,
    "LLaMA": 19, "Llama 2": 21, "Mistral": 22,
    "DeepSeek-V3": 19, "Llama 3": 20, "Qwen2": 21, "Mixtral": 22, "Qwen3": 21,
    "ModernBERT": 24,
}  # fmt: skip
FIRST, TURN, LAST = 2017, 2021, 2025  # the tree goes on in a second part below: TURN is the last year of the first
ENDS = {FIRST: 15, TURN + 1: 25}  # the first year of each part, and the row below its last one
SECOND = 16.35  # the row at which the second part's years stand
AGAIN = {"GPT-3": 18, "BERT": 24}  # parents of models in the second part, named again at its left: name → row
HEADINGS = (  # branch, year of its column, row
    ("encoder", 2018, 0), ("decoder", 2018, 6.75), ("both", 2018, 9.75), ("beyond", 2018, 13.75),
    ("decoder", 2022, 17), ("encoder", 2024, 24),
)  # fmt: skip
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
    """The models of notebook 13 as a tree that grows to the right, year by year; each box links to its source.

    It has two parts, one below the other, so that it is legible where a page is narrow.
    """
    height = round(_y(max(ENDS.values())) + 44)
    parts = [
        f'<svg class="family" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="group" aria-labelledby="family-title" aria-describedby="family-desc">',
        f'<title id="family-title">The family tree of the Transformer, {FIRST} to {LAST}</title>',
        f'<desc id="family-desc">{html.escape(in_words())}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="14" fill="#ffffff" stroke="#d5dbe2"/>',
    ]
    for year in range(FIRST, LAST + 1):
        start = FIRST if year <= TURN else TURN + 1
        x, y = _x(year) + BOX / 2, 30 if start == FIRST else _y(SECOND)
        parts.append(f'<path d="M{x:g} {y + 6:g} V{_y(ENDS[start]) + 4:g}" stroke="#edf0f3"/>')
        parts.append(f'<text class="year" x="{x:g}" y="{y:g}">{year}</text>')
    for branch, year, row in HEADINGS:
        place = f'x="{_x(year):g}" y="{_y(row) - 12:g}" style="fill:{COLORS[branch]}"'
        parts.append(f'<text class="branch" {place}>{BRANCHES[branch]}</text>')
    parts += [_named_again(member) for member in FAMILY if member.name in AGAIN]
    parts += [_line(member) for member in FAMILY if member.parent]
    parts += [_box(member) for member in FAMILY]
    note = (
        "Each box with a full line is a link to the paper or the model's page. "
        "Sizes: parameters as published (M million, B billion)."
    )
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
    """The left edge of a year's column; in the second part the first column is for what is named again."""
    return 16 + (year - FIRST if year <= TURN else year - TURN) * (WIDTH - 32 - BOX) / (TURN - FIRST)


def _y(row: float) -> float:
    return TOP + 6 + row * ROW


def _line(member: Member) -> str:
    """From the parent's right edge along its trunk to the child's left; to one of the same year straight down."""
    parent = next(one for one in FAMILY if one.name == member.parent)
    again = parent.year <= TURN < member.year
    y, end = _y((AGAIN if again else PLACES)[parent.name]) + TALL / 2, _y(PLACES[member.name]) + TALL / 2
    if parent.year == member.year:
        return _path(f"M{_x(member.year) + BOX / 2:g} {y + TALL / 2:g} V{end - TALL / 2:g}", member.branch)
    start = _x(FIRST if again else parent.year) + BOX
    trunk = start + 16
    stem = _path(f"M{start:g} {y:g} H{trunk:g} V{end:g}", parent.branch)
    return stem + _path(f"M{trunk:g} {end:g} H{_x(member.year):g}", member.branch)


def _path(path: str, branch: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{COLORS[branch]}" stroke-width="1.8" stroke-linejoin="round"/>'


def _named_again(member: Member) -> str:
    """Where the second part goes on: the name of a model of the first part, without a box of its own."""
    x, y = _x(FIRST), _y(AGAIN[member.name])
    middle, color = x + BOX / 2, COLORS[member.branch]
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{BOX}" height="{TALL}" rx="8" fill="none" stroke="{color}" '
        f'stroke-dasharray="4 3"/>\n'
        f'<text class="name" x="{middle:g}" y="{y + 17:g}">{html.escape(member.name)}</text>\n'
        f'<text class="size" x="{middle:g}" y="{y + 32:g}">{member.year}, above</text>'
    )


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
    text = (
        f"A tree that grows from left to right, a column for each year from {FIRST} to {TURN}; a second part below has "
        f"the years from {TURN + 1} to {LAST}. "
    )
    for branch, heading in BRANCHES.items():
        text += f"{heading}: {'; '.join(_in_brief(member) for member in FAMILY if member.branch == branch)}. "
    return text.strip()


def _in_brief(member: Member) -> str:
    facts = [str(member.year), f"from {member.parent}" if member.parent else "", member.size]
    return f"{member.name} ({', '.join(filter(None, facts))})"
