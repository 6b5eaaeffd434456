"""What tests of releases share: an edition, made once."""

from __future__ import annotations

import pytest

from anatomy.course import notebook
from anatomy.releasing.contents import edition

JUDGE = "https://hub.example.org/services/judge"


@pytest.fixture(scope="session")
def third(root):
    """The edition with which a class works on 03."""
    return edition(root, notebook("03-softmax"), f"{JUDGE}/")
