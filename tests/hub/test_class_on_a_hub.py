"""A class of three on a JupyterHub, from release to feedback: Unix users, nbgrader's exchange, Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import only_from
from tests.browser.lab import SLOW, Lab
from tests.hub.classroom import AssignmentList, Formgrader, log_in
from tests.hub.conftest import SLUG
from tests.hub.deployment import PEOPLE, Deployment, hub

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser"), pytest.mark.timeout(900)]
MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"
STUB = "def softmax(x: Tensor, dim: int)"
WRONG = "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum()"
RIGHT = "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()"
NAMED = "You divide by the sum over the whole tensor"


@pytest.fixture(scope="module")
def labs(deployment: Deployment, chromium: Browser) -> Iterator[dict[str, Lab]]:
    """Everybody's JupyterLab, through the hub."""
    with ExitStack() as stack:
        address = stack.enter_context(hub(deployment))
        pages = {name: stack.enter_context(only_from(chromium, address, (MATHJAX,))) for name in PEOPLE}
        yield {name: log_in(page, address, deployment, name) for name, page in pages.items()}


def answer(lab: Lab, program: str) -> str:
    """Write an answer to the first exercise, check it, save the notebook: what the card says."""
    lab.open_in_place(lab.folder / SLUG / f"{SLUG}.ipynb")
    lab.run("from anatomy.checking import check")
    lab.write(STUB, program)
    lab.run(program)
    card = lab.run('check("softmax")').inner_text()
    lab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    return card


def grade(server: Deployment) -> dict[str, float]:
    """`anatomy grade` in the instructor's terminal: student → points."""
    done = server.run("teacher", "anatomy", "grade", "--json", "--workers=1", cwd=server.course)
    assert done.returncode == 0, done.stderr[-3000:]
    return {row["student"]: row["points"] for row in json.loads(done.stdout)["submissions"]}


def test_a_class_from_release_to_feedback(deployment: Deployment, labs: dict[str, Lab], tmp_path: Path) -> None:
    ada, ben = (deployment.users[name] for name in ("ada", "ben"))
    formgrader = Formgrader(labs["teacher"])
    print(formgrader.press("release", SLUG))
    for name, program in (("ada", WRONG), ("ben", RIGHT)):
        AssignmentList(labs[name]).fetch(SLUG)
        card = answer(labs[name], program)
        labs[name].page.screenshot(path=f"/tmp/b/h_{name}_card.png")
        print(card)
    AssignmentList(labs["ada"]).submit(SLUG)
    labs["ada"].page.screenshot(path="/tmp/b/h_ada_sub.png")
    print(formgrader.press("collect", SLUG))
    print(grade(deployment))
    labs["teacher"].page.goto(formgrader.address)
    labs["teacher"].page.wait_for_timeout(2000)
    labs["teacher"].page.screenshot(path="/tmp/b/h_t_graded.png")
    print(formgrader.press("release-feedback", SLUG))
    work = AssignmentList(labs["ada"])
    labs["ada"].page.wait_for_timeout(2000)
    print(labs["ada"].page.locator("#submitted_assignments_list").evaluate("r=>r.outerHTML"))
    labs["ada"].page.screenshot(path="/tmp/b/h_ada_fb.png")
