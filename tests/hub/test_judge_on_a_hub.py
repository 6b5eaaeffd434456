"""The judge as a service of a JupyterHub, and students whose edition holds no answers: as the README sets it up."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import SLOW, Lab
from tests.hub.classroom import check_answer
from tests.hub.conftest import SLUG
from tests.hub.deployment import ROOT, Deployment, free_ports, hub
from tests.hub.test_class_on_a_hub import NAMED, RIGHT, WRONG

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.many, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def address(deployment: Deployment) -> Iterator[str]:
    """Of a hub with a judge, and an edition for a class in the place of the package."""
    for name in ("source", "notebooks", "assets"):
        shutil.copytree(ROOT / name, deployment.course / name, dirs_exist_ok=True)
    for name in ("README.md", "LICENSE", "LICENSE-text.md", "THIRD-PARTY-NOTICES.md", "pyproject.toml"):
        shutil.copyfile(ROOT / name, deployment.course / name)
    subprocess.run(["chown", "--recursive", f"{deployment.users['teacher']}:", deployment.course], check=True)
    (port,) = free_ports(1)
    here = {
        "/srv/anatomy-class": str(deployment.edition),
        "/srv/anatomy/.venv/bin": str(deployment.bin),
        "/srv/anatomy/anatomy": str(deployment.program / "anatomy"),
        ":10101": f":{port}",
        "teacher": deployment.users["teacher"],
    }
    readme = (ROOT / "deploy/jupyterhub/README.md").read_text("utf-8")
    section = re.search(r"^## Checks without answers.*?(?=^## )", readme, flags=re.MULTILINE | re.DOTALL)
    assert section
    text = re.sub("|".join(map(re.escape, here)), lambda found: here[found[0]], section[0])

    release = re.search(r"`anatomy (release .*?)`", text)
    assert release
    done = deployment.run("teacher", "anatomy", *release[1].split(), cwd=deployment.course)
    assert done.returncode == 0, done.stderr
    commands = re.findall(r"^sudo (.*)$", text, flags=re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        subprocess.run(["bash", "-c", command], check=True)
    settings = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert settings
    with hub(deployment, settings[1]) as at:
        yield at


def test_a_student_is_judged_by_the_hub_and_has_no_answers(deployment: Deployment, labs: dict[str, Lab]) -> None:
    ada = labs["ada"]
    there = deployment.edition / "notebooks" / SLUG
    assert deployment.run("ada", "cp", "--recursive", str(there), str(ada.folder / SLUG)).returncode == 0
    assert NAMED in check_answer(ada, SLUG, WRONG)
    assert "Right: 7 of 7 points." in check_answer(ada, SLUG, RIGHT)
    for module in ("course.nb03_softmax.right", "engine.mistakes", "engine.judging.judge"):
        done = deployment.run("ada", "python", "-c", f"import anatomy.{module}")
        assert done.returncode and "NotHere: " in done.stderr, (module, done.stderr)
    assert deployment.environment("teacher")["ANATOMY_JUDGE"] == "" != deployment.environment("ada")["ANATOMY_JUDGE"]
    done = deployment.run("ada", "ls", str(deployment.program / "anatomy"))
    assert "Permission denied" in done.stderr


def test_the_instructor_sees_the_room_and_nobody_else_does(
    deployment: Deployment, labs: dict[str, Lab], address: str
) -> None:
    teacher, ben = labs["teacher"].page, labs["ben"].page
    teacher.goto(f"{address}/services/judge/live")
    expect(teacher.get_by_text("softmax").first).to_be_visible(timeout=SLOW)
    expect(teacher.get_by_text("You divide by the sum over the whole tensor").first).to_be_visible(timeout=SLOW)
    assert deployment.users["ada"] not in teacher.content()
    refused = ben.goto(f"{address}/services/judge/live")
    assert refused and refused.status == 403
