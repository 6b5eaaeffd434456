"""The first notebook teaches how to read a card: its help for an answer is headed by words that cards say."""

from __future__ import annotations

import re

from anatomy.course import COURSE
from anatomy.engine.cards.markup import prose
from anatomy.engine.notebook_files.notebooks import read

FIRST = COURSE.notebooks[0]


def test_help_is_headed_by_words_of_cards(root):
    asked = COURSE.exercise("pairwise_dot")
    book = read(root / "source" / FIRST.slug / f"{FIRST.slug}.ipynb")
    (text,) = (cell.source for cell in book.cells if cell.source.startswith(f"### Exercise {asked.number} "))
    headings = re.findall(r'<summary>Help: "(.*?)"', text)
    said = [prose(wrong.sentence) for wrong in asked.mistakes.values()] + ["Not attempted yet."]
    assert headings and [one for one in headings if not any(one in sentence for sentence in said)] == []
