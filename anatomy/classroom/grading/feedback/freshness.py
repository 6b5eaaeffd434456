"""What a page was made from, which it says in its head: so a run sees which pages are still right."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from functools import cache
from pathlib import Path

from anatomy.classroom.grading import template_folders
from anatomy.classroom.grading.feedback.drawings import Figures
from anatomy.classroom.grading.feedback.standing import Standing

HEAD = 4096
"""Bytes at the beginning of a page within which it says what it was made from."""
_MADE_FROM = re.compile(rb'<meta name="made-from" content="(\w+)"')


def made_from(graded_from: str, standing: Standing, figures: Figures) -> str:
    """A hash of what a page shows: what the notebook was graded from, the gradebook, the templates, the figures."""
    drawings = {name: hashlib.sha256(drawing).hexdigest() for name, drawing in figures.items()}
    whole = json.dumps([graded_from, asdict(standing), _templates(), drawings], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def said_made_from(page: bytes) -> str | None:
    """What a page, or its beginning, says that it was made from."""
    found = _MADE_FROM.search(page[:HEAD])
    return found[1].decode() if found else None


@cache
def _templates() -> str:
    folder = Path(template_folders()[0])
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.*")))).hexdigest()
