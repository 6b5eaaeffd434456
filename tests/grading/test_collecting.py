"""What a platform's zip holds, sorted into submitted/; and pages in a zip of the same names."""

from __future__ import annotations

import zipfile

import pytest
from typer.testing import CliRunner

from anatomy import cli
from anatomy.classroom.grading.collecting import NoZip, collect, give_back

SLUG = "03-softmax"
NAMES = {
    "Ada Doe_4711_assignsubmission_file/03-softmax.ipynb": "Ada Doe",
    "Ada_Doe_4711_assignsubmission_file_/sub/mine (1).ipynb": "Ada_Doe",
    "Ada Doe_4711_assignsubmission_file_03-softmax.ipynb": "Ada Doe",
    "doeadele_LATE_4711_815_03-softmax-1.ipynb": "doeadele",
    "doeadele_4711_815_homework.ipynb": "doeadele",
    "ab123_03-softmax.ipynb": "ab123",
    "class/ab123_03-softmax.ipynb": "ab123",
    "ab123/03-softmax (2).ipynb": "ab123",
}
MOODLE = "{}_assignsubmission_file/{}.ipynb"


@pytest.fixture
def course(tmp_path, new_course):
    return new_course(tmp_path, SLUG)


@pytest.fixture
def zipped(tmp_path):
    def write(files):
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
            for name, text in files.items():
                file.writestr(name, text)
        return tmp_path / "all.zip"

    return write


def there(course):
    found = (course / "submitted").rglob("*.*")
    return {path.relative_to(course / "submitted").as_posix(): path.read_text("utf-8") for path in found}


@pytest.mark.parametrize("name", NAMES)
def test_each_platforms_names_tell_whose_it_is(name, course, zipped):
    assert collect(course, "03", zipped({name: "{}"})).left == ()
    assert there(course) == {f"{NAMES[name]}/{SLUG}/{SLUG}.ipynb": "{}"}


def test_a_student_is_the_same_in_every_assignment_and_a_new_file_has_no_old_time(course, zipped):
    """Moodle's number is another one in each of its assignments."""
    done = collect(course, "03", zipped({MOODLE.format("Ada Doe_4711", SLUG): "1", MOODLE.format("B_4", SLUG): "b"}))
    assert (done.new, done.replaced, done.unchanged) == (2, 0, 0)
    for name in ("Ada Doe", "B"):
        (course / "submitted" / name / SLUG / "timestamp.txt").write_text("2026-01-01")
    done = collect(course, "03", zipped({MOODLE.format("Ada Doe_98", SLUG): "2", MOODLE.format("B_4", SLUG): "b"}))
    assert (done.new, done.replaced, done.unchanged) == (0, 1, 1)
    assert there(course) == {
        f"Ada Doe/{SLUG}/{SLUG}.ipynb": "2", f"B/{SLUG}/{SLUG}.ipynb": "b", f"B/{SLUG}/timestamp.txt": "2026-01-01",
    }  # fmt: skip


def test_what_is_left_is_named_with_its_reason(course, zipped):
    reasons = {
        "a picture of my cat.ipynb": "whose it is",
        "../03-softmax.ipynb": "whose it is",
        "03-softmax/03-softmax.ipynb": "whose it is",
        "Bo_1_assignsubmission_file/report.pdf": "no notebook",
        MOODLE.format("Bo_1", "04-heads"): "it is 04-heads, not 03-softmax",
        MOODLE.format("Ada Doe_1", SLUG): "two students of this zip are called Ada Doe",
        MOODLE.format("Ada Doe_2", SLUG): "two students of this zip are called Ada Doe",
        MOODLE.format("Cy_3", "mine"): "03-softmax.ipynb of Cy was taken",
        MOODLE.format("Di_4", "mine"): "Di has several notebooks",
        MOODLE.format("Di_4", "mine too"): "Di has several notebooks",
        MOODLE.format("<b>_5", SLUG): "has < or > in it",
    }
    files = {**dict.fromkeys(reasons, "{}"), MOODLE.format("Cy_3", SLUG): "c", "__MACOSX/x_03-softmax.ipynb": "?"}
    run = CliRunner().invoke(cli.app, ["collect", "03", str(zipped(files)), "--root", str(course)])
    first, *lines = run.stdout.splitlines()
    assert run.exit_code == 1 and first.startswith("03-softmax: 1 new, ")
    said = dict(line.removeprefix("skipped ").split(": ", 1) for line in lines)
    assert said.keys() == reasons.keys() and all(reason in said[name] for name, reason in reasons.items())
    assert there(course) == {f"Cy/{SLUG}/{SLUG}.ipynb": "c"}


def test_pages_go_back_under_the_names_that_the_platform_gave(course, zipped, tmp_path):
    names = [MOODLE.format("Ada Doe_4711", SLUG), "doeadele_4711_815_03-softmax-1.ipynb", MOODLE.format("Cy_3", SLUG)]
    archive = zipped(dict.fromkeys(names, "{}"))
    with pytest.raises(NoZip, match="grade first"):
        give_back(course, "03", archive)
    for student in ("Ada Doe", "doeadele"):
        page = course / "feedback" / student / SLUG / f"{SLUG}.html"
        page.parent.mkdir(parents=True)
        page.write_text(student, "utf-8")
    made, pages, without, waiting = give_back(course, "03", archive)
    assert (made, pages, without, waiting) == (course / "feedback" / f"{SLUG}.zip", 2, ("Cy",), ())
    with zipfile.ZipFile(made) as file:
        assert {name: file.read(name).decode() for name in file.namelist()} == {
            "Ada Doe_4711_assignsubmission_file/03-softmax.html": "Ada Doe",
            "doeadele_4711_815_03-softmax.html": "doeadele",
        }
    with pytest.raises(NoZip, match="can't be read as a zip"):
        collect(course, "03", tmp_path / "none.zip")
