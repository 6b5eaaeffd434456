"""IPython's shell for a test that runs cells: none of another test's names are in it, and it leaves none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from IPython.core.interactiveshell import InteractiveShell


@contextlib.contextmanager
def fresh_shell() -> Iterator[InteractiveShell]:
    """The process's one shell, new, until the block ends."""
    InteractiveShell.clear_instance()
    try:
        yield InteractiveShell.instance()
    finally:
        InteractiveShell.clear_instance()
