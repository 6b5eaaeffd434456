"""What this machine has, what it lacks, and how to get that: `anatomy doctor`, and the card in notebook 00.

Nothing here downloads anything or imports torch, and the network is for one question only: whether the class's judge,
where there is one, knows this student.
"""

from __future__ import annotations

import html
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

from anatomy.course import checkpoints
from anatomy.engine.checking.calling import CheckUnavailable, UnknownKey, call
from anatomy.engine.checking.joining import (
    JUDGE,
    KEY,
    class_judge,
    command_for_key,
    is_key_set,
    joined_judges,
    key_for,
)
from anatomy.engine.typed import install_command, pip_command
from anatomy.wiring import the_course

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "anatomy" / "classroom" / "forked_kernels"
GIGABYTE = 1024**3
ENOUGH_MEMORY = 1.5  # gigabytes: what the hungriest notebook takes
PINS = "requirements.txt"
"""The lock file of a checkout; a wheel has none."""
CHECKPOINT = "checkpoint"
MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "missing": ("✗", "red")}

ALONE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from inside import linux
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
if linux.fork_into(linux.ALONE) == 0:
    os._exit(0)
"""
"""Puts a process into namespaces of its own, as each kernel is: whoever grades, no right is needed for it."""

Status = Literal["ok", "warn", "missing"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `remedy` says what to do unless all is well.

    The course needs every `essential` one. What is `for_classes` is needed to grade a class, and by nothing else.
    """

    name: str
    status: Status
    detail: str
    remedy: str = ""
    essential: bool = False
    for_classes: bool = False


def diagnose() -> list[Finding]:
    """Look at Python, packages, checkpoint, memory, threads, Jupyter, nbgrader, sandbox and judge. Never raises."""
    pins, python = _requirements()
    return [
        _python(python),
        *_packages(pins),
        _checkpoint(),
        _memory(),
        _threads(),
        _jupyter(),
        _nbgrader(),
        _sandbox(),
        *([_system_calls(), _limits()] if sys.platform == "linux" and _grades() else []),
        *([_judge(address)] if (address := class_judge()) else _judge_not_asked()),
    ]


def works(findings: Sequence[Finding]) -> bool:
    """Whether the course can be worked here: nothing essential is missing. The exit code of `anatomy doctor`."""
    return not any(finding.essential and finding.status == "missing" for finding in findings)


def report(findings: Sequence[Finding], console: Any) -> bool:
    """Print the findings as a table on a Rich console, remedies below, and return what `works` says."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Transformer Anatomy: this machine", title_justify="left", show_edge=False)
    table.add_column("", width=1)
    table.add_column("what", no_wrap=True)
    table.add_column("found", overflow="fold")
    for_students = [finding for finding in findings if not finding.for_classes]
    for_classes = [finding for finding in findings if finding.for_classes]
    for title, group in (("", for_students), ("Only to grade a class:", for_classes)):
        if title and group:
            table.add_row("", "", f"\n[dim]{title}[/]")
        for finding in group:
            mark, colour = MARKS[finding.status]
            table.add_row(f"[{colour}]{mark}[/]", escape(finding.name), escape(finding.detail))
    console.print(table)
    for finding in (f for f in findings if f.remedy and f.status != "ok"):
        console.print(f"\n[bold]{escape(finding.name)}[/]: {escape(finding.remedy)}", soft_wrap=True)
    fine = works(findings)
    lacking = [finding for finding in findings if finding.status != "ok"]
    if not fine:
        only_the_judge = all(one.name == "judge" for one in lacking if one.essential and one.status == "missing")
        words = "The judge checks no answer yet: see above." if only_the_judge else "Something essential is missing."
    elif any(finding.name == CHECKPOINT for finding in lacking):
        words = "Notebook 00 works here. From 01 on the course needs the checkpoint: see above."
    else:
        words = "The course works here." if lacking else "Everything is there."
    console.print(f"\n[bold {'green' if fine else 'red'}]{words}[/]")
    return fine


@dataclass(frozen=True)
class MachineCard:
    """The short form for a notebook: a small table, also readable as plain text, without this machine's paths."""

    rows: tuple[tuple[str, str], ...]
    advice: tuple[str, ...] = ()

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows)
        return "\n".join([*(f"{name:<{width}}  {value}" for name, value in self.rows), *self.advice])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        cell = "text-align:left;padding:2px 14px 2px 0"
        rows = "".join(
            f'<tr><th scope="row" style="{cell}">{html.escape(name)}</th>'
            f'<td style="{cell};overflow-wrap:anywhere">{html.escape(value)}</td></tr>'
            for name, value in self.rows
        )
        advice = "".join(f'<p style="margin:6px 0 0">{html.escape(text)}</p>' for text in self.advice)
        box = "border:1px solid #8794a1;border-left:5px solid #0072b2;border-radius:4px;padding:8px 14px;max-width:44em"
        return {
            "text/html": f'<div style="{box}"><table style="margin:0">{rows}</table>{advice}</div>',
            "text/plain": str(self),
        }


def machine_card() -> MachineCard:
    """Versions, threads and checkpoint of this machine as a card; with advice if something is missing."""
    checkpoint, threads = _checkpoint(), _threads()
    versions = ((name, _version(package) or "missing") for name, package in
                (("torch", "torch"), ("transformers", "transformers"), ("JupyterLab", "jupyterlab")))  # fmt: skip
    if checkpoint.status == "ok":
        found = checkpoint.detail.partition("\n")[0]
    else:
        found = f"{checkpoints.checkpoint_name()}, not on this machine yet"
    rows = (
        ("Python", platform.python_version()),
        *versions,
        ("threads", threads.detail),
        ("checkpoint", found),
    )
    advice = () if checkpoint.status == "ok" else ("In a terminal, anatomy doctor says how to get what is missing.",)
    return MachineCard(rows, advice)


def _requirements() -> tuple[list[Requirement], str]:
    """Required packages and range of Python versions, from the installed course or else from pyproject.toml."""
    try:
        about = metadata.metadata("anatomy")
        declared, python = metadata.requires("anatomy") or [], about["Requires-Python"] or ""
    except metadata.PackageNotFoundError:
        file = ROOT / "pyproject.toml"
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"] if file.is_file() else {}
        declared, python = project.get("dependencies", []), project.get("requires-python", "")
    pins = []
    for line in declared:
        try:
            pin = Requirement(line)
        except InvalidRequirement:
            continue
        if pin.marker is None or pin.marker.evaluate({"extra": ""}):
            pins.append(pin)
    return pins, python


def _install(what: Requirement | str) -> str:
    """The command that installs a package as the course needs it: from the lock file where there is one."""
    pins = ROOT / PINS
    return pip_command("install", "-r", str(pins)) if pins.is_file() else install_command(str(what))


def _python(wanted: str) -> Finding:
    version = platform.python_version()
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return Finding("Python", "ok", version, essential=True)
    remedy = f"Install a Python {wanted} and make the environment again with it."
    return Finding("Python", "missing", f"{version}, but the course needs {wanted}", remedy, essential=True)


def _packages(pins: Sequence[Requirement]) -> list[Finding]:
    """One line for all that are as required, and one for each that isn't."""
    if not pins:
        remedy = f"Install the course from its folder: {pip_command('install', '--no-deps', '-e', '.')}"
        return [Finding("packages", "missing", "the list of required packages was not found", remedy, essential=True)]
    others = []
    for pin in pins:
        installed = _version(pin.name)
        if installed is None:
            others.append(
                Finding(pin.name, "missing", f"not installed; needed: {pin.specifier}", _install(pin), essential=True)
            )
        elif not pin.specifier.contains(installed, prereleases=True):
            detail = f"{installed} is installed, the course is tested with {str(pin.specifier).removeprefix('==')}"
            others.append(Finding(pin.name, "warn", detail, _install(pin)))
    good = len(pins) - len(others)
    shown = ", ".join(f"{name} {_version(name)}" for name in ("torch", "transformers") if _version(name))
    head = Finding("packages", "ok" if not others else "warn", f"{good} of {len(pins)} as required ({shown})")
    return [head, *others]


def _checkpoint() -> Finding:
    wanted = checkpoints.checkpoint_name()
    name = CHECKPOINT
    try:
        place = checkpoints.find(wanted)
    except checkpoints.CheckpointError as error:
        first, _, rest = str(error).partition("\n")
        return Finding(
            name, "missing", first, rest.strip() or f"Set {checkpoints.VARIABLE} to another checkpoint, or unset it."
        )
    if place is not None:
        return Finding(name, "ok", f"{wanted}, {place.source}\n{place.folder}")
    if wanted == checkpoints.DEFAULT:
        remedy = (
            "with a network, notebook 01 downloads it by itself, once. Or install it now, in a terminal:\n"
            f"    {checkpoints.bundle_command()}"
        )
    else:
        remedy = f"It is downloaded at first use; or unset {checkpoints.VARIABLE} for the course's own."
    return Finding(name, "missing", f"{wanted} is in no folder, cache or bundle here", remedy)


def _memory() -> Finding:
    import psutil

    state = psutil.virtual_memory()
    total, free = float(state.total), float(state.available)
    limit = Path("/sys/fs/cgroup/memory.max")  # a container may have less than its machine
    used = Path("/sys/fs/cgroup/memory.current")
    try:
        allowed = float(limit.read_text())
        total, free = min(total, allowed), min(free, max(0.0, allowed - float(used.read_text())))
    except (OSError, ValueError):
        pass  # no such limit, or "max"
    detail = f"{free / GIGABYTE:.1f} GB free of {total / GIGABYTE:.1f} GB"
    if free >= ENOUGH_MEMORY * GIGABYTE:
        return Finding("memory", "ok", detail)
    return Finding(
        "memory", "warn", detail, f"The notebooks need up to {ENOUGH_MEMORY} GB: close other kernels and programs."
    )


def _threads() -> Finding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > cores:
        remedy = f"Unset OMP_NUM_THREADS or set it to {cores}: more threads than cores slow each other down."
        return Finding("threads", "warn", f"{asked} threads asked for on {cores} cores", remedy)
    return Finding("threads", "ok", f"{asked if asked.isdigit() else cores} on {cores} core{'s' if cores > 1 else ''}")


def _jupyter() -> Finding:
    version = _version("jupyterlab")
    if version and _command("jupyter-lab"):
        return Finding("JupyterLab", "ok", version, essential=True)
    return Finding("JupyterLab", "missing", "not in this environment", _install("jupyterlab"), essential=True)


def _nbgrader() -> Finding:
    version = _version("nbgrader")
    if version and _command("nbgrader"):
        return Finding("nbgrader", "ok", version)
    remedy = f"Needed to validate and to grade: {_install('nbgrader')}"
    return Finding("nbgrader", "missing", "not in this environment", remedy)


def _sandbox() -> Finding:
    """Bubblewrap: needed to grade other people's notebooks, by nothing else."""
    if sys.platform != "linux":
        return Finding(
            "bubblewrap",
            "ok",
            "not needed here: grading a class needs Linux, everything else does not",
            for_classes=True,
        )
    program = shutil.which("bwrap")
    if program is None:
        remedy = "Only for grading a class: install the package bubblewrap (Debian: apt-get install bubblewrap)."
        return Finding("bubblewrap", "warn", "not installed", remedy, for_classes=True)
    trial = [program, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"]
    alone = [sys.executable, "-I", "-c", ALONE, str(KERNELS)]
    if fault := _fault(trial) or (_fault(alone) if _grades() else ""):
        remedy = (
            "Only for grading a class: this system does not let it make namespaces; ask whoever runs it. "
            "Without namespaces submissions would see this machine's files, its network, its processes and each other, "
            "so `anatomy grade` refuses to begin, unless it is told --sandbox none."
        )
        return Finding(
            "bubblewrap", "warn", f"installed, but does not start ({fault.splitlines()[-1]})", remedy, for_classes=True
        )
    return Finding("bubblewrap", "ok", program, for_classes=True)


def _grades() -> bool:
    """Whether this copy of the package can grade; a class's edition can't."""
    return (KERNELS / "inside" / "linux.py").is_file()


def _fault(command: list[str]) -> str:
    """What a command says that does not succeed; nothing when it does."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if answer.returncode == 0 else (answer.stderr.strip() or f"exit code {answer.returncode}")


def _system_calls() -> Finding:
    """Seccomp filters: without them nothing is graded in a sandbox."""
    from anatomy.classroom.forked_kernels.sandbox import WITHOUT_FILTER, filters_system_calls

    if filters_system_calls():
        return Finding("seccomp", "ok", "the sandbox can refuse system calls", for_classes=True)
    remedy = f"Only for grading a class: {WITHOUT_FILTER} So `anatomy grade` refuses to begin, unless it is told "
    return Finding(
        "seccomp", "warn", f"no filters on this {platform.machine()}", f"{remedy}--sandbox none.", for_classes=True
    )


def _limits() -> Finding:
    """A limit that the system itself keeps, for all kernels together; each kernel has limits without it."""
    for place in _own_cgroups():
        try:
            limit = int((place / "memory.max").read_text())
        except (OSError, ValueError):  # no such limit, or "max"
            continue
        return Finding(
            "cgroup", "ok", f"all programs here together may take {limit / GIGABYTE:.1f} GB", for_classes=True
        )
    return Finding("cgroup", "ok", "no limit on memory: when a class is graded, each kernel's memory and files are "
                                   "limited, but nothing limits all kernels together", for_classes=True)  # fmt: skip


def _judge_not_asked() -> list[Finding]:
    """A word for those who have joined a judge and are in a terminal that does not name it."""
    if not (joined := joined_judges()):
        return []
    what = f"{joined[-1]} has your key and is not asked: {JUDGE} is not set in this terminal"
    return [Finding("judge", "warn", what, f"So that checks ask it:\n    export {JUDGE}={joined[-1]}")]


def _judge(address: str) -> Finding:
    """Whether the class's judge answers, knows this student's key and judges this course."""

    def not_well(what: str, remedy: str) -> Finding:
        return Finding("judge", "missing", what, remedy, essential=True)

    try:
        said = call(address, "me")
    except UnknownKey:
        if key_for(address):
            what, first = f"{address} does not know this key", "Compare your key with the one that you were given."
        else:
            what, first = f"you have no key for {address} yet", "Ask your instructor for your key."
        then = f"{KEY} holds the one that counts here: set it" if is_key_set() else "Then store it"
        return not_well(what, f"{first} {then} in a terminal:\n    {command_for_key()}")
    except CheckUnavailable as reason:
        remedy = "If this machine has a network, tell your instructor. Until then go on working: no answer is checked."
        return not_well(str(reason), remedy)
    if said.get("course") != the_course().package:
        return not_well(
            f"{address} judges another course, {said.get('course')}",
            "Ask your instructor for the judge's address, or for the edition that belongs to this judge.",
        )
    return Finding("judge", "ok", f"{address} knows you as {said.get('name')}", essential=True)


def _own_cgroups() -> list[Path]:
    """The folders of this process's control group and of those around it, the innermost first."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
    root = Path("/sys/fs/cgroup")
    inner = [root / line[3:].lstrip("/") for line in lines if line.startswith("0::")]
    return [place for one in inner for place in (one, *one.parents) if place.is_relative_to(root)]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _command(name: str) -> str | None:
    """The program `name` of this very environment, activated or not; else one on the path."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
