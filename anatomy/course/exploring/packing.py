"""A state as a header, in JSON, and one buffer of typed arrays."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor

EXACT = frozenset({"scores", "scaled", "masked", "weights", "logits", "probabilities", "similarity"})
"""Kinds that keep four bytes a number; vectors keep two, which is three digits."""
LARGEST = 60_000
"""What two bytes can still hold, with some room."""
LEFT_OUT_FIRST = (
    ("inner", "gate", "activated"),
    ("scaled", "masked"),
    ("projected", "joined", "norm"),
    ("query", "key", "value", "turned_query", "turned_key", "mixed"),
    ("scores",),
    ("residual", "feed_forward"),
)
"""What a page leaves out when it has no room, in this order."""


@dataclass(frozen=True)
class State:
    """One run of a model, as the page reads it: docs/explorer.md says what the header holds."""

    header: dict[str, Any]
    buffer: bytes

    def packed(self, **message: Any) -> bytes:
        """Header and buffer in one: the JSON's length, the JSON, zeros up to a multiple of 8, the arrays."""
        text = json.dumps({**message, "header": self.header}, ensure_ascii=False, separators=(",", ":")).encode()
        return struct.pack("<I", len(text)) + text + bytes(-(4 + len(text)) % 8) + self.buffer

    def compressed(self) -> str:
        """The same, compressed and in base64, for a page."""
        return base64.b64encode(zlib.compress(self.packed(), 9)).decode("ascii")

    def array(self, name: str) -> np.ndarray:
        """An array of the buffer. Raises KeyError when the state has none of this name."""
        about = self.header["arrays"][name]
        count = int(np.prod(about["shape"]))
        return np.frombuffer(self.buffer, f"<{about['type']}", count, about["offset"]).reshape(about["shape"])

    def without(self, kinds: Iterable[str]) -> State:
        """A smaller state, whose steps of these kinds have no array."""
        dropped = set(kinds)
        header = json.loads(json.dumps(self.header))
        for step in steps_in(header):
            if step["kind"] in dropped:
                step["array"] = step["right"] = None
        kept = {step[key] for step in steps_in(header) for key in ("array", "right") if step[key]}
        header["left_out"] = [*header["left_out"], *(kind for kind in kinds)]
        arrays = Arrays()
        for name in header["arrays"]:
            if name in kept:
                arrays.add(name, self.array(name))
        return replace(self, header={**header, "arrays": arrays.index}, buffer=bytes(arrays.buffer))

    def within(self, most: int) -> State:
        """This state, or as much of it as takes at most so many bytes in a page."""
        state = self
        for kinds in LEFT_OUT_FIRST:
            if len(state.compressed()) <= most:
                break
            state = state.without(kinds)
        return state


class Arrays:
    """Arrays one behind the other, with an index of where each begins."""

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self.buffer = bytearray()

    def add(self, name: str, array: np.ndarray | Tensor, exact: bool | None = None) -> str:
        """Append an array: float16 unless `exact` or too large for it, then float32; NumPy's arrays keep their type."""
        if isinstance(array, Tensor):
            exact = exact or bool((array.isfinite() & (array.abs() > LARGEST)).any())
            array = array.detach().cpu().numpy().astype("<f4" if exact else "<f2")
        self.buffer += bytes(-len(self.buffer) % 4)
        self.index[name] = {"type": array.dtype.str[1:], "shape": list(array.shape), "offset": len(self.buffer)}
        self.buffer += np.ascontiguousarray(array).tobytes()
        return name


def steps_in(header: dict[str, Any]) -> list[dict[str, Any]]:
    """All steps of a header, in order."""
    found: list[dict[str, Any]] = []
    for stack in header["stacks"]:
        found += stack["embedding"]
        for layer in stack["layers"]:
            found += layer["steps"]
        found += stack["output"]
    return found
