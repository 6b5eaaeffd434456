"""What other sites show of a page that is linked there: its title, its first sentence, and a picture of the course."""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from matplotlib.figure import Figure
from sphinx.application import Sphinx

CARD = "_static/social-card.png"
INK, PAPER, LIT = "#0a3a57", "#ffffff", "#ffa04d"
WEIGHTS = ((6, 2, 1, 1), (1, 2, 5, 2), (2, 9, 1, 2), (1, 1, 3, 6))
"""How wide the lines are from each token below to each above; the widest is lit."""


def draw(app: Sphinx) -> None:
    """The picture, 1200 × 630, as social networks ask for it: attention lines beside the title."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor=INK)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 1200), ylim=(0, 630))
    ax.axis("off")
    below, above = ([(840 + 95 * place, y) for place in range(4)] for y in (150, 480))
    most = max(map(max, WEIGHTS))
    for start, widths in zip(below, WEIGHTS, strict=True):
        for end, width in zip(above, widths, strict=True):
            color, alpha, layer = (LIT, 1, 2) if width == most else (PAPER, 0.25 + 0.08 * width, 1)
            ax.plot(*zip(start, end, strict=True), color=color, alpha=alpha, linewidth=1.6 * width, zorder=layer)
    ax.scatter(*zip(*below, *above, strict=True), s=700, color=PAPER, zorder=3)
    ax.text(80, 420, app.config.project.replace(" ", "\n"), color=PAPER, size=66, weight="bold", va="center")
    said = "Build a Transformer.\nYour wrong answers are told what they did."
    ax.text(80, 190, said, color=PAPER, size=23, va="center", linespacing=1.5)
    Path(app.outdir, CARD).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(app.outdir, CARD))


def describe(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the tags of the Open Graph protocol."""
    if doctree is None:
        return
    first = doctree.next_node(nodes.paragraph)
    text = " ".join(first.astext().split()) if first else ""
    text = text if len(text) < 200 else text[:200].rpartition(" ")[0] + " …"
    tags = {"og:type": "website", "og:site_name": app.config.project, "og:title": context["title"],
            "og:description": text}  # fmt: skip
    if base := app.config.html_baseurl:  # pictures need a whole address
        picture = {"og:image": f"{base.rstrip('/')}/{CARD}", "og:image:alt": "Lines of attention between tokens"}
        tags |= {"og:url": context["pageurl"], **picture, "twitter:card": "summary_large_image"}
    lines = (f'<meta property="{name}" content="{escape(value)}">\n' for name, value in tags.items())
    context["metatags"] += f'<meta name="description" content="{escape(text)}">\n' + "".join(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", draw)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
