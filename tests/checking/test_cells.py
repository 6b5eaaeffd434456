"""What became of the answer's own cell: a card says so, instead of "Not attempted yet" or of judging in silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.course import COURSE
from anatomy.engine.checking import HAND_OVER, cells
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing import GRADING_SEED
from anatomy.engine.observing.records import MIME, decode
from tests.shells import fresh_shell

RIGHT = "def scaled_scores(query, key):\n    return query @ key.mT / query.size(-1) ** 0.5\n"
STUB = "def scaled_scores(query, key):\n    # YOUR CODE HERE\n    raise NotImplementedError\n"
BROKEN = "def scaled_scores(query, key):\n    scores = query @ key.mT\n    return scores / / 2\n"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.delenv(GRADING_SEED, raising=False)
    with fresh_shell() as shell:
        cells.watch()
        shell.run_cell("from anatomy import check")
        yield shell


def card(shell: InteractiveShell, *sources: str) -> str:
    """The card of `scaled_scores` after these cells."""
    with capture_output() as captured:
        for source in (*sources, 'check("scaled_scores")'):
            shell.run_cell(source)
    return str(captured.outputs[-1].data["text/plain"])


def test_a_syntax_error_is_said_instead_of_not_attempted(shell: InteractiveShell) -> None:
    said = card(shell, BROKEN)
    assert said.startswith("The cell of `scaled_scores` stopped with `SyntaxError`: invalid syntax, line 3.")
    assert "there is no earlier version to check" in said and "Not attempted" not in said
    assert card(shell, STUB, BROKEN) == said


def test_an_older_version_is_checked_and_the_card_says_so(shell: InteractiveShell) -> None:
    said = card(shell, RIGHT, BROKEN)
    assert said.startswith("The cell of `scaled_scores` stopped with `SyntaxError`") and "Right:" not in said
    assert "The check looked at the version from before, which is right." in said and "4 of 4 points." in said
    said = card(shell, RIGHT.replace("** 0.5", ""), BROKEN)
    assert said.startswith("The cell of `scaled_scores` stopped with") and "0 of 4" not in said
    assert "stopped with" not in card(shell, RIGHT)


def test_an_error_before_the_definition_counts_and_one_after_it_does_not(shell: InteractiveShell) -> None:
    said = card(shell, f"import math\nwidth = unknown\n\n{RIGHT}")
    assert said.startswith(
        "The cell of `scaled_scores` stopped with `NameError`: name 'unknown' is not defined, line 2."
    )
    said = card(shell, "def scaled_scores(query: Tensor, key: Tensor) -> Tensor:\n    return query @ key.mT\n")
    assert "name 'Tensor' is not defined, line 1" in said and "If a cell above does that, run that cell first." in said
    assert card(shell, f"{RIGHT}\nscaled_scores(1, 2)").startswith("Right: 4 of 4 points.\n")
    assert "stopped" not in card(shell)


def test_other_cells_are_other_cells(shell: InteractiveShell) -> None:
    assert "stopped" not in card(shell, RIGHT, "scores = scaled_scores(1, 2)", "1 / 0", "scaled_scores == 3 / 0")


def test_a_similar_name_is_asked_about(shell: InteractiveShell) -> None:
    said = card(shell, RIGHT.replace("scaled_scores", "scaled_score"))
    assert said.startswith("`scaled_score` is defined; did you mean `scaled_scores`?")
    assert card(shell, STUB).startswith("`scaled_score` is defined")
    assert card(shell, "del scaled_score").startswith("Not attempted yet.")


@pytest.mark.parametrize("name, wanted", [("ScaledScores", True), ("dot_product_scores", False), ("scores", False),
                                          ("_scaled_scores", False)])  # fmt: skip
def test_what_counts_as_similar(name: str, wanted: bool) -> None:
    def made() -> None: ...

    made.__module__ = "__main__"
    found = cells.similar_name(COURSE.exercise("scaled_scores"), {"__name__": "__main__", name: made})
    assert found == (name if wanted else "")


def test_what_is_imported_or_of_another_kind_is_not_similar() -> None:
    def scaled_score() -> None: ...

    asked = COURSE.exercise("scaled_scores")
    assert cells.similar_name(asked, {"__name__": "__main__", "scaled_score": scaled_score}) == ""
    assert cells.similar_name(asked, {"__name__": "__main__", "scaled_score": 3}) == ""
    assert cells.similar_name(COURSE.exercise("quiz_scaling"), {"quiz_scalings": {}}) == "quiz_scalings"


def test_a_terminal_hears_the_same(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HAND_OVER, "1")
    exercise = COURSE.exercise("scaled_scores")

    def seen(*sources: str) -> Any:
        with capture_output() as captured:
            for source in (*sources, 'check("scaled_scores")'):
                shell.run_cell(source)
        return judge(exercise, decode(captured.outputs[-1].data[MIME]))

    assert "stopped with `SyntaxError`" in seen(BROKEN).diagnoses[0].headline
    assert "did you mean" in seen(STUB, RIGHT.replace("_scores", "_score")).diagnoses[0].headline
    assert seen(RIGHT).status == "right"
