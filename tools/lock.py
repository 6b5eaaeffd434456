"""Write the lock files from the environment this runs in.

    .venv/bin/python tools/lock.py            # after installing another version, or changing a range in pyproject.toml
    .venv/bin/python tools/lock.py --check    # exit 1 if the files on disk are not what would be written

`requirements.txt` is everything that pyproject.toml's dependencies need, at the versions installed here;
`requirements-test.txt` is what the extras `test` and `cluster` add. A package that only some systems need carries a
marker. The few that this system cannot install keep the version they have in the lock file, or the one in `ELSEWHERE`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {"colorama": "0.4.6", "pywinpty": "3.1.2", "appnope": "1.0.0", "pywin32": "312"}
PYTHONS = ("3.11", "3.12", "3.13")
HELD_BACK = {
    # From 4.25 on, importing jsonschema compiles 39 grammars (rfc3987-syntax), and every process that reads a notebook
    # imports it: a second on an idle machine, three on a busy one, for the format "iri", which no schema here uses.
    "jsonschema": "<4.25",
}
OLDEST_PYTHON = "3.11.2"  # Debian 12's own: a newer package that refuses it would break `make lab` there
GPU = re.compile(r"(nvidia|cuda|triton)\b")  # only some builds of torch ask for these; no lock file may
SYSTEMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    "darwin": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    "win32": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
}
MARKERS = {
    frozenset({"linux", "darwin", "win32"}): "",
    frozenset({"linux", "darwin"}): ' ; sys_platform != "win32"',
    frozenset({"linux", "win32"}): ' ; sys_platform != "darwin"',
    frozenset({"darwin", "win32"}): ' ; sys_platform != "linux"',
    frozenset({"linux"}): ' ; sys_platform == "linux"',
    frozenset({"darwin"}): ' ; sys_platform == "darwin"',
    frozenset({"win32"}): ' ; sys_platform == "win32"',
}
RUNTIME_HEADER = """\
# Everything that pyproject.toml's dependencies need, pinned to what was installed when tools/lock.py wrote this.
"""
TEST_HEADER = """\
# What the tests, the linters and a cluster need on top of requirements.txt, pinned. Written by tools/lock.py.
-r requirements.txt
"""


def needs(marker: Marker | None, system: str, python: str, extra: str) -> bool:
    """Whether a requirement with this marker applies on that system with that Python."""
    if marker is None:
        return True
    environment = default_environment() | SYSTEMS[system]
    environment |= {"python_version": python, "python_full_version": f"{python}.0", "extra": extra}
    return marker.evaluate(environment)


def closure(requirements: list[str]) -> dict[str, frozenset[str]]:
    """Every package that the requirements need, with the systems that need it."""
    reached: dict[str, set[str]] = defaultdict(set)
    for system in SYSTEMS:
        for python in PYTHONS:
            waiting = [(requirement, "") for requirement in map(Requirement, requirements)]
            seen: set[tuple[str, str]] = set()
            while waiting:
                requirement, extra = waiting.pop()
                if not needs(requirement.marker, system, python, extra):
                    continue
                name = canonicalize_name(requirement.name)
                reached[name].add(system)
                for wanted in ("", *requirement.extras):
                    if (name, wanted) in seen:
                        continue
                    seen.add((name, wanted))
                    try:
                        lines = distribution(name).requires or []
                    except PackageNotFoundError:
                        continue
                    waiting += [(Requirement(line), wanted) for line in lines if not GPU.match(line)]
    return {name: frozenset(systems) for name, systems in reached.items()}


def locked(path: Path) -> dict[str, str]:
    """The pins of a lock file, by canonical name."""
    if not path.exists():
        return {}
    pins = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pins}


def pin(name: str, systems: frozenset[str], known: dict[str, str]) -> str:
    """One line of a lock file. A local version label such as torch's ``+cpu`` belongs to one machine: it is dropped."""
    try:
        found = distribution(name)
        spelled, version = found.metadata["Name"], found.version.split("+")[0]
        if OLDEST_PYTHON not in SpecifierSet(found.metadata["Requires-Python"] or ""):
            raise SystemExit(f"{spelled} {version} refuses Python {OLDEST_PYTHON}: install an earlier version of it.")
        if version not in SpecifierSet(HELD_BACK.get(name, "")):
            raise SystemExit(f"{spelled} {version} is too new (HELD_BACK says why): install '{name}{HELD_BACK[name]}'.")
    except PackageNotFoundError:
        if name not in known:
            where = ", ".join(sorted(systems))
            raise SystemExit(f"{name} is needed on {where} and not installed here: add it to ELSEWHERE.") from None
        spelled, version = name, known[name]
    return f"{spelled}=={version}{MARKERS[systems]}"


def lock_files() -> dict[Path, str]:
    """Path → text of both lock files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime, test = ROOT / "requirements.txt", ROOT / "requirements-test.txt"
    known = ELSEWHERE | locked(test) | locked(runtime)
    base = closure(project["dependencies"])
    extras = project["optional-dependencies"]
    everything = closure(project["dependencies"] + extras["cluster"] + extras["test"])
    added = {name: systems for name, systems in everything.items() if name not in base}
    widened = {name: systems for name, systems in base.items() if everything[name] != systems}
    assert not widened, f"needed on more systems by the tests than by the course: {widened}"

    def text(header: str, packages: dict[str, frozenset[str]]) -> str:
        return header + "".join(f"{pin(name, packages[name], known)}\n" for name in sorted(packages))

    return {runtime: text(RUNTIME_HEADER, base), test: text(TEST_HEADER, added)}


def main() -> int:
    stale = []
    for path, text in lock_files().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.name}")
    if "--check" in sys.argv and stale:
        print(f"out of date: {', '.join(stale)}. Run tools/lock.py.")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
