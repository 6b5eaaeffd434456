"""Pictures and captions of notebook 13: what is said is what is drawn."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from anatomy.course.scenes import COLORS, PLACES, SHAPES, SIDE, captions, scenes


def test_captions_are_divided_and_every_word_is_learned() -> None:
    train, test = captions("train"), captions("test")
    assert (len(train), len(test), len({*train, *test})) == (120, 40, 160)
    assert {word for text in test for word in text.split()} <= {word for text in train for word in text.split()}
    assert {len(text.split()) for text in (*train, *test)} == {7}


def test_a_seed_decides_and_pictures_vary() -> None:
    texts = captions("test")[:5]
    assert torch.equal(scenes(texts, seed=3), scenes(texts, seed=3))
    assert not torch.equal(scenes(texts, seed=3), scenes(texts, seed=4))
    images = scenes(texts)
    assert images.shape == (5, 3, SIDE, SIDE) and images.min() >= 0 and images.max() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_color_and_place_are_those_of_the_caption(seed: int) -> None:
    texts = captions("train")
    for text, image in zip(texts, scenes(texts, seed), strict=True):
        ink = (image.amax(dim=0) - image.amin(dim=0)) > 0.2  # (32, 32): paper is gray
        y, x = ink.nonzero().double().mean(dim=0).tolist()
        place = min(PLACES, key=lambda name: (PLACES[name][0] - x) ** 2 + (PLACES[name][1] - y) ** 2)
        assert text.endswith(place), text
        found = image[:, ink].mean(dim=1)
        color = min(COLORS, key=lambda name: float((torch.tensor(COLORS[name]) - found).norm()))
        assert f" {color} " in text
        edges = (ink[0].any(), ink[-1].any(), ink[:, 0].any(), ink[:, -1].any())
        assert not any(edges), f"{text} is cut off"


def test_large_shapes_cover_more_than_small_ones_and_all_shapes_differ() -> None:
    def covered(size: str, shape: str) -> int:
        image = scenes([f"a {size} blue {shape} in the middle"])[0]
        return int(((image.amax(dim=0) - image.amin(dim=0)) > 0.2).sum())

    for shape in SHAPES:
        assert covered("large", shape) > 1.8 * covered("small", shape)
    large = scenes([f"a large blue {shape} in the middle" for shape in SHAPES])
    for one, other in combinations(large, 2):
        assert ((one - other).abs().amax(dim=0) > 0.3).sum() > 20


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="a red circle"):
        scenes(["a red circle"])
    with pytest.raises(ValueError, match="'train' or 'test'"):
        captions("both")
