"""What the tests of authoring share."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_course import make_course


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The tiny course; nothing is built yet."""
    return make_course(tmp_path)
