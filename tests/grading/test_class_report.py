"""`anatomy report`: what it counts, what it hides, and that nothing from a submission becomes more than text."""

from __future__ import annotations

import csv
import html
import json
import os
import re
import shutil
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from anatomy.classroom.grading.class_report import write_report
from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.exercises import FEWEST
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.pseudonyms import KEPT_IN
from anatomy.classroom.grading.class_report.questions import Question, questions
from anatomy.classroom.grading.class_report.results import EARLIER, NOT_YET, NothingGraded, Record, read_records
from anatomy.classroom.grading.class_report.stopped import broke_the_check, was_stopped
from anatomy.classroom.grading.gradebook import open_gradebook
from anatomy.classroom.grading.notes import CaseNumbers
from anatomy.classroom.grading.preprocessors.run_and_observe import BROKE_THE_CHECK
from anatomy.classroom.grading.report import GRADED, PARTLY, REPAIRED, UNGRADED, Mark, SubmissionResult
from anatomy.classroom.grading.verdicts import _ADVICE, _stopped
from anatomy.course import COURSE
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import as_text, source_file
from anatomy.engine.notebook_files.settings import settings

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's queries, harmless

SLUG, NEXT = "03-softmax", "05-encoder-layer"
HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)> & `</code>` \x1b[31m'


def handed_in(student, *marks, slug=SLUG, status=GRADED, reasons=(), answers=None, waits=""):
    return Record(SubmissionResult(student, slug, status, tuple(reasons), marks), answers or {}, waits)


def mark(points, exercise="softmax", worth=4.0, status="", **more):
    return Mark(exercise, points, worth, status or ("right" if points == worth else "wrong"), **more)


def mistaken(name, exercise="softmax"):
    return mark(1.0, exercise, mistakes={name: f"You {name}."})


# ---- what is counted ------------------------------------------------------------------------------------------------


def test_mistakes_are_ranked_and_say_who_holds_them():
    found = figures([
        handed_in("ada", mistaken("twice")), handed_in("bob", mistaken("overflows")),
        handed_in("cyd", mistaken("twice")), handed_in("dan", mark(None, status=UNGRADED), status=PARTLY),
    ])  # fmt: skip
    assert [(one.name, one.holders, one.of) for one in found.mistakes] == [
        ("twice", ("ada", "cyd"), 3), ("overflows", ("bob",), 3),
    ]  # fmt: skip
    assert [one.name for one in found.to_teach] == ["twice"] and [one.name for one in found.other] == ["overflows"]
    assert found.mistakes[0].sentence == "You twice." and found.mistakes[0].number == "3.1"


def test_what_costs_the_class_most_comes_first():
    """Three students who lose 1 point each cost less than two who lose 3; what is lost to two mistakes is shared."""
    small, both = mark(3.0, mistakes={"small": "You small."}), {"large": "You large.", "small": "You small."}
    records = [handed_in(f"s{n}", small) for n in range(3)]
    records += [handed_in(name, mark(0.0, mistakes={"large": "You large."})) for name in ("ada", "bob")]
    found = figures([*records, handed_in("cyd", mark(2.0, mistakes=both))])
    assert [(one.name, one.lost, len(one.holders)) for one in found.mistakes] == [("large", 9.0, 3), ("small", 4.0, 4)]


def test_ten_are_to_be_taught_and_the_others_are_in_the_order_of_the_course():
    records = [
        handed_in(student, *(mark(number / 4, f"exercise{number}", mistakes={f"m{number:02d}": "No."})
                             for number in range(12)))
        for student in ("ada", "bob")
    ]  # fmt: skip
    found = figures([*records, handed_in("ada", mark(0.0, "gelu", mistakes={"alone": "You alone."}), slug=NEXT)])
    assert [one.name for one in found.to_teach] == [f"m{number:02d}" for number in range(10)]
    assert [one.name for one in found.other] == ["m10", "m11", "alone"]


def test_a_total_says_whether_something_is_open():
    records = [
        handed_in("ada", mark(1.0)), handed_in("ada", mark(3.0, "gelu"), slug=NEXT),
        handed_in("bob", mark(4.0)), handed_in("bob", slug=NEXT, status=UNGRADED, waits="no JSON"),
        handed_in("cyd", slug=NEXT, status=UNGRADED, waits="no JSON"),
    ]  # fmt: skip
    ada, bob, cyd = (row.total for row in figures(records).students)
    assert (ada.known, ada.status) == (4.0, GRADED) and (bob.known, bob.status) == (4.0, PARTLY)
    assert cyd.status == UNGRADED and figures(records).worth == 8.0


def test_every_question_of_every_quiz_is_found_in_its_notebook(root):
    found = questions(root)
    quizzes = [quiz for book in COURSE.notebooks for quiz in COURSE.exercises(book).values() if quiz.kind == "quiz"]
    assert len(quizzes) > 10
    for quiz in quizzes:
        asked = found[quiz.notebook.slug, quiz.name]
        assert asked.keys() == quiz.properties.keys(), quiz.name
        for question in asked.values():
            assert len(question.words) > 10 or len(question.options) >= 3, quiz.name
            assert " · " not in question.words and not any(set("*`|") & {*option} for option in question.options)
    chosen = found["01-embedding-lookup", "quiz_embeddings"]["rows that learn"]
    assert chosen.options == ("row 5 only", "rows 5 and 9", "all rows") and chosen.words.endswith("the lookup?")


def test_a_mistake_in_a_quiz_stands_with_its_question_and_the_option_chosen():
    asked = {(SLUG, "quiz"): {"noun or verb": Question("Which *type* is it?")}}
    name, said = "quiz__noun_or_verb_encoder_decoder", "noun or verb: two halves are one too many."
    answer = {"quiz": 'quiz = {\n    "noun or verb": "Encoder-decoder",\n}'}
    record = handed_in("ada", mark(1.0, "quiz", mistakes={name: said}), answers=answer)
    (mistake,) = figures([record], asked).mistakes
    assert mistake.question == "**noun or verb**: Which *type* is it?"
    assert mistake.sentence == "“Encoder-decoder”: two halves are one too many."
    asked[SLUG, "quiz"]["noun or verb"] = Question("", ("encoder", "encoder-Decoder"))
    found = figures([record], asked)
    assert (found.mistakes[0].question, found.mistakes[0].chosen) == ("**noun or verb**", "encoder-Decoder")
    page = as_html(found, datetime(2026, 1, 1))
    assert 'encoder · <b class="chosen">encoder-Decoder</b></p>' in page
    (unasked,) = figures([record]).mistakes
    assert (unasked.question, unasked.sentence) == ("", said)


def test_other_mistakes_of_a_notebook_begin_with_those_of_most_students():
    dear, cheap = mistaken("dear"), mark(3.0, mistakes={"cheap": "You cheap."})
    first = [handed_in(f"s{n}", mark(4.0, mistakes={"free": "You free."})) for n in range(2)]
    found = figures([*first, handed_in("ada", dear), handed_in("bob", cheap), handed_in("cyd", dear, slug="01-x")])
    assert [(one.notebook, one.name) for one in found.other] == [
        ("01-x", "dear"), (SLUG, "free"), (SLUG, "dear"), (SLUG, "cheap"),
    ]  # fmt: skip


def test_the_exercises_that_cost_most_points_come_first():
    both = [(4, 4), (4, 3), (2, 0), (1, 1)]
    found = figures([handed_in(f"s{n}", mark(a), mark(b, "entropy")) for n, (a, b) in enumerate(both)])
    assert [(one.name, one.lost) for one in found.dearest] == [("entropy", 8.0), ("softmax", 5.0)]
    page = as_html(found, datetime(2026, 1, 1))
    assert page.index("cost the class most points") < page.index('id="marks"')
    assert "all points: 1, some points: 2, no points: 1" in page
    assert not figures([handed_in("ada", mark(4))]).dearest


def test_of_every_wrong_option_the_report_knows_which_it_is(root):
    asked = questions(root)
    quizzes = [quiz for book in COURSE.notebooks for quiz in COURSE.exercises(book).values() if quiz.kind == "quiz"]
    for quiz in quizzes:
        slug, made = quiz.notebook.slug, {name: one.sentence for name, one in quiz.mistakes.items()}
        said = {name: f"{title}: {text}" for name, text in made.items() for title in quiz.properties
                if name.startswith(f"{quiz.name}__{re.sub('[ -]', '_', title)}_")}  # fmt: skip
        found = figures([handed_in("ada", mark(0.0, quiz.name, mistakes=said), slug=slug)], asked).mistakes
        assert len(found) == len(made)
        unknown = [one.chosen for one in found if one.options and one.chosen not in one.options]
        assert not unknown, quiz.name


def test_difficulty_and_discrimination():
    both = [(4, 4), (4, 3), (2, 2), (1, 1), (0, 0)]
    found = figures([handed_in(f"s{n}", mark(a), mark(b, "entropy")) for n, (a, b) in enumerate(both)])
    (book,) = found.notebooks
    softmax, entropy = book.exercises
    assert softmax.difficulty == pytest.approx(11 / 20) and entropy.difficulty == pytest.approx(0.5)
    assert softmax.discrimination == pytest.approx(entropy.discrimination) and softmax.discrimination > 0.9
    assert softmax.counts == {"full": 2, "partial": 2, "none": 1, "not attempted": 0, "ungraded": 0}
    few = figures([handed_in(f"s{n}", mark(n), mark(n, "entropy")) for n in range(FEWEST - 1)])
    same = figures([handed_in(f"s{n}", mark(4.0), mark(n % 4, "entropy")) for n in range(FEWEST)])
    assert few.notebooks[0].exercises[0].discrimination is None
    assert same.notebooks[0].exercises[0].discrimination is None


def test_a_mark_given_to_an_earlier_answer_says_nothing_of_the_exercise():
    waiting = replace(mark(1), is_older=True, checked=4.0)
    (softmax,) = figures([handed_in("ada", mark(4)), handed_in("bo", waiting)]).notebooks[0].exercises
    assert (softmax.difficulty, softmax.lost, softmax.counts["ungraded"]) == (1.0, 0.0, 1) and waiting.lost == 0


def test_an_optional_exercise_is_counted_by_its_verdict_and_costs_nothing():
    def optional(status):
        return mark(0.0, "cache", worth=0.0, status=status)

    found = figures([handed_in("a", mark(4.0), optional("right")), handed_in("b", mark(4.0), optional("wrong")),
                     handed_in("c", mark(4.0), optional("not attempted"))])  # fmt: skip
    _, cache = found.notebooks[0].exercises
    assert cache.counts == {"full": 1, "partial": 0, "none": 1, "not attempted": 1, "ungraded": 0}
    assert cache.difficulty is None and [row.share for row in found.students] == [1.0, 1.0, 1.0]


def test_change_since_the_notebook_before_and_what_is_ungraded_is_not_zero():
    records = [
        handed_in("ada", mark(1.0)), handed_in("ada", mark(3.0, "gelu"), slug=NEXT),
        handed_in("bob", mark(4.0)), handed_in("bob", slug=NEXT, status=UNGRADED, waits="no JSON"),
        handed_in("cyd", mark(2.0), mark(None, "entropy", status=UNGRADED), status=PARTLY, waits="entropy"),
    ]  # fmt: skip
    found = figures(records)
    ada, bob, cyd = found.students
    assert (ada.share, ada.change) == (0.5, 0.5)
    assert (bob.share, bob.change) == (1.0, None) and (cyd.share, cyd.change) == (None, None)
    last = found.notebooks[-1]
    assert (last.before, last.change, last.both, last.graded) == (SLUG, 0.5, 1, 1)
    assert [(one.student, one.text) for one in found.open] == [("bob", "no JSON"), ("cyd", "entropy")]
    assert found.graded == 4


def test_a_folder_of_no_notebook_is_no_notebook():
    records = [handed_in("ada", mark(1.0)), handed_in("ada", slug="99-other", status=UNGRADED, waits="No notebook.")]
    found = figures(records)
    assert [book.slug for book in found.notebooks] == [SLUG] and found.graded == 1
    assert [one.notebook for one in found.open] == ["99-other"]


def test_wrong_answers_without_a_name_stand_together():
    wrong = mark(1.0, said="Not right yet.", broken=("values",))
    long, short = "def softmax(x):  # mine\n    return x", "def softmax(x):\n    return x"
    found = figures([
        handed_in("ada", wrong, answers={"softmax": long}), handed_in("bob", wrong, answers={"softmax": short}),
        handed_in("cyd", wrong, answers={"softmax": "softmax = 3"}), handed_in("dan", mistaken("twice")),
        handed_in("eve", mark(1.0, said="Not right yet.", broken=("shape",))),
        handed_in("fay", mark(0.0, said="Your `softmax` did not finish in time.")),
    ])  # fmt: skip
    first, second = found.unnamed
    assert first.students == ("ada", "bob", "cyd") and second.students == ("eve",) and second.examples == ()
    assert [(one.program, one.students) for one in first.examples] == [
        (short, ("ada", "bob")),
        ("softmax = 3", ("cyd",)),
    ]
    assert [(one.student, one.exercise) for one in found.stopped] == [("fay", "softmax")]


def gave(student, program, *mixtures, seeds=(1, 2), broken=("values",), words="returned float32[3, 4]"):
    """A wrong answer without a name that gave this in its cases."""
    wrong = SubmissionResult(student, SLUG, GRADED, (), (mark(1.0, said=f"Not {student}'s.", broken=broken),))
    numbers = [CaseNumbers(words, 2.0, mixture) for mixture in mixtures]
    return Record(wrong, {"softmax": program}, numbers={"softmax": numbers} if mixtures else {}, seeds=seeds)


def test_equal_numbers_stand_together_with_one_example():
    found = figures([
        gave("ada", "def softmax(x, dim):\n    e = x.exp()\n    return e", 0.5, 1.0),
        gave("bob", "def softmax(x, dim):\n    return x.exp()", 0.5005, 0.9995),
        gave("cyd", "def softmax(x, dim):\n    return x.exp2()", 0.51, 1.0),
        gave("dan", "def softmax(x, dim):\n    return x.exp()  # mine", 0.5, 1.0, broken=("values", "shape")),
        gave("eve", "def softmax(x, dim):\n    return 2 * x", 0.5, 1.0, words="returned float64[3, 4]"),
    ])  # fmt: skip
    first, *others = found.unnamed
    assert first.students == ("ada", "bob", "dan") and first.equal, "dan's program is bob's"
    assert [(one.program, one.students) for one in first.examples] == [
        ("def softmax(x, dim):\n    return x.exp()", ("bob", "dan"))
    ] and first.others == ("ada",)  # fmt: skip
    assert sorted(one.students for one in others) == [("cyd",), ("eve",)]


def test_programs_that_differ_in_names_of_variables_join_two_runs():
    one, two = "def softmax(x, dim):\n    {0} = x.exp()\n    return {0}", "def softmax(x, dim):\n    return x.exp()"
    found = figures([
        gave("ada", one.format("e"), 0.5), gave("bob", one.format("powers"), 0.7, seeds=(3, 4)),
        gave("cyd", two, 0.7, seeds=(3, 4)), gave("dan", two.replace("exp", "log"), 0.5, seeds=(5, 6)),
    ])  # fmt: skip
    assert [group.students for group in found.unnamed] == [("ada", "bob", "cyd"), ("dan",)]


def test_equal_sentences_are_counted_over_groups():
    said = "Your weights sum to one along axis 1."
    programs = ("return 1 * x", "return 2 * x")
    records = [
        Record(SubmissionResult(f"s{n}", SLUG, GRADED, (), (mark(0.0, said=said),)), {"softmax": programs[n]},
               numbers={"softmax": (CaseNumbers("returned a number", float(n + 1), 1.0),)}, seeds=(1,))
        for n in range(2)
    ]  # fmt: skip
    groups = figures(records).unnamed
    assert [(one.students, one.told) for one in groups] == [(("s0",), 2), (("s1",), 2)]
    page = as_html(figures(records), datetime(2026, 1, 1))
    assert (
        page.count("The card says this to 2 students in all.") == 2 and "no mistake that the course knows" not in page
    )


def test_answers_that_only_stop_stand_together_by_what_was_said():
    stops = {"words": "raised TypeError"}
    found = figures([gave("ada", "a = 1", 0.0, **stops), gave("bob", "a = 1", 0.0, **stops), gave("cyd", "a = 1")])
    assert [group.students for group in found.unnamed] == [("ada",), ("bob",), ("cyd",)], "each says something else"


@pytest.mark.parametrize("reason", _ADVICE)
def test_what_a_verdict_says_of_a_stopped_answer_is_understood(reason):
    said = "did not finish in time" if reason == "interrupted" else _stopped(reason)
    understood = broke_the_check if reason == BROKE_THE_CHECK else was_stopped
    assert understood("wrong", f"Your `softmax` {said}.") and understood("wrong", f"The cell of `softmax` {said}.")
    assert not understood("right", f"Your `softmax` {said}.")
    assert not understood("wrong", f"It stops with `ValueError`: it {said}.")


def test_a_check_that_was_replaced_is_told_of_and_is_no_mistake_without_a_name():
    said = "The cell of `softmax` kept the check from working.", "The check could not look at your answer."
    found = figures([handed_in(f"s{number}", mark(0.0, said=words)) for number, words in enumerate(said)])
    assert [one.student for one in found.broken_checks] == ["s0", "s1"] and not found.unnamed and not found.stopped
    page = as_html(found, datetime(2026, 1, 1))
    assert "kept the check from working" in page and "to hand in again" in page


# ---- the page -------------------------------------------------------------------------------------------------------


class Structure(HTMLParser):
    """Elements, attributes, and whether each table has a caption and each of its heads a scope."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.heads, self.ids, self.links = [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name == "href"]
        if tag == "th":
            self.heads.append(dict(attrs).get("scope"))


def test_what_is_from_a_submission_is_text_in_the_page():
    wrong = mark(1.0, HOSTILE, said=HOSTILE, broken=(HOSTILE,))
    named = mark(1.0, "b" + HOSTILE, mistakes={HOSTILE: HOSTILE})
    about = {"slug": HOSTILE, "status": REPAIRED, "reasons": [HOSTILE], "waits": HOSTILE}
    records = [handed_in(f"{HOSTILE}{n}", wrong, named, answers={HOSTILE: HOSTILE}, **about) for n in range(2)]
    page = as_html(figures(records), datetime(2026, 1, 1))
    seen = Structure(page)
    assert not {"script", "img", "iframe", "object", "form", "link"} & set(seen.tags)
    assert not [name for name in seen.attributes if name.startswith("on") or name == "src"]
    assert "\x1b" not in page and html.escape("<script>") in page
    assert "default-src 'none'" in page and not re.search(r"https?://", page)


def test_tables_have_captions_and_scopes():
    records = [handed_in(name, mistaken("twice"), mark(0.0, "entropy", said="No.")) for name in ("ada", "bob")]
    records += [handed_in("ada", mistaken("relu", "gelu"), slug=NEXT, waits="why")]
    seen = Structure(as_html(figures(records), datetime(2026, 1, 1)))
    assert seen.tags.count("table") == seen.tags.count("caption") >= 6
    assert set(seen.heads) == {"row", "col"} and len(seen.ids) == len(set(seen.ids))


def test_the_contents_list_leads_to_every_part():
    for waits in ("", "why"):
        records = [handed_in(name, mistaken("twice"), mark(0.0, "entropy", said="No.")) for name in ("ada", "bob")]
        records += [
            handed_in("ada", mistaken("relu", "gelu"), slug=NEXT, waits=waits, status=REPAIRED, reasons=["ids"])
        ]
        page = as_html(figures(records), datetime(2026, 1, 1))
        seen = Structure(page)
        assert ('<a href="#open">What waits for you</a>' in page) == bool(waits), "no part that is empty"
        assert {link.removeprefix("#") for link in seen.links} == set(seen.ids) - {"contents"}


def test_the_page_says_in_words_what_was_recognized():
    records = [handed_in(name, mistaken("twice"), mark(4.0, "entropy")) for name in ("ada", "bob")]
    records += [handed_in("cyd", mark(0.0, said="No."), mark(0.0, "entropy", status="not attempted"))]
    page = as_html(figures(records), datetime(2026, 1, 1))
    assert "Of 3 wrong answers, 2 were recognized: the report knows which mistake was made." in page


@pytest.mark.parametrize("names", [("ada", "bob"), ("ada",)])
def test_bars_of_students_and_of_points_have_colors_of_their_own_and_a_legend(names):
    page = as_html(figures([handed_in(name, mistaken("twice")) for name in names]), datetime(2026, 1, 1))
    legend, bar = page.index("students who make the mistake"), page.index('<rect class="track"')
    assert legend < bar and page.count("students who make the mistake") == 1
    assert '<rect class="makers" width="100.0"' in page and not re.search(r'class="full" width="\d+\.', page)
    assert page.index("some points</span>") < page.index("Exercises that cost the class most points")
    assert ("submission with marks" in page.replace("<dt>", "")) == (len(names) == 1)


def test_the_marks_have_the_columns_of_the_terminal():
    records = [handed_in("ada", mark(2.0)), handed_in("ada", mark(2.5, "gelu"), slug=NEXT)]
    page = as_html(figures(records), datetime(2026, 1, 1))
    head, row = re.findall(r"<tr>.*?</tr>", page.partition('id="marks"')[2], re.DOTALL)[:2]
    words = [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.split(r"</t[hd]>", head)[:-1]]
    assert words == ["Student", "03/4", "05/4", "total/8", "share", "change"]
    words = [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.split(r"</t[hd]>", row)[:-1]]
    assert words == ["ada", "2", "2.5", "4.5", "56%", "▲ +12"]


# ---- from a gradebook -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded_course(tmp_path_factory, root):
    """Two students in a gradebook, and two whose files were not graded."""
    course = tmp_path_factory.mktemp("class")
    shutil.copyfile(root / "nbgrader_config.py", course / "nbgrader_config.py")
    config = settings(course)
    config.CourseDirectory.root = str(course)
    program = '# by Ada Lovelace\ndef softmax(x, dim):\n    """ada"""\n    return x'
    with open_gradebook(course, config) as writer:
        book = writer.gradebook
        book.add_assignment(SLUG)
        book.add_notebook(SLUG, SLUG)
        book.add_grade_cell("check-softmax", SLUG, SLUG, max_score=4, cell_type="code")
        book.add_solution_cell("softmax", SLUG, SLUG)
        book.add_student("ada01", first_name="Ada", last_name="Lovelace")
        for student, points in (("ada01", 1.0), ("bob02", 4.0)):
            broken = ["values", "a long row"]
            note = {"status": "wrong", "said": "Not right yet, ada01.", "broken": broken, "mistakes": {}}
            answer = {"nbgrader": {"grade_id": "softmax", "solution": True}}
            check = {"nbgrader": {"grade_id": "check-softmax", "grade": True},
                     "anatomy": note if points < 4 else {"status": "right"}}  # fmt: skip
            cells = [{"cell_type": "code", "source": program, "metadata": answer},
                     {"cell_type": "code", "source": "", "metadata": check}]  # fmt: skip
            whole = {"cells": cells, "metadata": {"anatomy": {"from": "x", "notes": []}}}
            writer.record(student, SLUG, json.dumps(whole).encode(), {"check-softmax": points}, {}, {}, None)
    for student, text in (
        ("bob02", "{"),
        ("cyd03", as_text(new_notebook(cells=[new_markdown_cell("Hello")]))),
    ):
        place = course / "submitted" / student / SLUG
        place.mkdir(parents=True)
        (place / f"{SLUG}.ipynb").write_text(text, "utf-8")
    return course


def test_the_gradebook_is_read_and_what_it_lacks_is_said(graded_course):
    before = (graded_course / "gradebook.db").read_bytes()
    ada, bob, cyd = read_records(graded_course)
    assert [one.result.points for one in (ada, bob, cyd)] == [1.0, 4.0, None]
    assert ada.result.marks[0].broken == ("values", "a long row") and "def softmax" in ada.answers["softmax"]
    assert ada.open == "" and "not JSON" in bob.open and bob.open.endswith(EARLIER) and cyd.open == NOT_YET
    assert (graded_course / "gradebook.db").read_bytes() == before


def test_the_last_run_says_why_until_something_new_is_handed_in(graded_course, tmp_path):
    copy = shutil.copytree(graded_course, tmp_path / "copy")
    (copy / "grades.csv").write_text(f"student,assignment,status,reason\ncyd03,{SLUG},ungraded,Its worker was lost.\n")
    assert read_records(copy)[2].open == "Its worker was lost."
    file = copy / "submitted" / "cyd03" / SLUG / f"{SLUG}.ipynb"
    later = (copy / "grades.csv").stat().st_mtime + 10
    os.utime(file, (later, later))
    assert read_records(copy)[2].open == NOT_YET


def test_a_mark_by_hand_counts_and_a_missing_mark_is_none(graded_course, tmp_path):
    copy = shutil.copytree(graded_course, tmp_path / "copy")
    with Gradebook(f"sqlite:///{copy}/gradebook.db") as book:
        book.find_grade("check-softmax", SLUG, SLUG, "ada01").manual_score = 3.0
        book.find_grade("check-softmax", SLUG, SLUG, "bob02").auto_score = None
        book.db.commit()
    ada, bob, _ = read_records(copy)
    assert ada.result.points == 3.0 and bob.result.points is None


def test_page_and_table_are_written_with_names_and_without(graded_course, tmp_path, root):
    made = write_report(graded_course, tmp_path / "named.html")
    assert (made.students, made.graded, made.open) == (3, 2, 2) and "ada01" in made.page.read_text("utf-8")
    with made.table.open(encoding="utf-8", newline="") as file:
        lines = {line["student"]: line for line in csv.DictReader(file)}
    assert (lines["ada01"]["points"], lines["cyd03"]["points"], lines["cyd03"]["status"]) == ("1", "", UNGRADED)

    assert lines["ada01"]["broken"] == "values; a long row" and made.only == ()

    copy = shutil.copytree(graded_course, tmp_path / "copy")
    (copy / "marks.csv").touch()
    assert not write_report(copy, tmp_path / "now.html").is_ahead
    os.utime(copy / "marks.csv", (0, 0))
    assert write_report(copy, tmp_path / "later.html").is_ahead, "as after a mark that was given in Formgrader"
    source_file(copy, SLUG).parent.mkdir(parents=True)
    shutil.copyfile(source_file(root, SLUG), source_file(copy, SLUG))
    assert write_report(copy, tmp_path / "one.html", notebooks=["03"]).only == (SLUG,)

    made = write_report(graded_course, tmp_path / "hidden.html", anonymous=True)
    numbers = json.loads((graded_course / KEPT_IN).read_text("utf-8"))
    for text in (made.page.read_text("utf-8"), made.table.read_text("utf-8")):
        assert not re.search(r"\bada|lovelace|bob02|cyd03", text, re.IGNORECASE)
        assert all(f"student {number:02d}" in text for number in numbers.values())
    assert "return x" in made.page.read_text("utf-8")
    again = write_report(graded_course, tmp_path / "again.html", anonymous=True)
    assert again.table.read_text("utf-8") == made.table.read_text("utf-8"), "the same numbers in every report"


def test_errors_say_what_to_do(graded_course, tmp_path, root):
    with pytest.raises(UserError, match="--csv"):
        write_report(graded_course, tmp_path / "one.csv")
    with pytest.raises(UserError, match="--output"):
        write_report(graded_course, tmp_path / "nowhere" / "report.html")
    shutil.copyfile(root / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    with pytest.raises(NothingGraded, match=r"no gradebook.*anatomy grade"):
        read_records(tmp_path)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db"):
        pass
    with pytest.raises(NothingGraded, match="no marks yet"):
        read_records(tmp_path)
