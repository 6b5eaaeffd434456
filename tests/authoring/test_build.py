"""Both editions are what the master gives, nothing of a student's is lost, and a stale edition is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output
from nbgrader.utils import compute_checksum
from small_course import SETUP, SLUG, SOLUTION, change, make_course, small_master

from anatomy.authoring import build as building
from anatomy.authoring import solved as solving
from anatomy.authoring.build import BuildStopped, Built, build, stale
from anatomy.authoring.lint import lint
from anatomy.authoring.solved import solved_edition, traces
from anatomy.authoring.student import student_edition
from anatomy.course import COURSE, maps
from anatomy.engine.notebook_files.notebooks import (
    METADATA,
    BadNotebook,
    NoSuchNotebook,
    as_text,
    chosen,
    read,
    solved_file,
    source_file,
    student_file,
    was_edited,
    write,
)
from anatomy.engine.notebook_files.running import CellFailed, Cost, run
from anatomy.engine.notebook_files.settings import NoSuchCourse


def cells(book) -> dict:
    return {cell.id: cell for cell in book.cells}


@pytest.fixture
def no_kernel(monkeypatch):
    """Solved editions come as if they had been run: for tests that are about files."""

    def pretend(root, slug, on_cell=None):
        book = solved_edition(root, slug)
        for number, cell in enumerate((c for c in book.cells if c.cell_type == "code"), 1):
            cell.execution_count = number
        return book, Cost(1.0, 2**28)

    monkeypatch.setattr(building, "run_solved", pretend)


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """The tiny course, really built. Not to be changed."""
    root = make_course(tmp_path_factory.mktemp("built"))
    build(root)
    return root


# ---- the student edition -------------------------------------------------------------------------------------------


def test_a_solution_becomes_the_stub(course):
    source = cells(student_edition(course, SLUG))["scaled-scores"].source
    assert source.endswith('key."""\n    # YOUR CODE HERE\n    raise NotImplementedError')
    assert source.startswith(SOLUTION.splitlines()[0])


def test_a_quiz_keeps_its_template_and_raises_nothing(course):
    source = cells(student_edition(course, SLUG))["quiz-small"].source
    assert source == 'quiz_small = {\n    "why": "...",\n}'


def test_it_holds_no_trace_of_a_solution_nor_outputs(course):
    book = small_master()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [nbformat.v4.new_output("stream", text="a trace")]
    write(book, source_file(course, SLUG))
    text = as_text(student_edition(course, SLUG))
    for trace in ("SOLUTION", "sqrt", "because", "a trace", '"execution_count": 7'):
        assert trace not in text


def test_nbgrader_can_grade_it(course):
    """Checksums are those of the cells as they are handed out; checks cannot be deleted or edited."""
    book = cells(student_edition(course, SLUG))
    for name in ("scaled-scores", "check-scaled-scores", "quiz-small"):
        assert book[name].metadata.nbgrader.checksum == compute_checksum(book[name])
        assert book[name].metadata.deletable is False
    assert book["check-scaled-scores"].metadata.editable is False
    assert "editable" not in book["scaled-scores"].metadata


def test_it_is_the_same_every_time(course):
    first = as_text(student_edition(course, SLUG))
    assert first == as_text(student_edition(course, SLUG))
    content = json.loads(first)
    assert first == json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert content["metadata"] == {**METADATA, "transformer_anatomy": content["metadata"]["transformer_anatomy"]}
    assert [cell["id"] for cell in content["cells"]] == [cell.id for cell in small_master().cells]


def test_the_real_gradebook_is_not_touched(course):
    student_edition(course, SLUG)
    assert sorted(path.name for path in course.iterdir()) == ["nbgrader_config.py", "source"]


def test_nbgraders_reason_is_passed_on(course):
    change(source_file(course, SLUG), "scaled-scores", "### BEGIN SOLUTION\nscaled_scores = 1")
    with pytest.raises(BadNotebook, match=rf"{SLUG}.*no end solution statement"):
        student_edition(course, SLUG)


def test_outside_a_course_it_says_so(course):
    (course / "nbgrader_config.py").unlink()
    with pytest.raises(NoSuchCourse, match="--root"):
        student_edition(course, SLUG)


# ---- the solved edition --------------------------------------------------------------------------------------------


def test_solutions_stay_and_markers_go(course):
    book = cells(solved_edition(course, SLUG))
    assert book["scaled-scores"].source == "\n".join(line for line in SOLUTION.splitlines() if "SOLUTION" not in line)
    assert book["quiz-small"].source == 'quiz_small = {"why": "because"}'


@pytest.mark.slow
def test_the_build_writes_both_editions_and_their_maps(built):
    assert stale(built) == []
    assert not was_edited(read(student_file(built, SLUG)))
    for file in (student_file(built, SLUG), solved_file(built, SLUG)):
        assert file.with_name("map.svg").is_file()
    assert not list(built.rglob("*.tmp")) and not list(built.rglob("*.db"))


def test_what_a_run_writes_beside_its_notebook_is_not_handed_out(course, monkeypatch):
    folder = source_file(course, SLUG).parent
    before = set(folder.iterdir())

    def writing(book, folder, environment, on_cell):
        (folder / "my_transformer.py").touch()
        (folder / "__pycache__").mkdir()  # when it is imported
        (folder / "__pycache__/my_transformer.cpython-311.pyc").touch()

    monkeypatch.setattr(solving, "run", writing)
    solving.run_solved(course, SLUG)
    assert set(folder.iterdir()) == before


def test_what_only_a_running_kernel_can_show_is_not_kept(course, monkeypatch):
    """A widget has another id in every run, and nothing to show in a notebook that was saved."""
    page, widget = ({"text/html": "<p>a page</p>"}, {"text/plain": "Link()", solving.WIDGET: {"model_id": "0f2b"}})

    def showing(book, folder, environment, on_cell):
        outputs = [new_output("display_data", data=data) for data in (page, widget)]
        cells(book)["said"].outputs = [new_output("stream", text="one"), *outputs]

    monkeypatch.setattr(solving, "run", showing)
    book, _ = solving.run_solved(course, SLUG)
    said, shown = cells(book)["said"].outputs
    assert said.text == "one" and dict(shown.data) == page


@pytest.mark.slow
def test_the_solved_edition_has_outputs_and_nothing_of_the_day(built):
    book = read(solved_file(built, SLUG))
    assert dict(book.metadata) == {**METADATA, "transformer_anatomy": book.metadata.transformer_anatomy}
    by_id = cells(book)
    (said,) = by_id["said"].outputs
    assert said.text == "one\ntwo\n"
    (card,) = by_id["check-scaled-scores"].outputs
    assert card.data["text/plain"].startswith("Right: 4 of 4 points.")
    assert all("execution" not in cell.metadata for cell in book.cells)
    assert [c.execution_count for c in book.cells if c.cell_type == "code"] == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_a_second_build_changes_no_byte(built, tmp_path, monkeypatch):
    monkeypatch.setenv("ANATOMY_JUDGE", "http://127.0.0.1:9")  # the class's, which nobody asks about the right answers
    root = tmp_path / "again"
    shutil.copytree(built, root)
    (done,) = build(root, rerun=True)
    for path in sorted(built.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (root / path.relative_to(built)).read_bytes(), path.name
    assert done.kept is None and done.warnings == []
    assert done.cost.seconds > 0 and 50e6 < done.cost.memory < 1.5e9


def test_only_what_has_other_code_is_run(built, tmp_path, monkeypatch):
    root, ran = tmp_path / "again", []
    shutil.copytree(built, root)
    monkeypatch.setattr(
        building, "run_solved", lambda root, slug, _: (ran.append(slug), solved_edition(root, slug), Cost(1, 1))[1:]
    )
    before = read(solved_file(root, SLUG))
    change(source_file(root, SLUG), "title", "# Another title")
    (done,) = build(root)
    after = read(solved_file(root, SLUG))
    assert done.cost is None and not ran and after.cells[0].source == "# Another title" and stale(root) == []
    assert after.cells[1:] == before.cells[1:]
    change(source_file(root, SLUG), "said", "print('three')")
    assert build(root)[0].cost and ran == [SLUG]
    assert build(root, [SLUG])[0].cost and ran == [SLUG, SLUG], "what is named is run in any case"


@pytest.mark.slow
def test_a_cell_that_fails_stops_the_build_by_name(course, tmp_path, monkeypatch):
    """A wrong answer: the build says which notebook, which cell, and what the check says; it writes nothing."""
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "home"))
    change(source_file(course, SLUG), "setup", SETUP.replace("import math", "import cmath as math"))
    with pytest.raises(BuildStopped) as stopped:
        build(course)
    message = str(stopped.value)
    assert SLUG in message and "cell 6 (check-scaled-scores)" in message and "CheckFailed" in message
    assert "\x1b" not in message
    assert not (course / "notebooks").exists() and not (course / "solutions").exists()
    assert not (tmp_path / "home").exists(), "building must not count as the author's progress"


@pytest.mark.slow
def test_an_error_after_which_a_run_goes_on_is_kept(course):
    book = small_master()
    book.cells[-1].source = "raise ValueError('on purpose')"
    run(book, course, keep_going=True)
    assert book.cells[-1].outputs[0].ename == "ValueError"
    with pytest.raises(CellFailed, match=r"cell 8 \(said\): ValueError: on purpose"):
        run(book, course)


# ---- a student's work ----------------------------------------------------------------------------------------------


def test_work_is_refused_by_name_and_nothing_is_written(course, no_kernel):
    build(course)
    path = student_file(course, SLUG)
    change(path, "scaled-scores", "def scaled_scores(query, key):\n    return 'my idea'")
    change(source_file(course, SLUG), "title", "# Another title")
    before = {file: file.read_bytes() for file in course.rglob("*.ipynb")}
    with pytest.raises(BuildStopped, match=rf"notebooks/{SLUG}/{SLUG}.ipynb") as stopped:
        build(course)
    (line,) = [line for line in stale(course) if "edited by hand" in line]
    for said in (str(stopped.value), line):
        assert "--force" in said and "git checkout notebooks" in said
    assert {file: file.read_bytes() for file in course.rglob("*.ipynb")} == before


def test_force_keeps_a_copy(course, no_kernel):
    build(course)
    path = student_file(course, SLUG)
    for idea in ("first", "second"):
        change(path, "scaled-scores", f"{idea} idea")
        work = path.read_bytes()
        (done,) = build(course, force=True)
        assert done.kept is not None and done.kept.name.endswith(".bak.ipynb") and done.kept.name.startswith(SLUG)
        assert done.kept.read_bytes() == work
        assert not was_edited(read(path))
    assert len(list(path.parent.glob("*.bak.ipynb"))) == 2
    assert build(course, force=True)[0].kept is None


@pytest.mark.parametrize("content", ["not a notebook", "{}", '{"cells": [], "metadata": {}, "nbformat": 4}', ""])
def test_what_no_build_wrote_is_somebodys_work(course, no_kernel, content):
    path = student_file(course, SLUG)
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BuildStopped):
        build(course)
    (done,) = build(course, force=True)
    assert done.kept.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("what", ["a cell added", "a cell removed", "text changed", "cells swapped"])
def test_any_change_of_cells_is_work(course, what):
    book = student_edition(course, SLUG)
    if what == "a cell added":
        book.cells.append(nbformat.v4.new_markdown_cell("My notes."))
    elif what == "a cell removed":
        del book.cells[-1]
    elif what == "text changed":
        book.cells[0].source += " (done)"
    else:
        book.cells[0], book.cells[1] = book.cells[1], book.cells[0]
    assert was_edited(book)


def test_running_cells_is_not_work(course, no_kernel):
    """Outputs and what JupyterLab notes about the machine come back by running: they are replaced without ado."""
    build(course)
    path = student_file(course, SLUG)
    book = read(path)
    book.metadata.language_info.version = "3.13.0"
    book.cells[2].execution_count = 1
    write(book, path)
    assert stale(course) == [f"notebooks/{SLUG}/{SLUG}.ipynb was run or saved after it was built."]
    assert build(course)[0].kept is None
    assert stale(course) == []


def test_other_files_of_a_student_stay(course, no_kernel):
    build(course)
    notes = student_file(course, SLUG).with_name("notes.txt")
    notes.write_text("mine", encoding="utf-8")
    change(source_file(course, SLUG), "title", "# Another title")
    build(course, force=True)
    assert notes.read_text(encoding="utf-8") == "mine"


# ---- freshness -----------------------------------------------------------------------------------------------------


def test_a_changed_master_makes_both_editions_stale(course, no_kernel):
    assert len(stale(course)) == 4  # nothing is there: two notebooks, two maps
    build(course)
    assert stale(course) == []
    change(source_file(course, SLUG), "title", "# Another title")
    assert stale(course) == [
        f"notebooks/{SLUG}/{SLUG}.ipynb is not what source/ gives now.",
        f"solutions/{SLUG}/{SLUG}.ipynb is not what source/ gives now.",
    ]


def test_a_solution_that_is_not_the_right_answers_is_named_and_written_again(course, no_kernel):
    build(course)
    master = source_file(course, SLUG)
    built = master.read_text(encoding="utf-8")
    change(master, "scaled-scores", SOLUTION.replace("math.sqrt(query.size(-1))", "query.size(-1) ** 0.5"))
    assert stale(course) == [
        f"source/{SLUG}/{SLUG}.ipynb has solutions that nb02_attention_scores/right.py does not.",
        f"solutions/{SLUG}/{SLUG}.ipynb is not what source/ gives now.",
    ]
    build(course)
    assert master.read_text(encoding="utf-8") == built and stale(course) == []


def test_missing_outputs_and_maps_are_noticed(course, no_kernel):
    build(course)
    path = solved_file(course, SLUG)
    book = read(path)
    book.cells[2].execution_count = None
    write(book, path)
    path.with_name("map.svg").write_text("<svg/>", encoding="utf-8")
    student_file(course, SLUG).with_name("map.svg").unlink()
    assert stale(course) == [
        f"solutions/{SLUG}/{SLUG}.ipynb has cells that were not run.",
        f"notebooks/{SLUG}/map.svg is missing.",
        f"solutions/{SLUG}/map.svg is old.",
    ]


def test_a_notebook_that_the_map_does_not_have_is_built_without_one(course, no_kernel, monkeypatch):
    """Such as an exam, which an instructor adds to a private copy."""
    monkeypatch.setattr(maps, "PARTS", {part: said for part, said in maps.PARTS.items() if part != "02"})
    build(course)
    assert not stale(course)
    assert not list(course.glob("*/*/map.svg"))
    assert not [complaint for complaint in lint(course) if complaint.rule == "map-image"]


# ---- names and limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [SLUG, "2", "02", "attention_scores", f"source/{SLUG}", f"source/{SLUG}/", f"source/{SLUG}/{SLUG}.ipynb"]
)
def test_a_notebook_has_many_names(course, name):
    assert [book.slug for book in chosen(COURSE, course, [name])] == [SLUG]


def test_names_that_fit_nothing_are_answered_helpfully(course, tmp_path):
    with pytest.raises(NoSuchNotebook, match="The course has: 00-start-here"):
        chosen(COURSE, course, ["7-of-9"])
    with pytest.raises(NoSuchNotebook, match="03-softmax has no source yet"):
        chosen(COURSE, course, ["3"])
    with pytest.raises(NoSuchNotebook, match="no source notebooks"):
        chosen(COURSE, tmp_path / "elsewhere")


def test_traces_of_the_machine_are_warned_about(course):
    book = small_master()
    book.cells[2].outputs = [nbformat.v4.new_output("stream", name="stderr", text="Warning: old\nmore\n")]
    book.cells[4].outputs = [nbformat.v4.new_output("display_data", data={"text/plain": f"saved in {course}/x"})]
    book.cells[5].outputs = [
        nbformat.v4.new_output("display_data", data={"image/png": f"{course}", "text/plain": "ok"})
    ]
    packed = f"{'iVBORw0KGgo' * 9}{''.join(filter(str.isalnum, str(course)))}/tmp/{'AAAADUlHDR' * 9}"
    picture = f'<img src="data:image/png;base64,iV{course}BORw"> <script>{packed}</script>'
    book.cells[6].outputs = [nbformat.v4.new_output("display_data", data={"text/html": picture})]
    assert list(traces(book, course)) == [
        "Cell setup writes to stderr: Warning: old",
        "Cell scaled-scores shows a path of this machine.",
    ]
    assert Built(SLUG, Cost(1, 1), traces=("Cell x …",)).warnings == [f"{SLUG}: Cell x …"]


def test_a_heavy_notebook_is_warned_about():
    assert Built(SLUG, Cost(119, int(1.4e9))).warnings == []
    slow, large = Built(SLUG, Cost(121.4, int(1.6e9))).warnings
    assert "121 s" in slow and "120 s" in slow and "1.60 GB" in large
