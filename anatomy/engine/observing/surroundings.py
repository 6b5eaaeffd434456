"""What a whole process shares: settings of torch, NumPy and Python that one cell can change for all others.

An answer is observed with the settings that were there at the start, so that a cell that sets float64 or a recursion
limit costs no other answer; the notebook then has its own settings again. A check computes in one thread: its tensors
are small, and where other programs have the processors, more threads wait for each other most of the time.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch


@dataclass(frozen=True)
class Surroundings:
    """Settings of a process at one time."""

    dtype: torch.dtype
    device: torch.device | None
    records_gradients: bool
    infers: bool
    threads: int
    deterministic: tuple[bool, bool]
    random_numbers: torch.Tensor
    recursion_limit: int
    warning_filters: tuple[Any, ...]
    numpy_errors: dict[str, str]
    streams: tuple[Any, Any]

    @classmethod
    def now(cls) -> Surroundings:
        """The settings as they are."""
        numpy = sys.modules.get("numpy")
        return cls(
            dtype=torch.get_default_dtype(),
            device=_default_device(),
            records_gradients=torch.is_grad_enabled(),
            infers=torch.is_inference_mode_enabled(),
            threads=torch.get_num_threads(),
            deterministic=_deterministic(),
            random_numbers=torch.default_generator.get_state(),
            recursion_limit=sys.getrecursionlimit(),
            warning_filters=tuple(warnings.filters),
            numpy_errors=dict(numpy.geterr()) if numpy else {},
            streams=(sys.stdout, sys.stderr),
        )

    def put(self) -> None:
        """Make these the settings, all but the streams and inference mode; those that are so already cost nothing."""
        if _default_device() != self.device:
            torch.set_default_device(self.device)
        if torch.get_default_dtype() != self.dtype:
            torch.set_default_dtype(self.dtype)
        torch.set_grad_enabled(self.records_gradients)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        if _deterministic() != self.deterministic:
            always, only_warns = self.deterministic
            torch.use_deterministic_algorithms(always, warn_only=only_warns)
        torch.default_generator.set_state(self.random_numbers)
        sys.setrecursionlimit(self.recursion_limit)
        if self.numpy_errors:
            sys.modules["numpy"].seterr(**self.numpy_errors)


def _default_device() -> torch.device | None:
    """The device that a cell has set for all new tensors; None where none was set."""
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return context.device if context is not None else None


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


START = replace(Surroundings.now(), threads=1)
"""The settings when this module was imported, before the notebook's own cells, which import the check first; and one
thread."""


@contextlib.contextmanager
def as_at_start() -> Iterator[None]:
    """The settings of the start for a while, and one thread; then again those that the notebook had.

    Standard output and error are replaced only where the notebook's can't be written to any more: a cell that captures
    its output captures the check's, too.
    """
    theirs = Surroundings.now()
    with warnings.catch_warnings(), torch.inference_mode(START.infers) if theirs.infers else contextlib.nullcontext():
        warnings.filters[:] = START.warning_filters  # type: ignore[index]
        try:
            START.put()
            sys.stdout, sys.stderr = (
                now if _is_open(now) else then for now, then in zip(theirs.streams, START.streams, strict=True)
            )
            yield
        finally:
            theirs.put()
            sys.stdout, sys.stderr = theirs.streams


def _is_open(stream: Any) -> bool:
    return callable(getattr(stream, "write", None)) and not getattr(stream, "closed", False)
