"""Plain English: what is found in a text and what is not; and that guides and cards are plain."""

from __future__ import annotations

import pytest

from anatomy.authoring.plain_english import complaints
from anatomy.course import COURSE

GUIDES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "assets/*.md", "bench/*.md", "deploy/*/*.md")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The masks are drawn anew.", '"anew": write again.'),
        ("Each score is held against the mean.", '"held against": write compare with.'),
        ("Who is to write may not look ahead.", '"Who is to": write a clause with its own subject: what X has to do.'),
        ("A colour for each *neighbour*.", '"colour": write color.'),
        ("What stands at place `t` is read.", '"at place XXX": write position.'),
        ("**Each mask is drawn anew.**", '"anew": write again.'),
        ("They are in close proximity.", "Redundancy."),
    ],
)
def test_a_word_is_found_with_a_better_one(text, found):
    assert any(complaint.startswith(found) for complaint in complaints(text)), list(complaints(text))


@pytest.mark.parametrize(
    "text",
    [
        "The masks are drawn again, at position `t`.",
        "Call `anew(colour)` or\n\n```python\nanew = 1\n```\n\nand $anew$.",
        "[Here](docs/anew.md) and in *Coloured Behaviour of Grey Neighbours*.",
        "",
    ],
)
def test_plain_words_code_and_titles_are_left_alone(text):
    assert list(complaints(text)) == []


def test_guides_are_plain(root):
    files = [file for pattern in GUIDES for file in sorted(root.glob(pattern))]
    assert len(files) > 12
    found = {file.name: list(complaints(file.read_text(encoding="utf-8"))) for file in files}
    assert {name: some for name, some in found.items() if some} == {}


@pytest.mark.slow
@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_sentences_of_mistakes_are_plain(book):
    said = [mistake.sentence for exercise in COURSE.exercises(book).values() for mistake in exercise.mistakes.values()]
    found = {sentence: some for sentence in said if (some := list(complaints(sentence)))}
    assert said and found == {}
