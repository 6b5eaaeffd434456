"""What joins an encoder and a decoder: cross-attention between two short sentences, and a layer of the decoder."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from anatomy.course.views.drawing import CENTERED, arrow, box
from anatomy.course.views.style import COLORS, INK, MUTED, Picture, figure, styled

BLUE, ORANGE, GREEN = COLORS[:3]
MOST = 5


@styled
def cross_attention_table(
    target: Sequence[str], source: Sequence[str], weights: Sequence[Sequence[float]], width: int, head_width: int
) -> Picture:
    """One head of cross-attention: T queries from the decoder are rows, S keys and values from the encoder columns.

    `weights` are T rows of S numbers. Shapes stand beside the arrows, without the batch. Raises ValueError where they
    don't fit, and for more than 5 tokens on one side.
    """
    rows, columns = len(target), len(source)
    if [len(row) for row in weights] != [columns] * rows or not 0 < max(rows, columns) <= MOST:
        raise ValueError(f"{rows} × {columns} weights are needed, for 1 to {MOST} tokens on each side")
    picture = figure(7.0, 4.2)
    ax = picture.subplots()
    cell, left, bottom = 1.0, 4.6, 0.6
    right, top = left + columns * cell, bottom + rows * cell
    middle = (bottom + top) / 2
    # from the decoder: queries
    box(ax, 0.0, middle - 0.55, 1.5, 1.1, "x\nof the decoder", BLUE, size=8)
    arrow(ax, (1.5, middle), (2.2, middle), "", BLUE)
    ax.text(1.8, middle + 0.22, "q", color=BLUE, fontsize=8.5, weight="bold", **CENTERED)
    ax.text(1.85, middle - 0.25, f"({rows}, {width})", color=MUTED, fontsize=8, **CENTERED)
    box(ax, 2.2, middle - 0.45, 0.9, 0.9, "Q", BLUE)
    ax.text(2.65, middle - 0.7, f"({rows}, {head_width})", color=MUTED, fontsize=8, **CENTERED)
    # from the encoder: keys and values
    high = top + 2.9
    center = (left + right) / 2
    box(ax, center - 0.95, high, 1.9, 0.8, "memory\nof the encoder", ORANGE, size=8)
    arrow(ax, (center, high), (center, top + 1.75), "", ORANGE)
    ax.text(
        center - 0.15, (high + top + 1.75) / 2, "k", color=ORANGE, fontsize=8.5, weight="bold", ha="right", va="center"
    )
    ax.text(center + 0.12, (high + top + 1.75) / 2, f"({columns}, {width})", color=MUTED, fontsize=8, va="center")
    box(ax, center - 0.45, top + 1.05, 0.9, 0.7, "K", ORANGE)
    ax.text(center + 0.55, top + 1.4, f"({columns}, {head_width})", color=MUTED, fontsize=8, va="center")
    far = right + 2.3
    ax.plot([center + 0.95, far], [high + 0.4, high + 0.4], color=ORANGE, lw=1.2)
    arrow(ax, (far, high + 0.4), (far, top + 1.75), "", ORANGE)
    ax.text(
        far - 0.15, (high + top + 1.75) / 2, "v", color=ORANGE, fontsize=8.5, weight="bold", ha="right", va="center"
    )
    ax.text(far + 0.12, (high + top + 1.75) / 2, f"({columns}, {width})", color=MUTED, fontsize=8, va="center")
    box(ax, far - 0.45, top + 1.05, 0.9, 0.7, "V", ORANGE)
    ax.text(far + 0.55, top + 1.4, f"({columns}, {head_width})", color=MUTED, fontsize=8, va="center")
    _table(ax, target, source, weights, left, top, cell)
    ax.text(
        center, bottom - 0.3, f"softmax(QKᵀ/√{head_width})   ({rows}, {columns})", color=INK, fontsize=8.5, **CENTERED
    )
    # the result
    arrow(ax, (right + 0.15, middle), (far - 0.85, middle), "", MUTED)
    ax.text((right + far - 0.7) / 2, middle + 0.25, "· V", color=INK, fontsize=9, **CENTERED)
    arrow(ax, (far, top + 1.05), (far, top + 0.05), "", ORANGE)
    box(
        ax,
        far - 0.8,
        bottom,
        1.6,
        rows * cell,
        f"a mixture\nof values for\neach query\n\n({rows}, {head_width})",
        GREEN,
        size=8,
    )
    ax.set(xlim=(-0.1, far + 1.5), ylim=(bottom - 0.6, high + 1.0))
    ax.axis("off")
    said = "; ".join(
        f"{query} gives " + " and ".join(f"{weight:.1f} to {key}" for key, weight in zip(source, row, strict=True))
        for query, row in zip(target, weights, strict=True)
    )
    picture.alt = (
        f"One head of cross-attention. From the left come the decoder's vectors, ({rows}, {width}); the layer q makes "
        f"queries Q of them, ({rows}, {head_width}), one for each row of a table: {', '.join(target)}. From above "
        f"comes the encoder's memory, ({columns}, {width}); the layer k makes keys K of it, one for each column: "
        f"{', '.join(source)}; the layer v makes values V. The table has {rows} × {columns} weights; each row sums to "
        f"1: {said}. Weights times V give a mixture of values for each query, ({rows}, {head_width})."
    )
    return picture


def _table(
    ax: Axes, target: Sequence[str], source: Sequence[str], weights: Sequence[Sequence[float]], left: float, top: float,
    cell: float,
) -> None:  # fmt: skip
    for row, (token, shares) in enumerate(zip(target, weights, strict=True)):
        y = top - (row + 0.5) * cell
        ax.text(left - 0.12, y, token, ha="right", va="center", fontsize=9, color=BLUE)
        for column, share in enumerate(shares):
            corner = (left + column * cell, top - (row + 1) * cell)
            ax.add_patch(Rectangle(corner, cell, cell, facecolor=(*_rgb(GREEN), share * 0.6), edgecolor=MUTED, lw=0.8))
            ax.text(corner[0] + cell / 2, y, f"{share:.1f}", color=INK, fontsize=9, **CENTERED)
    for column, token in enumerate(source):
        x = left + (column + 0.5) * cell
        ax.text(x, top + 0.22, token, fontsize=9, color=ORANGE, **CENTERED)
        arrow(ax, (left + len(source) * cell / 2, top + 1.05), (x, top + 0.45), "", ORANGE)
    for row in range(len(target)):
        arrow(ax, (3.1, top - len(target) * cell / 2), (3.55, top - (row + 0.5) * cell), "", BLUE)


def _rgb(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


@styled
def decoder_layer(length: int, source_length: int, width: int, inner: int) -> Picture:
    """A post-norm layer of the decoder, read from below: three sublayers, each added to the stream and normed.

    Shapes stand beside the arrows, without the batch: T = `length`, S = `source_length`, D = `width`.
    """
    picture = figure(7.6, 6.4)
    ax = picture.subplots()
    stream, side, shape = 1.4, 5.0, f"({length}, {width})"
    parts = (
        ("1. self-attention", f"queries, keys, values from x\nmask ({length}, {length}): nothing later, no padding"),
        (
            "2. cross-attention",
            f"queries from x, keys and values from memory\nmask ({length}, {source_length}): no padding",
        ),
        ("3. feed-forward network", f"each token by itself: {width} → {inner} → {width}"),
    )
    step, first = 4.0, 0.9
    starts = [0.4, *(first + number * step + 3.3 for number in range(3))]
    ends = [*(first + number * step + 2.7 for number in range(3)), first + 3 * step - 0.2]
    for low, high in zip(starts, ends, strict=True):  # the norms interrupt it
        ax.plot([stream, stream], [low, high], color=BLUE, lw=3, zorder=1, solid_capstyle="butt")
    arrow(ax, (stream, first + 3 * step - 0.3), (stream, first + 3 * step + 0.3), "", BLUE)
    ax.text(stream, 0.1, f"x {shape}", color=BLUE, weight="bold", fontsize=9, **CENTERED)
    ax.text(stream, first + 3 * step + 0.6, f"to the next layer {shape}", color=BLUE, fontsize=9, **CENTERED)
    for number, (name, said) in enumerate(parts):
        low = first + number * step
        ax.plot([stream, side, side], [low, low, low + 0.3], color=MUTED, lw=1.2)
        arrow(ax, (side, low + 0.2), (side, low + 0.5), "")
        box(ax, 2.7, low + 0.5, 4.6, 1.3, "", ORANGE if number == 1 else GREEN)
        ax.text(2.9, low + 1.5, name, color=INK, fontsize=9, weight="bold", va="center")
        ax.text(2.9, low + 0.93, said, color=INK, fontsize=8, va="center", linespacing=1.3)
        ax.plot([side, side], [low + 1.8, low + 2.2], color=MUTED, lw=1.2)
        arrow(ax, (side, low + 2.2), (stream + 0.25, low + 2.2), "")
        ax.text((side + stream) / 2 + 0.2, low + 2.42, f"dropout   {shape}", fontsize=8, color=MUTED, **CENTERED)
        ax.plot([stream], [low + 2.2], "o", color=BLUE, markersize=15, zorder=2)
        ax.text(stream, low + 2.2, "+", color="white", weight="bold", fontsize=11, zorder=3, **CENTERED)
        box(ax, stream - 1.1, low + 2.7, 2.2, 0.6, f"layer_norm_{number + 1}", GREEN)
    low = first + step
    box(ax, 8.3, low + 0.65, 1.7, 1.0, f"memory\n({source_length}, {width})", ORANGE, size=8.5)
    arrow(ax, (8.3, low + 1.15), (7.3, low + 1.15), "", ORANGE)
    ax.set(xlim=(0.0, 10.1), ylim=(-0.3, first + 3 * step + 0.9))
    ax.axis("off")
    picture.alt = (
        f"A layer of the decoder, read from below. The stream x, {shape}, goes straight up. Three times a sublayer "
        "reads it, dropout is applied to what comes out, a plus adds it to the stream, a norm on the stream follows. "
        f"First self-attention, with a mask ({length}, {length}), then layer_norm_1. Second cross-attention, whose "
        f"keys and values come from the memory, ({source_length}, {width}), at the side, with a mask ({length}, "
        f"{source_length}), then layer_norm_2. Third the feed-forward network, {width} to {inner} to {width} for each "
        "token by itself, then layer_norm_3. The shape stays the same all the way."
    )
    return picture
