"""`make test-latest`: which packages it asks for, and what its report makes of a run; nothing is installed here."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
RESULTS = """<testsuites><testsuite>
<testcase file="tests/test_a.py" classname="tests.test_a" name="test_right"/>
<testcase file="tests/test_a.py" classname="tests.test_a" name="test_wrong[&lt;b&gt;]">
<failure message="TypeError: no [bold]such[/bold] argument&#10;more">
.venv-latest/lib/python3.11/site-packages/rich/text.py:3
.venv-latest/lib/python3.11/site-packages/pluggy/_hooks.py:1</failure></testcase>
<testcase classname="tests.test_b" name="test_b"><error message="ImportError: gone">no traceback</error></testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def canary():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import canary
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return canary


def test_upper_bounds_go_and_torch_stays(canary):
    assert Requirement(canary.newest("rich>=14,<16")) == Requirement("rich>=14")
    assert Requirement(canary.newest('psycopg[binary]>=3.3,<4; os_name == "posix"')) == Requirement(
        'psycopg[binary]>=3.3; os_name == "posix"'
    )
    assert canary.newest("torch==2.13.0") == "torch==2.13.0"


@pytest.mark.parametrize(
    ("pin", "new", "breaks"),
    [("1.2.3", "1.3", False), ("1.2", "2.0", True), ("0.9.6", "0.9.7", False), ("0.9.6", "0.10", True),
     ("0.0.7", "0.0.8", True), ("2026.8.0", "2026.9", False), ("25", "25.1", False)],
)  # fmt: skip
def test_a_release_may_break_when_its_first_number_changes(canary, pin, new, breaks):
    assert canary.may_break(pin, new) is breaks


def test_the_report_names_tests_first_lines_and_suspects(canary, tmp_path):
    (tmp_path / "results.xml").write_text(RESULTS)
    failed = canary.broken(tmp_path / "results.xml")
    assert {name: line for name, (line, _) in failed.items()} == {
        "tests/test_a.py::test_wrong[<b>]": "TypeError: no [bold]such[/bold] argument",
        "tests.test_b::test_b": "ImportError: gone",
    }
    console = Console(file=io.StringIO(), width=100)
    canary.report({"rich": ("15.0.0", "15.1"), "nh3": ("0.3.5", "0.4"), "tqdm": ("4.67", "4.70")}, failed, console)
    said = console.file.getvalue()
    assert "no [bold]such[/bold] argument" in said and "tests/test_a.py::test_wrong[<b>]" in said
    suspects = [line.split()[0] for line in said.splitlines() if "→" in line]
    assert suspects == ["rich", "nh3"], "what stands in tracebacks first, then what may break; nothing else"
    assert canary.broken(tmp_path / "none.xml") == {}


def test_make_passes_arguments_on_and_tests_about_pins_exist(canary):
    run = subprocess.run(["make", "--dry-run", "test-latest", "TEST_ARGS=tests/checking -x"], cwd=ROOT,
                         capture_output=True, text=True, check=True)  # fmt: skip
    assert "tools/canary.py tests/checking -x" in run.stdout
    for name in canary.ABOUT_PINS:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
