"""What a feedback page shows: who, when and how much, a list of exercises, answers and cards; the rest is folded."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from bleach._vendor import html5lib
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from test_attacks import found

from anatomy.authoring.formulas import mathml
from anatomy.classroom.grading.feedback import sanitize
from anatomy.classroom.grading.feedback.page import PageMaker
from anatomy.classroom.grading.feedback.standing import ShownMark, Standing
from anatomy.classroom.grading.notes import CellNote, NotebookNote
from anatomy.engine.notebook_files.settings import settings
from tests.views.test_themes import channels, contrast

CSS = Path(sanitize.__file__).parents[1] / "templates" / "feedback" / "page.css"
NOTES = {
    "softmax": CellNote(exercise="softmax", status="right", points=7.0, said="Right: 7 of 7 points."),
    "attention_weights": CellNote(exercise="attention_weights", status="wrong", points=2.0, said="You sum by `dim`."),
    "weighted_values": CellNote(exercise="weighted_values", status="not attempted", points=0.0, said="Not attempted."),
    "scaled_dot_product_attention": CellNote(
        exercise="scaled_dot_product_attention", status="ungraded", reason="Its cell ran too long."
    ),
    "attention_entropy": CellNote(
        exercise="attention_entropy", status="wrong", points=0.0, said="Not right yet: 0 of 5 points."
    ),
}
MARKS = {
    "softmax": ShownMark(7.0, 7.0, False),
    "attention_weights": ShownMark(2.0, 5.0, False),
    "weighted_values": ShownMark(0.0, 4.0, False),
    "scaled_dot_product_attention": ShownMark(0.0, 5.0, True),
    "attention_entropy": ShownMark(1.5, 5.0, False),
}
ROWS = [
    ("3.1 softmax", "✓right", "Right.", "7 of 7"),
    ("3.2 attention_weights", "✗not right yet", "You sum by dim.", "2 of 5"),
    ("3.3 weighted_values", "○not attempted", "Not attempted.", "0 of 4"),
    ("3.4 scaled_dot_product_attention", "?not graded yet", "Its cell ran too long.", "not graded yet"),
    (
        "3.5 attention_entropy",
        "✗not right yet",
        "A person gave these points. The check says: Not right yet.",
        "1.5 of 5",
    ),
]


def handed_in():
    cells = [new_markdown_cell("# 03 · Softmax\n\nGiven text with $\\frac{1}{2}$."), new_code_cell("given_code = 1")]
    CellNote(given=True).write(cells[1])
    for name, note in NOTES.items():
        cells.append(new_markdown_cell(f"### Exercise · `{name}`\n\nTask of {name}."))
        cells.append(new_code_cell(f"def {name}(): ...", metadata={"nbgrader": marks(name, solution=True)}))
        card = new_output("display_data", {"text/html": f"<div>Card of {name}.</div>"})
        recorded = new_output("execute_result", {"text/html": "<small>Recorded</small>"})
        cells.append(new_code_cell(f'check("{name}")', outputs=[card, recorded],
                                   metadata={"nbgrader": marks(f"check-{name}", grade=True)}))  # fmt: skip
        note.write(cells[-1])
        cells.append(new_markdown_cell(f"## After {name}"))
        cells.append(new_code_cell(f"helper_after_{name} = 2"))
    book = new_notebook(cells=cells)
    NotebookNote("a1b2", ("The check of `softmax` was missing; it is back.",), (), "2026-01-05T07:30+00:00").write(book)
    return book


def marks(name, grade=False, solution=False):
    return {"grade_id": name, "grade": grade, "solution": solution, "locked": grade, "schema_version": 3}


@pytest.fixture(scope="module")
def make(root):
    maker = PageMaker(settings(root))

    def page(book=None, marks=None, **about):
        by_check = {f"check-{name}": mark for name, mark in MARKS.items()} | (marks or {})
        standing = Standing(10.5, 26.0, 0.0, by_check, {"softmax": "Well *done*, $x$."}, **about)
        notebook = nbformat.writes(book or handed_in()).encode()
        return maker.page(notebook, "ada", "03-softmax", standing, {}).decode()

    return page


@pytest.fixture(scope="module")
def page(make):
    return make(name="Ada <Lovelace>", submitted="2026-01-02T12:00")


@pytest.fixture(scope="module")
def tree(page):
    return html5lib.parse(page, namespaceHTMLElements=False)


def words(element):
    return " ".join("".join(element.itertext()).split())


def test_the_top_says_who_when_and_how_much(tree, make):
    assert words(tree.find(".//h1")) == "03 · Softmax and weighted values"
    facts = {words(one.find("dt")): words(one.find("dd")) for one in tree.find(".//dl")}
    assert facts == {
        "Student": "Ada <Lovelace> (ada)", "Handed in": "2 January 2026, 12:00 UTC",
        "Graded": "5 January 2026, 07:30 UTC", "Total": "10.5 of 26 points so far",
    }  # fmt: skip
    assert words(tree.find(".//ul/li")) == "The check of softmax was missing; it is back."
    unknown = make()
    assert "<dd>ada</dd>" in unknown and "Handed in" not in unknown


def test_an_optional_exercise_has_a_sign_and_no_points(make):
    book = handed_in()
    rows = []
    for status, said in (("right", "Right: optional, no points."), ("wrong", "You sum by `dim`.")):
        CellNote(exercise="softmax", status=status, points=0.0, said=said).write(book.cells[4])
        page = make(book, **{"marks": {"check-softmax": ShownMark(0.0, 0.0, False)}})
        first = html5lib.parse(page, namespaceHTMLElements=False).find(".//table/tbody/tr")
        rows.append(tuple(words(cell) for cell in first))
    assert rows == [("3.1 softmax", "✓right", "Right.", "optional"),
                    ("3.1 softmax", "✗not right yet", "You sum by dim.", "optional")]  # fmt: skip


def test_a_page_does_not_contradict_a_mark_by_hand(make):
    lowered = make(marks={"check-softmax": ShownMark(3.0, 7.0, False)})
    older = make(marks={"check-softmax": ShownMark(3.0, 7.0, False, is_older=True)})
    rows = [
        tuple(words(cell) for cell in html5lib.parse(page, namespaceHTMLElements=False).find(".//table/tbody/tr"))
        for page in (lowered, older)
    ]
    assert rows == [
        ("3.1 softmax", "✗not right yet", "A person gave these points. The check says: Right.", "3 of 7"),
        ("3.1 softmax", "?has changed since a person marked it",
         "A person gave these points to an earlier answer. The check says of this one: Right.", "3 of 7"),
    ]  # fmt: skip
    assert "What the check says. The points above are a person's." in lowered and "<b>Comment:</b>" in lowered
    assert "The points above" not in make(marks={"check-attention_entropy": ShownMark(0.0, 5.0, False)})
    assert "A person gave the points above to an earlier one." in older
    assert "<b>Comment, perhaps on an earlier answer:</b>" in older


def test_the_list_has_a_row_for_each_exercise_that_leads_to_its_answer(tree):
    table = tree.find(".//table")
    assert [tuple(words(cell) for cell in row) for row in table.find("tbody")] == ROWS
    assert all(cell.get("scope") == "col" for cell in table.find("thead/tr"))
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    for row in table.find("tbody"):
        assert row[0].get("scope") == "row" and ids.count(row.find(".//a").get("href")[1:]) == 1


def test_answers_and_cards_are_open_and_all_that_was_given_is_folded(tree):
    folded = [words(element) for element in tree.iter("details")]
    for element in tree.iter("details"):
        assert element.get("open") is None
        element[:] = [element.find("summary")]
    left = words(tree.find("body"))
    for name in NOTES:
        assert f"def {name}(): ..." in left and f"Card of {name}." in left and f"Task of {name}." not in left
        assert f"Your own code helper_after_{name} = 2" in left
    assert "given_code" not in left and "Given text" not in left and "Recorded" not in left and "check(" not in left
    assert "Comment: Well done, x." in left
    assert folded[0].startswith("From the notebook: 03 · Softmax") and "given_code = 1" in folded[0]
    assert folded[1] == "The exercise Exercise · softmax¶Task of softmax."
    assert folded[-1].startswith("From the notebook: After attention_entropy") and len(folded) == 11


def test_it_asks_for_nothing_and_has_its_formulas(page):
    assert "<mfrac><mi>" not in page and "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in page and "<math><mi>x</mi>" in page
    assert "<script" not in page and not re.search(r'(src|href)="(?!#|data:)|url\(|@import', page)


@pytest.mark.parametrize("ground", ["paper", "shade"])
def test_text_stands_out_in_both_themes(ground):
    parts = CSS.read_text("utf-8").split("prefers-color-scheme")
    themes = [dict(re.findall(r"--(\w+): (#\w+)", part)) for part in parts]
    assert len(themes) == 2 and themes[0].keys() == themes[1].keys()
    for theme in themes:
        full = {name: code if len(code) == 7 else "#" + "".join(2 * digit for digit in code[1:])
                for name, code in theme.items()}  # fmt: skip
        for name in full.keys() - {"paper", "shade", "line"}:
            assert contrast(channels(full[name]), channels(full[ground])) >= 4.5, name


def test_an_answer_without_a_check_and_an_assignment_of_somebody_else(root):
    book = new_notebook(cells=[
        new_code_cell("given = 1"), new_code_cell("x = 1", metadata={"nbgrader": marks("lonely", solution=True)}),
        new_markdown_cell("An essay.", metadata={"nbgrader": marks("essay", grade=True, solution=True)}),
    ])  # fmt: skip
    standing = Standing(2.0, 4.0, 0.0, {"essay": ShownMark(2.0, 4.0, False)}, {})
    page = PageMaker(settings(root)).page(nbformat.writes(book).encode(), "ada", "history", standing, {}).decode()
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    (row,) = tree.find(".//tbody")
    assert [words(cell) for cell in row] == ["essay", "✗not right yet", "A person gave these points.", "2 of 4"]
    assert words(tree.find(".//details")) == "From the notebook: 1 cell given = 1"
    assert words(tree.find(".//h1")) == "history" and [words(one) for one in tree.iter("section")] == [
        "lonely x = 1", "✗not right yet essay2 of 4 points An essay."]  # fmt: skip


# ---- formulas of students -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"$\text{<img src=x onerror=alert(1)>}$", "&lt;img src=x onerror=alert(1)&gt;</mtext></math>"),
        (r"$\operatorname{</math><script>}$", "&lt;/math&gt;&lt;script&gt;</mi>"),
        (r"$\hspace{9999em}x$", "<mspace></mspace><mi>x</mi>"),
        ('![$x$"onerror=alert(1)](a.png)', 'alt="x&quot;onerror=alert(1)"'),
        ("<b title='$x$ onload=1'>$y$</b>", '<b title="$x$ onload=1"><math><mi>y</mi></math></b>'),
        ('<code class="formula">x&lt;script&gt;</code>', "<mo>&lt;</mo>"),
        ("<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>", ""),
        (r"$\nosuchcommand <b>$", r"<code>\nosuchcommand &lt;b&gt;</code>"),
        (f"${'x' * 2000}$", f"<code>{'x' * 2000}</code>"),
        ("`$x$`", "<code>$x$</code>"),
        ("$$\na &= b \\\\ c &= d\n$$", '<math display="block"><mtable class="ams-align"'),
        (r"\begin{align*}a &= b\end{align*}", "<mo>=</mo>"),
        ("<details><summary>Hint</summary>$x_1$</details>", "<msub><mi>x</mi><mn>1</mn></msub>"),
    ],
)  # fmt: skip
def test_formulas_bring_nothing_that_runs(source, shown):
    page = sanitize.markdown({}, source)
    assert shown in page
    assert found(f"<html><body>{page}</body></html>") == []
    assert sanitize.clean(page) == page, "what was cleaned stays as it is"


@pytest.mark.parametrize("tex", ["{" * 500, r"\sqrt" * 190, r"\mathbf{" * 90 + "}" * 90, "^", r"\hspace{amu}", "x}"])
def test_what_is_no_formula_ends_nothing(tex):
    try:
        assert len(mathml(tex)) < 20 * len(tex) + 100
    except ValueError:
        assert sanitize.markdown({}, f"${tex}$").startswith("<p><code>")


def test_widgets_of_a_submission_load_nothing_from_elsewhere(make):
    book = handed_in()
    kind = "application/vnd.jupyter.widget-state+json"
    model = {"model_name": "AnyModel", "model_module": "anywidget", "model_module_version": "*", "state": {}}
    book.metadata["widgets"] = {kind: {"version_major": 2, "version_minor": 0, "state": {"a1": model}}}
    page = make(book)
    assert kind not in page and "<script" not in page
