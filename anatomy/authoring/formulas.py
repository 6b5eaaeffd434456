"""Formulas as MathML, which browsers draw by themselves: no script, no font to fetch, and screen readers read it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from docutils.utils.math.latex2mathml import tex2mathml

IN_HTML = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![$\w])")
"""A formula in a text cell's HTML, such as a folded hint. Prices are none."""
_NAMES = {r"\dots": r"\ldots", r"\big": r"\bigl", r"\Big": r"\Bigl"}
"""What the notebooks use and docutils' converter does not know, by what it calls them."""
_UNKNOWN = re.compile("|".join(rf"{re.escape(name)}(?![A-Za-z])" for name in _NAMES))
_TWO_DIGITS = re.compile(r"(\\[td]?frac)\s*(\d)\s*(\d)")
r"""`\frac12` is a half; the converter reads one number, twelve."""

_XMLNS = ' xmlns="http://www.w3.org/1998/Math/MathML"'
_INDENT = re.compile(r">\n *<")
_ROWS = {"math", "mrow", "mtd", "mphantom", "msqrt"}
"""Elements that hold any number of others, side by side."""
_APPLY = "\u2061"
"""The invisible character between a function's name and its argument."""
_BARS = ("|", "‖")
_BRACE = "⏟"
_SPACED = frozenset("=≠≈≡<>≤≥∈→+±·×")
"""Signs with a space on both sides in one line of text."""


def mathml(tex: str, block: bool = False) -> str:
    """The formula as a `<math>` element.

    Raises
    ------
    ValueError
        When it can't be read.
    """
    tex = _TWO_DIGITS.sub(r"\1{\2}{\3}", _UNKNOWN.sub(lambda name: _NAMES[name[0]], tex))
    try:
        made = _INDENT.sub("><", str(tex2mathml(tex, as_block=block)))  # indents grow with the square of the depth
        formula = ET.fromstring(made.replace(_XMLNS, "", 1).replace("&ApplyFunction;", _APPLY))
        _set_as_tex_does(formula)
        return ET.tostring(formula, encoding="unicode", short_empty_elements=False).replace(
            "<math", f"<math{_XMLNS}", 1
        )
    except ValueError:
        raise
    except Exception as error:  # what is no formula ends the converter in many ways
        raise ValueError(f"{type(error).__name__}: {error}") from error


def as_text(tex: str) -> str:
    """The formula on one line, as one would type it: for a list of search results, where nothing is drawn.

    Raises
    ------
    ValueError
        When it can't be read.
    """
    return " ".join(_line(ET.fromstring(mathml(tex).replace(_XMLNS, "", 1))).split())


def _line(part: ET.Element) -> str:
    """An element in one line."""
    match part.tag.removeprefix("m"), [_line(inner) for inner in part]:
        case "frac", [over, under]:
            return f"{_grouped(over)}/{_grouped(under)}"
        case "sqrt", inner:
            return f"√{_grouped(''.join(inner))}"
        case "sub" | "under", [base, below]:
            return base if below == _BRACE else f"{base}_{_grouped(below)}"
        case "sup", [base, above]:
            return f"{base}^{_grouped(above)}"
        case "subsup" | "underover", [base, below, above]:
            return f"{base}_{_grouped(below)}^{_grouped(above)}"
        case "space" | "td" | "tr", inner:
            return f" {''.join(inner)} "
        case "o", _:
            text = (part.text or "").replace(_APPLY, "")
            return f" {text} " if text in _SPACED else f"{text} " if text == "," else text
        case _, inner:
            return (part.text or "") + "".join(inner)


def _grouped(text: str) -> str:
    """A part in parentheses, unless it is one name or number."""
    text = text.strip()
    return text if text.isalnum() or len(text) < 2 or (text[0], text[-1]) == ("(", ")") else f"({text})"


def _set_as_tex_does(formula: ET.Element) -> None:
    """Mend what browsers would draw unlike TeX: bars, labels below braces, and spaces around functions."""
    _pair_bars(formula)
    for part in list(formula.iter()):
        if part.tag == "msub" and part[0].tag == "munder" and part[0][-1].text == _BRACE:
            part.tag = "munder"
        elif part.tag in _ROWS:
            part[:] = _spaced(list(part))


def _pair_bars(formula: ET.Element) -> None:
    r"""Make bars as high as a letter, and say which open and which close; `\left|` and its partner still grow."""
    grow = {id(row[at]) for row in formula.iter("mrow") if len(row) for at in (0, -1)}
    bars = [mo for mo in formula.iter("mo") if mo.text in _BARS]
    paired = sum(bar.text == "|" for bar in bars) % 2 == 0
    opened = set()
    for bar in bars:
        if bar.get("class") == "mathopen" or (bar.text not in opened and bar.get("stretchy") == "false" and paired):
            bar.set("form", "prefix")
            opened.add(bar.text)
        elif bar.text in opened:
            bar.set("form", "postfix")
            opened.remove(bar.text)
        elif id(bar) in grow:
            continue
        bar.set("stretchy", "false")


def _spaced(parts: list[ET.Element]) -> list[ET.Element]:
    """A row's parts with thin spaces before a function's name and its argument, where no sign or parenthesis stands."""
    row: list[ET.Element] = []
    for before, part, after in zip([None, *parts], parts, [*parts[1:], None], strict=False):
        if before is not None and before.text == _APPLY:
            if (part.get("width") or "").startswith("-"):
                continue  # in TeX it takes away the space that is not there
            if part.tag not in ("mo", "mspace") and not (len(part) and part[0].tag == "mo"):
                row.append(_thin_space())
        elif before is not None and after is not None and after.text == _APPLY and _is_factor(before):
            row.append(_thin_space())
        row.append(part)
    return row


def _is_factor(part: ET.Element) -> bool:
    """Whether what follows the part is multiplied by it: it is no sign, no space and no sum."""
    if part.tag == "mo":
        return part.text in (")", "]")
    return part.tag not in ("mspace", "mphantom", "munder", "munderover")


def _thin_space() -> ET.Element:
    return ET.Element("mspace", width="0.1667em")
