"""The judging step by itself: whatever arrives from a kernel becomes a card and a mark, and never an exception."""

from __future__ import annotations

import json
import math
import random
from base64 import b64encode
from dataclasses import asdict

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.utils import determine_grade
from traitlets.config import Config

from anatomy.classroom.grading import verdicts
from anatomy.classroom.grading.few_numbers import LONGEST, in_few_numbers
from anatomy.classroom.grading.notes import NOTE, CellNote, NotebookNote
from anatomy.classroom.grading.preprocessors import JudgeObservations, RunAndObserve
from anatomy.course import COURSE
from anatomy.engine.cards import as_html, as_text
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observation import CaseObservation, Observation
from anatomy.engine.observing.observe import MISSING, observe
from anatomy.engine.observing.records import MIME, Unreadable, decode, encode

BOOK = COURSE.notebook("03-softmax")
SEEDS = (4711, 815)
EXERCISE = COURSE.exercises(BOOK)["softmax"]
OTHER = COURSE.exercises(BOOK)["attention_entropy"]


def right_softmax(x, dim):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def record(answer, exercise=EXERCISE, seeds=SEEDS):
    return encode(observe(exercise, answer, seeds))


def display(data):
    return new_output("display_data", data={MIME: data, "text/plain": "observed"})


def graded(outputs, *, answer_outputs=(), note=None, answer_note=None, points=EXERCISE.points):
    """(points that nbgrader records, the check cell) after judging a check cell with these outputs."""
    marks = {"schema_version": 3, "task": False}
    answer = new_code_cell("…", outputs=list(answer_outputs), metadata={
        "nbgrader": {**marks, "grade": False, "grade_id": "softmax", "locked": False, "solution": True}})  # fmt: skip
    check = new_code_cell('check("softmax")', outputs=list(outputs), metadata={
        "nbgrader": {**marks, "grade": True, "grade_id": "check-softmax", "locked": True, "solution": False,
                     "points": points}})  # fmt: skip
    for cell, said in ((check, note), (answer, answer_note)):
        if said:
            said.write(cell)
    book = new_notebook(cells=[answer, check])
    JudgeObservations().preprocess(book, {"nbgrader": {"notebook": BOOK.slug}, NOTE: NotebookNote(seeds=SEEDS)})
    return determine_grade(check)[0], check


def card_of(cell):
    return cell.outputs[0].data["text/html"]


def test_right_answer():
    points, cell = graded([display(record(right_softmax))])
    assert points == EXERCISE.points
    assert CellNote.read(cell).status == "right"
    assert "Right" in card_of(cell) and [o.output_type for o in cell.outputs] == ["display_data", "execute_result"]


def test_a_wrong_answer_without_a_name_is_noted_in_a_few_numbers():
    def strange(x, dim):
        return (x - x.amax(dim, keepdim=True)).exp().sin()

    def rewritten(x, dim):
        return torch.sin(torch.exp(x) / torch.exp(x.amax(dim, keepdim=True)))

    def turned(x, dim):
        return strange(x, dim).flip(dim)

    noted = [CellNote.read(graded([display(record(answer))])[1]) for answer in (strange, rewritten, turned)]
    assert all(note.status == "wrong" and not note.mistakes for note in noted)
    one, same, other = (note.numbers for note in noted)
    assert [words for words, *_ in one] == [words for words, *_ in other] and len(json.dumps(one)) < 2000
    assert [size for _, size, _ in one] == pytest.approx([size for _, size, _ in other], rel=1e-3)
    several = [case.args["x"].size(case.args["dim"]) > 1 for case in EXERCISE.cases()]
    chosen = [index for index, case in enumerate(EXERCISE.cases()) if several[index] and not case.drawn]
    small = [index for index in chosen if one[index][0] == same[index][0]]
    assert [one[index][2] for index in small] == pytest.approx([same[index][2] for index in small], rel=1e-4)
    assert all(abs(one[index][2] - other[index][2]) > 1e-4 for index in small if one[index][0].startswith("returned"))
    assert not CellNote.read(graded([display(record(right_softmax))])[1]).numbers


@pytest.mark.parametrize("value", [
    torch.tensor([float("nan"), float("inf"), 2.0]), torch.zeros(0), torch.tensor([1 + 2j]), torch.tensor([True]),
    {"b": [1, 2.5, "text" * 100], "a": None}, 10**400, [[]], {"$other": "a function"}, True,
])  # fmt: skip
def test_whatever_an_answer_returns_is_a_few_numbers(value):
    (few,) = json.loads(json.dumps(in_few_numbers(Observation("softmax", [CaseObservation("returned", value)]))))
    assert len(few[0]) <= LONGEST and all(math.isfinite(number) for number in few[1:])


def test_partial_credit_with_a_message():
    def overflows(x, dim):
        return x.exp() / x.exp().sum(dim, keepdim=True)

    points, cell = graded([display(record(overflows))])
    assert 0 < points < EXERCISE.points
    assert "overflow" in card_of(cell)
    assert list(CellNote.read(cell).mistakes) == ["softmax__overflows"]


def test_points_follow_the_cell():
    assert graded([display(record(right_softmax))], points=10)[0] == 10
    assert graded([display(record(lambda x, dim: x.exp() / x.exp().sum(dim, keepdim=True)))], points=1)[0] < 1


def test_old_seeds_do_not_count():
    """An observation recorded elsewhere (a friend's, yesterday's) is worth nothing here."""
    points, cell = graded([display(record(right_softmax, seeds=(0, 1)))])
    assert points < EXERCISE.points and CellNote.read(cell).status == "wrong"


def endless():
    """The tensors of a record with one that is empty, of rows that no machine can count."""
    head = b'{"0":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}}'
    return b64encode(len(head).to_bytes(8, "little") + head).decode()


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([], "Nothing arrived from it"),
        ([new_output("execute_result", data={"text/plain": "5"})], "Nothing arrived from it"),
        ([new_output("stream", name="stdout", text="5.0")], "Nothing arrived from it"),
        ([new_output("error", ename="ValueError", evalue="no", traceback=[])], "ValueError: no"),
        ([new_output("error", ename="CellTimeoutError", evalue="", traceback=[])], "did not finish in time"),
        ([display(record(right_softmax))] * 2, "More than one observation"),
        ([display("forged")], "can&#x27;t be read"),
        ([display({"tree": {}, "tensors": "!"})], "can&#x27;t be read"),
        ([display({"tree": {"cases": [{"value": {"$float": []}}]}, "tensors": encode({})["tensors"]})], "be read"),
        ([display({"tree": {"cases": []}, "tensors": endless()})], "can&#x27;t be read"),
        ([display({"tree": {"cases": []}, "tensors": encode({})["tensors"]})], "another exercise"),
        ([display({"tree": {"cases": []}, "tensors": encode([torch.empty(1 << 30, 0)])["tensors"]})], "empty rows"),
        ([display(record(right_softmax, OTHER))], "another exercise"),
    ],
)
def test_what_is_no_observation_earns_nothing(outputs, said):
    points, cell = graded(outputs)
    assert points == 0
    assert said in card_of(cell)


def test_what_else_the_cell_printed_is_dropped():
    forged = new_output("execute_result", data={"text/plain": "5"}, execution_count=1)
    noise = new_output("stream", name="stderr", text="warning")
    points, cell = graded([forged, noise, display(record(right_softmax)), forged])
    assert points == EXERCISE.points and len(cell.outputs) == 2
    points, _ = graded([forged, display(record(lambda x, dim: x)), forged])
    assert points < EXERCISE.points


def test_undefined_answer_says_why():
    missing = display(record(MISSING))
    assert "Not attempted." in card_of(graded([missing])[1])
    crash = new_output("error", ename="NameError", evalue="name 'tensor' is not defined", traceback=[])
    points, cell = graded([missing], answer_outputs=[crash])
    assert points == 0 and "stops with <code>NameError</code>" in card_of(cell) and "tensor" in card_of(cell)
    stub = new_output("error", ename="NotImplementedError", evalue="", traceback=[])
    assert CellNote.read(graded([missing], answer_outputs=[stub])[1]).status == "not attempted"
    slow = new_output("error", ename="CellTimeoutError", evalue="", traceback=[])
    assert "did not finish in time" in card_of(graded([missing], answer_outputs=[slow])[1])
    cell = graded([missing], answer_note=CellNote(left_out="ended its kernel"))[1]
    assert "ended its kernel" in card_of(cell) and CellNote.read(cell).points == 0


def test_unreached_is_ungraded_not_zero():
    _, cell = graded([], note=CellNote(unreached="9 cells of this notebook ended its kernel"))
    assert CellNote.read(cell).status == "ungraded" and CellNote.read(cell).points is None
    assert "not a mark of 0" in card_of(cell)


def test_a_judge_that_fails_costs_nobody_a_mark(monkeypatch):
    verdicts.forget_expectations()
    monkeypatch.setattr(verdicts, "judge", lambda *_: 1 / 0)
    _, cell = graded([display(record(right_softmax))])
    assert CellNote.read(cell).status == "ungraded" and "ZeroDivisionError" in card_of(cell)


def test_a_judge_that_hangs_is_stopped(monkeypatch):
    def hang(*_):
        while True:
            pass

    verdicts.forget_expectations()
    monkeypatch.setattr(verdicts, "judge", hang)
    monkeypatch.setattr(JudgeObservations, "time_limit", 0.3)
    _, cell = graded([display(record(right_softmax))])
    assert "more than 0.3 s" in CellNote.read(cell).reason


def test_foreign_assignments_are_left_to_nbgrader():
    marks = {"grade": True, "grade_id": "check-x", "points": 2, "locked": True, "solution": False}
    result = new_output("execute_result", data={"text/plain": "1"})
    cell = new_code_cell("1", outputs=[result], metadata={"nbgrader": marks})
    before = cell.copy()
    JudgeObservations().preprocess(new_notebook(cells=[cell]), {"nbgrader": {"notebook": "homework-1"}})
    assert cell == before


def test_config_reaches_the_runner():
    assert RunAndObserve(config=Config(Execute={"timeout": 7, "shutdown_kernel": "immediate"})).timeout == 7


# ---- hostile observations -----------------------------------------------------------------------------------------


def scrap(dice: random.Random, depth: int = 0):
    """Anything that JSON and safetensors can carry."""
    kind = dice.randrange(14 if depth < 4 else 8)
    if kind == 0:
        return dice.choice([None, True, False, 0, -1, 10**30, "", "x" * 10_000, "\udfff"[:0], "$tensor"])
    if kind == 1:
        return dice.choice([0.5, float("nan"), float("inf"), -0.0, 1e308])
    if kind in (2, 3):
        shape = [dice.choice([0, 1, 2, 3, 7]) for _ in range(dice.choice([0, 1, 2, 3, 5, 9]))]
        kinds = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool,
                 torch.complex64, torch.float8_e4m3fn]  # fmt: skip
        tensor = torch.ones(shape).mul(dice.choice([0.0, 1.0, float("nan"), float("inf"), 1e30]))
        return tensor.to(dice.choice(kinds))
    if kind < 8:
        return dice.choice(["returned", "raised", "not attempted", "too slow", {"$other": "a cat"}, {"$float": "nan"}])
    if kind < 11:
        return [scrap(dice, depth + 1) for _ in range(dice.randrange(5))]
    keys = ["outcome", "value", "error", "calls", "changed", "again", "gradients", "linked", "parameters",
            "shared", "train", "type", "message", "x", "$tensor", "gradient_error", "line"]  # fmt: skip
    return {dice.choice(keys): scrap(dice, depth + 1) for _ in range(dice.randrange(6))}


def spoiled(node, dice: random.Random):
    """An honest observation in which some places are replaced by scrap."""
    if dice.random() < 0.06:
        return scrap(dice)
    if isinstance(node, dict):
        return {key: spoiled(item, dice) for key, item in node.items()}
    return [spoiled(item, dice) for item in node] if isinstance(node, list) else node


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["04-heads"])
def test_hostile_observations_always_get_a_verdict(slug):
    """Random spoilt observations: a verdict each time, within its points, and never full marks by luck."""
    dice = random.Random(slug)
    asked = COURSE.exercises(COURSE.notebook(slug)).values()
    honest_ones = [(exercise, observe(exercise, exercise.right, SEEDS)) for exercise in asked]
    verdicts = 0
    for number in range(40):
        exercise, honest = dice.choice(honest_ones)
        cases = (
            spoiled([asdict(case) for case in honest.cases], dice)
            if number % 3
            else [scrap(dice) for _ in range(dice.randrange(4))]
        )
        try:
            observation = decode(encode({"exercise": exercise.name, "cases": cases}))
        except Unreadable:
            continue
        verdict = judge(exercise, observation, SEEDS)
        assert 0 <= verdict.points <= exercise.points
        assert as_html(verdict) and as_text(verdict)
        verdicts += 1
    assert verdicts > 10
