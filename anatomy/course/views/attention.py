"""Attention weights as lines between tokens, and all heads of a layer at a glance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor

from anatomy.course.views.heatmap import color_scale
from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import COLORS, HAIRLINE, INK, MUTED, Picture, figure, styled
from anatomy.course.views.words import number, quoted, title_lines

PANELS = 5.7  # inches across, for all heads in one line
LEAST_CELL = 0.08  # inches, where cells have labels
MOST_LABELS = 24


@styled
def attention_flow(
    weights: Float[Tensor, "T S"],
    tokens: Sequence[Any],
    key_tokens: Sequence[Any] | None = None,
    title: str = "",
    *,
    focus: int | None = None,
    alt: str | None = None,
) -> Picture:
    """Who looks at whom in one head: queries left, keys right, a line as strong as its weight.

    Args:
        weights: (T, S), non-negative; row t says how query t spreads its attention.
        tokens: T labels for the queries; `key_tokens`: S labels for the keys, None for the same tokens.
        focus: number of one query to light; all others are muted.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: not a (T, S) matrix, negative or non-finite weights, labels that don't fit, no such query.
    """
    array = as_array(weights, "weights", 2)
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError("weights must be finite and ≥ 0: pass the weights after the softmax, not the scores")
    queries = check_labels(tokens, array.shape[0], "tokens")
    keys = check_labels(tokens if key_tokens is None else key_tokens, array.shape[1], "key_tokens")
    if focus is not None and not 0 <= focus < len(queries):
        raise ValueError(f"focus={focus}: there are queries 0 to {len(queries) - 1}")
    tall = max(len(queries), len(keys))
    picture = figure(5.6, 0.36 * tall + 1.0)
    ax = picture.subplots()
    top = float(array.max()) or 1.0
    left_y, right_y = _spread(len(queries), tall), _spread(len(keys), tall)
    ease = np.linspace(0, 1, 40)
    bend = ease**2 * (3 - 2 * ease)
    for t in range(len(queries)):
        for s in range(len(keys)):
            strength = float(array[t, s]) / top
            if strength < 0.02:
                continue
            lit = focus is None or t == focus
            ax.plot(
                ease,
                left_y[t] + (right_y[s] - left_y[t]) * bend,
                color=_color(t) if lit else HAIRLINE,
                alpha=0.15 + 0.8 * strength if lit else 0.5 * strength,
                lw=0.5 + 4.5 * strength,
                solid_capstyle="butt",
                zorder=2 if lit else 1,
            )
    for t, label in enumerate(queries):
        lit = focus is None or t == focus
        ax.text(
            -0.03,
            left_y[t],
            label,
            ha="right",
            va="center",
            color=_color(t) if lit else MUTED,
            weight="bold" if lit else "normal",
        )
    for s, label in enumerate(keys):
        ax.text(1.03, right_y[s], label, ha="left", va="center", color=INK)
        if focus is not None:
            ax.text(1.5, right_y[s], f"{array[focus, s]:.2f}", ha="right", va="center", color=MUTED, fontsize=9)
    ax.text(-0.03, -0.95, "query", ha="right", color=MUTED, fontsize=9)
    ax.text(1.03, -0.95, "key", ha="left", color=MUTED, fontsize=9)
    ax.set(xlim=(-0.5, 1.55), ylim=(tall - 0.4, -1.35))
    ax.axis("off")
    ax.set_title(title_lines(title, 5.6))
    picture.alt = alt or _flow_words(array, queries, keys, title, focus)
    return picture


@styled
def head_grid(
    attentions: Float[Tensor, "H T S"],
    tokens: Sequence[Any],
    title: str = "",
    *,
    columns: int = 4,
    key_tokens: Sequence[Any] | None = None,
    alt: str | None = None,
) -> Picture:
    """All heads of one layer: a small heat map each, queries down, keys across, on one color scale.

    Args:
        attentions: (H, T, S), or (1, H, T, S) as the library returns it for one sentence.
        tokens: T labels (queries); with T = S they label the keys too, unless there are `key_tokens`: S labels.
        columns: how many heads stand in one line at most; fewer where labels need the room.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: other shapes, or labels that don't fit.
    """
    array = as_array(attentions, "attentions")
    if array.ndim == 4 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 3:
        raise ValueError(f"attentions must be (H, T, S) for one sentence, but has shape {tuple(array.shape)}")
    heads, queries, keys = array.shape
    labels = check_labels(tokens, queries, "tokens")
    below = labels if key_tokens is None and keys == queries else check_labels(key_tokens, keys, "key_tokens")
    low, high, colors = color_scale([array], (0.0, 1.0) if array.max() <= 1.001 and array.min() >= 0 else None)
    lines, columns, cell = _grid(heads, queries, keys, columns)
    picture = figure(7.6, lines * (queries * cell + 0.21) + 0.9)
    axes = picture.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    turn = 90 if max(map(len, below)) > 1 else 0
    mesh: Any = None
    for index, ax in enumerate(axes.flat):
        if index >= heads:
            ax.set_visible(False)
            continue
        mesh = ax.pcolormesh(array[index], cmap=colors, vmin=low, vmax=high)
        ax.set_aspect("equal")
        ax.tick_params(length=0, labelsize=min(7.5, 75 * cell))
        for spine in ax.spines.values():
            spine.set(visible=True, color=HAIRLINE)
        ax.set_title(f"head {index}", fontsize=9, weight="normal", pad=4)
        ax.set_yticks(np.arange(queries) + 0.5, labels if queries <= MOST_LABELS else [""] * queries)
        ax.set_xticks(np.arange(keys) + 0.5, below if keys <= MOST_LABELS else [""] * keys, rotation=turn)
    axes[0, 0].invert_yaxis()
    for index in range(heads):  # the last head of each column carries the labels
        axes.flat[index].tick_params(labelbottom=index + columns >= heads)
    picture.supxlabel("key", fontsize=9, color=MUTED)
    picture.supylabel("query", fontsize=9, color=MUTED)
    bar = picture.colorbar(mesh, ax=axes, shrink=0.5, aspect=24, pad=0.02)
    bar.outline.set(edgecolor=HAIRLINE, linewidth=0.8)
    if title:
        picture.suptitle(title, x=0.01, ha="left", fontsize=11, weight="bold")
    picture.alt = alt or _grid_words(array, labels, below, title)
    return picture


def _grid(heads: int, queries: int, keys: int, most: int) -> tuple[int, int, float]:
    """How many lines and columns heads stand in, and how large their cells are: as large as their labels need."""
    if keys <= MOST_LABELS:
        most = min(most, int(PANELS / (LEAST_CELL * keys)))
    lines = math.ceil(heads / max(1, min(most, heads)))
    columns = math.ceil(heads / lines)
    cell = PANELS / columns / max(queries, keys)
    return lines, columns, max(cell, LEAST_CELL) if queries <= MOST_LABELS else cell


def _color(index: int) -> str:
    return COLORS[index % len(COLORS)]


def _spread(count: int, tall: int) -> np.ndarray:
    """Heights of `count` words, centred in `tall` lines."""
    return np.arange(count) + (tall - count) / 2


def _flow_words(array: np.ndarray, queries: list[str], keys: list[str], title: str, focus: int | None) -> str:
    chosen = range(len(queries)) if focus is None else [focus]
    parts = []
    for t in list(chosen)[:12]:
        order = np.argsort(-array[t], kind="stable")[:2]
        parts.append(f"{queries[t]} looks at " + " and ".join(f"{keys[s]} ({number(array[t, s])})" for s in order))
    return f"Lines from queries to keys{quoted(title)}; strongest first: " + "; ".join(parts) + "."


def _grid_words(array: np.ndarray, queries: list[str], keys: list[str], title: str) -> str:
    parts = []
    for index, weights in enumerate(array):  # (T, S)
        total = float(weights.sum()) or 1.0
        if keys is queries:
            shares = {
                "each token itself": float(np.trace(weights)) / total,
                "the token before": float(np.trace(weights, -1)) / total,
                "the token after": float(np.trace(weights, 1)) / total,
            }
            shares |= {f"{n} tokens before": float(np.trace(weights, -n)) / total for n in range(2, len(keys))}
            ends = (0, len(keys) - 1)
            shares |= {f"“{keys[s]}”": float(weights[:, s].sum()) / total for s in ends}
        else:
            shares = {f"“{key}”": float(weights[:, s].sum()) / total for s, key in enumerate(keys)}
        best = max(shares, key=lambda name: shares[name])
        parts.append(
            f"head {index} mostly {best} ({shares[best]:.0%})" if shares[best] > 0.35 else f"head {index} spread out"
        )
    return f"Grid of {len(array)} heat maps{quoted(title)}, one per head: " + "; ".join(parts) + "."
