"""Formulas as MathML, which browsers draw by themselves: no script, no font to fetch, and screen readers read it."""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

# What the notebooks use and docutils' converter does not know, by what it calls them.
NAMES = {r"\dots": r"\ldots", r"\big": r"\bigl", r"\Big": r"\Bigl"}
UNKNOWN = re.compile("|".join(rf"{re.escape(name)}(?![A-Za-z])" for name in NAMES))

logger = logging.getLogger(__name__)


def mathml(tex: str, block: bool = False, location: Any = None) -> str:
    """The formula as a `<math>` element; one that can't be read is a warning, and stays as it is written."""
    try:
        return str(tex2mathml(UNKNOWN.sub(lambda name: NAMES[name[0]], tex), as_block=block))
    except MathError as error:
        logger.warning("formula %r: %s", tex, error, location=location)
        return f"<code>{escape(tex)}</code>"


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), location=node))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), block=True, location=node)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
