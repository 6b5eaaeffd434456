"""Commands as they can be typed in the terminal that this one was started from."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit


def install_command(package: str, *options: str) -> str:
    """How a package is installed where this Python finds it. By `uvx`, which leaves no pip, how it comes along."""
    if _is_by_uvx():
        return f"uvx --with {shlex.quote(package)} --from {shlex.quote(_wheel())} anatomy lab"
    return pip_command("install", *options, package)


def pip_command(*words: str) -> str:
    """This Python's pip, with these words: the one that a terminal finds may be another's."""
    command = [sys.executable, "-m", "pip", *words]
    return shlex.join(command) if os.name == "posix" else subprocess.list2cmdline(command)


def anatomy_command() -> str:
    """How `anatomy` is typed in a terminal: with the path to the command, unless it is found without; or by `uvx`.

    Under `make` it is found because the Makefile says where. The terminal that `make` was typed in does not know that.
    """
    if _is_by_uvx():
        return f"uvx --from {shlex.quote(_wheel())} anatomy"
    here = Path(sys.executable).parent
    command = shutil.which("anatomy", path=str(here)) or str(here / "anatomy")
    if "MAKELEVEL" not in os.environ and shutil.which("anatomy") == command:
        return "anatomy"
    return shlex.quote(command) if os.name == "posix" else command


def typed(words: str) -> str:
    """`anatomy` with these words, to be typed in this folder, from which the path to it may be shorter."""
    return f"{anatomy_command().removeprefix(f'{Path.cwd()}{os.sep}')} {words}"


def _is_by_uvx() -> bool:
    return bool(os.environ.get("UV")) and Path(sys.prefix).parent.name.startswith("archive-")  # what uvx leaves


def _wheel() -> str:
    """The file that this package was installed from, or its name."""
    found = metadata.distribution("anatomy")
    said = json.loads(found.read_text("direct_url.json") or "{}")
    return unquote(urlsplit(said.get("url", "")).path) or found.name
