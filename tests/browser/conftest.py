"""JupyterLab in Chromium, without a network: one server and one page for all, every outside request refused."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect, sync_playwright

from tests.browser.lab import SLOW, Lab
from tests.sharing import shared

expect.set_options(timeout=SLOW)  # what comes at all comes in the end, however busy the machine is

ROOT = Path(__file__).parents[2]
WINDOW: ViewportSize = {"width": 1300, "height": 1600}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",  # there is nothing elsewhere
]


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """Not for the session: playwright keeps an event loop running, which tests of other groups can't share."""
    return shared("chromium", launched)


@contextlib.contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium of this process."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "Chromium is missing: `make test` installs it as root, and otherwise says how."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def jupyterlab(folder: Path, home: Path, *roles: str) -> Iterator[str]:
    """The address of a JupyterLab that serves a folder, started in it, with a home of its own.

    `roles` are folders of tools/jupyterlab/.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    environment |= {"ANATOMY_HOME": str(home), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HOME": str(home)}
    ours = ROOT / "tools" / "jupyterlab"
    environment |= {
        "JUPYTER_CONFIG_PATH": os.pathsep.join(str(ours / role) for role in roles), "JUPYTER_PATH": str(ours / "data"),
    }  # fmt: skip
    command = [
        sys.executable, "-m", "jupyterlab", str(folder), "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True",
        "--allow-root",
    ]  # fmt: skip
    with (home / "lab.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    while True:  # as long as it is starting; pytest's own limit ends what hangs
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=10)
            break
        except (URLError, OSError):
            assert process.poll() is None, (home / "lab.log").read_text()
            time.sleep(0.5)
    yield address
    os.killpg(process.pid, signal.SIGTERM)
    process.wait()


@contextlib.contextmanager
def only_from(chromium: Browser, address: str) -> Iterator[Page]:
    """A page that gets nothing from elsewhere. At its end: it asked for nothing there."""
    context = chromium.new_context(viewport=WINDOW)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    here = (address, "data:", "blob:")
    assert [url for url in asked if not url.startswith(here)] == []


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a student's JupyterLab that serves a folder of its own, and the folder."""
    folder = tmp_path_factory.mktemp("lab")
    with jupyterlab(folder, tmp_path_factory.mktemp("home"), "student") as address:
        yield address, folder


@pytest.fixture(scope="module")
def page_of_lab(chromium: Browser, server: tuple[str, Path]) -> Page:
    """The page for JupyterLab, which takes long to load. At its end: no request went anywhere else."""
    page = shared("page of JupyterLab", lambda: only_from(chromium, server[0]))
    page.set_viewport_size(WINDOW)
    return page


@pytest.fixture
def lab(page_of_lab: Page, server: tuple[str, Path]) -> Iterator[Lab]:
    """The page, in which a test opens its notebooks."""
    lab = Lab(page_of_lab, *server)
    yield lab
    lab.shut_down_kernels()


@pytest.fixture
def page_without_network(chromium: Browser) -> Iterator[Page]:
    """A page that reads files. What the exported page itself asks for is refused; a view must not ask at all."""
    context = chromium.new_context(viewport={"width": 1000, "height": 1400})
    asked_by_a_frame: list[str] = []

    def only_files(route: Route) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
            return
        if route.request.frame.parent_frame:
            asked_by_a_frame.append(route.request.url)
        route.abort()

    context.route("**/*", only_files)
    yield context.new_page()
    context.close()
    assert asked_by_a_frame == []
