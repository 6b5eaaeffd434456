"""What an assembly says: in a notebook, in a terminal, and as plain text."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import anatomy
from anatomy.course import COURSE
from anatomy.course.assembling.assembly import Assembly, Entry, ModelComparison
from anatomy.engine.checking import HAND_OVER
from anatomy.engine.observing import GRADING_SEED


def entries(**others: tuple[str, str]) -> tuple[Entry, ...]:
    """All exercises right but these."""
    return tuple(
        Entry(name, book, *others.get(name, ("right", "")))
        for book in COURSE.notebooks
        for name, one in COURSE.exercises(book).items()
        if one.kind != "quiz"
    )


AGREES = (
    ModelComparison("TransformerEncoder", "a checkpoint", 2e-6, 5.7),
    ModelComparison("GPT", "a seed", 3e-6, 6.0),
)
DIFFERS = (
    ModelComparison("TransformerEncoder", why="`load_bert_weights` is missing"),
    ModelComparison("GPT", "a seed", 0.5, 6.0, lent=("`split_heads`",)),
)
WRONG = {
    "softmax": ("wrong", "Your softmax runs over the <queries>."),
    "split_heads": ("missing", "not written yet"),
    "merge_heads": ("missing", "not written yet"),
    "copy_heads": ("unchecked", "it took more than 60 seconds"),
}
WHOLE = Assembly(Path("my_transformer.py"), 960, entries(), AGREES, {})
PART = Assembly(
    Path("my_transformer.py"), 700, entries(**WRONG), DIFFERS, {"05-encoder-layer": "not in the folder"},
    ("`scale` of notebook 04 is `scale_04` in the file.",), Path("my_transformer.20260101-000000.bak.py"),
)  # fmt: skip
WORDS = [
    "700 lines", "of these 1 not right yet and 1 not checked",
    "Your TransformerEncoder could not be compared with the library's: load_bert_weights is missing.",
    "Your GPT, with the course's split_heads in it and the weights of a seed, does not give the library's numbers: "
    "the largest difference is 5.0e-01, where they reach 6.",
    "3.1 softmax: Your softmax runs over the <queries>.",
    "4.6 copy_heads was not checked: it took more than 60 seconds.",
    "4.3 split_heads, 4.4 merge_heads: not written yet.",
    "05-encoder-layer: not in the folder.",
    "scale of notebook 04 is scale_04 in the file.",
    "What was in the file before is now in my_transformer.20260101-000000.bak.py.",
    "Next: mend 3.1 softmax in 03-softmax, save the notebook, and assemble again.",
]  # fmt: skip


def in_terminal(made: Assembly) -> str:
    out = io.StringIO()
    Console(file=out, width=300, force_terminal=False).print(made)
    return out.getvalue()


def in_notebook(made: Assembly) -> str:
    html = made._repr_html_()
    return re.sub(r"<[^>]+>", "", html).replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'")


@pytest.mark.parametrize("show", [repr, in_terminal, in_notebook])
def test_every_medium_says_the_same(show):
    said = show(PART).replace("`", "")
    assert [words for words in WORDS if words not in said] == []


def test_a_whole_one_is_green_and_says_how_to_go_on():
    assert WHOLE.is_complete and not PART.is_complete
    total = len(WHOLE.entries)
    for said in (repr(WHOLE), in_notebook(WHOLE)):
        assert f"holds all {total} answers, and each of them is right." in said.replace("`", "")
        assert "the largest difference is 2.0e-06, where they reach 5.7." in said
        assert "from my_transformer import GPT, Llama, TransformerEncoder" in said
    assert re.search(r"09 The causal mask: a model that writes +11 of 11 +11 of 11", in_terminal(WHOLE))
    assert re.search(r"03 Softmax and weighted values +5 of 5 +4 of 5", in_terminal(PART))


def test_the_page_has_a_real_table_and_no_script():
    html = PART._repr_html_()
    assert html.count('<th scope="row"') == len({one.notebook for one in PART.entries})
    assert '<th scope="col"' in html and "<script" not in html and "<style" not in html
    assert "<queries>" not in html


def test_numbers_that_are_none_are_said_to_be_so():
    sentence = ModelComparison("GPT", "a seed", float("inf"), 6.0).sentence
    assert "does not give the library's numbers: some of yours are nan or infinite." in sentence


@pytest.mark.parametrize("variable", [GRADING_SEED, HAND_OVER])
def test_nothing_is_assembled_where_answers_are_graded(monkeypatch, tmp_path, variable):
    monkeypatch.setenv(variable, "1")
    monkeypatch.chdir(tmp_path)
    assert anatomy.assemble() is None
    assert not list(tmp_path.iterdir())
