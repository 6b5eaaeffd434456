"""Importing much at once while the garbage collector rests."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Within this, the garbage collector rests.

    It would go again and again through hundreds of thousands of objects, none of which is garbage.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
