"""The JavaScript that BertViz's views need, as published by its authors, so that no view asks a network for it.

d3 5.7.0 (BSD-3-Clause) and jQuery 2.2.4 (MIT), minified builds, unchanged; each `*-LICENSE.txt` is the licence that
came with it. BertViz itself (Apache-2.0) is not here: its script is taken from the installed package. The copy of its
licence is here because saved notebooks carry that script in their outputs.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# In every frame, so that the notices travel with saved notebooks and exported pages.
NOTICES = (
    "Drawn by BertViz, copyright Jesse Vig, Apache License 2.0 (https://www.apache.org/licenses/LICENSE-2.0); changed: "
    "libraries inlined, numbers rounded, captions and sizes added. With d3 5.7.0, copyright 2010-2018 Mike Bostock, "
    "BSD-3-Clause, and jQuery 2.2.4, copyright jQuery Foundation and other contributors, MIT License. "
    "The licences' full texts: THIRD-PARTY-NOTICES.md of Transformer Anatomy."
)


@cache
def library(name: str) -> str:
    """The source of "d3" or "jquery"."""
    file = {"d3": "d3-5.7.0.min.js", "jquery": "jquery-2.2.4.min.js"}[name]
    return (files(__name__) / file).read_text(encoding="utf-8")
