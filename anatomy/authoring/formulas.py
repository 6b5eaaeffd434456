"""Formulas as MathML, which browsers draw by themselves: no script, no font to fetch, and screen readers read it."""

from __future__ import annotations

import re

from docutils.utils.math.latex2mathml import tex2mathml

IN_HTML = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![$\w])")
"""A formula in a text cell's HTML, such as a folded hint. Prices are none."""
_NAMES = {r"\dots": r"\ldots", r"\big": r"\bigl", r"\Big": r"\Bigl"}
"""What the notebooks use and docutils' converter does not know, by what it calls them."""
_UNKNOWN = re.compile("|".join(rf"{re.escape(name)}(?![A-Za-z])" for name in _NAMES))

_INDENT = re.compile(r">\n *<")


def mathml(tex: str, block: bool = False) -> str:
    """The formula as a `<math>` element.

    Raises
    ------
    ValueError
        When it can't be read.
    """
    try:
        made = str(tex2mathml(_UNKNOWN.sub(lambda name: _NAMES[name[0]], tex), as_block=block))
    except ValueError:
        raise
    except Exception as error:  # what is no formula ends the converter in many ways
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return _INDENT.sub("><", made)  # which grows with the square of a formula's depth
