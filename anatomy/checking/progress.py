"""What has been solved so far on this machine: one small JSON file, written by every check in a student's notebook."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from anatomy.checking.verdict import Verdict


def progress_file() -> Path:
    """Where progress is kept; the environment variable ``ANATOMY_HOME`` names another folder."""
    home = os.environ.get("ANATOMY_HOME")
    return (Path(home) if home else user_data_path("transformer-anatomy")) / "progress.json"


def read_progress() -> dict[str, dict[str, Any]]:
    """Exercise → ``{"status", "points", "max_points"}`` of its latest check. A damaged file counts as empty."""
    try:
        content = json.loads(progress_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def note_progress(verdict: Verdict) -> None:
    """Remember the latest verdict on an exercise. A disk that can't be written never disturbs a check."""
    progress = read_progress()
    progress[verdict.exercise] = {
        "status": verdict.status, "points": verdict.points, "max_points": verdict.max_points,
    }  # fmt: skip
    path = progress_file()
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(progress, indent=1), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        return
