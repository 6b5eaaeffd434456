"""No right answer of a notebook that the class works on, or of a later one, stands anywhere in the edition."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from anatomy.classroom.releasing.contents import edition
from anatomy.course import COURSE
from tests.releasing.likeness import Shape, body_of, found, plain, programs, shape, tree_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SHORTEST, STATEMENT = 8, 24
"""Sizes in nodes: of a whole answer, and of a part of one, that is long enough not to be there by chance."""

KNOWN = {
    # The summary of the warm-up, which everybody reads after having solved it.
    # RMSNorm is the LayerNorm of 05 with parts left out, as the text of 14 says.
    "anatomy/course/nb05_encoder_layer/right.py": "RMSNorm",
    # What `load_bert_weights` is tried on has the parts that the text of 07 names.
    "anatomy/course/nb07_encoder/asked.py": "TransformerEncoder",
    # Cross-attention has the four layers of self-attention, in 09.
    "anatomy/course/nb09_causal_mask/right.py": "CrossAttention",
    # `forward` of an encoder–decoder, which the text says: decode what was encoded.
    "anatomy/course/nb10_encoder_decoder/asked.py": "Transformer",
}
"""Place → the answer of which something stands there, and why that is no harm."""


@pytest.fixture(scope="module")
def released():
    """Every program in the edition of the last notebook, of which an earlier one has a part: path, place, tree."""
    last = edition(ROOT, COURSE.notebooks[-1], "https://hub.example.org/judge")
    return [
        (path, place, tree)
        for path, content in last.items()
        for place, text in programs(path, content)
        if (tree := tree_of(text))
    ]


def answers(book) -> Iterator[tuple[str, list[ast.AST]]]:
    """The right answers of a notebook and their variants: whole, and the parts that are long enough to tell."""
    for part in ("right", "also_right"):
        tree = tree_of(COURSE.file(book, part).read_text(encoding="utf-8"))
        for item in tree.body:
            name = getattr(item, "name", "").partition("__")[0]
            if name not in COURSE.exercises(book):
                continue
            for function in (node for node in ast.walk(item) if isinstance(node, ast.FunctionDef)):
                body = body_of(function)
                yield name, body
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value:
                    yield name, [body[0].value]
                for node in ast.walk(function):
                    if isinstance(node, ast.stmt | ast.expr) and node is not function and node.size >= STATEMENT:
                        yield name, [node]


@pytest.fixture(scope="module")
def wanted() -> dict[Shape, dict[str, tuple[int, str]]]:
    """Every answer's shape → its plain text → the last notebook that asks for it, and its name there."""
    every: dict[Shape, dict[str, tuple[int, str]]] = {}
    for book in COURSE.notebooks:
        for name, nodes in answers(book):
            if sum(size for _, size in shape(nodes)) >= SHORTEST and not isinstance(nodes[0], ast.JoinedStr):
                every.setdefault(shape(nodes), {})[plain(nodes)] = book.number, name
    return every


def test_no_answer_stands_in_the_edition_of_its_notebook(released, wanted):
    parts = (("asked", 0), ("right", 1))  # right answers come with the notebook after
    first = {
        PurePosixPath("anatomy", "course", book.folder, f"{part}.py"): book.number + later
        for book in COURSE.notebooks
        for part, later in parts
    }
    first |= {PurePosixPath("notebooks", book.slug, f"{book.slug}.ipynb"): book.number for book in COURSE.notebooks}
    there = {
        (place, name)
        for path, place, tree in released
        for number, name in found(tree, wanted)
        if first.get(path, 0) <= number
    }
    assert there == set(KNOWN.items())


def test_no_quiz_is_answered_in_any_file(released):
    quizzes = [one for book in COURSE.notebooks for one in COURSE.exercises(book).values() if one.kind == "quiz"]
    right = {pair for quiz in quizzes for pair in quiz.right.items()}
    assert len(right) > 40
    for path, place, tree in released:
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict) and path.name != "right.py":  # of earlier notebooks
                keys, values = ([getattr(one, "value", None) for one in some] for some in (node.keys, node.values))
                said = {pair for pair in zip(keys, values, strict=True) if all(isinstance(one, str) for one in pair)}
                assert not said & right, place


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scaled_scores", "def f(a, b):\n    'Words.'\n    return dot_product_scores(a, b) / math.sqrt(a.size(-1))"),
        ("dot_product_scores", "def view(one, two):\n    plot((one @ two.transpose(-2, -1)).softmax(-1))"),
        ("softmax", "if True:\n    a: Any = y - y.amax(dim=dim, keepdim=True)\n    b = a.exp()\n"
                    "    return b / b.sum(dim=dim, keepdim=True)"),
    ],
)  # fmt: skip
def test_the_search_finds_an_answer_under_other_names(wanted, name, text):
    assert name in {name for _, name in found(tree_of(text), wanted)}
