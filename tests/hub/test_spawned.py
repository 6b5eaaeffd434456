"""What the hub's configuration gives an instructor's and a student's server, as the README has it; without a hub."""

from __future__ import annotations

import os
import pwd
import re
import sys
from pathlib import Path

import pytest

from tests.hub.deployment import ROOT, spawned

DEPLOY = ROOT / "deploy/jupyterhub"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """The operator's file, with everything that the README puts into it."""
    blocks = re.findall(r"```python\n(.*?)```", (DEPLOY / "README.md").read_text("utf-8"), flags=re.DOTALL)
    text = "\n".join(blocks).replace("/srv/anatomy/", f"{ROOT}/")
    assert "load_subconfig" in text and "ANATOMY_JUDGE" in text
    file = tmp_path / "jupyterhub_config.py"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_class_asks_the_judge_and_its_instructor_need_not(settings: Path) -> None:
    me = pwd.getpwuid(os.getuid())
    teacher, ada = (
        spawned(Path(sys.executable), settings, me.pw_name, group)
        for group in ("anatomy-instructors", "anatomy-students")
    )
    course = str(Path(me.pw_dir, "transformer-anatomy"))
    assert (teacher["ANATOMY_JUDGE"], teacher["ANATOMY_COURSE"], teacher["PYTHONPATH"]) == ("", course, course)
    assert ada["ANATOMY_JUDGE"].endswith("/services/judge") and ada["ANATOMY_COURSE"] == ""
    assert ada["PYTHONPATH"] == "/srv/anatomy-class"
    for given in (teacher, ada):
        assert given["ANATOMY_EXCHANGE"] == "/srv/anatomy-exchange"
        assert given["PATH"].startswith(f"{Path(sys.executable).parent}:")
        assert all(Path(folder).is_dir() for folder in given["JUPYTER_CONFIG_PATH"].split(os.pathsep))
        assert Path(given["JUPYTER_PATH"], "labextensions").is_dir()
