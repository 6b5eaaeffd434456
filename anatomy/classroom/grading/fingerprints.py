"""Hashes that tell whether something must be graded again, and whether a worker has the same program."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from anatomy import PACKAGE
from anatomy.engine.notebook_files.settings import CONFIG
from anatomy.wiring import the_course

_AFTER_THE_CHECKS = {"LateSubmissionPlugin", "AssignLatePenalties", "ExportApp", "CanvasExporter", "MoodleExporter"}
"""Settings that change what lateness costs, or a file for a platform, but not what a check gives."""


@cache
def program_version() -> str:
    """A hash of the package's code, of the course's, and of the version of torch."""
    files = {path for folder in (PACKAGE, the_course().folder) for path in folder.rglob("*.py")}
    return hash_of([version("torch").encode(), *(path.read_bytes() for path in sorted(files))])


def rules_of_marks(root: Path) -> bytes:
    """What ``nbgrader_config.py`` says, without comments and `_AFTER_THE_CHECKS`."""
    program = ast.parse((root / CONFIG).read_bytes())
    program.body = [line for line in program.body if not _is_after_the_checks(line)]
    return ast.unparse(program).encode()


def _is_after_the_checks(line: ast.stmt) -> bool:
    """Whether it is ``c.LateSubmissionPlugin.penalty_method = …`` or alike."""
    match line:
        case ast.Assign(targets=[ast.Attribute(value=ast.Attribute(attr=section))]):
            return section in _AFTER_THE_CHECKS
    return False


def hash_of(parts: Iterable[bytes]) -> str:
    """One hash of several texts; it also tells where one ends and the next begins."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()


def hash_parts(files: dict[str, bytes]) -> list[bytes]:
    """What must be hashed of files by their names."""
    return [part for name, content in files.items() for part in (name.encode(), content)]
