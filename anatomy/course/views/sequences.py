"""Sequences below each other, token under token, and the ways that a search has tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch

from anatomy.course.views.inputs import check_labels
from anatomy.course.views.style import COLORS, INK, MUTED, Picture, figure, styled
from anatomy.course.views.words import number, quoted, title_lines

MOST_PLACES = 32


@styled
def sequence_rows(
    rows: Mapping[str, Sequence[str]],
    title: str = "",
    *,
    arrows: Sequence[tuple[str, str, int]] = (),
    groups: Mapping[str, Sequence[str]] | None = None,
    kinds: Sequence[str] = (),
    alt: str | None = None,
) -> Picture:
    """Named sequences below each other, place under place, each token in its tile.

    Args:
        rows: name → tokens; lengths may differ. Tokens in ⟨angle brackets⟩ are special and gray, empty ones a gap.
        arrows: (from row, to row, shift): an arrow from each place t of one row to place t + shift of another, where
            there is one.
        groups: row → a name for each of its tokens, such as what has become of it. Colors then tell these apart in
            place of rows, and a legend names them; tokens of the group "", and rows without groups, are gray.
        kinds: groups in the order in which they take the colors, so that several pictures agree; others follow.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: nothing to draw, more than 32 places, an arrow from or to a row that is not there, or groups that
            don't fit the rows.
    """
    longest = max((len(tokens) for tokens in rows.values()), default=0)
    if not 0 < longest <= MOST_PLACES:
        raise ValueError(f"a row has 1 to {MOST_PLACES} tokens; the longest here has {longest}")
    for first, second, _ in arrows:
        if not {first, second} <= set(rows):
            raise ValueError(f"an arrow from {first!r} to {second!r}, but the rows are {', '.join(rows)}")
    for name, given in (groups or {}).items():
        check_labels(given, len(rows.get(name, ())), f"groups of {name!r}")
    names = list(rows)
    sorts = {name: (groups or {}).get(name, [""] * len(tokens)) for name, tokens in rows.items()}
    found = list(dict.fromkeys(kind for row in sorts.values() for kind in row if kind))
    tints = dict(zip(dict.fromkeys([*kinds, *found]), cycle(COLORS)))
    wide = max(len(token) for tokens in rows.values() for token in tokens)
    tile, step = max(1.0, 0.34 * wide + 0.4), 1.9
    margin = 0.32 * max(len(name) for name in names) + 0.6
    height = step * len(names)
    scale = min(0.36, 8.6 / (tile * longest + margin))
    small = 9.0 if wide <= 8 else min(9.0, 72 * scale * (tile - 0.5) / (0.56 * wide))  # long tokens must fit, too
    room = 0.4 + (0.3 if title else 0) + (0.3 if found else 0)
    picture = figure(scale * (tile * longest + margin), scale * height + room)
    ax = picture.subplots()
    for row, (name, tokens) in enumerate(rows.items()):
        color = COLORS[row % len(COLORS)] if groups is None else MUTED
        ax.text(-0.4, row * step + 0.5, name, ha="right", va="center", color=color, weight="bold", fontsize=9)
        for place, (token, kind) in enumerate(zip(tokens, sorts[name], strict=True)):
            if not token:
                continue
            tint = tints.get(kind, MUTED if token.startswith("⟨") else color)
            _tile(ax, place * tile, row * step, tile, token, tint, small)
    if found:
        patches = [Patch(fc=tint + "1c", ec=tint, label=kind) for kind, tint in tints.items() if kind in found]
        picture.legend(handles=patches, loc="outside lower left", ncols=len(patches), fontsize=9, handlelength=1.2)
    for first, second, shift in arrows:
        top, bottom = names.index(first), names.index(second)
        for place in range(len(rows[first])):
            if 0 <= place + shift < len(rows[second]):
                down = bottom > top
                ax.annotate(
                    "",
                    ((place + shift + 0.5) * tile, bottom * step + (-0.05 if down else 1.05)),
                    ((place + 0.5) * tile, top * step + (1.05 if down else -0.05)),
                    arrowprops={"arrowstyle": "->", "color": MUTED, "lw": 1.1, "shrinkA": 0, "shrinkB": 0},
                )
    ax.set(xlim=(-margin, tile * longest + 0.2), ylim=(height - step + 1.25, -0.25))
    ax.axis("off")
    ax.set_title(title_lines(title, scale * (tile * longest + margin)))
    said = {
        name: " ".join(_said(token, kind) for token, kind in zip(tokens, sorts[name], strict=True) if token)
        for name, tokens in rows.items()
    }
    words = "; ".join(f"{name}: {text}" for name, text in said.items())
    pointing = "".join(
        f" Arrows from each place of “{first}” to "
        + (f"the same place of “{second}”." if not shift else f"the place {shift:+d} of “{second}”.")
        for first, second, shift in arrows
    )
    picture.alt = alt or f"Sequences below each other{quoted(title)}: {words}.{pointing}"
    return picture


def _said(token: str, kind: str) -> str:
    return ("␣" if token == " " else token) + (f" ({kind})" if kind else "")


def _tile(ax: Axes, x: float, y: float, width: float, token: str, color: str, size: float = 9.0) -> None:
    shape = "round,pad=0,rounding_size=0.15"
    box = FancyBboxPatch((x + 0.06, y), width - 0.12, 1.0, boxstyle=shape, facecolor=color + "1c", edgecolor=color)
    ax.add_patch(box)
    shown = "␣" if token == " " else token
    ax.text(x + width / 2, y + 0.52, shown, ha="center", va="center", color=INK, fontsize=size)


@styled
def search_tree(
    chances: Mapping[tuple[str, ...], float],
    title: str = "",
    *,
    lit: Mapping[str, Sequence[str]] | None = None,
    root: str = "⟨start⟩",
    alt: str | None = None,
) -> Picture:
    """What can be written, as a tree that grows to the right: each token with its probability after its beginning.

    Args:
        chances: beginning, last token included → probability of that last token after the others. Every beginning of a
            beginning is there, too.
        lit: name → a path to color, such as the one that greedy search takes.
        root: what stands at the left.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: nothing to draw, a path without its beginning, or a lit path that is not in the tree.
    """
    lit = {name: tuple(path) for name, path in (lit or {}).items()}
    if not chances:
        raise ValueError("there is nothing to draw: give beginning → probability")
    for path in (*chances, *lit.values()):
        if missing := [path[:n] for n in range(1, len(path) + 1) if path[:n] not in chances]:
            raise ValueError(f"{missing[0]} is not in the tree, but {path} goes through it")
    leaves = [path for path in chances if not any(other[:-1] == path for other in chances)]
    ordered = sorted(leaves, key=lambda path: [list(chances).index(path[:n]) for n in range(1, len(path) + 1)])
    height = {path: float(row) for row, path in enumerate(ordered)}
    for path in sorted([(), *chances], key=len, reverse=True):
        if below := [height[one] for one in chances if one[:-1] == path]:
            height[path] = (min(below) + max(below)) / 2
    deep = max(map(len, chances))
    picture = figure(1.5 * (deep + 1) + 1.5, 0.5 * len(leaves) + 0.9)
    ax = picture.subplots()
    totals = {path: _product(chances, path) for path in ordered}
    for path, chance in chances.items():
        inside = [place for place, one in enumerate(lit.values()) if one[: len(path)] == path]
        color = COLORS[inside[0] % len(COLORS)] if inside else MUTED
        x, y, up = len(path), height[path], height[path[:-1]]
        ax.plot([x - 0.65, x - 0.3], [up, y], color=color, lw=2.4 if inside else 1.0, zorder=1)
        paper = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
        half = up + 0.6 * (y - up)  # nearer to the child, where lines are apart
        ax.text(x - 0.44, half, number(chance), ha="center", va="center", bbox=paper, fontsize=8.5, color=color)
        weight = "bold" if inside else "normal"
        ax.text(x, y, path[-1], ha="center", va="center", color=color if inside else INK, weight=weight)
    ax.text(0, height[()], root, ha="center", va="center", color=MUTED)
    for path, total in totals.items():
        names = [name for name, one in lit.items() if one == path]
        text = f"{number(total)}" + (f"   {', '.join(names)}" if names else "")
        color = COLORS[list(lit).index(names[0]) % len(COLORS)] if names else MUTED
        ax.text(len(path) + 0.4, height[path], text, va="center", color=color, weight="bold" if names else "normal")
    ax.set(xlim=(-0.45, deep + 1.4), ylim=(len(leaves) - 0.4, -0.75))
    ax.axis("off")
    ax.set_title(title_lines(title, 1.5 * (deep + 1) + 1.0))
    said = {path: name for name, path in lit.items()}
    parts = (
        f"{' '.join(path)}: {' × '.join(number(chances[path[:n]]) for n in range(1, len(path) + 1))}"
        f" = {number(total)}" + (f" ({said[path]})" if path in said else "")
        for path, total in totals.items()
    )
    picture.alt = alt or f"A tree{quoted(title)} of what can be written, each way with its probability: " + "; ".join(
        parts
    )
    return picture


def _product(chances: Mapping[tuple[str, ...], float], path: tuple[str, ...]) -> float:
    result = 1.0
    for length in range(1, len(path) + 1):
        result *= chances[path[:length]]
    return result
