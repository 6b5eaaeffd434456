"""The skeleton that the class report gives an author: what it says is an edit or a definition that really works."""

from __future__ import annotations

import pytest

from anatomy.classroom.grading.class_report.edit_stub import SENTENCE, edit_stub
from anatomy.course.nb03_softmax.right import softmax
from anatomy.engine.mistakes import Mistakes

SLUG = "03-softmax"
NAMES = """def softmax(x, dim):
    # by somebody
    top = x - x.amax(dim=dim, keepdim=True)
    powers = top.exp()
    return powers / powers.mean(dim=dim, keepdim=True)
"""


def test_an_answer_that_differs_in_one_statement_is_an_edit_of_it():
    stub = edit_stub(SLUG, "softmax", NAMES, ["values"])
    assert 'at("return exponentials / exponentials.sum(dim=dim, keepdim=True)"' in stub
    assert '"return exponentials / exponentials.mean(dim=dim, keepdim=True)"' in stub
    exec(stub, {"at": (known := Mistakes()).mistakes_in(softmax)})
    (wrong,) = known["softmax"].values()
    assert wrong.breaks == ("values",) and wrong.sentence == SENTENCE and ".mean(" in wrong.source


def test_another_program_is_a_definition_of_its_own():
    stub = edit_stub(SLUG, "softmax", "import torch\ndef softmax(x, dim):\n    return x.exp()\n", ["shape", "values"])
    exec(stub, {"MISTAKES": (known := Mistakes())})
    wrong = known["softmax"]["softmax__what_is_wrong"]
    assert wrong.answer.__name__ == "softmax__what_is_wrong" and wrong.breaks == ("shape", "values")


@pytest.mark.parametrize("program", ["softmax = 3", "def softmax(x", "x\0", "(" * 5000])
def test_what_is_no_definition_gives_nothing(program):
    assert edit_stub(SLUG, "softmax", program, ["values"]) == ""


def test_no_exercise_of_the_course_gives_nothing():
    assert edit_stub("99-other", "softmax", NAMES, []) == ""
