"""What the tests of BertViz's views share: weights to draw, and what a view's frame holds."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import torch
from torch import Tensor

from anatomy.course.views.bertviz import FramedView

TOKENS = ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]"]
SOURCE, TARGET = ["time", "flies", "</s>"], ["⟨start⟩", "die", "Zeit", "eilt"]


def weights(layers: int = 3, heads: int = 4, length: int = 7, keys: int | None = None) -> Tensor:
    size = (layers, heads, length, keys or length)
    return torch.randn(size, generator=torch.Generator().manual_seed(0)).softmax(-1)


def script(view: FramedView) -> str:
    """The frame's script, unpacked."""
    payload = re.search(r'atob\("([\w+/=]+)"\)', view.page)
    assert payload
    return zlib.decompress(base64.b64decode(payload[1])).decode()


def params(view: FramedView) -> dict[str, Any]:
    """What BertViz's script is told."""
    code, start = script(view), "window.bertviz_params = "
    found: dict[str, Any] = json.JSONDecoder().raw_decode(code, code.index(start) + len(start))[0]
    return found
