"""Names for copies of files that are about to be replaced."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path


def backup_of(path: Path) -> Path:
    """A free name beside the file: ``<name>.<time>.bak.<suffix>``."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    copy, number = path.with_name(f"{path.stem}.{stamp}.bak{path.suffix}"), 1
    while copy.exists():
        number += 1
        copy = path.with_name(f"{path.stem}.{stamp}-{number}.bak{path.suffix}")
    return copy
