"""What the live view is told of a class."""

from __future__ import annotations

import json

from anatomy.classroom.serving.room import FORGOTTEN, MOST_STUDENTS, PRESENT, RECENT, RUN, STUCK, Room

MAX = {"softmax__no_max": "You don't subtract the maximum."}
AXIS = {"softmax__axis": "Your softmax runs over the queries."}


def room(*checks, at=1000.0, gap=1.0):
    made = Room(since=at)
    for number, (user, exercise, status, *mistakes) in enumerate(checks):
        made.note(user, exercise, status, mistakes[0] if mistakes else {}, at=at + gap * number)
    return made


def test_an_empty_room():
    assert Room(since=1000).snapshot(True, at=1060) == {
        "since": 1000, "runs": 60, "students": 0, "here": 0, "at": None, "exercises": [], "mistakes": [],
        "stuck": {"students": 0, "exercises": []},
    }  # fmt: skip


def test_where_the_room_is():
    seen = room(
        ("a", "softmax", "right"), ("a", "attention_weights", "wrong"), ("b", "softmax", "right"),
        ("b", "attention_weights", "right"), ("c", "softmax", "not attempted"), ("d", "pairwise_dot", "right"),
    ).snapshot(False, at=1010)  # fmt: skip
    assert seen["at"] == {"exercise": "attention_weights", "number": "3.2", "notebook": "03-softmax", "here": 2}
    rows = {row["number"]: row for row in seen["exercises"]}
    assert list(rows) == ["0.1", "0.2", "3.1", "3.2", "3.3", "3.4", "3.5"]
    counts = {number: (row["here"], row["right"], row["wrong"]) for number, row in rows.items()}
    assert (counts["3.1"], counts["3.2"], counts["3.5"]) == ((1, 2, 0), (2, 1, 1), (0, 0, 0))


def test_of_equals_the_room_is_at_the_one_with_wrong_answers_then_at_the_last():
    def where(*pairs):
        made = room(*((str(user), *pair) for user, pair in enumerate(pairs)))
        return made.snapshot(False, at=1010)["at"]["exercise"]

    assert where(("softmax", "wrong"), ("attention_weights", "right")) == "softmax"
    assert where(("softmax", "right"), ("attention_weights", "right")) == "attention_weights"
    assert where(("softmax", "wrong"), ("attention_weights", "wrong")) == "attention_weights"


def test_a_wrong_answer_without_a_named_mistake_is_not_an_exercise_that_nobody_tried():
    made = room(("a", "softmax", "wrong"), ("a", "weighted_values", "not attempted"), ("b", "pairwise_dot", "right"))
    rows = {row["exercise"]: (row["right"], row["wrong"]) for row in made.snapshot(False, at=1010)["exercises"]}
    assert (rows["softmax"], rows["weighted_values"], rows["pairwise_dot"]) == ((0, 1), (0, 0), (1, 0))
    made.note("a", "softmax", "right", {}, at=1011)
    made.note("b", "pairwise_dot", "waits", {}, at=1012)
    rows = {row["exercise"]: (row["right"], row["wrong"]) for row in made.snapshot(False, at=1013)["exercises"]}
    assert (rows["softmax"], rows["pairwise_dot"]) == ((1, 0), (0, 1)), "the newest answer counts"


def test_who_is_counted_at_an_exercise_is_named_there():
    made = room(("a", "softmax", "right"), ("b", "softmax", "wrong"))
    seen = made.snapshot(True, at=1010)
    row = next(row for row in seen["exercises"] if row["exercise"] == "softmax")
    assert seen["at"]["here"] == row["here"] == len(row["names"]) == 2


def test_a_run_of_the_notebook_puts_a_student_at_the_first_answer_that_is_not_right():
    def where(*statuses, gap=1.0):
        names = ("softmax", "attention_weights", "weighted_values", "scaled_dot_product_attention")
        made = room(*(("a", *pair) for pair in zip(names, statuses, strict=False)), gap=gap)
        return made.snapshot(False, at=1000 + 4 * gap)["at"]["number"]

    assert where("right", "wrong", "right", "wrong") == "3.2"
    assert where("right", "wrong", "right", "wrong", gap=RUN + 1) == "3.4", "somebody who went on"
    assert where("right", "right", "right", "not attempted") == "3.3"
    again = room(
        *[("a", "softmax", "right"), ("a", "attention_weights", "wrong"), ("a", "weighted_values", "wrong")] * STUCK
    )
    stuck = again.snapshot(False, at=1012)["stuck"]["exercises"]
    assert [row["number"] for row in stuck] == ["3.2"]


def test_who_runs_all_cells_is_where_the_work_is():
    asked = ("softmax", "attention_weights", "weighted_values", "attention_entropy")
    seen = room(*(("a", name, "right" if name == "softmax" else "not attempted") for name in asked))
    assert seen.snapshot(False, at=1010)["at"]["exercise"] == "softmax"
    assert room(("a", "softmax", "not attempted")).snapshot(False, at=1010)["at"]["exercise"] == "softmax"


def test_which_mistakes_are_made_now():
    made = room(
        ("a", "softmax", "wrong", MAX), ("a", "softmax", "wrong", MAX), ("b", "softmax", "wrong", MAX | AXIS),
        ("c", "softmax", "wrong", AXIS), ("c", "softmax", "right"),
    )  # fmt: skip
    most, other = made.snapshot(True, at=1010)["mistakes"]
    assert (most["sentence"], most["students"], most["still"]) == (MAX["softmax__no_max"], 2, 2)
    assert (other["sentence"], other["students"], other["still"]) == (AXIS["softmax__axis"], 2, 1)
    assert (most["names"], other["names"]) == (["a", "b"], ["b"])
    assert made.snapshot(False, at=1001 + RECENT)["mistakes"][-1]["students"] == 2
    assert made.snapshot(False, at=1005 + RECENT)["mistakes"] == []


def test_only_the_newest_answer_counts():
    made = room(("a", "softmax", "wrong", MAX), ("a", "softmax", "wrong", AXIS))
    newest, before = made.snapshot(True, at=1010)["mistakes"]
    assert (newest["sentence"], newest["still"], newest["names"]) == (AXIS["softmax__axis"], 1, ["a"])
    assert (before["sentence"], before["still"], before["names"]) == (MAX["softmax__no_max"], 0, [])
    made.note("a", "softmax", "not attempted", {}, at=1010)
    assert made.snapshot(False, at=1010)["mistakes"][0]["still"] == 1, "an answer that says nothing changes nothing"
    made.note("a", "softmax", "wrong", {}, at=1011)
    assert [one["still"] for one in made.snapshot(False, at=1012)["mistakes"]] == [1, 0, 0]


def test_wrong_answers_without_a_name_count_as_long_as_they_are_the_newest():
    made = Room(since=1000)
    for number, (user, said) in enumerate(
        [("a", "Old."), ("a", "Seen by two."), ("b", "Other."), ("c", "Seen by two.")]
    ):
        made.note(user, "softmax", "wrong", {}, said, at=1000 + number)
    made.note("d", "softmax", "wrong", MAX, "Not this.", at=1004)
    unnamed, named = made.snapshot(True, at=1010)["mistakes"]
    assert (unnamed["named"], unnamed["sentence"], unnamed["names"]) == (False, "Seen by two.", ["a", "b", "c"])
    assert (named["named"], named["sentence"], named["names"]) == (True, MAX["softmax__no_max"], ["d"])
    for user, status in (("a", "right"), ("b", "right"), ("c", "wrong")):
        made.note(user, "softmax", status, MAX if status == "wrong" else {}, at=1011)
    assert [one["named"] for one in made.snapshot(False, at=1012)["mistakes"]] == [True]


def test_who_now_makes_another_mistake_does_not_have_it_right():
    made = room(
        ("a", "softmax", "wrong", MAX),
        ("b", "softmax", "wrong", MAX),
        ("a", "softmax", "right"),
        ("b", "softmax", "wrong", AXIS),
    )

    def seen(at):
        return {
            one["sentence"]: (one["students"], one["still"], one["right"])
            for one in made.snapshot(False, at=at)["mistakes"]
        }

    first, second = MAX["softmax__no_max"], AXIS["softmax__axis"]
    assert seen(1010) == {first: (2, 0, 1), second: (1, 1, 0)}
    made.note("b", "softmax", "right", {}, at=1011)
    assert seen(1012) == {first: (2, 0, 2), second: (1, 0, 1)}
    made.note("a", "softmax", "wrong", {}, at=1013)
    assert seen(1014)[first] == (2, 0, 1), "right only as long as it is"


def test_an_answer_that_waits_for_a_part_does_not_move_the_room():
    seen = room(("a", "softmax", "wrong", MAX), ("a", "attention_weights", "waits")).snapshot(False, at=1010)
    assert seen["at"]["exercise"] == "softmax" and seen["mistakes"][0]["still"] == 1


def test_who_is_stuck_is_a_count():
    wrong = [("a", "softmax", "wrong")] * STUCK
    assert room(*wrong[1:]).snapshot(False, at=1010)["stuck"]["students"] == 0
    one = room(*wrong, ("b", "softmax", "wrong"), ("a", "softmax", "not attempted")).snapshot(False, at=1010)["stuck"]
    assert one["students"] == 1 and one["exercises"][0]["exercise"] == "softmax"
    assert room(*wrong, ("a", "softmax", "right")).snapshot(False, at=1010)["stuck"]["students"] == 0
    gone_on = room(*wrong, ("a", "weighted_values", "wrong"), gap=RUN + 1)
    assert gone_on.snapshot(False, at=1060)["stuck"]["students"] == 0
    assert room(*wrong).snapshot(False, at=1010 + PRESENT)["stuck"]["students"] == 0


def test_names_come_only_if_asked_for():
    made = room(*[("Ada Lovelace", "softmax", "wrong", MAX)] * STUCK, ("Alan", "softmax", "right"))
    told = json.dumps(made.snapshot(False, at=1010))
    assert "Ada" not in told and "names" not in told and "softmax" in told
    named = made.snapshot(True, at=1010)
    assert named["exercises"][0]["names"] == ["Ada Lovelace", "Alan"]
    assert named["mistakes"][0]["names"] == ["Ada Lovelace"]
    assert named["stuck"]["exercises"][0]["names"] == ["Ada Lovelace"]


def test_it_forgets():
    made = room(("a", "softmax", "wrong", MAX))
    assert made.snapshot(False, at=1000 + PRESENT)["here"] == 1
    gone = made.snapshot(False, at=1001 + PRESENT)
    assert (gone["students"], gone["here"], gone["at"]) == (1, 0, None)
    assert made.snapshot(False, at=1001 + FORGOTTEN)["students"] == 0


def test_it_is_bounded():
    made = Room(since=1000)
    for number in range(MOST_STUDENTS + 50):
        made.note(f"student {number}", "softmax", "wrong", {"m" * 5000: "x" * 5000}, at=1000.0 + number / 1000)
    seen = made.snapshot(True, at=1010)
    assert seen["students"] == MOST_STUDENTS and len(seen["mistakes"][0]["sentence"]) == 600
    assert "student 49" not in seen["exercises"][0]["names"] and "student 50" in seen["exercises"][0]["names"]


def test_an_exercise_that_this_course_does_not_know():
    seen = room(("a", "new_exercise", "wrong", MAX)).snapshot(False, at=1010)
    assert seen["here"] == 1 and seen["at"] is None and seen["mistakes"][0]["exercise"] == "new_exercise"
