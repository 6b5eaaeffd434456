"""One look for every picture of the course, and words that go with it.

Every view returns a `Picture`: a matplotlib figure that carries its alt text. In a notebook it shows itself as an
image *with* that text, so that a screen reader, a saved notebook and an exported page all keep the words.
"""

from __future__ import annotations

import base64
import functools
import html
import io
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image

from anatomy.engine.cards.markup import scrolling

INK = "#1f2933"  # text
MUTED = "#5f6c7b"  # axes, secondary text: 5.3 to 1 on white
HAIRLINE = "#d5dbe2"  # grid
# After Okabe and Ito's colors, darkened to at least 4.5 to 1 on white; lines differ by dash, too.
COLORS = ("#0072b2", "#b84a00", "#00795a", "#b0578d", "#8a6d00", "#5b2a9d", "#555f6b")
# Light to dark, so that they also work printed in grey. Zero is white in both.
SEQUENTIAL = LinearSegmentedColormap.from_list(
    "anatomy-sequential", ["#ffffff", "#a9d3ee", "#2f8fcb", "#00507f", "#002a45"]
)
DIVERGING = LinearSegmentedColormap.from_list(
    "anatomy-diverging", ["#6b2c00", "#d55e00", "#f6bd92", "#ffffff", "#a9d3ee", "#0072b2", "#002f4d"]
)
# For cells with black numbers in them: as strong as leaves the numbers 4.5 to 1, in a dark theme, too. Colors change
# most near zero: 0.01 and 0.2 must not look alike on a dark ground.
_STEPS = np.linspace(0, 1, 129) ** 0.6
PALE = {
    SEQUENTIAL.name: LinearSegmentedColormap.from_list("anatomy-sequential-pale", SEQUENTIAL(0.4 * _STEPS)),
    DIVERGING.name: LinearSegmentedColormap.from_list(
        "anatomy-diverging-pale", DIVERGING(0.5 + 0.23 * np.concatenate([-_STEPS[:0:-1], _STEPS]))
    ),
}
DPI = 100  # CSS pixels per inch on the page
PAD = 0.12  # inches around a picture
SHARPNESS = 1.6  # image pixels per CSS pixel
# A dark theme turns lightness around and keeps hues: white becomes JupyterLab's dark ground, #111111.
DARK = "invert(0.933) hue-rotate(180deg)"
THEMES = (
    f"<style>body[data-jp-theme-light=false] .anatomy-themed,html[data-theme=dark] .anatomy-themed"
    f"{{filter:{DARK}}}body[data-jp-theme-light=true] img{{color-scheme:light}}"
    "body[data-jp-theme-light=false] img{color-scheme:dark}</style>"  # for the map, which asks for it
)
LEGIBLE = 0.6  # of a picture's width: a page that is narrower scrolls, instead of making its letters smaller

STYLE: Any = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same picture on every machine
    "font.size": 10,
    "text.color": INK,
    "figure.facecolor": "white",
    "figure.dpi": DPI,
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.prop_cycle": cycler(color=COLORS),
    "grid.color": HAIRLINE,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
}

P = ParamSpec("P")
R = TypeVar("R")


class Picture(Figure):
    """A matplotlib figure with alt text, shown in notebooks as an image that keeps the text.

    256 colors are plenty for a plot and keep saved notebooks small; `true_colors` keeps all, for images. `links` is
    HTML that lies over the image, placed in percent of its size.
    """

    alt: str = ""
    links: str = ""
    true_colors: bool = False

    def png(self) -> bytes:
        """The picture as a PNG file: the same bytes for the same data."""
        return self._render()[0]

    def html(self) -> str:
        """An `<img>` that needs no other file, with the alt text; it follows the theme, unless it keeps true colors."""
        image, width = self._render()
        data = base64.b64encode(image).decode("ascii")
        themed = "" if self.true_colors else ' class="anatomy-themed"'
        picture = (
            f'<img alt="{html.escape(self.alt, quote=True)}"{themed} width="{width}" '
            f'style="max-width:100%;min-width:{width * LEGIBLE:.0f}px;height:auto;background:#fff" '
            f'src="data:image/png;base64,{data}">'
        )
        if self.links:
            fits = f"position:relative;width:fit-content;max-width:100%;min-width:{width * LEGIBLE:.0f}px"
            picture = f'<div style="{fits}">{picture}{self.links}</div>'
        return (THEMES if themed else "") + scrolling(picture, "A picture. It scrolls where the page is narrow.")

    def _render(self) -> tuple[bytes, int]:
        """The PNG file and its width on the page in pixels."""
        drawn, packed = io.BytesIO(), io.BytesIO()
        self.savefig(drawn, format="png", dpi=DPI * SHARPNESS, bbox_inches="tight", pad_inches=PAD)
        self.set_layout_engine("none")  # laid out now: a second rendering must not shift it
        image = Image.open(drawn).convert("RGB")
        final = image if self.true_colors else image.quantize(256, dither=Image.Dither.NONE)
        final.save(packed, format="png", optimize=True)
        return packed.getvalue(), round(image.width / SHARPNESS)

    def _ipython_display_(self) -> None:
        show(self)


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Draw inside the course's style without changing anybody else's matplotlib settings."""

    @functools.wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(STYLE):
            return function(*args, **kwargs)

    return inside


def use_style() -> None:
    """Give the plots that you draw yourself with `plt` the look of the course's."""
    matplotlib.rcParams.update(STYLE)


@styled
def figure(width: float = 6.4, height: float = 3.6, alt: str = "") -> Picture:
    """An empty picture, `width` × `height` inches (100 pixels each on the page). Draw with `picture.subplots()`."""
    picture = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    picture.alt = alt
    return picture


def show(fig: Figure, alt: str | None = None) -> None:
    """Display `fig` as an image with alt text; plain text viewers get the alt text itself.

    Raises ValueError if there is no text: say in a sentence or two what a reader should see.
    """
    from IPython.display import display

    words = alt or getattr(fig, "alt", "")
    if not words:
        raise ValueError('this picture has no alt text: show(fig, alt="what a reader should see in it")')
    if not isinstance(fig, Picture):
        fig = _adopt(fig)
    fig.alt = words
    display({"text/html": fig.html(), "text/plain": words}, raw=True)


def _adopt(fig: Figure) -> Picture:
    """A figure drawn with `plt`, as a Picture; pyplot forgets it, so that it isn't shown a second time."""
    import matplotlib.pyplot as plt

    plt.close(fig)
    FigureCanvasAgg(fig)
    fig.__class__ = Picture
    assert isinstance(fig, Picture)
    return fig
