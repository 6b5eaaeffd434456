"""The command: quick help with examples, honest exit codes, and errors that say what to do next."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

from anatomy import cli
from anatomy.authoring import build as building
from anatomy.authoring.build import BuildStopped, Built
from anatomy.authoring.lint import Complaint
from anatomy.classroom.grading.report import Comparison, Report, SubmissionResult
from anatomy.engine.notebook_files.notebooks import read, stamped, student_file, write
from anatomy.engine.notebook_files.running import Cost

COMMANDS = (
    *("start", "lab", "check", "progress", "hunt", "assemble", "doctor", "join", "update"),
    *("sample-class", "collect", "grade", "report", "give-back", "serve", "release"),
    "binder-link",
    *("build", "add-exercise", "lint"),
)
SLUG = "02-attention-scores"


def anatomy(*words: object) -> tuple[int, str, str]:
    """Exit code, output and errors of one command."""
    result = CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "200", "TERM": "dumb"})
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def course(tmp_path, root, monkeypatch) -> Path:
    """An empty course, in which the commands are run."""
    shutil.copyfile(root / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "home"))
    return tmp_path


# ---- help ----------------------------------------------------------------------------------------------------------


def test_the_help_lists_every_command():
    code, out, _ = anatomy("--help")
    assert code == 0
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command):
    code, out, _ = anatomy(command, "--help")
    assert code == 0
    assert f"Example: anatomy {command}" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_breaks_the_help_only_at_its_edge(command):
    out = CliRunner().invoke(cli.app, [command, "--help"], env={"COLUMNS": "1000", "TERM": "dumb"}).stdout
    lines = [line.strip() for line in out.partition("╭")[0].splitlines()]
    assert not [pair for pair in itertools.pairwise(lines) if all(pair)]


def test_the_help_is_quick():
    """Nothing heavy is imported before a command is called."""
    heavy = "{'torch', 'nbgrader', 'nbclient', 'nbformat', 'transformers', 'matplotlib'}"
    program = f"import sys, anatomy.cli; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# ---- where the course is -------------------------------------------------------------------------------------------


def test_the_course_is_found_from_below(course, monkeypatch):
    below = course / "notebooks" / SLUG
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert cli.course_root(None) == course
    assert cli.course_root(Path()) == below


def test_the_course_is_found_directly_below_where_there_is_one(course, monkeypatch):
    """As after `anatomy start FOLDER`, in a terminal that was not moved."""
    monkeypatch.setattr(cli, "PACKAGE", course / "site-packages" / "anatomy")
    settings = course / "nbgrader_config.py"
    for name in ("mine", "other folder"):
        (course / name).mkdir()
    settings = settings.rename(course / "mine" / settings.name)
    assert cli.course_root(None) == course / "mine"
    shutil.copy(settings, course / "other folder")
    code, _, err = anatomy("check", "03")
    assert code == 2 and "cd mine or cd 'other folder'" in err
    for name in ("mine", "other folder"):
        (course / name / settings.name).unlink()
    code, _, err = anatomy("check", "03")
    assert code == 2 and "cd FOLDER" in err and "anatomy start" in err


def test_a_folder_that_is_no_course_is_refused(course):
    (course / "nbgrader_config.py").unlink()
    source = course / "source" / SLUG / f"{SLUG}.ipynb"
    write(new_notebook(), source)
    code, _, err = anatomy("build", "--root", course)
    assert code == 2 and "nbgrader_config.py" in err and "Traceback" not in err


# ---- links ---------------------------------------------------------------------------------------------------------


def test_links_of_a_fork():
    code, out, _ = anatomy("binder-link", "your-name/anatomy", "--branch", "2026", "--hub", "https://hub.example.org")
    assert code == 0 and "https://mybinder.org/v2/gh/your-name/anatomy/2026?urlpath=lab%2Ftree%2F" in out
    assert "https://hub.example.org/hub/user-redirect/git-pull?repo=" in out and "colab.research.google.com" in out
    code, out, err = anatomy("binder-link", "https://github.com/your-name/anatomy")
    assert (code, out) == (2, "") and "OWNER/REPO" in err and "Traceback" not in err


# ---- build and lint ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["build", "lint"])
def test_an_unknown_notebook_is_answered_with_those_there_are(course, command):
    code, _, err = anatomy(command, "99-nothing")
    assert code == 2 and "03-softmax" in err and "Traceback" not in err


def test_what_was_built_is_reported(course, monkeypatch):
    kept = course / "notebooks/kept.bak.ipynb"
    done = [Built(SLUG, Cost(125.0, 2 * 10**9), kept)]
    monkeypatch.setattr(building, "build", lambda *_, **__: done)
    code, out, _ = anatomy("build")
    assert code == 0
    assert SLUG in out and "125.0 s, 2.00 GB" in out and "notebooks/kept.bak.ipynb" in out
    assert "the limit is 120 s" in out and "the limit is 1.5 GB" in out


def test_a_build_that_stops_says_why(course, monkeypatch):
    def stop(*_, **__):
        raise BuildStopped("these files hold work: notebooks/x.ipynb; --force keeps a copy")

    monkeypatch.setattr(building, "build", stop)
    code, _, err = anatomy("build")
    assert code == 2 and "notebooks/x.ipynb" in err and "--force" in err and "Traceback" not in err


@pytest.mark.parametrize(("found", "code"), [([], 0), (["notebooks/x.ipynb is missing."], 1)])
def test_build_check_has_an_honest_exit_code(course, monkeypatch, found, code):
    monkeypatch.setattr(building, "stale", lambda *_: found)
    assert anatomy("build", "--check")[0] == code
    assert all(line in anatomy("build", "--check")[1] for line in found)


def test_lint_reports_for_people_and_for_programs(course, monkeypatch):
    from anatomy.authoring import lint as linting

    complaint = Complaint(SLUG, "setup", "outputs", "Clear its output.")
    monkeypatch.setattr(linting, "lint", lambda *_: [complaint])
    code, out, _ = anatomy("lint")
    assert code == 1 and "setup" in out and "outputs" in out and "Clear its output." in out
    code, out, _ = anatomy("lint", "--json")
    assert code == 1 and json.loads(out) == [complaint.as_dict()]
    monkeypatch.setattr(linting, "lint", lambda *_: [])
    assert anatomy("lint")[0] == 0
    assert json.loads(anatomy("lint", "--json")[1]) == []


# ---- for instructors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "known", "code"),
    [
        ([SubmissionResult("s1", SLUG, "graded")], None, 0),
        ([SubmissionResult("s1", SLUG, "ungraded", ("no JSON",))], None, 1),
        ([SubmissionResult("s1", SLUG, "ungraded", ("no JSON",))], Comparison(1), 0),
        ([SubmissionResult("s1", SLUG, "graded")], Comparison(1, ("s1: 3, not 4",)), 1),
        ([SubmissionResult("s1", SLUG, "ungraded", ("no JSON",))], Comparison(1, others=("s1",)), 1),
    ],
    ids=["all graded", "one ungraded", "ungraded as it should be", "not the known marks", "beside a made-up class"],
)
def test_grade_has_an_honest_exit_code(course, monkeypatch, rows, known, code):
    from anatomy.classroom.grading import run

    monkeypatch.setattr(run, "grade", lambda *_, **__: Report(tuple(rows), known=known))
    assert anatomy("grade")[0] == code


def test_nothing_to_grade_is_said(course):
    code, _, err = anatomy("grade")
    assert code == 2 and "anatomy sample-class" in err and "Traceback" not in err


def test_nothing_to_report_is_said(course):
    code, _, err = anatomy("report")
    assert code == 2 and "anatomy grade" in err and "Traceback" not in err
    assert not list(course.glob("class-report*")) and not (course / "gradebook.db").exists()


def test_a_report_says_what_it_holds(course, monkeypatch):
    from anatomy.classroom.grading import class_report

    def made(_root, page, *_, anonymous):
        return class_report.Written(page, Path("class-report.csv"), 1, 2, 0, only=(SLUG,) if anonymous else ())

    monkeypatch.setattr(class_report, "write_report", made)
    said = "class-report.html and class-report.csv{}: 1 student, 2 submissions with marks."
    assert said.format("") in anatomy("report")[1]
    assert said.format(f" (only {SLUG}, without names)") in anatomy("report", "02", "--anonymous")[1]


def test_a_sample_class_leaves_real_submissions_alone(course):
    write(new_notebook(), course / "source" / SLUG / f"{SLUG}.ipynb")
    work = course / "submitted" / "ada" / SLUG / f"{SLUG}.ipynb"
    write(new_notebook(), work)
    code, _, err = anatomy("sample-class", "--students", 3)
    assert code == 2 and "ada" in err and "Traceback" not in err
    assert work.is_file()


# ---- for students --------------------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch) -> list:
    """What `anatomy lab` starts: JupyterLab's arguments, its folder, and Jupyter's configuration folders."""
    begun = []

    def launch(arguments):
        begun.append((arguments, Path.cwd(), os.environ.get("JUPYTER_CONFIG_PATH")))

    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", launch)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.setenv("JUPYTER_PATH", "")
    monkeypatch.setenv("PATH", "/usr/bin")
    return begun


def test_lab_is_a_students_and_passes_options_on(course, started, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "mine")
    assert anatomy("lab", "--no-browser", "--port=9999")[0] == 0
    [(arguments, folder, paths)] = started
    assert arguments[0] == str(course) == str(folder)  # from where solutions/ is reached, too
    assert arguments[-2:] == ["--no-browser", "--port=9999"]
    assert paths.split(os.pathsep) == ["mine", str(course / "tools" / "jupyterlab" / "student")]
    assert os.environ["JUPYTER_PATH"] == str(course / "tools" / "jupyterlab" / "data")


def test_lab_opens_the_first_notebook_then_the_one_worked_in_last(course, started):
    files = [student_file(course, slug) for slug in ("00-start-here", "01-embedding-lookup", "02-attention-scores")]
    for file in files:
        write(stamped(new_notebook(cells=[new_code_cell("# YOUR CODE HERE")])), file)

    def opened() -> Path:
        assert anatomy("lab", "--port=9999")[0] == 0
        arguments = started.pop()[0]
        assert arguments[-1] == "--port=9999"
        [url] = [one for one in arguments if one.startswith("--LabApp.default_url=")]
        return course / url.removeprefix("--LabApp.default_url=/lab/tree/")

    assert opened() == files[0]
    for minutes, file in enumerate((files[2], files[1])):
        book = read(file)
        book.cells[0].source = "x = 1"
        write(book, file)
        os.utime(file, times=(60 * minutes, 60 * minutes))  # long before the untouched one
    assert opened() == files[1]
    files[1].write_text("no notebook")
    assert opened() == files[2]


def test_an_instructors_lab_is_nbgraders(course, started):
    assert anatomy("lab", "--instructor")[0] == 0
    [(arguments, folder, paths)] = started
    assert arguments[0] == str(course) == str(folder) and "--instructor" not in arguments
    assert paths == str(course / "tools" / "jupyterlab" / "instructor")


def test_a_terminal_in_the_lab_knows_the_command(course, started, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/zsh")
    assert anatomy("lab")[0] == 0
    assert shutil.which("anatomy") == str(Path(sys.executable).with_name("anatomy"))
    [(arguments, _, _)] = started
    assert "--ServerApp.terminado_settings=shell_command=/bin/zsh" in arguments, "a login shell sets PATH anew"
    assert os.environ["PATH"].endswith(f"{os.pathsep}/usr/bin")


def test_progress_prints_the_table(course):
    code, out, _ = anatomy("progress")
    assert code == 0 and "Next: " in out and "Attention scores" in out


def test_progress_prints_the_exercises_of_one_notebook(course):
    code, out, _ = anatomy("progress", "--notebook", "2")
    assert code == 0 and "2.2 scaled_scores" in out and "First right" in out and "Next: dot_product_scores" in out
    code, _, err = anatomy("progress", "--notebook", "no-such")
    assert code == 2 and "no-such" in err


def test_hunt_says_what_to_solve_first(course):
    code, out, _ = anatomy("hunt", "03-softmax")
    assert code == 0 and "in answers to 3.1, 3.4 and 3.5: solve one of these first" in out


def test_doctor_prints_what_is_there():
    code, out, _ = anatomy("doctor")
    assert code in (0, 1) and "torch" in out


def test_a_file_without_checks_is_refused(course):
    write(new_notebook(cells=[new_code_cell("1 + 1")]), course / "mine.ipynb")
    (course / "broken.ipynb").write_text("not json", encoding="utf-8")
    for name, words in (("mine.ipynb", "no check of an exercise"), ("broken.ipynb", "cannot be read as a notebook")):
        code, _, err = anatomy("check", name)
        assert code == 2 and words in err and "Traceback" not in err
    code, _, err = anatomy("check", "77")
    assert code == 2 and "No notebook is called '77'" in err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("pairwise_dot", "pairwise_dot is an exercise of 00-start-here: name the notebook."),
        ("00-strt-here", "Do you mean 00-start-here?"),
        ("softmx", "Do you mean 03-softmax?"),
        ("pairwise_dots", "Do you mean pairwise_dot, an exercise of 00-start-here? Then name the notebook."),
    ],
)
def test_what_is_no_notebook_but_nearly_one_is_understood(course, typed, said):
    for command in ("check", "hunt"):
        code, _, err = anatomy(command, typed)
        assert code == 2 and said in err and "The course has" not in err


def test_a_folder_that_is_not_the_courses_is_named(course):
    (course / "elsewhere").mkdir()
    for root, words in (("elsewhere", "It belongs into a course's folder"), ("nowhere", "There is no folder nowhere")):
        code, _, err = anatomy("check", "00", "--root", root)
        assert code == 2 and root in err and words in err and "Errno" not in err


def test_a_notebook_is_checked_from_outside_its_course(course, tmp_path_factory, monkeypatch):
    """Nothing of the course lies above the folder that one is in, or around the package."""
    from anatomy.engine.checking import headless, progress_file
    from anatomy.engine.judging.verdict import PropertyResult, Verdict

    verdict = Verdict("scaled_scores", "right", (PropertyResult("values", 4, True),))
    checked = headless.Checked("scaled_scores", "right", "Right: `all` *of* it.", verdict)
    monkeypatch.setattr(headless, "check_file", lambda *_, **__: [checked])
    file = course / "notebooks" / SLUG / f"{SLUG}.ipynb"
    write(new_notebook(), file)
    monkeypatch.chdir(tmp_path_factory.mktemp("outside"))
    monkeypatch.setattr(cli, "PACKAGE", Path.cwd() / "anatomy")
    code, out, err = anatomy("check", file)
    assert (code, err) == (0, "") and "1 of 1 exercises right, 4 of " in out
    assert "✓ scaled_scores  Right: all of it." in out, "a terminal shows no marks"
    assert progress_file.read_progress()["scaled_scores"].status == "right"


def test_explore_without_weights_says_so_in_a_message_alone(course, monkeypatch):
    from anatomy.course import checkpoints

    def nowhere(*_):
        raise checkpoints.CheckpointError("No weights for it.\nThree ways to get on.")

    monkeypatch.setattr(checkpoints, "locate", nowhere)
    code, _, err = anatomy("explore", "--no-browser")
    assert (code, err) == (2, "No weights for it.\nThree ways to get on.\n")


def test_explore_says_in_a_file_that_it_trains(course, monkeypatch):
    from anatomy.course.exploring import models
    from anatomy.engine.errors import UserError

    def trained(kind, file, on_step):
        on_step(1, 2)
        on_step(2, 2)
        raise UserError("Enough.")

    monkeypatch.setattr(models, "shown", trained)
    _, out, _ = anatomy("explore", "--no-browser")
    assert out.count("Training the model, once.") == 1


@pytest.mark.slow
def test_check_runs_a_notebook_and_judges_each_answer(course):
    """Right, wrong, open, and a cell that is no Python: one verdict each; the file stays as it is."""
    from anatomy.engine.checking.progress_file import read_progress

    right = "def scaled_scores(query, key):\n    return query @ key.transpose(-1, -2) / query.size(-1) ** 0.5"
    cells = [
        right,
        'check("scaled_scores")',
        "def dot_product_scores(query, key):\n    return 2 * query @ key.transpose(-1, -2)",
        'check("dot_product_scores")',
        "def project(x, w_q, w_k):\n    # YOUR CODE HERE\n    raise NotImplementedError",
        'check("project")',
        "score_variance = = 1",
        'check("score_variance")',
    ]
    path = course / "notebooks" / SLUG / f"{SLUG}.ipynb"
    book = new_notebook(cells=[new_code_cell("from anatomy import check"), *map(new_code_cell, cells)])
    book.cells[7].metadata.nbgrader = {"grade": False, "grade_id": "score_variance", "solution": True}
    write(book, path)
    before = path.read_bytes()
    code, out, _ = anatomy("check", path)
    assert code == 1
    assert "✓ scaled_scores  Right" in out
    assert "✗ dot_product_scores" in out
    assert "○ project  Not attempted" in out and "run the cell" not in out
    assert "○ score_variance" in out and "SyntaxError" in out
    assert "1 of 4 exercises right, " in out
    assert path.read_bytes() == before
    noted = read_progress()
    assert noted["scaled_scores"].status == "right" and noted["dot_product_scores"].status == "wrong"

    kept = nbformat.read(path, as_version=4)
    kept.cells = kept.cells[:3]
    alone = course / "alone.ipynb"
    write(kept, alone)
    (course / "home" / "progress.json").unlink()
    assert anatomy("check", alone)[0] == 0
    assert read_progress() == {}, "only a file in notebooks/ counts as progress"


@pytest.mark.slow
def test_check_says_where_a_notebook_stopped(course):
    cells = ["from anatomy import check", "import os\nos._exit(1)", 'check("scaled_scores")']
    write(new_notebook(cells=list(map(new_code_cell, cells))), course / "stops.ipynb")
    code, out, _ = anatomy("check", "stops.ipynb")
    assert code == 1
    assert "✗ scaled_scores  No verdict." in out and "cell 2" in out and "kernel died" in out
