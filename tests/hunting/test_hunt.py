"""The bug hunt: its puzzles are true, the same for everybody, and never give an answer away."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from IPython.utils.capture import capture_output

from anatomy import hunt
from anatomy.course import COURSE
from anatomy.engine.checking import HAND_OVER
from anatomy.engine.checking.progress_file import note_hunt, read_progress
from anatomy.engine.hunting import asking
from anatomy.engine.hunting.bugs import CONSONANTS, VOWELS, Bug, bugs_of, ids_of, listing
from anatomy.engine.hunting.puzzle import _too_alike, puzzle_of
from anatomy.engine.hunting.queue import queue_of
from anatomy.engine.observing import GRADING_SEED
from tests.plenty import one_in

SLUG = "03-softmax"
BOOK = COURSE.notebook(SLUG)
FIRST = bugs_of(COURSE, BOOK)[0].id
RIGHT = {"status": "right", "points": 7, "max_points": 7}


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.delenv(GRADING_SEED, raising=False)
    monkeypatch.setattr(asking, "_first_tries", {})
    return tmp_path


def solved(home: Path, **entries: dict) -> None:
    (home / "progress.json").write_text(json.dumps(entries), encoding="utf-8")


def bug(name: str) -> Bug:
    """The bug that this mistake is."""
    return next(
        bug for bug in bugs_of(COURSE, COURSE.exercise(name.split("__")[0]).notebook) if bug.mistake.name == name
    )


# ---- bugs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("book", one_in(7, COURSE.notebooks), ids=lambda book: book.slug)
@pytest.mark.slow
def test_every_bug_is_a_program_whose_wrong_lines_can_be_pointed_at(book):
    bugs = bugs_of(COURSE, book)
    for one in bugs:
        mended = list(one.lines)
        for here, there in reversed(one.changes):
            mended[there.start : there.stop] = one.right[here.start : here.stop]
        assert tuple(mended) == one.right and 0 < len(one.faulty) < len(one.lines) - 1
        compile("\n".join(one.lines), one.mistake.name, "exec")
        assert not any("#" in line and "'" not in line and '"' not in line for line in one.lines), one.lines


@pytest.mark.slow
def test_every_bug_of_a_notebook_has_an_id_of_its_own():
    for book in COURSE.notebooks:
        ids = [one.id for one in bugs_of(COURSE, book)]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(f"([{CONSONANTS}][{VOWELS}]){{2,}}", one) for one in ids), ids
        assert not any(one != other and other.startswith(one) for one in ids for other in ids), "a longer one is not it"


def test_an_id_stays_when_mistakes_are_added_before_it():
    """Other people's cells hold it."""
    assert bug("softmax__global_max").id == ids_of(["softmax__global_max"])["softmax__global_max"] == "daruwi"
    names = [f"softmax__{number}" for number in range(2000)]
    ids = ids_of(names)
    assert ids == ids_of(names[::-1])
    longer = [name for name in names if len(ids[name]) > 6]
    assert longer and all(ids[name].startswith(ids_of([name])[name]) for name in names)
    assert all(any(ids[one][:6] == ids[name][:6] for one in longer if one != name) for name in longer)


def test_a_listing_has_no_comments_docstrings_or_empty_lines():
    source = '''import math


@property
def f(x):
    """What it does.

    More.
    """
    # why
    y = "# no comment"  # but this

    return y
'''
    assert listing(source) == ("@property", "def f(x):", '    y = "# no comment"', "    return y")


def test_what_hides_nothing_is_left_out():
    numbers = {one.mistake.exercise for one in bugs_of(COURSE, BOOK)}
    assert "softmax" in numbers and "weighted_values" not in numbers, "an answer of one line"


# ---- puzzles ---------------------------------------------------------------------------------------------------------


def test_the_line_the_example_and_the_sentence_are_those_of_the_mistake():
    one = bug("softmax__global_max")
    puzzle = puzzle_of(one)
    assert one.lines[1] == "    shifted = x - x.max()" and one.faulty == {2}
    assert puzzle.sentences[puzzle.letter].startswith("You subtract one number from several slices, such as the")
    assert puzzle.example and "nan" in puzzle.example.found and "nan" not in puzzle.example.expected
    assert puzzle.example.call == "softmax(torch.tensor([[[10000., -8000.], [12000., -9000.]]]), 1)", "no NaN in it"
    assert list(one.diff) == [("-", 2, one.lines[1]), ("+", 2, one.right[1])]


def test_no_other_sentence_is_true_of_it():
    """Both sums lose their axis here, so neither of the sentences that speak of one is offered."""
    one = bug("softmax__without_keepdim")
    assert puzzle_of(one).sentences[puzzle_of(one).letter].startswith("Your maximum and your sum lose the axis")
    for letter, text in puzzle_of(one).sentences.items():
        assert letter == puzzle_of(one).letter or not text.startswith(("Your maximum loses", "Your sum loses"))


def test_sentences_speak_of_what_is_in_the_program():
    """Nothing runs along the scores in a program that subtracts the smallest; one with the mean overflows, too."""
    for name, elsewhere in (("subtracts_min", "so far"), ("subtracts_mean", "exponentials of large scores overflow")):
        said = puzzle_of(bug(f"softmax__{name}")).sentences.values()
        assert len(said) == 4 and not any(elsewhere in text for text in said), said


def test_no_two_sentences_say_the_same():
    """A detached sum, and a detached sum and maximum, share their wrong line; their words stood in another order."""
    apart = puzzle_of(bug("softmax__divides_in_place")).sentences.values()
    assert sum(text.startswith("Your sum is a constant to the gradient") for text in apart) < 2
    assert _too_alike(
        "You add it (detached, or made under no_grad).", "You add it (made under no_grad, or detached). No."
    )
    assert not _too_alike("You scale by rank / alpha. It is alpha · 2.", "You scale by the square root. It is alpha.")


@pytest.mark.slow
@pytest.mark.parametrize("book", one_in(7, COURSE.notebooks), ids=lambda book: book.slug)
def test_a_puzzle_has_four_sentences_and_the_mistakes_own_among_them(book):
    for one in bugs_of(COURSE, book)[::40]:
        puzzle = puzzle_of(one)
        own = one.asked.mistakes[one.mistake.name].sentence
        assert list(puzzle.sentences) == ["a", "b", "c", "d"], one.mistake.name
        assert puzzle.sentences[puzzle.letter][:12] == own[:12]
        assert not any("{" in text and "{" not in own for text in puzzle.sentences.values())


@pytest.mark.slow
def test_a_puzzle_is_the_same_in_every_process():
    program = (
        "from anatomy.course import COURSE; from anatomy.engine.hunting.bugs import bugs_of\n"
        "from anatomy.engine.hunting.puzzle import puzzle_of\n"
        f"bugs = bugs_of(COURSE, COURSE.notebook('{SLUG}'))[:3]\n"
        "print([(p.sentences, p.letter, p.example) for p in map(puzzle_of, bugs)])"
    )
    one, other = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert one == other


def test_a_mistake_that_ends_its_process_ends_no_hunt(monkeypatch):
    """It runs on inputs that nobody has tried before."""
    monkeypatch.setattr("anatomy.engine.hunting.puzzle.smallest_example", lambda *_: os.abort())
    puzzle = puzzle_of.__wrapped__(bug("softmax__global_max"))
    assert puzzle.example is None and list(puzzle.sentences) == ["a", "b", "c", "d"]


# ---- which comes next ------------------------------------------------------------------------------------------------


def test_no_answer_is_given_away(home):
    first = hunt(SLUG)
    assert first.puzzle is None and re.match(r"\d+ bugs wait in answers to 3.1, 3.4 and 3.5: solve one of", first.note)
    solved(home, attention_weights=RIGHT)
    assert hunt(SLUG).note.startswith("What you have solved here is too short for a bug to hide in. ")
    solved(home, attention_entropy=RIGHT)
    assert {one.exercise for one in queue_of(COURSE, BOOK).waiting} == {"attention_entropy"}
    shown = hunt(SLUG, bug=bug("softmax__global_max").id, line=2, says="a")
    assert shown.puzzle is None and shown.answered is None and "solve 3.1 `softmax` first" in shown.note


def test_a_single_bug_waits(home):
    alone = COURSE.notebook("07-encoder")
    others = {name: RIGHT for name in COURSE.exercises(alone) if name != "padding_mask"}
    solved(home, **others)
    for one in queue_of(COURSE, alone).waiting:
        note_hunt(one.exercise, one.mistake.name, True)
    note = hunt(alone.slug).note
    assert "1 bug waits in answers to 7.1 `padding_mask`: solve it first, it would give it away." in note


def test_own_mistakes_come_first_then_their_neighbors_then_the_rest_in_turn(home):
    mistakes = ["softmax__twice", "softmax__base_two"]
    solved(home, softmax={**RIGHT, "mistakes": mistakes}, attention_entropy=RIGHT)
    names = [one.mistake.name for one in queue_of(COURSE, BOOK).waiting]
    assert names[:2] == ["softmax__base_two", "softmax__twice"]
    own = [name for name in names if name.startswith("softmax__")]
    assert names[: len(own)] == own, "its neighbors, before those of an exercise that was right at once"
    solved(home, softmax=RIGHT, attention_entropy=RIGHT)
    turns = [one.exercise for one in queue_of(COURSE, BOOK).waiting[:4]]
    assert turns == ["softmax", "attention_entropy"] * 2


def test_a_mistake_in_a_part_is_the_parts(home):
    mistakes = ["attention_weights__softmax__twice"]
    solved(home, softmax=RIGHT, attention_weights={**RIGHT, "mistakes": mistakes}, attention_entropy=RIGHT)
    assert queue_of(COURSE, BOOK).waiting[0].mistake.name == "softmax__twice"


def test_what_was_found_does_not_come_again_and_what_was_missed_comes_last(home):
    solved(home, softmax=RIGHT)
    first, second = queue_of(COURSE, BOOK).waiting[:2]
    puzzle = puzzle_of(first)
    after = hunt(SLUG, bug=first.id, line=min(first.faulty), says=puzzle.letter.upper())
    assert after.answered.found and after.puzzle.bug == second
    wrong, also_wrong, *_ = (letter for letter in "abcd" if letter != puzzle_of(second).letter)
    hunt(SLUG, bug=second.id, line=min(second.faulty), says=wrong)
    after = hunt(SLUG, bug=second.id, line=min(second.faulty), says=also_wrong)
    assert after.answered.line_is_right and not after.answered.sentence_is_right
    assert f"Bug `{second.id}`: half of it found." in after._repr_html_().replace("<code>", "`").replace("</code>", "`")
    queue = queue_of(COURSE, BOOK)
    assert first not in queue.waiting and queue.waiting[-1] == second and queue.found == 1
    after = hunt(SLUG, bug=second.id, line=min(second.faulty), says=puzzle_of(second).letter)
    assert f"Bug {second.id}: found, with its correction seen before." in repr(after)
    again = hunt(SLUG, bug=first.id, line=1, says="a")
    assert not again.answered.found and first not in queue_of(COURSE, BOOK).waiting, "once found, found"


def test_a_first_wrong_answer_gives_nothing_away(home):
    solved(home, softmax=RIGHT)
    puzzle = hunt(SLUG).puzzle
    line, wrong = min(puzzle.bug.faulty), next(letter for letter in "abcd" if letter != puzzle.letter)
    for _ in range(2):  # the same cell, run again
        after = hunt(SLUG, bug=puzzle.bug.id, line=line, says=wrong)
        page, text = after._repr_html_(), repr(after)
        assert "half of it found. Try once more" in text and f"✓  Line {line}, yes." in text
        assert f"✗  Not {wrong}: another sentence is true of it." in text
        assert after.puzzle == puzzle and "The correction" not in page and page.count(f"Bug <code>{puzzle.bug.id}") == 2
    assert not read_progress()["softmax"].hunted
    second = hunt(SLUG, bug=puzzle.bug.id, line=line, says=puzzle.letter)
    assert second.answered.found and f"Bug {puzzle.bug.id}: found!" in repr(second)
    assert read_progress()["softmax"].hunted == {puzzle.bug.mistake.name: True}


def test_a_second_wrong_answer_shows_the_correction(home):
    solved(home, softmax=RIGHT)
    puzzle = hunt(SLUG).puzzle
    right = next(line for line in range(1, len(puzzle.bug.lines) + 1) if line not in puzzle.bug.faulty)
    first = hunt(SLUG, bug=puzzle.bug.id, line=right, says=puzzle.letter)
    assert f"Line {right} is as it should be: another one is not." in repr(first)
    wrong = next(letter for letter in "abcd" if letter != puzzle.letter)
    second = hunt(SLUG, bug=puzzle.bug.id, line=right, says=wrong)
    assert "The correction" in second._repr_html_() and f"True of it is {puzzle.letter}:" in repr(second)
    assert read_progress()["softmax"].hunted == {puzzle.bug.mistake.name: False}


def test_the_end_is_said(home):
    hunted = {one.mistake.name: True for one in bugs_of(COURSE, BOOK)}
    solved(home, softmax={**RIGHT, "hunted": hunted})
    assert "all 66 bugs" in hunt(SLUG).note.replace(str(len(hunted)), "66") and "3.4" in hunt(SLUG).note
    everything = dict.fromkeys(COURSE.exercises(BOOK), RIGHT)
    solved(home, **{**everything, "softmax": {**RIGHT, "hunted": hunted}})
    assert hunt(SLUG).note == f"You have found all {len(hunted)} bugs of this notebook."


# ---- how it looks, and where -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ({"line": 2, "says": "a"}, "Say which bug you mean"),
        ({"bug": FIRST, "line": 0, "says": "?"}, "`line` is a number from 1 to"),
        ({"bug": FIRST, "line": "?", "says": "a"}, "`line` is a number from 1 to"),
        ({"bug": FIRST, "line": [2], "says": "a"}, "`line` is a number from 1 to"),
        ({"bug": FIRST, "line": 2}, '`says` one of "a" to "d"'),
        ({"bug": FIRST, "says": "a"}, "`line` is a number"),
        ({"bug": "xyzz"}, f"{SLUG} has no bug `xyzz`"),
        ({"bug": 7}, f"{SLUG} has no bug `7`"),
    ],
)
def test_what_is_no_answer_is_said_and_not_counted(home, words, note):
    solved(home, softmax=RIGHT)
    shown = hunt(SLUG, **words)
    assert note in shown.note and shown.answered is None and not read_progress()["softmax"].hunted
    assert note.replace("`", "") in repr(shown)


def test_a_line_in_quotes_is_its_number(home):
    solved(home, softmax=RIGHT)
    answered = hunt(SLUG, bug=FIRST, line=" 2 ", says="B").answered
    assert (answered.line, answered.says) == (2, "b")


def test_an_id_may_have_capitals_and_spaces_around_it(home):
    solved(home, softmax=RIGHT)
    assert hunt(SLUG, bug=f" {FIRST.capitalize()} ").puzzle.bug.id == FIRST


def test_the_card_says_the_same_in_html_and_text(home):
    solved(home, softmax=RIGHT)
    asked = hunt(SLUG).puzzle
    hunt(SLUG, bug=asked.bug.id, line=1, says=asked.letter)
    shown = hunt(SLUG, bug=asked.bug.id, line=1, says=next(letter for letter in "abcd" if letter != asked.letter))
    page, text = shown._repr_html_(), " ".join(repr(shown).split())
    assert (
        "<script" not in page
        and page.count("<ol") == 2
        and "How far you are" in page
        and 'aria-label="The correction"' in page
    )
    for words in (
        "Line 1 is as it should be",
        "Its check fails in",
        "One of these sentences is true",
        "A small example",
    ):
        assert words in page and words in text
    assert 'hunt("03-softmax", bug=' in text and "hunt(&quot;03-softmax&quot;, bug=" in page


@pytest.mark.parametrize("variable", [GRADING_SEED, HAND_OVER])
def test_where_marks_are_given_it_does_nothing(home, monkeypatch, variable):
    solved(home, softmax=RIGHT)
    monkeypatch.setenv(variable, "1,2")
    assert hunt(SLUG) is None
    assert hunt(SLUG, bug=FIRST, line=1, says="a") is None and not read_progress()["softmax"].hunted


@pytest.mark.slow
def test_a_kernel_that_grades_can_run_its_cell(tmp_path):
    """Without answers, in a copy of the package as such a kernel has it."""
    from anatomy.classroom.grading.package_copies import copy_package

    folder = copy_package(BOOK, tmp_path)
    program = (
        f"import sys; from anatomy import hunt; hunt('03-softmax', bug='{FIRST}', line=1, says='a')\n"
        "from anatomy import progress; progress('03-softmax')._repr_html_()\n"
        "import anatomy; print(anatomy.__file__)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(folder), "PATH": "", GRADING_SEED: "1,2", "ANATOMY_HOME": str(tmp_path)},
    )
    assert run.stdout.strip().startswith(str(folder)), run.stderr


def test_an_unknown_notebook_is_named():
    with pytest.raises(KeyError, match="No notebook is called 'softmax'"):
        hunt("softmax")


def test_its_text_shows_nothing_by_itself_in_a_notebook(home, monkeypatch):
    """Rich would put an empty block above the card."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with capture_output() as captured:
        assert "solve one of these first" in repr(hunt(SLUG))
    assert captured.outputs == [] and captured.stdout == ""
