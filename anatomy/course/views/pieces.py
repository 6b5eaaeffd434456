"""Words cut into pieces, and vectors cut into heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from anatomy.course.views.inputs import check_labels
from anatomy.course.views.style import COLORS, INK, MUTED, Picture, figure, styled
from anatomy.course.views.words import quoted, title_lines

LINE = 64  # characters that fit side by side


@styled
def token_strip(
    pieces: Sequence[str],
    ids: Sequence[int] | None = None,
    title: str = "",
    *,
    groups: Sequence[str] | None = None,
    alt: str | None = None,
) -> Picture:
    """Pieces of a text as tiles in a row, each with its id below; pieces that continue a word (`##…`) keep its color.

    With `groups`, a name for each piece such as its token type, the colors tell groups apart in place of words.

    Raises ValueError without pieces, or when the number of ids or of groups differs.
    """
    words = [str(piece) for piece in pieces]
    if not words:
        raise ValueError("there are no pieces to draw")
    below = check_labels(ids, len(words), "ids") if ids is not None else [""] * len(words)
    grouped = check_labels(groups, len(words), "groups") if groups is not None else None
    widths = [max(len(word), len(number), 2) + 2.2 for word, number in zip(words, below, strict=True)]
    places: list[tuple[int, float]] = []
    line, x = 0, 0.0
    for width in widths:
        if x and x + width > LINE:
            line, x = line + 1, 0.0
        places.append((line, x))
        x += width + 0.6
    step = 2.6 if ids is not None else 1.7
    picture = figure(7.4, 0.25 * step * (line + 1) + (0.5 if title else 0.15))
    ax = picture.subplots()
    colors: list[str] = []
    if grouped is not None:
        names = list(dict.fromkeys(grouped))
        colors = [COLORS[names.index(name) % len(COLORS)] for name in grouped]
    else:
        place = -1
        for word in words:
            place += 0 if word.startswith("##") and place >= 0 else 1
            special = word.startswith("[") and word.endswith("]")
            colors.append(MUTED if special else COLORS[place % len(COLORS)])
    for word, number, width, (row, left), color in zip(words, below, widths, places, colors, strict=True):
        _tile(ax, word, left, row * step, width, color)
        ax.text(left + width / 2, row * step + 1.85, number, ha="center", va="center", color=MUTED, fontsize=9)
    ax.set(xlim=(-0.4, LINE + 1), ylim=((line + 1) * step - 0.2, -0.3))
    ax.axis("off")
    ax.set_title(title_lines(title, 7.4))
    numbered = [f"{w} ({n})" if n else w for w, n in zip(words, below, strict=True)]
    if grouped is not None:
        sorts = dict.fromkeys(grouped)
        listed = (", ".join(w for w, one in zip(numbered, grouped, strict=True) if one == sort) for sort in sorts)
        numbered = [f"{sort}: {them};" for sort, them in zip(sorts, listed, strict=True)]
    what = "pieces" if ids is None else "pieces with their ids"
    joint = " " if grouped is not None else ", "
    picture.alt = alt or f"{len(words)} {what}{quoted(title)}: {joint.join(numbered).rstrip(';')}."
    return picture


@styled
def merge_steps(
    word: str,
    steps: Sequence[Sequence[str]],
    title: str = "",
    *,
    numbers: Sequence[int] | None = None,
    alt: str | None = None,
) -> Picture:
    """How merges build a word: one line of tiles per step, from characters to pieces.

    Args:
        word: the word; `steps`: its pieces at the start and after each merge that touches it, each a list that spells
            the same text.
        numbers: one per step, where that merge stands in the list of all merges; None counts the steps.

    Raises ValueError if a step spells something else than the first, or if there is not a number for each step.
    """
    if not steps:
        raise ValueError("there are no steps to draw")
    spelled = ["".join(step) for step in steps]
    for number, text in enumerate(spelled):
        if text != spelled[0]:
            raise ValueError(f"step {number} spells “{text}”, but step 0 spells “{spelled[0]}”")
    if numbers is not None and len(numbers) != len(steps):
        raise ValueError(f"{len(numbers)} numbers for {len(steps)} steps")
    names = [f"merge {number}" for number in (numbers or range(len(steps)))]
    names[0] = "start"
    wide = 9.0 + 1.9 * len(spelled[0])
    picture = figure(max(2.6, 7.4 * wide / LINE), 0.42 * len(steps) + (0.55 if title else 0.2))
    ax = picture.subplots()
    before: list[str] = []
    for number, step in enumerate(steps):
        x = 9.0
        ax.text(0, number * 1.7 + 0.6, names[number], va="center", color=MUTED, fontsize=9)
        for piece in step:
            width = 1.9 * len(piece)
            new = number > 0 and piece not in before
            _tile(ax, piece, x, number * 1.7, width - 0.35, COLORS[1] if new else COLORS[0])
            x += width
        before = list(step)
    ax.set(xlim=(-0.4, max(wide, LINE * 2.6 / 7.4)), ylim=(len(steps) * 1.7 - 0.2, -0.3))
    ax.axis("off")
    ax.set_title(title_lines(title, 7.4))
    picture.alt = (
        alt
        or f"How merges build “{word}”: "
        + "; ".join(
            f"{name if name == 'start' else f'after {name}'}: {' · '.join(step)}"
            for name, step in zip(names, steps, strict=True)
        )
        + "."
    )
    return picture


@styled
def head_split(
    num_heads: int, head_dim: int, tokens: Sequence[Any], title: str = "", *, alt: str | None = None
) -> Picture:
    """Where each number goes when (T, D) becomes (H, T, K): columns of one color form one head.

    Each cell carries its column number d = head · K + k, so that one sees that a head takes neighboring columns of
    every token. Raises ValueError when it is too large to read (more than 16 columns or 8 tokens).
    """
    width, count = num_heads * head_dim, len(tokens)
    if not 0 < width <= 16 or not 0 < count <= 8:
        raise ValueError(f"{count} tokens × {width} columns does not fit; at most 8 × 16")
    picture = figure(8.6, 0.34 * count + 1.5)
    whole, parted = picture.subplots(1, 2, width_ratios=[width, width + 0.8 * (num_heads - 1)])
    for ax, gap, name in (
        (whole, 0.0, f"(T, D) = ({count}, {width})"),
        (parted, 0.8, f"(H, T, K) = ({num_heads}, {count}, {head_dim})"),
    ):
        for t, token in enumerate(tokens):
            for d in range(width):
                head = d // head_dim
                x = d + gap * head
                ax.add_patch(
                    FancyBboxPatch(
                        (x + 0.06, t + 0.06),
                        0.88,
                        0.88,
                        boxstyle="round,pad=0,rounding_size=0.12",
                        facecolor=COLORS[head % len(COLORS)],
                        edgecolor="none",
                    )
                )
                ax.text(x + 0.5, t + 0.5, str(d), ha="center", va="center", fontsize=7.5, color="white")
            if ax is whole:
                ax.text(-0.25, t + 0.5, str(token), ha="right", va="center", fontsize=9)
        for head in range(num_heads if gap else 0):
            ax.text(
                head * (head_dim + gap) + head_dim / 2,
                count + 0.55,
                f"head {head}",
                ha="center",
                va="center",
                fontsize=9,
                color=COLORS[head % len(COLORS)],
                weight="bold",
            )
        ax.set(xlim=(-0.2, width + gap * (num_heads - 1) + 0.2), ylim=(count + 1.0, -0.1), aspect="equal")
        ax.set_title(name, fontsize=10)
        ax.axis("off")
    if title:
        picture.suptitle(title_lines(title, 8.6), x=0.01, ha="left", fontsize=11, weight="bold")
    picture.alt = alt or (
        f"A table of {count} tokens by {width} columns is cut into {num_heads} heads of {head_dim} columns: "
        + "; ".join(
            f"head {h} takes columns {h * head_dim} to {(h + 1) * head_dim - 1} of every token"
            for h in range(num_heads)
        )
        + "."
    )
    return picture


def _tile(ax: Axes, text: str, x: float, y: float, width: float, color: str) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            1.2,
            boxstyle="round,pad=0,rounding_size=0.25",
            facecolor=color + "1c",
            edgecolor=color,
            linewidth=1.2,
        )
    )
    ax.text(x + width / 2, y + 0.62, text, ha="center", va="center", color=INK, fontsize=10, family="DejaVu Sans Mono")
