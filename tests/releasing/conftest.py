"""What tests of releases share: an edition, made once."""

from __future__ import annotations

import pytest

from anatomy.classroom.releasing.contents import edition
from anatomy.course import COURSE

JUDGE = "https://hub.example.org/services/judge"


@pytest.fixture(scope="session")
def third(root):
    """The edition with which a class works on 03."""
    return edition(root, COURSE.notebook("03-softmax"), f"{JUDGE}/")
