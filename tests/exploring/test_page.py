"""The explorer's page: its own tests pass, and the bundle that is committed is what the sources give."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from anatomy import course
from anatomy.engine.notebook_files.notebooks import read

PAGE = Path(course.__file__).parent / "exploring" / "page"
SOURCES = Path(__file__).parents[2] / "tools" / "explorer"
MOST = 150 * 1024  # bytes of the bundle: what a saved notebook carries once for each view

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources' folder with what package-lock.json names: as it is, or a copy in which npm has installed it."""
    if (SOURCES / "node_modules" / ".package-lock.json").is_file():
        return SOURCES
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, and tools/explorer has no node_modules")
    copy = tmp_path_factory.mktemp("explorer") / "page"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("node_modules"))
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=copy, capture_output=True, text=True)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"npm can't install what the page is bundled from: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    return copy


def run(folder: Path, *command: str) -> None:
    environment = {**os.environ, "EXPLORER_PAGE": str(PAGE)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_the_modules_tests_pass(installed: Path) -> None:
    run(installed, "node", "--test", *(str(path) for path in sorted((installed / "tests").glob("*.test.js"))))


def test_the_bundle_is_what_the_sources_give(installed: Path) -> None:
    run(installed, "node", "build.mjs", "--check")


def test_the_bundle_is_small_and_can_stand_in_a_page() -> None:
    script = (PAGE / "explorer.js").read_text(encoding="utf-8")
    assert len(script.encode()) <= MOST
    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert "-->" not in (PAGE / "LICENSES.txt").read_text(encoding="utf-8")  # it stands in a comment of the page


def test_every_bundled_package_has_its_notice() -> None:
    """In the page's own list and in the repository's."""
    root = Path(course.__file__).parents[2]
    licences = (PAGE / "LICENSES.txt").read_text(encoding="utf-8")
    named = [line for line in licences.splitlines() if line.startswith(("d3-", "internmap"))]
    notices = (root / "THIRD-PARTY-NOTICES.md").read_text(encoding="utf-8")
    assert named
    for line in named:
        name, version, _ = line.split(" ", 2)
        assert f"{name} {version}" in notices


def test_solved_notebooks_hold_the_page_as_it_is() -> None:
    """The website shows theirs: after a change of the page, `anatomy build` with the name of each."""
    script, style = (html.escape((PAGE / name).read_text(encoding="utf-8")) for name in ("explorer.js", "explorer.css"))
    found = {}
    for file in sorted((SOURCES.parents[1] / "solutions").glob("*/*.ipynb")):
        for cell in read(file).cells:
            for output in cell.get("outputs", ()):
                shown = output.get("data", {}).get("text/html", "")
                if 'class="anatomy-explorer"' in shown:
                    found[file.stem] = script in shown and style in shown
    assert found and all(found.values()), found
