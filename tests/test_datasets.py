"""The sentences with "flies" and the dates: as they are meant, and split so that nothing is learned by heart."""

from __future__ import annotations

import datetime
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from anatomy.course import datasets

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import flies  # noqa: E402

ROWS = [json.loads(line) for line in flies.FILE.read_text(encoding="utf-8").splitlines()]


def test_the_file_is_what_the_templates_give() -> None:
    assert flies.FILE.read_text(encoding="utf-8") == flies.text(), "run python tools/flies.py"


def test_every_sentence_has_one_flies_and_no_sentence_comes_twice() -> None:
    assert len(ROWS) >= 200
    assert len({row["sentence"] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert len(re.findall(r"\bflies\b", row["sentence"].lower())) == 1
        assert re.fullmatch(r"[A-Z][A-Za-z ,]+\.", row["sentence"]), row["sentence"]


def test_no_template_and_no_word_before_flies_is_on_both_sides() -> None:
    for key in (lambda row: row["template"], lambda row: words(row)[words(row).index("flies") - 1]):
        sides = [{key(row) for row in ROWS if row["split"] == split} for split in ("train", "test")]
        assert not sides[0] & sides[1]


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_place_of_flies_tells_nothing(split: str) -> None:
    places = {
        label: Counter(words(row).index("flies") for row in ROWS if (row["split"], row["label"]) == (split, label))
        for label in datasets.FLIES_LABELS
    }
    assert places["noun"] == places["verb"]


@pytest.mark.parametrize("pairs", [flies.TRAIN, flies.TEST])
def test_templates_put_flies_where_they_say(pairs: tuple[flies.Pair, ...]) -> None:
    for place, noun, nouns, verb, verbs in pairs:
        for template, fillings in ((noun, nouns), (verb, verbs)):
            for filling in fillings:
                sentence = template.format(*filling.split("|"))
                assert words({"sentence": sentence}).index("flies") == place - 1, sentence


def test_the_loader() -> None:
    train, test = datasets.flies_sentences("train"), datasets.flies_sentences("test")
    assert (len(train), len(test)) == (156, 84)
    assert Counter(label for _, label in train) == {0: 78, 1: 78}
    assert train[0] == ("House flies are a nuisance in the kitchen.", 0)
    with pytest.raises(ValueError, match="train"):
        datasets.flies_sentences("all")


def test_the_fables_are_long_enough_and_keep_to_a_small_alphabet() -> None:
    text = datasets.fables()
    assert len(text.encode()) >= 40_000
    assert re.fullmatch(r"""[A-Za-z .,?'"\n]+""", text)
    assert not re.search(r"  | \n|\n\n\n", text)
    assert text.count('"') % 2 == 0 and text.endswith("\n")


def words(row: dict[str, str]) -> list[str]:
    return row["sentence"].lower().rstrip(".").replace(",", "").split()


def test_dates_are_spelled_so_that_they_can_be_read_in_one_way() -> None:
    for written, iso in datasets.date_pairs("train", 3000) + datasets.date_pairs("test", 2000):
        day = datetime.date.fromisoformat(iso)
        assert 1930 <= day.year <= 2029
        assert datasets.MONTHS[day.month - 1][:3].lower() in written.lower()
        numbers = [int(one) for one in re.findall(r"\d+", written)]
        year = day.year if re.search(r"\d{4}", written) else day.year % 100
        assert numbers in ([day.day, year], [day.year, day.day]), written
        for name in datasets.WEEKDAYS:
            if written.startswith(name[:3]) and ", " in written:
                assert name == datasets.WEEKDAYS[day.weekday()]


def test_held_out_days_are_never_trained_on() -> None:
    unseen = {iso for _, iso in datasets.date_pairs("test", 2000)}
    assert len(unseen) == 2000
    seen = {iso for seed in (0, 1) for _, iso in datasets.date_pairs("train", 40_000, seed)}
    assert len(seen) == 36_525 - 2000
    assert not seen & unseen
    assert {iso for _, iso in datasets.date_pairs("test", 2000, seed=7)} == unseen


def test_dates_come_from_their_seed() -> None:
    assert datasets.date_pairs("train", 5, seed=3) == datasets.date_pairs("train", 9, seed=3)[:5]
    assert datasets.date_pairs("train", 5, seed=3) != datasets.date_pairs("train", 5, seed=4)
    with pytest.raises(ValueError, match="train"):
        datasets.date_pairs("all", 3)
