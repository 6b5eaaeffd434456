"""Formulas as MathML, by the converter that feedback pages use, too."""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from anatomy.authoring import formulas

logger = logging.getLogger(__name__)


def mathml(tex: str, block: bool = False, location: Any = None) -> str:
    """The formula as a `<math>` element; one that can't be read is a warning, and stays as it is written."""
    try:
        return formulas.mathml(tex, block)
    except ValueError as error:
        logger.warning("formula %r: %s", tex, error, location=location)
        return f"<code>{escape(tex)}</code>"


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), location=node))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), block=True, location=node)}</div>\n')
    raise nodes.SkipNode


_WITH_PUNCTUATION = re.compile(r"<math\b[^>]*>(?:(?!</math>).)*</math>[.,;:)]+", re.DOTALL)


def with_its_punctuation(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """No line begins with the comma behind a formula."""
    if "body" in context:
        context["body"] = _WITH_PUNCTUATION.sub(r'<span class="whole">\g<0></span>', context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("html-page-context", with_its_punctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
