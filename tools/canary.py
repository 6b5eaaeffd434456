"""What would break if everything were new: the newest releases instead of the pins, then the tests, then a report.

    make test-latest                                     # all tests; TEST_ARGS='tests/checking -x' go to pytest
    .venv/bin/python tools/canary.py tests/checking      # the same, for a few of them

Upper bounds in pyproject.toml are left out, except torch's (`KEPT`). The packages go into .venv-latest, which is
brought up to date each time; .venv and the lock files are not touched. Exit code 0 when all tests passed, 1 when
something broke, 2 when the packages could not be installed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from lock import ROOT, locked
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from rich.console import Console
from rich.markup import escape
from rich.table import Table

VENV = ROOT / ".venv-latest"
PYTHON = VENV / "bin" / "python"
KEPT = ("torch",)
"""Packages that stay at their pin: another torch brings another build, with gigabytes of GPU packages."""
ABOUT_PINS = (
    "tests/test_house.py::test_lock_files_are_what_their_ranges_resolve_to",
    "tests/test_house.py::test_what_is_installed_is_what_the_lock_files_pin",
    "tests/test_house.py::test_reading_a_notebook_compiles_no_grammars",
)
"""Tests that say that the environment is the pinned one."""
IN_PACKAGE = re.compile(r"site-packages/([A-Za-z0-9_]+)")


def newest(requirement: str) -> str:
    """The requirement without its upper bound."""
    wanted = Requirement(requirement)
    if wanted.name not in KEPT:
        wanted.specifier = SpecifierSet(",".join(str(one) for one in wanted.specifier if one.operator == ">="))
    return str(wanted)


def install() -> None:
    """Bring .venv-latest up to date."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = map(newest, (*project["dependencies"], *project["optional-dependencies"]["test"]))
    if not PYTHON.exists():
        run([sys.executable, "-m", "venv", str(VENV)])
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run([*pip, "--upgrade", "--upgrade-strategy", "eager", "pip", "setuptools", *wanted])
    run([*pip, "--no-deps", "--requirement", "requirements-checkpoint.txt"])
    run([*pip, "--no-deps", "--no-build-isolation", "--editable", "."])


def run(command: list[str]) -> None:
    if code := subprocess.run(command, cwd=ROOT).returncode:
        print(f"This failed ({code}), and nothing was tested: {' '.join(command)}", file=sys.stderr)
        raise SystemExit(2)


def changed(pins: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Package → (pin, what is installed in its place), where they differ."""
    listed = subprocess.run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", "list", "--format=json"],
                            capture_output=True, text=True, check=True).stdout  # fmt: skip
    found = {canonicalize_name(one["name"]): one["version"].split("+")[0] for one in json.loads(listed)}
    return {name: (pins[name], found[name]) for name in sorted(pins) if found.get(name, pins[name]) != pins[name]}


def may_break(before: str, after: str) -> bool:
    """Whether the number changed that says so: the first that is not 0 of the pin."""
    old, new = Version(before).release, Version(after).release
    place = next((index for index, part in enumerate(old) if part), 0)
    return old[: place + 1] != new[: place + 1]


def test(arguments: list[str], results: Path) -> int:
    """Run the tests in .venv-latest as `make test` does. The exit code is pytest's."""
    results.unlink(missing_ok=True)
    command = [str(PYTHON), "-m", "pytest", "-n", "2", "--dist", "loadgroup", f"--junitxml={results}", "-o",
               "junit_family=xunit1", *(f"--deselect={name}" for name in ABOUT_PINS), *arguments]  # fmt: skip
    environment = {**os.environ, "PATH": f"{PYTHON.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def broken(results: Path) -> dict[str, tuple[str, str]]:
    """Test → (first line of what it said, all that it said)."""
    if not results.exists():
        return {}
    found = {}
    for case in ElementTree.parse(results).iter("testcase"):
        for kind in ("failure", "error"):
            if (said := case.find(kind)) is not None:
                text = (said.get("message") or said.text or "").strip()
                where = case.get("file") or case.get("classname", "")
                found[f"{where}::{case.get('name')}"] = (text.partition("\n")[0], said.text or "")
    return found


def report(news: dict[str, tuple[str, str]], failed: dict[str, tuple[str, str]], console: Console) -> None:
    """Tables: what is newer than its pin, which tests broke, and which packages stand in their tracebacks."""
    table = Table("package", "pin", "newest", "", title="Newer than the pins")
    for name, (pin, new) in news.items():
        table.add_row(name, pin, new, "[yellow]may break[/yellow]" if may_break(pin, new) else "")
    console.print(table if news else "All packages are at their pins.")
    if not failed:
        return
    table = Table(title="What broke")
    for column in ("test", "first line"):
        table.add_column(column, overflow="fold")
    seen: Counter[str] = Counter()
    for name, (line, text) in failed.items():
        table.add_row(escape(name), escape(line[:300]))
        seen.update({canonicalize_name(found) for found in IN_PACKAGE.findall(text)} & news.keys())
    console.print(table)
    majors = [name for name, (pin, new) in news.items() if may_break(pin, new)]
    suspects = sorted({*seen, *majors}, key=lambda name: (-seen[name], name not in majors, name))
    for name in suspects:
        pin, new = news[name]
        where = f"in the tracebacks of {seen[name]} failures" if seen[name] else "in no traceback, but may break"
        console.print(f"  [bold]{name}[/bold] {pin} → {new}: {where}", highlight=False)


def main(arguments: list[str]) -> int:
    console = Console()
    with console.status("Bringing .venv-latest up to date (a few minutes and about 3 GB the first time)"):
        install()
    news = changed(locked(ROOT / "requirements.txt", ROOT / "requirements-test.txt"))
    results = VENV / "results.xml"
    code = test(arguments, results)
    failed = broken(results)
    report(news, failed, console)
    if code:
        console.print(f"[red]✗[/red] {len(failed)} tests broke. Those that fail with the pins, too (`make test`), are "
                      "not the packages' fault.", highlight=False)  # fmt: skip
    else:
        console.print(f"[green]✓[/green] Nothing breaks with {len(news)} packages newer than their pins.")
    return int(code != 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
