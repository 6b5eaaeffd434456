"""What one cell changes for the whole process is as it was at the start while an answer is observed, and then again."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from anatomy.engine.observing.surroundings import START, Surroundings, as_at_start


@pytest.fixture(autouse=True)
def again() -> Iterator[None]:
    """Whatever a test leaves behind is put right after it."""
    before = Surroundings.now()
    with warnings.catch_warnings():
        yield
    before.put()
    sys.stdout, sys.stderr = before.streams


CHANGES: dict[str, tuple[Any, Any, Any]] = {  # change, look, what the check must see
    "dtype": (lambda: torch.set_default_dtype(torch.float64), torch.get_default_dtype, torch.float32),
    "bfloat16": (lambda: torch.set_default_dtype(torch.bfloat16), lambda: torch.ones(1).dtype, torch.float32),
    "device": (lambda: torch.set_default_device("meta"), lambda: torch.ones(1).device.type, "cpu"),
    "gradients": (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled, True),
    "threads": (lambda: torch.set_num_threads(2), torch.get_num_threads, 1),
    "deterministic": (
        lambda: torch.use_deterministic_algorithms(True),
        torch.are_deterministic_algorithms_enabled,
        False,
    ),
    "recursion": (lambda: sys.setrecursionlimit(5000), sys.getrecursionlimit, START.recursion_limit),
    "numpy": (lambda: np.seterr(all="raise"), lambda: np.geterr()["over"], START.numpy_errors["over"]),
    "warnings": (
        lambda: warnings.simplefilter("error"),
        lambda: ("error", None, Warning, None, 0) in warnings.filters,
        False,
    ),
}


@pytest.mark.parametrize("change, look, wanted", CHANGES.values(), ids=CHANGES)
def test_it_is_as_at_the_start_and_then_as_the_notebook_had_it(change: Any, look: Any, wanted: Any) -> None:
    change()
    changed = look()
    assert changed != wanted
    with pytest.raises(KeyboardInterrupt), as_at_start():
        assert look() == wanted
        raise KeyboardInterrupt
    assert look() == changed


def test_inference_mode_is_left_for_a_while() -> None:
    with torch.inference_mode():
        with as_at_start():
            assert not torch.is_inference_mode_enabled()
            assert torch.ones(1, requires_grad=True).exp().requires_grad
        assert torch.is_inference_mode_enabled()


def test_random_numbers_go_on_where_the_notebook_was() -> None:
    torch.manual_seed(5)
    with as_at_start():
        torch.manual_seed(0)
        torch.rand(3)
    here = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(here, torch.rand(1))


def test_a_closed_output_is_replaced_and_one_that_works_is_not() -> None:
    closed, works = io.StringIO(), io.StringIO()
    closed.close()
    sys.stdout, sys.stderr = closed, works
    with as_at_start():
        assert sys.stdout is START.streams[0] and sys.stderr is works
    assert sys.stdout is closed
    sys.stdout = None  # type: ignore[assignment]
    with as_at_start():
        assert sys.stdout is START.streams[0]


def test_settings_that_are_so_already_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting the number of threads anew, or determinism, takes torch longer than a small check."""
    called: list[str] = []
    for name in ("set_num_threads", "use_deterministic_algorithms", "set_default_device"):
        monkeypatch.setattr(torch, name, lambda *_, name=name, **__: called.append(name))
    START.put()
    threads = torch.get_num_threads() != START.threads
    assert called == (["set_num_threads"] if threads else [])
