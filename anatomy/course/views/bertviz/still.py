"""The views without scripts: all heads of all layers as one picture, and as a table that says what each head does."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from anatomy.course.views.bertviz.parts import Part
from anatomy.course.views.heatmap import color_scale
from anatomy.course.views.style import HAIRLINE, MUTED, Picture, figure, styled
from anatomy.engine.cards.markup import scrolling

MAIN_SHARE = 0.35  # of a head's weight, to be called what the head does
MOST_ROWS = 30


def table(part: Part, layers: Sequence[int] | None = None, heads: Sequence[int] | None = None) -> str:
    """Where most of each head's weight goes, over all queries. `layers` and `heads` are their numbers, None for all."""
    depth, count = part.weights.shape[:2]
    columns = "".join(f'<th scope="col">layer {layer}</th>' for layer in layers or range(depth))
    rows = "\n".join(
        f'<tr><th scope="row">head {name}</th>'
        + "".join(f"<td>{html.escape(_habit(part, layer, head))}</td>" for layer in range(depth))
        + "</tr>"
        for head, name in enumerate(heads or range(count))
    )
    of = f"{part.name}: where" if part.name else "Where"
    shown = (
        '<table style="font-size:85%">\n'
        f"<caption>{of} most of each head's weight goes, as a share of all its weight "
        f"(“spread”: no place gets more than {MAIN_SHARE:.0%})</caption>\n"
        f"<thead><tr><td></td>{columns}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    )
    return scrolling(shown, "Table: what each head does")


def strongest(part: Part, layer: int, heads: Sequence[int]) -> str:
    """The key that each query looks at most, with its weight, in these heads of a layer; "" for a long sequence."""
    if len(part.queries) > MOST_ROWS:
        return ""
    weights = part.weights[layer]  # (H, T, S)
    columns = "".join(f'<th scope="col">head {head}</th>' for head in heads)
    rows = "\n".join(
        f'<tr><th scope="row">{html.escape(query)} ({t})</th>'
        + "".join(f"<td>{_strongest_key(weights[head, t], part.keys)}</td>" for head in heads)
        + "</tr>"
        for t, query in enumerate(part.queries)
    )
    where = f"{part.name}, layer {layer}" if part.name else f"Layer {layer}"
    caption = f"{where}: query → the key that it looks at most, with its weight"
    shown = (
        f'<table style="font-size:85%">\n<caption>{caption}</caption>\n'
        f'<thead><tr><th scope="col">query</th>{columns}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'
    )
    return scrolling(shown, "Table: the key that each query looks at most")


def _strongest_key(weights: Tensor, keys: Sequence[str]) -> str:  # (S,)
    place = int(weights.argmax())
    return f"{html.escape(keys[place])} ({place}) {weights[place]:.2f}"


def _habit(part: Part, layer: int, head: int) -> str:
    weights = part.weights[layer, head]  # (T, S)
    places = {f"{key} ({s})": weights[:, s] for s, key in enumerate(part.keys)}
    if part.queries is part.keys:
        places = {
            "itself": weights.diagonal(), "token before": weights.diagonal(-1), "token after": weights.diagonal(1),
            **{f"{n} tokens before": weights.diagonal(-n) for n in range(2, len(part.keys))},
        } | places  # fmt: skip
    shares = {place: float(found.sum()) / max(float(weights.sum()), 1e-9) for place, found in places.items()}
    best = max(shares, key=lambda place: shares[place])
    return f"{best} {shares[best]:.0%}" if shares[best] > MAIN_SHARE else "spread"


@styled
def mosaic(part: Part, layers: Sequence[int], heads: Sequence[int]) -> Picture:
    """Every head of every layer as a small heat map: layers below each other, heads side by side."""
    depth, count, rows, columns = part.weights.shape
    gap = max(1, round(0.12 * max(rows, columns)))
    tall, wide = rows + gap, columns + gap
    canvas = np.full((depth * tall - gap, count * wide - gap), np.nan)
    for layer in range(depth):
        for head in range(count):
            canvas[layer * tall : layer * tall + rows, head * wide : head * wide + columns] = part.weights[layer, head]
    low, high, colors = color_scale([canvas], (0.0, 1.0))
    each = min(1.1, 8.2 / count)  # inches across
    picture = figure(1.3 + each * count, 0.8 + each * depth * tall / wide)
    ax = picture.subplots()
    image = ax.imshow(
        np.ma.masked_invalid(canvas),
        cmap=colors.with_extremes(bad=HAIRLINE),
        vmin=low,
        vmax=high,
        aspect="equal",
        interpolation="nearest",
    )
    ax.set_xticks(np.arange(count) * wide + columns / 2 - 0.5, [str(head) for head in heads])
    ax.set_yticks(np.arange(depth) * tall + rows / 2 - 0.5, [str(layer) for layer in layers])
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("head", color=MUTED)
    ax.xaxis.set_label_position("top")
    ax.set_ylabel("layer", color=MUTED)
    picture.colorbar(image, ax=ax, shrink=0.6, aspect=24, pad=0.02).outline.set_visible(False)
    if part.name:
        picture.suptitle(part.name, x=0.01, ha="left", fontsize=11, weight="bold")
    picture.alt = _mosaic_words(part, layers, heads)
    return picture


def _mosaic_words(part: Part, layers: Sequence[int], heads: Sequence[int]) -> str:
    weights: Tensor = part.weights
    sharpest = (weights.amax(dim=-1).mean(dim=-1)).flatten()  # (L · H,): the largest weight of a query, on average
    order = torch.sort(sharpest, descending=True, stable=True).indices[:3].tolist()
    named = "; ".join(
        f"layer {layers[index // len(heads)]}, head {heads[index % len(heads)]} ({sharpest[index]:.2f})"
        for index in order
    )
    return (
        f"Grid of {weights.size(0)} by {weights.size(1)} small heat maps, layers down and heads across, each with its "
        f"queries down and its keys across: {part.described()}. Most pointed (largest weight of a query, averaged over "
        f"queries): {named}."
    )
