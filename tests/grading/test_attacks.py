"""Attacks by what is handed in: none gains a mark over the same answer without the attack, none leaves a trace."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import nbformat
import psutil
import pytest
import torch
from bleach._vendor import html5lib
from hostile import ADOPT, IN_PAGES, ON_SECRETS, ON_THE_VERDICT, ON_WHAT_IS_LENT, SCRIPT, TAKES, WRONG
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.answers import answer_bank
from anatomy.engine.judging.judge import judge
from anatomy.engine.notebook_files.notebooks import as_text, source_file, write
from anatomy.engine.observing.observe import observe
from tests import ordinary_user

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]

BOOK = COURSE.notebook("03-softmax")
REPOSITORY = Path(__file__).resolve().parents[2]
NAME = f"trace-of-an-attack-{os.getpid()}"  # one for each process that runs these tests
RIGHT = inspect.getsource(COURSE.right(COURSE.exercises(BOOK)["softmax"]))
RIGHT_AGAIN = "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()\n"
ATTACKS = {**ON_THE_VERDICT, **ON_SECRETS, **IN_PAGES}


# ---- what is handed in, besides the text of a cell ------------------------------------------------------------------


def links_in_the_folder(root, place, book):
    """The files beside a notebook lead to the right answers."""
    (place / "answer.txt").symlink_to(source_file(root, BOOK.slug))
    (place / "data").symlink_to(root / "source")
    os.link(root / "nbgrader_config.py", place / "settings.txt")
    answer_cell(book).source = f"{WRONG}{ADOPT}{ON_SECRETS['symbolic links']}"


def paths_in_names(root, place, book):
    for name in (f"..\\..\\{NAME}", f"$(touch {NAME})", f"; touch {NAME} #", f"-o {NAME}", "\n..\n", "%2e%2e%2f", "~",
                 "sitecustomize.py", "torch.py", "anatomy.py", "usercustomize.py"):  # fmt: skip
        (place / name).write_text(f"open('{root}/{NAME}', 'w')\n" + RIGHT)
    answer_cell(book).source = f"{WRONG}import os\nprint(os.listdir())"


def a_name_that_is_script(root, place, book):
    return "<img src=x onerror=alert(1)>.ipynb"


def metadata_with_points(root, place, book):
    for cell in book.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks:
            marks |= {"points": 1000, "solution": True, "grade": True, "checksum": "0", "score": 1000}
        cell.metadata["anatomy"] = {"status": "right", "points": 1000, "exercise": "softmax"}
        cell.outputs = [] if cell.cell_type == "code" else None
    book.metadata |= {"anatomy_seeds": [0, 1], "kernelspec": {"name": f"touch {root}/{NAME}", "display_name": "x"}}
    answer_cell(book).source = WRONG


def checks_of_its_own(root, place, book):
    """A changed check, and cells of its own between answer and check."""
    index = book.cells.index(answer_cell(book))
    answer_cell(book).source = WRONG
    book.cells[index + 1].source = "100"
    book.cells.insert(index + 1, new_code_cell("check = lambda name: 100\n100", id="own", metadata={
        "nbgrader": {"grade": True, "grade_id": "check-bonus", "points": 100, "locked": False, "solution": False,
                     "schema_version": 3, "task": False}}))  # fmt: skip


def script_in_text(root, place, book):
    text = f"# {SCRIPT}\n\n[link](javascript:alert('{NAME}')) ![x](https://example.org/{NAME}.png)\n\n{SCRIPT}"
    book.cells.append(new_markdown_cell(text, id="text"))
    book.cells.append(new_code_cell(text, id="code"))
    state = {"x": {"model_name": "HTMLModel", "state": {"value": SCRIPT}}}
    book.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {"version_major": 2, "version_minor": 0, "state": state}
    }
    answer_cell(book).source = WRONG


HANDED_IN = {
    "links in the folder": links_in_the_folder,
    "paths in the names of files": paths_in_names,
    "a file name that is script": a_name_that_is_script,
    "metadata with points": metadata_with_points,
    "checks of its own": checks_of_its_own,
    "script in text and metadata": script_in_text,
}


def answer_cell(book):
    return next(c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "softmax")


# ---- the class ------------------------------------------------------------------------------------------------------


@contextmanager
def right_answer_on_sale():
    """Somebody outside who sends the right answer to whoever connects. Yields (port, the list of who did)."""
    customers = []
    with socket.create_server(("0.0.0.0", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{NAME}")
        abstract.listen()

        def sell(one):
            while True:
                try:
                    line, who = one.accept()
                except OSError:
                    return
                customers.append(who)
                with line:
                    line.sendall(RIGHT.encode())

        for one in (server, abstract):
            threading.Thread(target=sell, args=(one,), daemon=True).start()
        yield server.getsockname()[1], customers
        for one in (server, abstract):
            one.shutdown(socket.SHUT_RDWR)


def small_course(root, new_course):
    """One notebook with one exercise."""
    new_course(root, BOOK.slug)
    book = nbformat.read(source_file(root, BOOK.slug), as_version=4)
    kept = ("softmax", "check-softmax")
    book.cells = book.cells[:2] + [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") in kept]
    write(book, source_file(root, BOOK.slug))
    return root


def hand_in(root, student, name, port):
    book = filled(root, BOOK, {})
    place = root / "submitted" / student / BOOK.slug
    place.mkdir(parents=True)
    file = f"{BOOK.slug}.ipynb"
    if name in HANDED_IN:
        answer_cell(book).source = WRONG
        file = HANDED_IN[name](root, place, book) or file
    else:
        text = ATTACKS[name]
        words = {"@ROOT@": root, "@REPOSITORY@": REPOSITORY, "@PORT@": port, "@SOCKET@": NAME,
                 "@HOME@": Path.home(), "@NAME@": f"{NAME}-{student}"}  # fmt: skip
        for word, value in words.items():
            text = text.replace(word, str(value))
        answer_cell(book).source = f"{WRONG}{ADOPT}{text}"
    (place / file).write_text(as_text(book), encoding="utf-8")


def files_of(root):
    """What must stay as it is: everything that was there before grading."""
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()
            and path.relative_to(root).parts[0] in ("source", "submitted", "nbgrader_config.py")}  # fmt: skip


def traces(root):
    """What an attack has left outside its sandbox."""
    places = [*map(Path, ("/", "/tmp", "/var/tmp", "/dev/shm", "/etc")), Path.home(), REPOSITORY, Path.cwd()]
    left = [str(path) for place in places for path in place.glob(f"*{NAME}*")]
    handed_in = {path.name for path in (root / "submitted").rglob("*")}  # nbgrader copies files beside a notebook
    left += [str(path) for path in root.rglob(f"*{NAME}*") if path.name not in handed_in or path.parent == root]
    for one in psutil.process_iter(["cmdline"]):
        if any(NAME in word or word == "sleep 987" for word in one.info["cmdline"] or ()):
            left.append(f"process {one.pid}: {' '.join(one.info['cmdline'])}")
    return left


@pytest.fixture(scope="module", params=ordinary_user.EITHER)
def attacked(request, tmp_path_factory, new_course, everything):
    """(the course's folder, student → attack, student → row, what was left and who bought the right answer, files).

    Graded as whoever runs this, and as an ordinary user. A plain run takes every fifth attack but those on pages.
    """
    root = small_course(tmp_path_factory.mktemp("attacked"), new_course)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("\nc.Execute.timeout = 4\n")  # seconds; one attack never ends
    tried = [*ON_THE_VERDICT, *ON_SECRETS][:: 1 if everything else 5]
    names = {f"attack-{number:02d}": name for number, name in enumerate([*tried, *IN_PAGES, *HANDED_IN])}
    with pytest.MonkeyPatch.context() as patch, right_answer_on_sale() as (port, customers):
        patch.setenv("THE_ANSWER", RIGHT)
        for student, name in names.items():
            hand_in(root, student, name, port)
        victim = filled(root, BOOK, {})
        answer_cell(victim).source = RIGHT_AGAIN
        for student in ("a-sound-one", "victim"):
            place = root / "submitted" / student / BOOK.slug
            place.mkdir(parents=True)
            (place / f"{BOOK.slug}.ipynb").write_text(as_text(victim), encoding="utf-8")
        before = files_of(root)
        rows, left = ordinary_user.graded(request.param, root, tmp_path_factory.mktemp("place"), NAME)
    return root, names, rows, [*left, *customers], before


def test_no_attack_gains_a_mark_or_leaves_a_trace(attacked, capsys):
    root, names, rows, won, before = attacked
    exercise = COURSE.exercises(BOOK)["softmax"]
    seeds = (11, 12)
    honest = judge(exercise, observe(exercise, lambda x, dim: x / 2, seeds), seeds).points
    left, wrong, table = traces(root), {}, []
    for student, name in names.items():
        row = rows[student]
        points = row.marks[0].points if row.marks else None
        if row.status not in ("graded", "repaired") or len(row.marks) != 1 or points is None or points > honest:
            wrong[name] = row
        said = row.marks[0].said if row.marks else " ".join(row.reasons)
        own = [trace for trace in left if student in trace]
        table.append(f"  {name:<38} {honest:>8} {points!s:>5}   {', '.join(own) or 'none':<11} {said[:70]}")
    with capsys.disabled():
        print(f"\n  {'attack':<38} {'deserves':>8} {'got':>5}   trace left  of {exercise.points}; what was said")
        print(*table, sep="\n")
        print(f"  all traces outside: {left or 'none'}; left in the grader's folders, connections: {won or 'none'}")
    assert not wrong
    assert left == [] and won == []
    assert files_of(root) == before, "what was handed in, and the sources, are as they were"
    for student in ("a-sound-one", "victim"):
        assert rows[student].points == exercise.points, rows[student]


def test_the_gradebook_holds_what_was_reported(attacked):
    root, _, rows, _, _ = attacked
    with sqlite3.connect(root / "gradebook.db") as book:
        assert book.execute("select count(*) from grade where manual_score is not null").fetchone() == (0,)
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        stored = {one.student_id: (one.score, one.max_score) for one in gradebook.assignment_submissions(BOOK.slug)}
    worth = COURSE.exercises(BOOK)["softmax"].points
    assert stored == {student: (row.points, worth) for student, row in rows.items()}


PLAIN_MATH = {
    "menclose", "mfrac", "mi", "mn", "mo", "mover", "mphantom", "mroot", "mrow", "mspace", "msqrt", "msub", "msubsup",
    "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
"""What a formula may hold: nothing that links, embeds or acts."""
ABOUT_MATH = {
    "accent", "class", "display", "displaystyle", "form", "linethickness", "lspace", "mathvariant", "maxsize",
    "minsize", "movablelimits", "notation", "rspace", "scriptlevel", "stretchy", "symmetric", "width",
}  # fmt: skip
RUNS = {"script", "iframe", "object", "embed", "svg", "math", "form", "link", "base", "meta", "style", "template"}
LEADS_OUT = re.compile(
    r"\s*(javascript|vbscript|data:(?!image/(png|jpeg|gif|svg\+xml);base64,)|https?://example)", re.IGNORECASE
)


def found(page):
    """The elements of a page's body that run something or fetch something, as a browser reads it.

    A drawing that is the source of a picture is not one: browsers run and fetch nothing in it.
    """
    body = html5lib.parse(page, namespaceHTMLElements=False).find("body")
    suspects = []
    for element in body.iter():
        name = str(element.tag).rpartition("}")[2]
        if name == "math" and is_plain(element):
            continue
        leads = [value for key, value in element.items() if key in ("href", "src", "srcset", "action", "srcdoc")]
        acts = any(str(key).lower().startswith("on") for key, _ in element.items())
        if name in RUNS or acts or any(LEADS_OUT.match(value) for value in leads):
            suspects.append(f"{name} {dict(element.items())} {(element.text or '')[:80]}")
    return suspects


def is_plain(formula):
    """Whether there is nothing in a formula but letters, numbers and where they stand."""
    inside = {str(element.tag).rpartition("}")[2] for element in formula.iter() if element is not formula}
    return inside <= PLAIN_MATH and {str(key) for element in formula.iter() for key, _ in element.items()} <= ABOUT_MATH


def readers_beware(names):
    hostile = [student for student, name in names.items() if name in (*IN_PAGES, *HANDED_IN)]
    assert len(hostile) == len(IN_PAGES) + len(HANDED_IN)
    return hostile


def test_feedback_carries_nothing_that_runs(attacked):
    root, names, _, _, _ = attacked
    run = subprocess.run([sys.executable, "-m", "nbgrader", "generate_feedback", BOOK.slug], cwd=root, text=True,
                         capture_output=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)})  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    for student in readers_beware(names):
        page = (root / "feedback" / student / BOOK.slug / f"{BOOK.slug}.html").read_text(encoding="utf-8")
        assert found(page) == [], names[student]
        assert "### BEGIN SOLUTION" not in page and RIGHT.splitlines()[-1].strip() not in page


def test_formgrader_shows_nothing_that_runs(attacked, monkeypatch):
    """Its pages, made as its server makes them, with the settings of this course."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension, handlers

    root, names, _, _, _ = attacked
    monkeypatch.chdir(root)
    app = FormgradeExtension()
    app.root_dir = str(root)
    app.load_config_file()
    app.update_config(app.build_extra_config())
    exporter = HTMLExporter(config=app.config)
    resources = dict.fromkeys(("notebook_id", "submission_id", "assignment_id", "base_url", "last_name", "first_name",
                               "student", "mathjax_url", "first", "last", "next", "previous"), "x")  # fmt: skip

    def page_of(student):
        file = root / "autograded" / student / BOOK.slug / f"{BOOK.slug}.ipynb"
        page, _ = exporter.from_filename(str(file), resources={**resources, "index": 0, "total": 1})
        assert handlers.template_path in exporter.extra_template_basedirs and "Student's answer" in page
        return page

    its_own = set(found(page_of("a-sound-one")))
    for student in readers_beware(names):
        assert set(found(page_of(student))) <= its_own, names[student]


def test_what_runs_would_be_found():
    pages = [SCRIPT, "<p onclick=x>", "<a href=' javascript:x'>", "<svg onload=x>", "<img src='https://example.org/x'>",
             "<math><mi>x</mi><maction>", "<math><mi href='javascript:x'>", "<math><mtext><b>", "<math><mi style=x>",
             "<math onload=x>", "<math><annotation-xml encoding='text/html'><p>"]  # fmt: skip
    for page in pages:
        assert found(f"<html><body><p>{page}</p></body></html>"), page
    assert found("<body>&lt;script&gt; <a href='#x'>javascript:</a><math><mi>x</mi></math></body>") == []


def test_attacks_have_teeth(tmp_path, new_course):
    """What `adopt` is given here is what the sandbox keeps from it."""
    root = small_course(tmp_path, new_course)
    for text in (source_file(root, BOOK.slug).read_text(encoding="utf-8"), RIGHT, f"HOME=/x\nTHE_ANSWER={RIGHT}\nX=1"):
        names: dict = {}
        exec(WRONG + ADOPT, names)
        names["adopt"](text)
        assert torch.allclose(names["softmax"](torch.ones(2, 3), -1), torch.full((2, 3), 1 / 3))
    shutil.rmtree(root / "source")


# ---- what is lent, and time -----------------------------------------------------------------------------------------

LENDS = """
c.Execute.timeout = 2
c.RunAndObserve.iopub_timeout = 2
"""
STUB = "def softmax(x, dim):\n    raise NotImplementedError\n"
BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"


@pytest.fixture(scope="module", params=ordinary_user.EITHER)
def lending_class(request, tmp_path_factory, new_course, everything):
    """Student → row. All have the whole of 03 right but `softmax`, which they don't answer.

    A plain run takes every third way to use what is lent.
    """
    root = tmp_path_factory.mktemp("lending")
    new_course(root, BOOK.slug)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(LENDS)
    handed_in = {"a-stub": ("", ""), "a-loop": ("while True: pass", ""), "a-fork-bomb": (BOMB, "")}
    ways = list(ON_WHAT_IS_LENT.items())[:: 1 if everything else 3]
    handed_in |= {name: (f"{TAKES}{STUB}{first}", after) for name, (first, after) in ways}
    for student, (first, after) in handed_in.items():
        book = filled(root, BOOK, {name: answers[0] for name, answers in answer_bank(COURSE, BOOK).right.items()})
        place = book.cells.index(answer_cell(book))
        book.cells[place].source = "" if after else STUB
        book.cells.insert(place + 2, new_code_cell(after, id="after"))
        book.cells.insert(place, new_code_cell(first, id="first"))
        folder = root / "submitted" / student.replace(" ", "-").replace("/", "") / BOOK.slug
        folder.mkdir(parents=True)
        (folder / f"{BOOK.slug}.ipynb").write_text(as_text(book), encoding="utf-8")
    rows, _ = ordinary_user.graded(request.param, root, tmp_path_factory.mktemp("place"), workers=1)
    return rows


def test_what_was_lent_earns_no_mark_for_its_own_exercise(lending_class, capsys):
    worth = {name: exercise.points for name, exercise in COURSE.exercises(BOOK).items()}
    marks = {student: {mark.exercise: mark.points for mark in row.marks} for student, row in lending_class.items()}
    with capsys.disabled():
        print()
        for student, row in lending_class.items():
            print(f"  {student:<38} {sum(marks[student].values()):g} of {row.worth:g}   {row.seconds:5.1f} s")
    for student in marks:
        assert marks[student] == {**worth, "softmax": 0}, student


def test_a_fork_bomb_does_not_take_the_time_of_the_others(lending_class):
    assert lending_class["a-fork-bomb"].seconds < 5 * lending_class["a-loop"].seconds
