"""The pages that students get back: nbgrader's own, made in the same run, and nothing in them that a browser runs."""

from __future__ import annotations

import base64
import filecmp
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bleach._vendor import html5lib
from hostile_pages import ACT, PAGE, PIECES, made_hostile
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook
from rich.console import Console
from test_attacks import found
from traitlets.config import Config
from typer.testing import CliRunner

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading import run, verdicts
from anatomy.classroom.grading.feedback import page as pages
from anatomy.classroom.grading.feedback import sanitize
from anatomy.classroom.grading.feedback.drawings import MOST, figures_of, with_figures
from anatomy.classroom.grading.feedback.folder import FeedbackFolder
from anatomy.classroom.grading.preprocessors import PlainOutputs, judge_observations
from anatomy.classroom.grading.report import PARTLY, UNGRADED, Report
from anatomy.classroom.sample_class import filled
from anatomy.cli import app
from anatomy.course import COURSE
from anatomy.course.maps import alt
from anatomy.engine.notebook_files.notebooks import as_text, source_file, student_file, write
from anatomy.engine.notebook_files.settings import settings

REPOSITORY = Path(__file__).resolve().parents[2]
BOOK = COURSE.notebook("03-softmax")
WORTH = COURSE.exercises(BOOK)["softmax"].points
ANSWERS = {
    "ada": "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()",
    "bea": "def softmax(x, dim):\n    return x.exp() / x.exp().sum()",
    "cleo": "",
    "dora": "def softmax(x, dim):\n    return x / 2",
    "eve": "{",
}
needs_a_kernel = pytest.mark.skipif(not sandbox.bubblewrap(), reason="needs bubblewrap")


def small_course(root, new_course):
    """A notebook with one exercise and the map, and students: right, wrong, not written, to be late, not readable."""
    new_course(root, BOOK.slug)
    book = nbformat.read(source_file(root, BOOK.slug), as_version=4)
    kept = ("softmax", "check-softmax")
    book.cells = book.cells[:2] + [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") in kept]
    book.cells[0].source += f"\n\n![{alt(BOOK.slug)}](map.svg)"
    write(book, source_file(root, BOOK.slug))
    write(book, student_file(root, BOOK.slug))
    for name, text in COURSE.beside(BOOK).items():
        student_file(root, BOOK.slug).with_name(name).write_text(text, encoding="utf-8")
    for student, answer in ANSWERS.items():
        handed_in = filled(root, BOOK, {})
        handed_in.cells[2].source = answer or handed_in.cells[2].source
        if student == "dora":  # copied from another notebook, and what it shows stayed there
            handed_in.cells.append(new_markdown_cell("My plot: ![x](attachment:image.png)", id="copied"))
        place = root / "submitted" / student / BOOK.slug
        place.mkdir(parents=True)
        (place / f"{BOOK.slug}.ipynb").write_text(answer if student == "eve" else as_text(handed_in), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def graded(tmp_path_factory, new_course):
    """A graded class."""
    root = small_course(tmp_path_factory.mktemp("graded"), new_course)
    grade(root, workers=2)
    return root


@pytest.fixture
def course(graded, tmp_path):
    """A copy of the graded class."""
    return Path(shutil.copytree(graded, tmp_path / "course", copy_function=shutil.copy2))


def grade(root, **options):
    return run.grade(root, console=Console(file=io.StringIO()), **{"workers": 1, **options})


def page_of(root, student):
    return root / "feedback" / student / BOOK.slug / f"{BOOK.slug}.html"


def drawing_in(page):
    """The map that a page shows, which must be in it once."""
    (data,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" alt="Map of the Transformer', page)
    return base64.b64decode(data)


def by_nbgrader(root):
    """`feedback/` as `nbgrader generate_feedback` makes it, beside ours."""
    ours = root / "ours"
    (root / "feedback").rename(ours)
    done = subprocess.run([sys.executable, "-m", "nbgrader", "generate_feedback", BOOK.slug], cwd=root, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)})  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return root / "feedback", ours


def files(folder):
    return {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}


def by_hand(root, student, **what):
    """Marks and comments as Formgrader writes them; a date by which work was due."""
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        if "due" in what:
            gradebook.update_or_create_assignment(BOOK.slug, duedate=what["due"])
        if "mark" in what:
            gradebook.find_grade("check-softmax", BOOK.slug, BOOK.slug, student).manual_score = what["mark"]
        if "comment" in what:
            gradebook.find_comment("softmax", BOOK.slug, BOOK.slug, student).manual_comment = what["comment"]
        gradebook.db.commit()


# ---- the page -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_a_kernel
def test_the_pages_are_nbgraders_own(course):
    """Byte for byte, with marks and comments by hand, work that is late, and pictures beside the notebook."""
    late = "\nclass Late(__import__('nbgrader').plugins.LateSubmissionPlugin):\n    penalty_method = 'zero'\n"
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text("utf-8") + late + "c.AssignLatePenalties.plugin_class = Late\n", "utf-8")
    by_hand(course, "bea", due="2026-01-01 12:00:00 UTC", mark=1.5, comment="See *me*. <script>alert(1)</script>")
    beside = course / "submitted" / "dora" / BOOK.slug
    when = "2026-01-02 12:00:00 UTC"
    for name, text in {"timestamp.txt": when, "plot.png": "x", "evil.html": "<script>", "map.svg": "<x/>"}.items():
        (beside / name).write_text(text, encoding="utf-8")
    assert grade(course).pages == 4
    stock, ours = by_nbgrader(course)
    not_passed_on = {Path("dora", BOOK.slug, name) for name in ("evil.html", "map.svg")}
    assert files(stock).keys() - files(ours).keys() == not_passed_on
    assert len(files(ours)) == 6
    for name, path in files(ours).items():
        assert filecmp.cmp(path, stock / name, shallow=False), name
        assert path.stat().st_mode == (stock / name).stat().st_mode
    bea, dora = ((ours / name / BOOK.slug / f"{BOOK.slug}.html").read_text("utf-8") for name in ("bea", "dora"))
    assert "My plot: <em>The picture image.png is not in this notebook.</em>" in dora
    assert f"<b>1.5 of {WORTH} points</b>" in bea and "<em>me</em>" in bea and "<script>alert" not in bea
    assert f"<b>0 of {WORTH} points</b>, after" in dora and "for handing in late" in dora
    assert "<dt>Due</dt><dd>1 January 2026, 12:00 UTC</dd>" in dora and "<dt>Due</dt>" not in bea
    handed_out = student_file(course, BOOK.slug).with_name("map.svg").read_bytes()
    assert drawing_in(bea) == drawing_in(dora) == handed_out


@pytest.mark.slow
@needs_a_kernel
def test_workers_make_the_pages_and_they_show_verdicts(course, monkeypatch):
    """The writer makes none again when nothing was done by hand; marks and cards are there, other code is not."""
    assert not page_of(course, "eve").exists(), "no page of zeros for what is not graded"
    ada, bea, cleo = (page_of(course, student).read_text("utf-8") for student in ("ada", "bea", "cleo"))
    assert f"<b>{WORTH} of {WORTH} points</b>" in ada and "Right" in ada
    if "Two mistakes at once" in bea:  # they are looked for in a judge's time only: a busy machine may not get there
        assert re.search(r"<td>Two mistakes at once\. \(1\) .+ \(2\) .*</td>", bea)
        assert "xponentials of large scores overflow" in bea
    assert 'href="#check-softmax"' in bea
    assert re.search(r'style="border-left:5px solid #c4320a;[^"]*"><div [^>]*><span style="color:#fff;', bea)
    assert f"<b>0 of {WORTH} points</b>" in cleo and "Not attempted." in cleo and "No response." not in cleo
    for page in (ada, bea, cleo):
        assert "BEGIN SOLUTION" not in page and ">amax<" not in page, "the right answer"
        assert "Traceback" not in page and "observation" not in page

    put = FeedbackFolder.put

    def put_what_comes(self, *given):
        self.pages.page = None
        put(self, *given)

    monkeypatch.setattr(FeedbackFolder, "put", put_what_comes)
    report = grade(course, force=True, students=["ada", "cleo"])
    assert (report.pages, report.without_page) == (2, ())
    by_hand(course, "cleo", mark=1)
    report = grade(course, force=True, students=["ada", "cleo"])
    assert report.pages == 1 and report.without_page[0].startswith("cleo"), "the worker could not know of this mark"


@pytest.mark.slow
@needs_a_kernel
def test_an_answer_without_a_mark_is_not_zero(course, monkeypatch):
    def fails(*given):
        raise judge_observations.Ungraded("Nobody knows.")

    monkeypatch.setattr(verdicts, "verdict_on", fails)
    assert grade(course, force=True, students=["bea"]).results[0].status == PARTLY
    monkeypatch.undo()
    page = page_of(course, "bea").read_text("utf-8")
    assert f"<b>0 of {WORTH} points so far</b>" in page and "not graded yet" in page and "One answer waits" in page
    by_hand(course, "bea", mark=0)
    assert grade(course).pages == 1
    page = page_of(course, "bea").read_text("utf-8")
    assert f"<b>0 of {WORTH} points</b>" in page and "not graded yet" not in page, "0 by hand is a mark"
    stock, ours = by_nbgrader(course)
    assert {name: path.read_bytes() for name, path in files(stock).items()} == {
        name: path.read_bytes() for name, path in files(ours).items()
    }


@pytest.mark.slow
@needs_a_kernel
def test_pages_can_be_released(course, tmp_path):
    """With what the exchange has put beside a submission, as `nbgrader release_feedback` wants it."""
    place = course / "submitted" / "ada" / BOOK.slug
    (place / "timestamp.txt").write_text("2026-01-02 12:00:00 UTC", encoding="utf-8")
    (place / "submission_secret.txt").write_text("xyz", encoding="utf-8")
    grade(course)
    done = subprocess.run([sys.executable, "-m", "nbgrader", "release_feedback", BOOK.slug, "--course=anatomy",
                           "--student=ada", f"--Exchange.root={tmp_path}"], cwd=course, text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(REPOSITORY)})  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (released,) = (tmp_path / "anatomy" / "feedback").iterdir()
    assert released.read_bytes() == page_of(course, "ada").read_bytes()


# ---- the run --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_pages_that_are_not_right_are_made(course):
    before = {student: page_of(course, student).stat().st_mtime_ns for student in ("ada", "bea", "cleo", "dora")}
    report = grade(course)
    assert (report.graded, report.pages, report.without_page) == (0, 0, ())
    by_hand(course, "ada", mark=3)
    page_of(course, "bea").unlink()
    page_of(course, "cleo").write_text("<title>somebody else's</title>", encoding="utf-8")
    assert grade(course, feedback=False).pages is None and not page_of(course, "bea").exists()
    report = grade(course)
    assert (report.graded, report.pages) == (0, 3)
    after = {student: page_of(course, student).stat().st_mtime_ns for student in before}
    assert {student for student in before if before[student] == after[student]} == {"dora"}
    assert f"<b>3 of {WORTH} points</b>" in page_of(course, "ada").read_text("utf-8")
    assert grade(course).pages == 0
    student_file(course, BOOK.slug).with_name("map.svg").write_text("<svg/>", encoding="utf-8")
    report = grade(course)
    assert (report.graded, report.pages) == (0, 4)
    assert drawing_in(page_of(course, "ada").read_text("utf-8")) == b"<svg/>"


@pytest.mark.slow
@needs_a_kernel
def test_killed_before_the_page_is_there(course, monkeypatch):
    """What is recorded stays so; the next run makes the page, and in between none that is wrong lies there."""

    def killed(self, *given):
        raise KeyboardInterrupt

    monkeypatch.setattr(FeedbackFolder, "put", killed)
    with pytest.raises(KeyboardInterrupt):
        grade(course, force=True, students=["bea"])
    monkeypatch.undo()
    assert not page_of(course, "bea").exists()
    report = grade(course)
    assert (report.graded, report.pages) == (0, 1) and page_of(course, "bea").exists()


@pytest.mark.slow
def test_a_page_that_cant_be_made_costs_only_itself(course, monkeypatch):
    shutil.rmtree(course / "feedback")
    make = pages.PageMaker.page

    def fails(self, notebook, student, *given):
        if student == "bea":
            raise RecursionError("too deep")
        return make(self, notebook, student, *given)

    monkeypatch.setattr(pages.PageMaker, "page", fails)
    console = Console(file=io.StringIO(), width=200)
    report = run.grade(course, console=console)
    assert report.pages == 3 and report.without_page == (f"bea, {BOOK.slug}: RecursionError: too deep",)
    assert f"no feedback page for bea, {BOOK.slug}: RecursionError" in console.file.getvalue()
    assert {row.student for row in report.ungraded} == {"eve"}


def test_settings_that_cant_be_sent_stay_here(root):
    config = settings(root)
    assert "markdown2html" in pages.page_settings(config)
    config.HTMLExporter.filters = {**config.HTMLExporter.filters, "mine": str.upper}
    assert pages.page_settings(config) == ""
    assert pages.page_settings(Config()) == "{}"


def test_the_command_takes_no_feedback(root, monkeypatch):
    asked = []
    monkeypatch.setattr(run, "grade", lambda *given, **options: asked.append(options["feedback"]) or Report())
    for options in ([], ["--no-feedback"]):
        assert CliRunner().invoke(app, ["grade", "--root", str(root), *options]).exit_code == 0
    assert asked == [True, False]


def test_the_template_is_in_the_repository(root):
    """`feedback/` is not, and an ignored folder of that name was easily overlooked."""
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    name = "anatomy/classroom/grading/templates/feedback/index.html.j2"
    assert subprocess.run(["git", "ls-files", "--error-unmatch", name], cwd=root, capture_output=True).returncode == 0


# ---- what may reach a browser ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, new_course):
    """(the course, the page) of a notebook that wants its reader to run something."""
    root = small_course(tmp_path_factory.mktemp("hostile"), new_course)
    shutil.rmtree(root / "submitted")
    place = root / "submitted" / "mallory" / BOOK.slug
    place.mkdir(parents=True)
    (place / f"{BOOK.slug}.ipynb").write_text(as_text(made_hostile(filled(root, BOOK, {}))), encoding="utf-8")
    (place / "evil.html").write_text(PAGE, encoding="utf-8")
    report = grade(root)
    assert report.results[0].status != UNGRADED and report.pages == 1, report
    return root, page_of(root, "mallory").read_text("utf-8")


@pytest.mark.slow
@needs_a_kernel
def test_a_hostile_notebook_leaves_nothing_that_runs(hostile):
    root, page = hostile
    assert found(page) == []
    assert "COVER" in page, "its words are there"
    elements = list(html5lib.parse(page, namespaceHTMLElements=False).find("body").iter())
    ids = [element.get("id") for element in elements]
    assert ids.count("check-softmax") == 1 and ids.count("in-check-softmax") > 1
    for element in elements:
        assert not {"navbar-fixed-top", "modal-backdrop"} & set(element.get("class", "").split())
        assert not re.search("position|url|-5000|100vw", element.get("style", ""))
        assert element.get("href", "#").startswith("#") and element.get("src", "x")[:5] in ("data:", "x")
    assert [path.name for path in (root / "feedback").rglob("*.*")] == [f"{BOOK.slug}.html"]


@pytest.mark.slow
@needs_a_kernel
def test_what_its_outputs_say_of_themselves_is_cleaned_before_formgrader_shows_it(hostile):
    """nbconvert writes a picture's width without quotes, and takes a picture from where its metadata says."""
    root, _ = hostile
    book = nbformat.read(root / "autograded" / "mallory" / BOOK.slug / f"{BOOK.slug}.ipynb", as_version=4)
    outputs = [output for cell in book.cells for output in cell.get("outputs", ()) if "metadata" in output]
    assert len(outputs) > 10 and all(not output.metadata for output in outputs)
    config = settings(root)
    config.HTMLExporter.template_name = "classic"
    assert found(HTMLExporter(config=config).from_notebook_node(book)[0]) == []
    picture = next(output for output in outputs if "image/png" in output.data)
    picture.metadata = nbformat.from_dict({"image/png": {"width": f"1 onload={ACT}"}})
    assert found(HTMLExporter(config=config).from_notebook_node(book)[0]), "this is what would happen"
    picture.metadata = nbformat.from_dict({"image/png": {"width": 3, "height": 2.5, "x": 1}, "x": {"width": 1}})
    cell, _ = PlainOutputs().preprocess_cell(nbformat.from_dict({"outputs": [picture]}), {}, 0)
    assert cell.outputs[0].metadata == {"image/png": {"width": 3, "height": 2.5}}


def test_only_what_a_notebook_shows_as_it_was_handed_out_is_a_figure(tmp_path):
    released = tmp_path / "03-softmax"
    book = "![A](map.svg) ![B](../secret.svg) ![C](gone.svg) ![D](large.svg) ![E](link.svg) ![F](answers.ipynb)"
    write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(book)]), released / "03-softmax.ipynb")
    for name in ("map.svg", "../secret.svg", "unnamed.svg", "answers.ipynb"):
        (released / name).write_text(name, encoding="utf-8")
    (released / "large.svg").write_bytes(bytes(MOST + 1))
    (released / "link.svg").symlink_to(tmp_path / "secret.svg")
    assert figures_of(released) == {"map.svg": b"map.svg"}
    assert figures_of(tmp_path / "04-heads") == {}


@pytest.mark.parametrize(
    "source",
    ["../map.svg", "./map.svg", "Map.svg", "map.svg?x", "map%2esvg", "/etc/map.svg", "https://example.org/map.svg"],
)
def test_a_figure_goes_by_its_exact_name(source):
    page = sanitize.clean(f'<img src="{source}" alt="x"><b title=\'<img src="map.svg">\'>&lt;img src="map.svg"></b>')
    assert with_figures(page, {"map.svg": b"<svg/>"}) == page


def test_a_figure_is_put_in_once_however_often_a_submission_names_it():
    page = sanitize.clean('<p><img width="9" alt="a &gt; b" src="map.svg" title="x"></p>' * 5_000)
    shown = with_figures(page, {"map.svg": b"<svg/>" * 10_000})
    assert shown.count("data:image/svg+xml;base64,") == 1 and len(shown) < len(page) + 100_000
    assert 'alt="a &gt; b" src="data:' in shown.partition("</p>")[0], "where it is named first"


@pytest.mark.parametrize("piece", PIECES)
def test_no_piece_survives_cleaning(piece):
    assert found(f"<html><body>{sanitize.clean(piece)}</body></html>") == []


@pytest.mark.parametrize(
    "html, cleaned",
    [
        ('<a href="../03-softmax/03-softmax.ipynb#Heads">03</a>', None),
        ('<a href="https://pytorch.org">torch</a>', None),
        ('<img src="plot.png" alt="a plot">', None),
        ('<img src="data:image/png;base64,AAAA" alt="a plot" width="3">', None),
        ('<b style="color:#c43209;width:999px;background-color:rgba(127,127,127,.08);">✗</b>', None),
        ('<table class="dataframe"><tbody><tr><td style="color:red;">1</td></tr></tbody></table>', None),
        ('<h2 id="a">A <a class="anchor-link" href="#a">¶</a></h2>',
         '<h2 id="in-a">A <a class="anchor-link" href="#in-a">¶</a></h2>'),
        ('<a href="evil.html">x</a>', "<a>x</a>"),
        ('<a href="evil.html?a.ipynb">x</a>', "<a>x</a>"),
        ('<a href="evil.html#a.ipynb">x</a>', "<a>x</a>"),
        ('<a href="//example.org/a.ipynb">x</a>', "<a>x</a>"),
        ('<img src="a/%2e%2e/../x" alt="">', '<img alt="">'),
        ('<img src=".\t./x" alt="">', '<img alt="">'),
        ('<img src="https://example.org/x" alt="">', '<img alt="">'),
        ('<p class="k navbar" style="color:red;margin-top:-9px;width:90vw;height:5000px">x</p>',
         '<p class="k" style="color:red;">x</p>'),
        ('<p style="width:calc(1px*9);color:expression(x());width:1e5px;height:\\35 000px;color:#1e9999">x</p>',
         '<p style="color:#1e9999;">x</p>'),
        ('<p style="color:red;border:url(//example.org/x);width:/**/9px;color:var(--x);margin:9px">x</p>',
         '<p style="color:red;margin:9px;">x</p>'),
        ('<img src="plot.png" title=" alt=">', '<img src="plot.png" title=" alt=" '
         'alt="No description has been provided for this image">'),
        ('<b title="<img src=x>">x</b>', '<b title="&lt;img src=x&gt;">x</b>'),
    ],
)  # fmt: skip
def test_what_is_kept_and_what_is_not(html, cleaned):
    assert sanitize.clean(html) == (cleaned or html)


def test_only_the_courses_language_is_colored():
    assert "<span" in sanitize.highlight({}, "x = 1") == sanitize.highlight({}, "x = 1", {"magics_language": "python"})
    assert sanitize.highlight({}, "%%perl\n<b>", {"magics_language": "perl"}) == "<pre>%%perl\n&lt;b&gt;</pre>"


@pytest.mark.parametrize(
    "show, text",
    [
        (sanitize.clean, "<div>" * 500_000),
        (sanitize.clean, "x" * 20_000_000),
        (sanitize.clean, "&" * 3_900_000),
        (sanitize.clean, "&" * 49_999),
        (sanitize.clean, "<p " + " ".join(f"a{number}" for number in range(400_000))),
        (sanitize.clean, "<p " + "/".join(f"a{number}" for number in range(50_000))),
        (sanitize.ansi, "\x1b[31mx" * 1_000_000),
        (lambda text: sanitize.markdown({}, text), "\\begin{a}" * 5_000),
        (lambda text: sanitize.markdown({}, text), "> " * 500_000),
        (lambda text: sanitize.highlight({}, text), "a." * 9_999),
        (lambda text: sanitize.highlight({}, text), "x = f(y)\n" * 99_999),
    ],
    ids=["deep", "long", "entities", "some entities", "attributes", "some attributes", "many colors",
         "formulas that do not end", "many quotes", "dots", "much code"],
)  # fmt: skip
@pytest.mark.slow
def test_what_is_too_large_does_not_hold_up_anybody(show, text):
    assert len(show(text)) < 1_000_000


@pytest.mark.parametrize("attachments", [{}, {"other.png": {"image/png": "AAAA"}}])
def test_a_picture_that_is_not_in_its_notebook_is_a_sentence(attachments):
    cell = {"attachments": attachments} if attachments else {}
    page = sanitize.markdown({"cell": cell}, '![x](attachment:<a"b>.png "title") ![y](attachment:) and more')
    assert "is not in this notebook." in page and "and more" in page and "<a" not in page


@pytest.mark.parametrize("name", ["x.png", "größe.png", "my plot.png", "100%.png"])
def test_a_picture_that_is_in_its_notebook_is_shown(name):
    there = {"cell": {"attachments": {name: {"image/png": "AAAA"}}}}
    assert "data:image/png" in sanitize.markdown(there, f"![](attachment:{name.replace(' ', '%20')})")
