"""A guide's console blocks, run in order by one shell in a clean copy of the course."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from guide import ROOT, Block, Step, blocks, steps
from stand_ins import SERVERS, ends_with, stand_in

SECONDS = 900
_served: set[str] = set()


@dataclass(frozen=True)
class Walked:
    """What became of one step: its exit code and what it printed."""

    step: Step
    code: int
    printed: str

    @property
    def trouble(self) -> str:
        expected = ends_with(self.step.command)
        if self.code != expected:
            return f"{self.step.place}: `{self.step.command}` ended with {self.code}, not {expected}:\n{self.printed}"
        if self.step.output is not None and not is_as_shown(self.printed, self.step.output):
            return f"{self.step.place}: the guide shows\n{self.step.output}\nand it printed\n{self.printed}"
        return ""


def clean_copy(folder: Path) -> Path:
    """What git keeps of the course, as it is now, with an environment that `make` takes for its own."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    return folder


def environment_for(folder: Path) -> None:
    """A .venv that is this one, entry by entry, with the marks that `tools/setup.sh` leaves when it is done."""
    venv = folder / ".venv"
    venv.mkdir()
    for entry in Path(sys.prefix).iterdir():
        if not entry.name.startswith(".ready-"):
            (venv / entry.name).symlink_to(entry)
    setup = (folder / "tools/setup.sh").read_text(encoding="utf-8")
    formula = setup.partition("# ---- already done?")[2].partition("\n")[2].partition("\nready()")[0]
    script = f'VENV="$(pwd -P)/.venv"\n{formula}\necho "$FINGERPRINT"'
    mark = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    for what in ("course", "test"):
        (venv / f".ready-{what}-{mark}").touch()


def variables(course: Path) -> dict[str, str]:
    """The environment of a reader who works in this copy."""
    here, beside = str(Path(sys.executable).parent), course.parent
    return {
        **os.environ,
        "PATH": os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != here),
        "COURSE": str(course),
        "PYTHONPATH": str(course),
        "ANATOMY_HOME": str(beside / "home"),
        "JUPYTER_CONFIG_DIR": str(beside / "jupyter"),
        "PYTHON": "/bin/false",  # should a setup think that it is not done, it ends here
        "PIP_DRY_RUN": "1",
        "BROWSER": "true",
        **dict.fromkeys(("EMAIL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "reader@example.org"),
        "COLUMNS": "120",
        "LANG": "C.UTF-8",
    }


def walk(guide: str, folder: Path) -> list[Walked]:
    """Run the guide's steps until one ends otherwise than it should. `folder` is empty."""
    course = clean_copy(folder / "course")
    environment_for(course)
    todo = list(_actions(guide, course))
    start = folder if any(step.command.startswith("git clone") for step, _ in todo) else course
    log = folder / "log"
    log.mkdir()
    script = ["exec </dev/null"]
    for number, (step, run) in enumerate(todo):
        script.append(f"{{ {run}\n}} >{log}/{number}.out 2>&1; echo $? >{log}/{number}.code")
        script.append(f'[ "$(cat {log}/{number}.code)" = {ends_with(step.command)} ] || exit 0')
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=start, timeout=SECONDS, check=True, env=variables(course))
    return [
        Walked(step, int((log / f"{number}.code").read_text()), (log / f"{number}.out").read_text(errors="replace"))
        for number, (step, _) in enumerate(todo)
        if (log / f"{number}.code").exists()
    ]


def _actions(guide: str, course: Path) -> Iterator[tuple[Step, str]]:
    """Each step with the shell text that is run for it; a block that is to be appended to a file is a step, too."""
    for block in blocks(guide):
        if block.appended_to:
            yield Step(block.place, f"(append to {block.appended_to})"), _append(block, course)
        elif block.language == "console":
            for step in steps(block):
                if text := what_runs(step.command):
                    yield step, text


def _append(block: Block, course: Path) -> str:
    return f"printf '%s\\n' {shlex.quote(block.text)} >> {shlex.quote(str(course / block.appended_to))}"


def what_runs(command: str) -> str:
    """The command itself, what stands in for it, or an empty string."""
    if item := stand_in(command):
        return item.run.replace("{}", command.partition(" ")[2])
    if re.match(SERVERS, command) and "--version" not in command:
        if command in _served:
            return ""
        _served.add(command)
        return shlex.join([sys.executable, str(Path(__file__).with_name("ask_server.py")), command])
    return command


def is_as_shown(printed: str, shown: str) -> bool:
    """Whether the output is what the guide shows; ``…`` stands for anything, and spaces at a line's end don't count."""
    pattern = ".*".join(re.escape(part) for part in _trimmed(shown).split("…"))
    return re.fullmatch(pattern, _trimmed(printed), flags=re.DOTALL) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
