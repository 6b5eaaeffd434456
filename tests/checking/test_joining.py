"""Where a student's keys are kept, and that they and the progress don't need each other."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from anatomy.engine.checking import joining
from anatomy.engine.checking.progress_file import note_hunt, progress_file, read_progress
from anatomy.engine.errors import UserError

HERE, THERE = "https://judge.example.org", "https://another.example.org"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in (joining.KEY, joining.JUDGE, "JUPYTERHUB_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_each_judge_has_its_key(home: Path) -> None:
    joining.store_key(HERE, "old")
    joining.store_key(THERE, "another")
    assert joining.store_key(HERE, "new") == home / "judge.json"
    assert list(map(joining.key_for, (HERE, THERE, "https://third.example.org"))) == ["new", "another", ""]
    assert stat.S_IMODE(joining.key_file().stat().st_mode) == 0o600
    assert list(home.iterdir()) == [joining.key_file()]


def test_who_removes_the_progress_is_still_joined() -> None:
    joining.store_key(HERE, "mine")
    note_hunt("softmax", "a bug", found=True)
    progress_file().unlink()
    assert joining.key_for(HERE) == "mine"


def test_who_removes_the_keys_keeps_the_progress() -> None:
    note_hunt("softmax", "a bug", found=True)
    joining.store_key(HERE, "mine")
    joining.key_file().unlink()
    assert joining.key_for(HERE) == "" and read_progress()["softmax"].hunted == {"a bug": True}


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]", b'{"https://judge.example.org": 3}', b"[" * 100_000])
def test_a_file_that_cannot_be_read_has_no_keys_and_takes_new_ones(content: bytes) -> None:
    joining.key_file().parent.mkdir()
    joining.key_file().write_bytes(content)
    assert joining.key_for(HERE) == ""
    joining.store_key(HERE, "mine")
    assert joining.key_for(HERE) == "mine"


def test_a_folder_that_cannot_be_written_is_said(home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(UserError, match=r"judge\.json can't be written .* set ANATOMY_KEY"):
        joining.store_key(HERE, "mine")
