"""Tables of numbers that say which token and column they come from."""

from __future__ import annotations

import pytest
import torch

from anatomy.course.views import number_tables

WORDS = ["time", "flies", "like"]
NUMBERS = torch.arange(12).view(3, 4)


def test_words_say_whose_numbers_stand_where() -> None:
    picture = number_tables({"x": NUMBERS, "head 0": NUMBERS[:, :2], "cut": NUMBERS.view(2, 6)}, WORDS, 4, "A split")
    assert "head 0: time 0 to 1; flies 0 to 1; like 0 to 1." in picture.alt
    assert "cut: time 0, time 1, time 2, time 3, flies 0, flies 1; " in picture.alt
    assert picture.alt.startswith("A split: ") and len(picture.png()) < 60_000


@pytest.mark.parametrize(
    ("tables", "words", "said"),
    [
        ({}, WORDS, "no tables"),
        ({"x": NUMBERS}, WORDS[:2], "tokens"),
        ({"x": NUMBERS, "y": NUMBERS + 1}, WORDS, "belongs to no token"),
        ({"x": torch.arange(16).view(8, 2)}, [str(i) for i in range(8)], "colors"),
    ],
)
def test_what_it_can_t_draw(tables, words, said) -> None:
    with pytest.raises(ValueError, match=said):
        number_tables(tables, words, 4)
