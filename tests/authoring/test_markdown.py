"""Markdown as tokens: of which pieces a text is made, and what in them is no prose."""

from __future__ import annotations

import pytest

from anatomy.authoring.markdown import as_html, masked, pieces, plain, prose


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("# One\n\nTwo\nthree.\n\nFour\n----", [("heading", "One"), ("text", "Two\nthree."), ("heading", "Four")]),
        ("- One\n  1. two\n- three\n\n  four", [("text", word) for word in ("One", "two", "three", "four")]),
        ("> One\n> two.", [("text", "One\ntwo.")]),
        ("One:\n$$ a\n= b $$\ntwo.", [("text", "One:\n"), ("text", "$$ a\n= b $$"), ("text", "\ntwo.")]),
        (
            "$$\n\\frac{a}{b}\n+ c\n$$",
            [("text", "$$\n\\frac{a}{b}\n+ c\n$$")],
        ),
        ("One.\n\n~~~\n# no\n~~~\n- ```python\n  # no\n  ```\n\n# Two", [("text", "One."), ("heading", "Two")]),
        ("<details><summary>A</summary>\n\nOne.", [("text", "<details><summary>A</summary>\n"), ("text", "One.")]),
    ],
)
def test_a_text_is_made_of_pieces_without_code(source, found):
    assert [(piece.kind, piece.text) for piece in pieces(source) if piece.text] == found


def test_a_bar_in_a_cell_divides_no_row():
    heads, row = pieces("| a | b |\n|---|---|\n| `x \\| y` | **z** |")
    assert (heads.kind, heads.cells) == ("heads", ("a", "b"))
    assert (row.kind, row.heads, row.cells) == ("row", ("a", "b"), ("`x | y`", "**z**"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a `b` c", "a ___ c"),
        ("a ``b ` c`` d", "a _________ d"),
        ("a <code>*b*</code> c", "a ######___####### c"),
        ("a $b$ and \\$c, $5 or $6", "a ___ and \\$c, $5 or $6"),
        ("a $$b\nc$$ d", "a ___\n___ d"),
        ("a [b](c.md \"d\") e", "a [b___________ e"),
        ("![a](b.svg) and <https://c.d>", "![a________ and _____________"),
        ("a <b>c</b> d\n<br>", "a ###c#### d\n####"),
        ("a ![`b` c](d) `e`", "a ![`b` c____ ___"),
        ("*a* **b** c*d*", "*a* **b** c*d*"),
    ],
)  # fmt: skip
def test_what_is_no_prose_is_masked_where_it_stands(text, left):
    assert masked(text, code="_", formula="_", address="_", tag="#") == left


def test_only_what_is_asked_for_is_masked():
    assert masked("`a` $b$ <i>c</i>", formula="X") == "`a` XXX <i>c</i>"
    assert prose("# A `b`\n\n```\nc\n```\n\nd", code=" ") == "A    \n\nd"


def test_words_of_a_heading_have_no_marks():
    assert plain("1 · Why *two* <dfn>`heads`</dfn> of **$d_k$** \\* [all](x.md)?") == "1 · Why two heads of d_k * all?"


def test_as_html_a_link_in_code_is_none():
    assert as_html("`[a](b)` [c](<d e>)") == '<p><code>[a](b)</code> <a href="d%20e">c</a></p>\n'
