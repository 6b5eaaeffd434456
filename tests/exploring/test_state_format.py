"""A state has the form that docs/explorer.md agrees on, and leaves out what a page has no room for."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from anatomy.course.exploring.packing import EXACT, LEFT_OUT_FIRST, Arrays, State, steps_in
from tests.exploring.models import CLASSES, explorer_of, text_of

KINDS = list(CLASSES)
HEADER = "format kind model text written changes stacks vocabulary likely rest arrays left_out"
STEP = "id kind part title says formula shapes axes array right exercise code"


def state_of(kind: str) -> State:
    return explorer_of(kind).state(*text_of(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_header_is_the_one_that_is_agreed(kind: str) -> None:
    header = state_of(kind).header
    assert set(header) == set(HEADER.split())
    assert set(header["model"]["sizes"]) == set("DHGKFVL")
    assert [stack["name"] for stack in header["stacks"]] == {
        "encoder": ["encoder"], "encoder-decoder": ["encoder", "decoder"]}.get(kind, ["decoder"])  # fmt: skip
    for step in steps_in(header):
        assert set(step) == {
            "id",
            "kind",
            "part",
            "title",
            "says",
            "formula",
            "shapes",
            "axes",
            "array",
            "right",
            "exercise",
            "code",
        }
        assert step["id"].endswith(f".{step['kind']}") and step["array"] in header["arrays"]
        assert len(step["axes"]) == len(header["arrays"][step["array"]]["shape"])
    assert len({step["id"] for step in steps_in(header)}) == len(steps_in(header))
    json.dumps(header, allow_nan=False)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_lie_one_behind_the_other_where_typed_arrays_may_begin(kind: str) -> None:
    state, end = state_of(kind), 0
    for name, about in state.header["arrays"].items():
        size = {"f4": 4, "f2": 2}[about["type"]]
        assert about["offset"] >= end and about["offset"] % size == 0
        end = about["offset"] + size * int(np.prod(about["shape"]))
        assert (about["type"] == "f4") == (name.removesuffix(".right").rsplit(".", 1)[-1] in EXACT)
    assert end == len(state.buffer)


def test_minus_infinity_survives() -> None:
    masked = state_of("decoder").array("decoder.0.self.masked")
    assert (masked[:, np.triu(np.ones(masked.shape[1:], bool), 1)] == -np.inf).all()


def test_a_state_that_is_too_large_leaves_kinds_out_in_the_stated_order() -> None:
    state = state_of("decoder")
    sizes = []
    for number, kinds in enumerate(LEFT_OUT_FIRST, 1):
        smaller = state.without([kind for some in LEFT_OUT_FIRST[:number] for kind in some])
        sizes.append(len(smaller.compressed()))
        found = state.within(sizes[-1])
        out = {kind for some in LEFT_OUT_FIRST[:number] for kind in some}
        assert set(found.header["left_out"]) == out
        assert len(found.compressed()) <= sizes[-1]
        for step in steps_in(found.header):
            assert (step["array"] is None) == (step["kind"] in out)
        for step in steps_in(found.header):
            if step["array"]:
                np.testing.assert_array_equal(found.array(step["array"]), state.array(step["array"]))
        assert kinds
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)
    assert state.within(10**9) is state


def test_weights_and_probabilities_are_never_left_out() -> None:
    assert {"weights", "probabilities", "logits"}.isdisjoint(kind for kinds in LEFT_OUT_FIRST for kind in kinds)


def test_numbers_too_large_for_two_bytes_are_kept() -> None:
    """Half precision ends at 65,504; beyond, a vector must not turn into infinity."""
    arrays = Arrays()
    arrays.add("vectors", torch.tensor([[1e5, -1e5, 1.0]]))
    state = State({"arrays": arrays.index}, bytes(arrays.buffer))
    np.testing.assert_allclose(state.array("vectors"), [[1e5, -1e5, 1.0]], rtol=1e-3)
