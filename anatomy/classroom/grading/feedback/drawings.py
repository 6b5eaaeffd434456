"""The course's own drawings, which a page holds itself: it is given back without what lies beside a notebook.

They are those that a notebook shows as it was handed out, and come from the folder that it was handed out from. No file
is opened because a submission names it.
"""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Mapping
from pathlib import Path

Figures = Mapping[str, bytes]
"""Name → drawing, as SVG."""
MOST = 500_000
"""Bytes beyond which a drawing is not put into pages."""
_SHOWN = re.compile(r"\]\(([\w-]+\.svg)\)")
_PICTURE = re.compile(r'(<img(?: [\w-]+="[^"<>]*")*? src=")([\w-]+\.svg)(?=")')
"""As `sanitize` leaves the tags of pictures: quotes and angle brackets in attributes are escaped."""


def figures_of(released: Path) -> Figures:
    """The drawings that the notebook in this folder shows, of those that lie beside it."""
    found: dict[str, bytes] = {}
    with contextlib.suppress(OSError, ValueError):  # it was not handed out from here: pages have the words for pictures
        for name in _SHOWN.findall((released / f"{released.name}.ipynb").read_text(encoding="utf-8")):
            file = released / name
            if file.is_file() and not file.is_symlink() and file.stat().st_size <= MOST:
                found[name] = file.read_bytes()
    return found


def with_figures(page: str, figures: Figures) -> str:
    """The page with these in it. In a picture, browsers run nothing of a drawing and fetch nothing for it.

    Each is put where it is named first: a submission may name one ten thousand times.
    """
    left = dict(figures)

    def filled(picture: re.Match[str]) -> str:
        drawing = left.pop(picture[2], None)
        if drawing is None:
            return picture[0]
        return f"{picture[1]}data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"

    return _PICTURE.sub(filled, page)
