"""Pictures with captions, drawn by code for notebook 13: one shape of one color and size at one of five places.

No picture and no caption comes from anywhere else, and a seed decides where exactly a shape stands.
"""

from __future__ import annotations

import itertools
from random import Random

import torch
from torch import Tensor
from torch.nn import functional as F

SIDE = 32  # pixels
SIZES = {"small": 3.5, "large": 6.5}  # from the middle to the edge, in pixels
COLORS = {"blue": (0.0, 0.45, 0.7), "orange": (0.9, 0.6, 0.0), "green": (0.0, 0.62, 0.45), "pink": (0.8, 0.47, 0.65)}
SHAPES = ("circle", "square", "triangle", "cross")
PLACES = {  # (x, y) of the middle, from the top left
    "in the middle": (16, 16),
    "at the top": (16, 9),
    "at the bottom": (16, 23),
    "on the left": (9, 16),
    "on the right": (23, 16),
}
NUM_HELD_OUT = 40
FINER = 4  # points along each side of a pixel, so that edges are smooth


def captions(split: str) -> list[str]:
    """What can be drawn: "a small blue circle on the left" and 159 more; 40 are kept back as "test", the same always.

    Every word of a held-out caption occurs in "train", but never all of them together. Raises ValueError for another
    split.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split is {split!r}; choose 'train' or 'test'")
    every = [f"a {' '.join(words)}" for words in itertools.product(SIZES, COLORS, SHAPES, PLACES)]
    Random(0).shuffle(every)
    return sorted(every[:NUM_HELD_OUT] if split == "test" else every[NUM_HELD_OUT:])


def scenes(texts: list[str], seed: int = 0) -> Tensor:  # N captions -> (N, 3, 32, 32)
    """One picture for each caption, with red, green and blue from 0 to 1.

    Place, size, brightness and background vary a little, as `seed` decides. Raises ValueError, with the caption, for
    one that is none of `captions`.
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([_draw(text, generator) for text in texts])


def _draw(text: str, generator: torch.Generator) -> Tensor:  # -> (3, 32, 32)
    size, color, shape, place = _parts(text)
    shift, stretch, light, ground = (2 * torch.rand(4, generator=generator) - 1).tolist()  # each from −1 to 1
    sideways = float(2 * torch.rand((), generator=generator) - 1)
    points = (torch.arange(SIDE * FINER) + 0.5) / FINER
    radius = SIZES[size] * (1 + 0.1 * stretch)
    x = (points[None, :] - PLACES[place][0] - 1.5 * sideways) / radius  # (1, 128)
    y = (points[:, None] - PLACES[place][1] - 1.5 * shift) / radius  # (128, 1)
    inside = _inside(shape, x, y).float()  # (128, 128)
    share = F.avg_pool2d(inside[None, None], FINER)[0]  # (1, 32, 32): how much of each pixel is covered
    paint = torch.tensor(COLORS[color])[:, None, None] * (1 + 0.1 * light)
    paper = 0.93 + 0.05 * ground
    return (share * paint + (1 - share) * paper).clamp(0, 1)


def _parts(text: str) -> tuple[str, str, str, str]:
    size, color, shape, place = [*text.removeprefix("a ").split(" ", 3), "", "", ""][:4]
    if size in SIZES and color in COLORS and shape in SHAPES and place in PLACES:
        return size, color, shape, place
    raise ValueError(f"{text!r} is no caption that can be drawn; one that can: 'a small blue circle on the left'")


def _inside(shape: str, x: Tensor, y: Tensor) -> Tensor:
    """Where (x, y) lies in the shape, whose middle is (0, 0) and whose edges are 1 away; y points down."""
    if shape == "circle":
        return x**2 + y**2 <= 1
    if shape == "square":
        return torch.maximum(x.abs(), y.abs()) <= 0.85
    if shape == "triangle":
        return (y <= 0.8) & (2 * x.abs() <= y + 1)
    return (torch.minimum(x.abs(), y.abs()) <= 0.3) & (torch.maximum(x.abs(), y.abs()) <= 1)  # a cross
