"""One server for all tests of the hub."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import chromium, only_from  # noqa: F401  (a fixture)
from tests.hub.classroom import Labs
from tests.hub.deployment import PEOPLE, ROOT, Deployment, people, proxy_path, python_for_everyone

SLUG = "03-softmax"


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server with three people and an instructor's course, without its hub."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("makes Unix users: needs root")
    if missing := [name for name in ("useradd", "chpasswd", "setpriv", "bwrap") if not shutil.which(name)]:
        pytest.skip(f"needs {', '.join(missing)}")
    if not shutil.which("configurable-http-proxy", path=proxy_path()):
        pytest.skip("needs configurable-http-proxy, which tools/setup.sh installs where there is npm")
    python = python_for_everyone()
    if not python:
        pytest.skip("this Python lies in a folder that other users may not enter, and /usr/bin has none of its version")
    folder = Path(tempfile.mkdtemp(prefix="anatomy-hub-"))
    folder.chmod(0o755)
    server = Deployment(folder)
    try:
        server.install(python)
        with people(server):
            server.make_exchange()
            make_course(server)
            yield server
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def labs(deployment: Deployment, chromium: Browser, address: str) -> Iterator[Labs]:  # noqa: F811
    """Everybody's JupyterLab, through the module's own hub."""
    with ExitStack() as stack:
        pages = {name: stack.enter_context(only_from(chromium, address)) for name in PEOPLE}
        yield Labs(pages, address, deployment)


def make_course(server: Deployment) -> None:
    """The instructor's clone, with one notebook; late work is worth nothing."""
    server.course.mkdir()
    for name in ("source", "notebooks"):
        shutil.copytree(ROOT / name / SLUG, server.course / name / SLUG)
    shutil.copytree(server.program / "anatomy", server.course / "anatomy")
    settings = (ROOT / "nbgrader_config.py").read_text("utf-8") + "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"
    borrowed = f"c.ForkedKernelManager.readable = [{sysconfig.get_path('purelib')!r}]\n"
    (server.course / "nbgrader_config.py").write_text(settings + borrowed, encoding="utf-8")
    subprocess.run(["chown", "--recursive", f"{server.users['teacher']}:", server.course], check=True)
