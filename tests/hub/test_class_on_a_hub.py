"""A class of three on a JupyterHub, from release to feedback: Unix users, nbgrader's exchange, Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import SLOW, Lab
from tests.hub.classroom import AssignmentList, Formgrader, check_answer, in_terminal
from tests.hub.conftest import SLUG
from tests.hub.deployment import Deployment, hub

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]
WRONG = "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum()"
RIGHT = "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()"
NAMED = "You divide by the sum over the whole tensor"


@pytest.fixture(scope="module")
def address(deployment: Deployment) -> Iterator[str]:
    with hub(deployment) as address:
        yield address


def grade(server: Deployment) -> dict[str, float]:
    """`anatomy grade` in the instructor's terminal: student → points."""
    done = server.run("teacher", "anatomy", "grade", "--json", "--workers=1", cwd=server.course)
    assert done.returncode == 0, done.stderr[-3000:]
    return {row["student"]: row["points"] for row in json.loads(done.stdout)["submissions"]}


def due(server: Deployment, time: str) -> None:
    done = server.run("teacher", "nbgrader", "db", "assignment", "add", SLUG, f"--duedate={time}", cwd=server.course)
    assert done.returncode == 0, done.stderr


def refused(server: Deployment, name: str, *command: str | Path) -> bool:
    """Whether the system refuses somebody a command."""
    done = server.run(name, *map(str, command))
    return done.returncode != 0 and "Permission denied" in done.stderr + done.stdout


@pytest.mark.many
def test_each_sees_what_is_theirs(deployment: Deployment, labs: dict[str, Lab]) -> None:
    commands = "() => window.jupyterapp.commands.listCommands().filter(name => name.startsWith('nbgrader:'))"
    ada, teacher = labs["ada"], labs["teacher"]
    assert ada.page.evaluate(commands) == ["nbgrader:open-assignment-list"]
    assert sorted(teacher.page.evaluate(commands)) == [
        "nbgrader:open-assignment-list",
        "nbgrader:open-create-assignment",
    ]
    for lab, status in ((ada, 404), (teacher, 403)):
        answer = ada.page.goto(f"{lab.address}/formgrader")
        assert answer and answer.status == status
    teacher.page.get_by_role("menuitem", name="View").click()
    with teacher.page.expect_popup() as opened:
        teacher.page.get_by_role("menuitem", name="Formgrader").click()
    expect(opened.value.get_by_text(SLUG)).to_be_visible(timeout=SLOW)
    assert opened.value.url == f"{teacher.address}/formgrader/manage_assignments"
    opened.value.close()


@pytest.mark.many
def test_the_commands_of_the_guides_are_there_in_a_terminal(deployment: Deployment, labs: dict[str, Lab]) -> None:
    for name in ("ada", "teacher"):
        settings = deployment.environment(name)["JUPYTER_CONFIG_PATH"]
        said = in_terminal(labs[name], "command -v anatomy nbgrader; echo $JUPYTER_CONFIG_PATH")
        assert said.split() == [f"{deployment.bin}/anatomy", f"{deployment.bin}/nbgrader", settings]


@pytest.mark.many
def test_a_class_from_release_to_feedback(deployment: Deployment, labs: dict[str, Lab]) -> None:
    ada, ben = (deployment.users[name] for name in ("ada", "ben"))
    exchange = deployment.exchange / "anatomy"
    formgrader = Formgrader(labs["teacher"])
    formgrader.press("release", SLUG)
    for name in ("ada", "ben"):
        AssignmentList(labs[name]).fetch(SLUG)

    # a wrong answer: its card, its mark, its page
    assert NAMED in check_answer(labs["ada"], SLUG, WRONG)
    AssignmentList(labs["ada"]).submit(SLUG)
    assert f"{ada} {SLUG}" in formgrader.press("collect", SLUG)
    assert grade(deployment) == {ada: 1}
    formgrader.press("release-feedback", SLUG)
    page = AssignmentList(labs["ada"]).read_feedback(SLUG)
    assert "1 of 26 points" in page and NAMED in page

    # mended in time; another hands in late, and in somebody else's name
    assert "Right" in check_answer(labs["ada"], SLUG, RIGHT)
    AssignmentList(labs["ada"]).submit(SLUG)
    due(deployment, max(path.name for path in (exchange / "inbound").iterdir()).split("+")[2])
    assert "Right" in check_answer(labs["ben"], SLUG, RIGHT)
    AssignmentList(labs["ben"]).submit(SLUG)
    forged = exchange / "inbound" / f"{ada}+{SLUG}+2099-01-01 00:00:00.000000 UTC+forged"
    assert deployment.run("ben", "mkdir", str(forged)).returncode == 0
    log = formgrader.press("collect", SLUG)
    assert f"Updating submission: {ada}" in log and f"Collecting submission: {ben}" in log
    assert f"is {ben}'s, not {ada}'s" in log
    assert grade(deployment) == {ada: 7, ben: 0}

    # more time for everybody: graded again, the penalty is gone
    due(deployment, "2099-12-31 23:59 UTC")
    assert grade(deployment) == {ada: 7, ben: 7}
    assert formgrader.marks(SLUG) == {ada: "7 / 26", ben: "7 / 26"}
    formgrader.press("release-feedback", SLUG)
    assert "7 of 26 points" in AssignmentList(labs["ben"]).read_feedback(SLUG)

    # what is somebody's is nobody else's
    others = [deployment.home("ada"), deployment.home("teacher"), exchange / "inbound", exchange / "feedback"]
    assert all(refused(deployment, "ben", "ls", place) for place in others)
    assert refused(deployment, "ben", "cat", deployment.course / "gradebook.db")
    assert refused(deployment, "ben", "touch", exchange / "outbound" / SLUG / f"{SLUG}.ipynb")
    hers = next(path for path in (exchange / "inbound").glob(f"{ada}+*") if path != forged)
    for mine, name in ((hers, "known by its name all the same"), (exchange, "the whole course")):
        done = deployment.run("ben", "mv", str(mine), str(mine.with_name("taken")))
        assert done.returncode != 0 and mine.exists(), name
