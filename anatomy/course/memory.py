"""How much memory a computation needs: the bytes of all tensors that are alive at the same time."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(function: Callable[..., Any], *args: Any) -> int:
    """The most bytes that tensors made by `function(*args)` take at one moment; its arguments do not count.

    A tensor counts from the operation that makes it until nothing refers to its storage, and views of one storage count
    once. What an operation takes for itself, and gives back before it returns, is not seen.
    """
    with _Alive() as alive:
        function(*args)
    return alive.peak


class _Alive(TorchDispatchMode):
    """Adds up the storages that operations make, and takes off those that are released."""

    def __init__(self) -> None:
        super().__init__()
        self.known: weakref.WeakSet[Any] = weakref.WeakSet()
        self.now = self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.known.update(_storages((args, kwargs)))
        results = func(*args, **(kwargs or {}))
        for storage in _storages(results):
            if storage not in self.known:
                self.known.add(storage)
                self.now += storage.nbytes()
                weakref.finalize(storage, self._release, storage.nbytes())
        self.peak = max(self.peak, self.now)
        return results

    def _release(self, size: int) -> None:
        self.now -= size


def _storages(values: Any) -> list[Any]:
    return [one.untyped_storage() for one in tree_leaves(values) if isinstance(one, Tensor)]
