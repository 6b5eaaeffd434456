"""Formulas as MathML: what docutils' converter leaves to the browser is said as TeX has it."""

from __future__ import annotations

import re

import pytest

from anatomy.authoring.formulas import as_text, mathml

THIN = '<mspace width="0.1667em"></mspace>'


def inside(tex: str) -> str:
    """The formula's parts, with functions' invisible character written out."""
    found = re.fullmatch(r"<math [^>]*>(.*)</math>", mathml(tex))
    assert found
    return found[1].replace("\u2061", "APPLY")


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"\ln n", f"<mi>ln</mi><mo>APPLY</mo>{THIN}<mi>n</mi>"),
        (r"w \ln w", f"<mi>w</mi>{THIN}<mi>ln</mi><mo>APPLY</mo>{THIN}<mi>w</mi>"),
        (r"\log \text{cost}", f"<mi>log</mi><mo>APPLY</mo>{THIN}<mtext>cost</mtext>"),
        (r"-\ln p", f"<mo>−</mo><mi>ln</mi><mo>APPLY</mo>{THIN}<mi>p</mi>"),
        (r"\sqrt{\sin t}", f"<msqrt><mi>sin</mi><mo>APPLY</mo>{THIN}<mi>t</mi></msqrt>"),
        (r"a\,\sin b", f"<mi>a</mi>{THIN}<mi>sin</mi><mo>APPLY</mo>{THIN}<mi>b</mi>"),
    ],
)
def test_a_function_stands_apart_from_its_argument_and_from_a_factor(tex: str, parts: str) -> None:
    assert inside(tex) == parts


@pytest.mark.parametrize("tex", [r"\ln(n)", r"\operatorname{softmax}\!\left(n\right)", r"\operatorname{f}[n]"])
def test_a_parenthesis_follows_its_function_without_a_space(tex: str) -> None:
    assert "mspace" not in inside(tex)


def test_norms_are_as_high_as_a_letter_and_their_bars_open_and_close() -> None:
    bars = re.findall(r"<mo([^>]*)>[|‖]</mo>", inside(r"\lVert a \rVert\,\lVert b \rVert = |c|"))
    assert all('stretchy="false"' in bar for bar in bars)
    assert re.findall('form="([a-z]+)"', " ".join(bars)) == ["prefix", "postfix"] * 3


def test_bars_that_shall_grow_do_and_one_between_two_does_neither_open_nor_close() -> None:
    assert "stretchy" not in inside(r"\left| \frac{a}{b} \right|")
    assert '<mo stretchy="false">‖</mo>' in inside(r"p \,\|\, q")


def test_a_label_stands_below_its_brace() -> None:
    label = r"<munder><munder><mi>P</mi><mo>⏟</mo></munder><mtext>where</mtext></munder>"
    assert inside(r"\underbrace{P}_{\text{where}}") == label


def test_a_half_is_a_half() -> None:
    assert re.search(r"<mfrac[^>]*><mn>1</mn><mn>2</mn></mfrac><mi>x</mi>", inside(r"\tfrac12 x"))
    assert "<mfrac><mn>1</mn><mi>D</mi></mfrac>" in inside(r"\frac1D")


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{QK^\top}{\sqrt{d_k}}", "(QK^⊤)/(√(d_k))"),
        (r"w_i = e^{z_i} / Z", "w_i = e^(z_i)/Z"),
        (r"PE_{t,\,2i+1} = \cos(t\,\omega_i)", "PE_(t, 2i + 1) = cos(t ω_i)"),
        (r"\underbrace{P}_{\text{where}}", "P_where"),
        (r"\sum_{j=1}^S x_j", "∑_(j = 1)^Sx_j"),
    ],
)
def test_a_formula_is_text_where_none_is_drawn(tex: str, text: str) -> None:
    assert as_text(tex) == text
