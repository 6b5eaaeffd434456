"""The course as Binder serves it: an ordinary user, no network, 2 GB of memory; every solved notebook is run in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from playwright.sync_api import Browser, Page, expect, sync_playwright

from anatomy.course import COURSE
from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import grade_id
from tests.binder.image import ADDRESS, ROOT, Container, Image
from tests.browser.conftest import FLAGS, only_from
from tests.browser.lab import SLOW, Lab
from tests.plenty import one_in

SCREENSHOTS = Path(os.environ.get("ANATOMY_SCREENSHOTS", ROOT / "test-results"))
"""Where pictures of what was seen are kept."""
MEMORY = 2 * 1024**3
"""What Binder gives, in bytes, for the server and all kernels together."""
SERVER = [
    ".binder/start", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--port=8888", "--ServerApp.port_retries=0",
    "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True",
]  # fmt: skip

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("binder")]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """An image in which `postBuild` has been run."""
    trial = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"]
    if os.geteuid() or not shutil.which("bwrap") or subprocess.run(trial, capture_output=True).returncode:
        pytest.skip("A container without a network, and a browser in it, needs root and bubblewrap.")
    image = Image(tmp_path_factory.mktemp("image"))
    image.run(".binder/postBuild")
    return image


@pytest.fixture(scope="module")
def container(image: Image) -> Iterator[Container]:
    with image.serving(*SERVER) as container:
        yield container


@pytest.fixture(scope="module")
def chromium(container: Container, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that has the container's network, and so nothing but its server."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "Chromium is missing: `make test` installs it as root, and otherwise says how."
    program = container.program(path, tmp_path_factory.mktemp("chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """One for all notebooks. At its end: it asked for nothing elsewhere (where it would have got nothing)."""
    with only_from(chromium, ADDRESS) as page:
        yield page


@pytest.fixture
def lab(page: Page, image: Image) -> Iterator[Lab]:
    """The page, in which a test opens its notebook."""
    lab = Lab(page, ADDRESS, image.home)
    yield lab
    lab.shut_down_kernels()


@pytest.fixture(scope="module")
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


def test_it_is_an_ordinary_user_without_a_network_on_a_system_that_can_only_be_read(image: Image) -> None:
    said = image.run("bash", "-c", "id -u; grep CapEff /proc/self/status; cut -d: -f1 /proc/net/dev | tail -n +3; "
                                   "touch /usr/mine /etc/mine; env | cut -d= -f1 | sort | xargs")  # fmt: skip
    user, capabilities, network, *refused, environment = map(str.strip, said.splitlines())
    assert (user, capabilities.split()[1].strip("0"), network) == ("1000", "", "lo")
    assert len(refused) == 2 and all("Read-only file system" in line for line in refused)
    assert environment == "HOME LANG OMP_NUM_THREADS PATH PWD SHLVL USER _"


def test_it_opens_jupyterlab_at_00_and_trusts_it(lab: Lab, screenshots: Path) -> None:
    lab.page.goto(ADDRESS)
    expect(lab.page.locator(".jp-NotebookPanel:visible h1").first).to_be_visible(timeout=SLOW)
    assert lab.page.url.endswith("/lab/tree/notebooks/00-start-here/00-start-here.ipynb")
    expect(lab.page.locator(".jp-NotebookTrustedStatus, [data-icon*=trusted]").first).to_be_visible()
    assert is_trusted(lab.page)
    assert lab.page.get_by_text("Create Assignment").count() == 0, "it is for instructors"
    lab.page.screenshot(path=screenshots / "binder.png")


@pytest.mark.parametrize(
    "notebook", one_in(14, COURSE.notebooks, first=3, of_all=3), ids=lambda notebook: notebook.slug
)
def test_the_solved_edition_runs_from_top_to_bottom(
    lab: Lab, container: Container, screenshots: Path, record_testsuite_property: Callable, notebook: Notebook
) -> None:
    path = Path("solutions", notebook.slug, f"{notebook.slug}.ipynb")
    lab.open_in_place(lab.folder / path)
    assert is_trusted(lab.page)
    book = lab.run_all()
    check_frames(lab.page)
    lab.picture_of_the_notebook().save(screenshots / f"{notebook.slug}-solved.png")

    code = _code(book)
    failed = [
        f"{cell.source}\n{output.ename}: {output.evalue}"
        for cell in code
        for output in cell.outputs
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ())
    ]
    assert not failed, "\n\n".join(failed)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert _pictures(book) == _pictures(nbformat.read(ROOT / path, as_version=4))
    check_pictures(lab.page)
    cards = lab.page.locator(".jp-Notebook:visible [role=status]").all_text_contents()
    checks = [cell.source for cell in code if grade_id(cell).startswith("check-")]
    assert len(checks) == len(COURSE.exercises(notebook))
    assert sum(card.removeprefix("✓").strip().startswith("Right:") for card in cards) == len(checks), cards

    peak = container.memory.peak()
    record_testsuite_property(f"megabytes, {notebook.slug}", peak // 2**20)
    assert 0 < peak < MEMORY, f"JupyterLab and this notebook took {peak / 2**30:.2f} GB together"


def is_trusted(page: Page) -> bool:
    """Whether each code cell may show what a program made."""
    return page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.widgets
            .every(cell => cell.model.type !== 'code' || cell.model.trusted)"""
    )


def check_frames(page: Page) -> None:
    """Each view has drawn its lines, and the explorer its parts."""
    for frame in page.locator(".jp-Notebook:visible .jp-Cell iframe").all():
        frame.scroll_into_view_if_needed()
        expect(frame.content_frame.locator("svg line, svg path, #explorer section").nth(2)).to_be_attached(timeout=SLOW)


def check_pictures(page: Page) -> None:
    """Each image has been drawn and has words."""
    images = page.locator(".jp-Notebook:visible .jp-Cell img")
    said = images.evaluate_all("all => all.map(one => [one.alt, one.complete && one.naturalWidth > 0])")
    assert said and all(alt and drawn for alt, drawn in said), said


def _code(book: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code" and cell.source]


def _pictures(book: NotebookNode) -> list[int]:
    """How many images and frames each code cell shows."""
    shown = [[output.get("data", {}).get("text/html", "") for output in cell.outputs] for cell in _code(book)]
    return [len(re.findall("<(?:img|iframe|svg) ", " ".join(html))) for html in shown]
