"""Each rule of the linter finds what it is there for, and nothing else; a clean master passes all of them."""

from __future__ import annotations

import json
from collections.abc import Callable

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_notebook, new_output
from small_course import HEADER, QUIZ, SLUG, SOLUTION, answer, check, code, make_course, markdown

from anatomy.authoring.glossary import Term
from anatomy.authoring.lint import RULES, Complaint, as_tables, fix, lint, lint_master
from anatomy.authoring.master import Master
from anatomy.authoring.references import Source
from anatomy.course import COURSE
from anatomy.engine.exercise import quiz
from anatomy.engine.notebook_files.notebooks import METADATA, as_text, read, source_file, write
from tests.small_course import SmallCourse

SMALL = SmallCourse(slugs=(SLUG,))


@SMALL.asks(properties={"shape": 1, "values": 3})
def scaled_scores(seed):
    yield from ()


TERMS = [
    Term("tensor", "A tensor is an array of numbers.", COURSE.notebook("00-start-here"), "1 · One", "first"),
    Term("perplexity", "The perplexity is a number of sides.", COURSE.notebook("09-causal-mask"), "5 · Five", "text"),
]
PAPER = "Vaswani et al.", "2017", "Attention Is All You Need", "NeurIPS, arXiv:1706.03762", "§3.2"
SOURCES = [Source(*PAPER, COURSE.notebook("00-start-here"), "sources")]

SMALL.add(quiz("quiz_small", {"why": ("because", "no idea")}))


def clean_book() -> NotebookNode:
    return new_notebook(
        cells=[
            markdown("title", "# Scores"),
            markdown("map", "![Map of the Transformer; scores are lit](map.svg)"),
            code("setup", "import math"),
            markdown("about-scores", HEADER.format(number=1, name="scaled_scores", minutes=4, worth="4 points")),
            answer("scaled_scores", SOLUTION),
            check("scaled_scores", 4),
            markdown("about-quiz", HEADER.format(number=2, name="quiz_small", minutes=1, worth="1 point")),
            answer("quiz_small", QUIZ),
            check("quiz_small", 1),
        ],
        metadata=METADATA,
        nbformat_minor=5,
    )


def complaints(book: NotebookNode, text: str | None = None) -> list[Complaint]:
    notebook = SMALL.notebook(SLUG)
    text = text or nbformat.v4.writes(book) + "\n"
    return lint_master(Master(notebook, text, book, SMALL.exercises(notebook), TERMS, SOURCES))


def cell(book: NotebookNode, cell_id: str) -> NotebookNode:
    return next(cell for cell in book.cells if cell.id == cell_id)


def replace(cell_id: str, old: str, new: str) -> Callable[[NotebookNode], None]:
    def breaking(book: NotebookNode) -> None:
        assert old in cell(book, cell_id).source
        cell(book, cell_id).source = cell(book, cell_id).source.replace(old, new)

    return breaking


def drop(cell_id: str) -> Callable[[NotebookNode], None]:
    return lambda book: book.cells.remove(cell(book, cell_id))


def flag(cell_id: str, **flags: object) -> Callable[[NotebookNode], None]:
    return lambda book: cell(book, cell_id).metadata.nbgrader.update(flags)


def add(text: str) -> Callable[[NotebookNode], None]:
    return lambda book: book.cells.append(markdown("added", text))


def printed(book: NotebookNode) -> None:
    cell(book, "setup").outputs = [new_output("stream", text="left over")]


def counted(book: NotebookNode) -> None:
    cell(book, "setup").execution_count = 3


def same_id(book: NotebookNode) -> None:
    cell(book, "map")["id"] = "title"


def many_cells(book: NotebookNode) -> None:
    book.cells += [markdown(f"more-{number}", "…") for number in range(80)]


def one_more_exercise(book: NotebookNode) -> None:
    book.cells += [
        markdown("about-other", HEADER.format(number=3, name="other", minutes=1, worth="1 point")),
        answer("other", "### BEGIN SOLUTION\nother = 1\n### END SOLUTION"),
        check("other", 1),
    ]


def text_between(book: NotebookNode) -> None:
    book.cells.insert(5, markdown("between", "A remark."))


def twice(book: NotebookNode) -> None:
    again = answer("scaled_scores", SOLUTION)
    again["id"] = "again"
    book.cells.append(again)


# Rule → ways to break it. Where a fault is also another rule's business, that rule is named too.
BREAKS: list[tuple[str, set[str], Callable[[NotebookNode], None]]] = [
    ("outputs", {"file-form"}, printed),
    ("outputs", {"file-form"}, counted),
    ("cell-ids", {"file-form"}, same_id),
    ("length", set(), many_cells),
    ("missing-check", set(), drop("check-scaled-scores")),
    ("missing-check", {"missing-answer"}, text_between),
    ("missing-answer", {"missing-exercise", "header"}, drop("scaled-scores")),
    ("check-call", set(), replace("check-scaled-scores", "scaled_scores", "other")),
    ("check-call", set(), replace("check-scaled-scores", 'check("scaled_scores")', 'check("scaled_scores")\nx = 1')),
    ("nbgrader-metadata", set(), flag("check-scaled-scores", locked=False)),
    ("nbgrader-metadata", set(), flag("scaled-scores", schema_version=2)),
    ("nbgrader-metadata", set(), flag("scaled-scores", grade=True)),
    ("nbgrader-metadata", {"missing-check", "header", "hints", "shapes-table"}, twice),
    ("points", set(), flag("check-scaled-scores", points=5)),
    ("unknown-exercise", set(), one_more_exercise),
    ("missing-exercise", {"missing-answer", "header"}, drop("quiz-small")),
    ("undefined-name", set(), replace("scaled-scores", "def scaled_scores", "def scaled_score")),
    ("solution-markers", set(), replace("scaled-scores", "### END SOLUTION", "# the end")),
    ("solution-markers", set(), replace("scaled-scores", "    ### BEGIN SOLUTION\n", "")),
    ("solution-markers", set(), replace("setup", "import math", "### BEGIN SOLUTION\nimport math\n### END SOLUTION")),
    ("solution-markers", set(), replace("quiz-small", QUIZ, 'quiz_small = {"why": "..."}')),
    ("header", set(), replace("about-scores", "### Exercise", "### Task")),
    ("header", set(), replace("about-scores", "●●○○○", "●●○○")),
    ("header", set(), replace("about-scores", "about 4 minutes", "4 minutes")),
    ("header", set(), replace("about-scores", "Exercise 2.1", "Exercise 3.1")),
    ("header", set(), replace("about-quiz", "Exercise 2.2", "Exercise 2.3")),
    ("header", set(), replace("about-scores", "4 points", "3 points")),
    ("header", set(), replace("about-scores", "4 points", "optional")),
    ("header", set(), replace("about-scores", "about 4 minutes", "about 12 minutes")),
    ("header", set(), replace("about-scores", "about 4 minutes", "about 3 minutes")),
    ("time-line", set(), replace("title", "# ", "About 10 minutes, 3 points.\n\n# ")),
    ("time-line", set(), replace("title", "# ", "About 30 minutes, of which 20 for the exercises.\n\n# ")),
    ("header", set(), replace("about-scores", "`scaled_scores`", "`scores`")),
    ("hints", set(), replace("about-scores", "<details><summary>Hint 2: how?</summary>So.</details>", "")),
    ("folded-text", set(), replace("about-scores", "how?</summary>So.</details>", "how?</summary>`So`.</details>")),
    ("shapes-table", set(), replace("about-scores", "|", "")),
    ("alt-text", set(), add("![](picture.png)")),
    ("alt-text", set(), add('<img src="picture.png">')),
    ("alt-text", set(), add('<img alt=" " src="picture.png">')),
    ("heading-twice", set(), add("## What you built\n\nOne.\n\n### What you *built*\n\nAnother.")),
    ("heading-twice", set(), add("A remark.\n\n## Scores")),
    ("map-image", set(), replace("map", "map.svg", "other.svg")),
    ("map-image", set(), drop("map")),
    ("term-twice", set(), add("A <dfn>key</dfn> is found by a query. A <dfn>Key</dfn> is compared with each query.")),
    ("term-twice", set(), add("All <dfn title=\"tensor\">tensors</dfn> are arrays of numbers.")),
    ("term-alone", set(), add("It is called a <dfn>key</dfn> when it can be found by a query.")),
    ("term-alone", set(), add("The picture of a <dfn>key</dfn> is the one that the next cell draws.")),
    ("term-alone", set(), add("## The <dfn>key</dfn>")),
    ("term-alone", set(), add('A <dfn class="x">key</dfn> can be found by a query.')),
    ("plain-english", set(), add("The masks are drawn anew.")),
    ("term-early", set(), add("Its perplexity is small.")),
    ("source-form", set(), add("## Sources\n\n- A. Vaswani et al., *Attention Is All You Need*, 2017.")),
    ("source-differs", set(), add("## Sources\n\n- Vaswani et al. 2017, *Attention is all you need*, NIPS: §3.")),
    ("source-missing", set(), add("As Kitaev et al. (2020, §2) found, one is enough.")),
    ("foreign-link", set(), add("See [the package](https://pypi.org/project/torch).")),
    ("foreign-link", set(), replace("setup", "import math", "# from https://cdn.jsdelivr.net/npm/d3")),
]  # fmt: skip


def test_a_clean_master_passes():
    assert complaints(clean_book()) == []


def test_every_rule_has_a_notebook_that_breaks_it():
    complaints(clean_book())
    assert {rule for rule, _, _ in BREAKS} | {"file-form"} == set(RULES)


@pytest.mark.parametrize(("rule", "also", "breaking"), BREAKS, ids=[f"{r}-{n}" for n, (r, _, _) in enumerate(BREAKS)])
def test_a_rule_finds_its_fault(rule, also, breaking):
    book = clean_book()
    breaking(book)
    found = complaints(book)
    assert rule in {complaint.rule for complaint in found}
    assert {complaint.rule for complaint in found} <= {rule} | also, found
    places = {cell.id for cell in book.cells} | {""}
    assert all(complaint.notebook == SLUG and complaint.cell in places and complaint.advice for complaint in found)


def test_a_complaint_names_its_cell():
    book = clean_book()
    printed(book)
    many_cells(book)
    assert [(complaint.cell, complaint.rule) for complaint in complaints(book)] == [
        ("", "file-form"),
        ("", "length"),
        ("setup", "outputs"),
    ]


def test_a_missing_id_is_found():
    content = json.loads(as_text(clean_book()))
    del content["cells"][2]["id"]
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert [(complaint.cell, complaint.rule) for complaint in complaints(clean_book(), text)] == [
        ("cell 3", "cell-ids"),
        ("", "file-form"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Write `![](picture.png)` to show a picture.",
        "```html\n<img src='x.png'>\n```",
        '<img src="x.png" alt="Two curves that meet at d = 64">',
        "![A heat map: each token attends to itself](heat.png)",
        "pypi.organic is no registry",
        "## What `scores` gives\n\nNumbers.\n\n## What `softmax` gives\n\nWeights.",
        "```bash\n# Scores\necho\n# Scores\n```",
        "A <dfn>key</dfn> can be found by a query.",
        "What the perplexity (notebook 09) is comes later, and the perplexity itself, too.",
        "Call `perplexity(model)`.",
        "As Vaswani et al. (2017) say.\n\n## Sources\n\n- Vaswani et al. 2017, *Attention Is All You Need*, NeurIPS, "
        "arXiv:1706.03762: §3.\n- PyTorch documentation: `torch.Tensor.view`.",
        "In 2017 the first Transformer, before GPT-2 of 2019.",
    ],
)
def test_what_is_fine_is_not_found(text):
    book = clean_book()
    add(text)(book)
    assert complaints(book) == []


def test_given_cells_may_stand_between_header_and_answer():
    book = clean_book()
    book.cells.insert(4, code("helper", "def helper():\n    return 1"))
    assert complaints(book) == []


def test_docstrings_and_comments_may_differ_from_the_reference():
    book = clean_book()
    replace("scaled-scores", "Scores of each query with each key.", "In other words.")(book)
    replace("scaled-scores", "    return", "    # a comment\n    return")(book)
    assert complaints(book) == []


def test_fix_tidies_what_a_machine_can(tmp_path):
    root = make_course(tmp_path, clean_book())
    path = source_file(root, SLUG)
    wanted = path.read_text(encoding="utf-8")
    book = read(path)
    printed(book)
    book.metadata.language_info = {"name": "python", "version": "3.11.7"}
    cell(book, "setup").metadata["execution"] = {"iopub.status.busy": "2026-01-01"}
    path.write_text(json.dumps(book), encoding="utf-8")
    assert {"outputs", "file-form"} <= {complaint.rule for complaint in lint(root, [SLUG])}
    assert fix(root) == [path]
    assert path.read_text(encoding="utf-8") == wanted
    assert fix(root) == []


def test_lint_reads_the_course_and_its_modules(tmp_path):
    """On a real notebook of the course, with the real exercises: the small master lacks most of them."""
    root = make_course(tmp_path)
    found = lint(root, ["2"])
    assert {"missing-exercise", "unknown-exercise"} <= {complaint.rule for complaint in found}
    assert json.loads(json.dumps([complaint.as_dict() for complaint in found]))[0]["notebook"] == SLUG
    assert [table.title for table in as_tables(found)] == [SLUG]
    assert sum(table.row_count for table in as_tables(found)) == len(found)


def test_an_answer_that_is_no_python_is_reported_not_raised(tmp_path):
    book = clean_book()
    replace("scaled-scores", "return dot", "return return query")(book)
    write(book, tmp_path / "x.ipynb")
    assert [complaint.rule for complaint in complaints(book)] == ["undefined-name"]
