"""Write the lock files with `uv pip compile`: pins for Linux, macOS and Windows, and for each Python of the course.

    .venv/bin/python tools/lock.py              # after changing a range in pyproject.toml; pins that still fit stay
    .venv/bin/python tools/lock.py --upgrade    # the newest versions within the ranges
    .venv/bin/python tools/lock.py --check      # exit 1 if the files on disk are not what would be written

`requirements.txt` is everything that pyproject.toml's dependencies need; `requirements-test.txt` is what the extras
`test` and `cluster` add. Systems and packages that are held back stand in pyproject.toml under `tool.uv`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
RUNTIME, TEST = ROOT / "requirements.txt", ROOT / "requirements-test.txt"
GPU = re.compile(r"(nvidia|cuda|triton)\b")  # only some builds of torch ask for these; no lock file may
HEADERS = {
    RUNTIME: "# Everything that pyproject.toml's dependencies need, pinned. Written by tools/lock.py.\n",
    TEST: "# What the tests, linters and a cluster need on top of requirements.txt, pinned. Written by tools/lock.py.\n"
    "-r requirements.txt\n",
}


def locked(*files: Path) -> dict[str, str]:
    """The pins of lock files, by canonical name."""
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pins}


def compiled(upgrade: bool, *words: str) -> list[str]:
    """The lines that pin everything needed. Pins on disk are kept where they fit, unless the newest are wanted."""
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "pins.txt"
        if not upgrade:
            pins.write_text("".join(f"{name}=={version}\n" for name, version in locked(RUNTIME, TEST).items()))
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            "pyproject.toml",
            "--universal",
            "--no-header",
            "--no-annotate",
            "--quiet",
        ]
        run = subprocess.run([*command, *words, "--output-file", str(pins)], cwd=ROOT, capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(run.stderr)
        return [line for line in pins.read_text().splitlines() if not GPU.match(line)]


def lock_files(upgrade: bool = False) -> dict[Path, str]:
    """Path → text of both lock files."""
    everything = compiled(upgrade, "--extra", "test", "--extra", "cluster")
    needed = {line.partition("==")[0] for line in compiled(upgrade)}
    parts = {
        RUNTIME: [line for line in everything if line.partition("==")[0] in needed],
        TEST: [line for line in everything if line.partition("==")[0] not in needed],
    }
    return {path: HEADERS[path] + "".join(f"{line}\n" for line in lines) for path, lines in parts.items()}


def main() -> int:
    files = lock_files("--upgrade" in sys.argv)
    stale = [path for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        if stale:
            print(f"out of date: {', '.join(path.name for path in stale)}. Run tools/lock.py.")
        return bool(stale)
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
