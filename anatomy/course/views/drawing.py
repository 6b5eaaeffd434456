"""Boxes with words and arrows with shapes beside them, for drawings of a model's parts."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from anatomy.course.views.style import INK, MUTED

CENTERED: Any = {"ha": "center", "va": "center"}


def box(ax: Axes, x: float, y: float, width: float, height: float, text: str, color: str, size: float = 9) -> None:
    """A rounded box with words in it."""
    shape = "round,pad=0,rounding_size=0.14"
    ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=shape, facecolor=color + "1c", edgecolor=color))
    ax.text(x + width / 2, y + height / 2, text, color=INK, fontsize=size, **CENTERED)


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], shape: str, color: str = MUTED) -> None:
    """An arrow, with a shape written to the right of its middle."""
    look: Any = {"arrowstyle": "-|>", "color": color, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=look)
    if shape:
        ax.text(start[0] + 0.15, (start[1] + end[1]) / 2, shape, fontsize=8, color=MUTED, va="center")
