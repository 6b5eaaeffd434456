"""A verdict is worked out once for what is the same to the last bit, and anew for everything else."""

from __future__ import annotations

import pytest
import torch
from nbformat.v4 import new_code_cell, new_output

from anatomy.classroom.grading import verdicts
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import MIME, encode
from anatomy.wiring import the_course

SEEDS = (7, 8)
SOFTMAX = the_course().exercise("softmax")


def seen(answer, seeds=SEEDS):
    """A check's cell that observed this answer."""
    record = encode(observe(SOFTMAX, answer, seeds))
    return new_code_cell("", outputs=[new_output("display_data", data={MIME: record, "text/plain": ""})])


@pytest.fixture
def judged(monkeypatch):
    """How often the judge was asked."""
    verdicts.forget_expectations()
    times = []

    def judge(*given, own=verdicts.judge):
        times.append(1)
        return own(*given)

    monkeypatch.setattr(verdicts, "judge", judge)
    yield times
    verdicts.forget_expectations()


def verdict_on(cell, seeds=SEEDS):
    return verdicts.verdict_on(cell, SOFTMAX, None, seeds)


def test_the_same_observation_is_judged_once(judged):
    right, wrong = SOFTMAX.right, lambda x, dim: x.softmax(0)
    first = [verdict_on(seen(answer)) for answer in (right, wrong)]
    again = [verdict_on(seen(answer)) for answer in (right, wrong)]
    assert [one.status for one in first] == ["right", "wrong"] and again == first
    assert len(judged) == 2


def test_one_bit_more_or_other_seeds_are_judged_anew(judged):
    half = {"on": False}

    def wrong_once(x, dim):
        right = SOFTMAX.right(x, dim)
        return right * 1.5 if half["on"] else right

    assert verdict_on(seen(wrong_once)).status == "right"
    half["on"] = True
    assert verdict_on(seen(wrong_once)).status == "wrong"
    assert verdict_on(seen(SOFTMAX.right, (9, 10)), (9, 10)).status == "right"
    assert verdict_on(seen(SOFTMAX.right), (9, 10)).status == "wrong", "what was right with other seeds proves nothing"
    assert len(judged) == 4


def test_whether_an_answer_is_right_and_its_verdict_are_two_questions(judged):
    cell = seen(lambda x, dim: torch.zeros_like(x))
    assert verdicts.is_seen_right(cell, SOFTMAX, SEEDS) is False
    assert verdict_on(cell).status == "wrong"
    assert verdicts.is_seen_right(seen(SOFTMAX.right), SOFTMAX, SEEDS) is True


def test_an_observation_of_another_exercise_is_not_taken_for_this_one(judged):
    cell = seen(SOFTMAX.right)
    assert verdict_on(cell).status == "right"
    other = the_course().exercise("attention_entropy")
    assert verdicts.verdict_on(cell, other, None, SEEDS).points == 0


def test_what_one_worker_has_found_another_reads(judged, tmp_path):
    cells = [seen(answer) for answer in (SOFTMAX.right, lambda x, dim: x.softmax(0), lambda x, dim: x, lambda x: x)]
    verdicts.share_with(str(tmp_path))
    try:
        first = [(verdict_on(cell), verdicts.is_seen_right(cell, SOFTMAX, SEEDS)) for cell in cells]
        assert len(judged) == 4 and {one.status for one, _ in first} == {"right", "wrong"}
        assert any(one.picture for one, _ in first) and all(one.results for one, _ in first)
        verdicts.forget_expectations()
        assert [(verdict_on(cell), verdicts.is_seen_right(cell, SOFTMAX, SEEDS)) for cell in cells] == first
        assert len(judged) == 4
        for content in ("", "{", "[]", "{}", "1", '{"exercise": "softmax", "results": 3}', "\udcff"):
            verdicts.forget_expectations()
            for file in tmp_path.iterdir():
                file.write_text(content, errors="surrogateescape")
            assert verdict_on(cells[1]) == first[1][0], "what can't be read is found out anew"
        assert len(judged) == 11
        verdicts.share_with("")
        verdicts.forget_expectations()
        assert verdict_on(cells[0]) == first[0][0] and len(judged) == 12
    finally:
        verdicts.share_with("")
