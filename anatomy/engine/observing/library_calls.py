"""Which library functions an answer calls, however it reaches them."""

from __future__ import annotations

import contextlib

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class CallRecorder(contextlib.ExitStack):
    """Notes which library functions run, however they were reached: by name (`softmax`) and by kernel (`_softmax`)."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __enter__(self) -> CallRecorder:
        super().__enter__()
        self.enter_context(_FunctionNames(self.names))
        self.enter_context(_KernelNames(self.names))
        return self


class _FunctionNames(TorchFunctionMode):
    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self.names = names

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.add(_bare(getattr(func, "__name__", "")))
        return func(*args, **(kwargs or {}))


class _KernelNames(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No need of torch's compiler, whose import at the first call would take seconds."""
        return False

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self.names = names

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(_bare(func.overloadpacket.__name__))
        return func(*args, **(kwargs or {}))


def _bare(name: str) -> str:
    return name.strip("_").removeprefix("special_")
