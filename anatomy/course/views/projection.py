"""Many-dimensional vectors on a page: the two directions in which they differ most."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import COLORS, HAIRLINE, INK, MUTED, Picture, figure, styled
from anatomy.course.views.words import quoted, title_lines

MARKERS = "osD^vP*X"


def project_2d(vectors: Float[Tensor, "N D"]) -> tuple[Float[Tensor, "N 2"], tuple[float, float]]:
    """Principal components: centre the vectors and keep the two directions of largest variance.

    Returns the coordinates (N, 2) and the share of the variance that each direction carries. Signs are fixed, so that
    the same vectors always give the same picture: in each direction the entry farthest from zero is positive.

    Raises ValueError with fewer than two vectors or fewer than two dimensions.
    """
    array = torch.from_numpy(as_array(vectors, "vectors", 2).copy())
    if min(array.shape) < 2:
        raise ValueError(f"a projection needs at least 2 vectors of at least 2 numbers, not shape {tuple(array.shape)}")
    centred = array - array.mean(0)
    left, strength, _ = torch.linalg.svd(centred, full_matrices=False)
    points = left[:, :2] * strength[:2]  # (N, 2)
    farthest = points.abs().argmax(0)
    points = points * torch.where(points[farthest, torch.arange(2)] < 0, -1.0, 1.0)
    total = float((strength**2).sum()) or 1.0
    return points.to(torch.float32), (float(strength[0] ** 2) / total, float(strength[1] ** 2) / total)


@styled
def projection(
    vectors: Float[Tensor, "N D"],
    labels: Sequence[Any],
    title: str = "",
    *,
    groups: Sequence[str] | None = None,
    alt: str | None = None,
) -> Picture:
    """Vectors (N, D) as labelled points in the plane of their two principal components.

    Args:
        labels: one word per vector; `groups`: one group name per vector (color and marker), or None.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: numbers that don't fit, or too few vectors.
    """
    points, (first, second) = project_2d(vectors)
    xy = points.numpy()
    names = check_labels(labels, len(xy), "labels")
    kinds = [""] * len(xy) if groups is None else check_labels(groups, len(xy), "groups")
    order = list(dict.fromkeys(kinds))
    picture = figure(7.0, 5.0)
    ax = picture.subplots()
    ax.axhline(0, color=HAIRLINE, lw=0.8)
    ax.axvline(0, color=HAIRLINE, lw=0.8)
    for place, kind in enumerate(order):
        mine = np.array([k == kind for k in kinds])
        ax.scatter(
            xy[mine, 0],
            xy[mine, 1],
            s=34,
            color=COLORS[place % len(COLORS)],
            marker=MARKERS[place % len(MARKERS)],
            label=kind,
            zorder=3,
            linewidth=0,
        )
    ax.set(xlabel=f"first principal component ({first:.0%} of the variance)", ylabel=f"second ({second:.0%})")
    ax.margins(0.12)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0, labelcolor=MUTED)
    ax.set_title(title_lines(title, 7.0))
    if groups is not None:
        picture.legend(loc="outside lower center", ncols=min(len(order), 6), fontsize=9, handletextpad=0.2)
    picture.draw_without_rendering()
    _place_labels(ax, xy, names)
    picture.alt = alt or _words(xy, names, kinds, order, title, first + second)
    return picture


def _place_labels(ax: Axes, xy: np.ndarray, names: Sequence[str]) -> None:
    """Write each word near its point where it covers least: right, left, above, below, then farther away."""
    renderer = ax.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    spots = ax.transData.transform(xy)  # pixels
    frame = ax.get_window_extent(renderer)
    point = ax.figure.dpi / 72
    taken = [(x - 4 * point, y - 4 * point, x + 4 * point, y + 4 * point) for x, y in spots]
    choices = [
        (dx * reach, dy * reach)
        for reach, (dx, dy) in itertools.product(
            (1.0, 1.8, 2.8, 4.0), ((1, 0), (-1, 0), (0.55, 1), (0.55, -1), (-0.55, 1), (-0.55, -1), (0, 1.1), (0, -1.1))
        )
    ]
    crowd = np.array([np.sum(np.hypot(*(spots - spot).T) < 60) for spot in spots])
    for index in np.argsort(-crowd, kind="stable"):  # the crowded ones choose first
        best: tuple[float, float, float, str, tuple[float, float, float, float]] | None = None
        text = ax.text(0, 0, names[index], fontsize=9)
        box = text.get_window_extent(renderer)
        text.remove()
        for rank, (dx, dy) in enumerate(choices):
            x, y = spots[index][0] + dx * 7 * point, spots[index][1] + dy * 9 * point
            side = "left" if dx > 0 else "right" if dx < 0 else "center"
            left = x if dx > 0 else x - box.width if dx < 0 else x - box.width / 2
            area = (left, y - box.height / 2, left + box.width, y + box.height / 2)
            cost = rank * 6 + sum(_overlap(area, other) for other in taken)
            outside = (
                max(0.0, frame.x0 - area[0])
                + max(0.0, area[2] - frame.x1)
                + max(0.0, frame.y0 - area[1])
                + max(0.0, area[3] - frame.y1)
            )
            if best is None or cost + 50 * outside < best[0]:
                best = (cost + 50 * outside, x, y, side, area)
        assert best is not None
        _, x, y, side, area = best
        taken.append(area)
        far = np.hypot(x - spots[index][0], y - spots[index][1]) > 14 * point
        shift = ((x - spots[index][0]) / point, (y - spots[index][1]) / point)
        ax.annotate(
            names[index],
            xy[index],
            xytext=shift,
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=9,
            color=INK,
            zorder=4,
            arrowprops={"arrowstyle": "-", "color": MUTED, "lw": 0.6} if far else None,
        )


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _words(
    xy: np.ndarray, names: Sequence[str], kinds: Sequence[str], order: Sequence[str], title: str, kept: float
) -> str:
    text = f"Scatter plot{quoted(title)}: {len(names)} vectors in the plane of their two principal components, "
    text += f"which carry {kept:.0%} of the variance."
    if len(order) > 1:
        text += (
            " Groups: "
            + "; ".join(
                f"{kind} ({', '.join(n for n, k in zip(names, kinds, strict=True) if k == kind)}) around "
                f"({xy[[k == kind for k in kinds], 0].mean():.1f}, {xy[[k == kind for k in kinds], 1].mean():.1f})"
                for kind in order
            )
            + "."
        )
        return text.replace("-", "−")
    gaps = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1))
    np.fill_diagonal(gaps, np.inf)
    near = [f"{names[i]} is next to {names[int(gaps[i].argmin())]}" for i in range(min(len(names), 20))]
    return text + " In the picture " + "; ".join(near) + "."
