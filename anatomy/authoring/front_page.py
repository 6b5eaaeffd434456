"""What the website's front page has that is made with it: a real card, how much there is, and a list of it."""

from __future__ import annotations

import math
import re
from pathlib import Path

from anatomy.course.nb03_softmax.right import softmax
from anatomy.engine.cards import as_html
from anatomy.engine.errors import UserError
from anatomy.engine.judging.judge import judge
from anatomy.engine.notebook_files.notebooks import chosen, read, source_file
from anatomy.engine.observing.observe import observe
from anatomy.wiring import the_course

EXERCISE = "attention_weights"
ANSWER = f"""\
def {EXERCISE}(query, key):
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    return softmax(scores, dim=-2)
"""
"""A wrong answer: the axis is that of the queries."""


def card() -> str:
    """The card that the check makes of `ANSWER`, as HTML."""
    names: dict[str, object] = {"math": math, "softmax": softmax}
    exec(ANSWER, names)
    exercise = the_course().exercise(EXERCISE)
    return as_html(judge(exercise, observe(exercise, names[EXERCISE])))


def wrong_answer() -> str:
    """The answer and its card, in MyST Markdown."""
    return f"````{{container}} wrong-answer\n```python\n{ANSWER}```\n\n```{{raw}} html\n<div>{card()}</div>\n```\n````"


def in_numbers(root: Path) -> str:
    """How many notebooks and exercises the course has, how long it takes, and how many mistakes it knows."""
    course = the_course()
    books = chosen(course, root)
    exercises = sum(len(course.exercises(book)) for book in books)
    mistakes = sum(len(course.mistakes_of(book)) for book in books)
    beginnings = (read(source_file(root, book.slug)).cells[0].source for book in books)
    minutes = sum(int(found[1]) for text in beginnings if (found := re.search(r"[Aa]bout (\d+) minutes", text)))
    return (
        f"{len(books)} notebooks · {exercises} exercises · about {minutes / 60:.0f} hours · "
        f"[{mistakes:,} wrong answers](docs/self-study.md#how-a-check-works) that the checks know, each with a "
        "sentence that says what to mend"
    )


def notebooks(root: Path) -> str:
    """The README's table of the notebooks, with their titles as links to their pages."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^## The notebooks\n+\| (\|.*\|)\n\|---(\|.*\|)\n((?:\|.*\n)+)", readme, re.M)
    if not found:
        raise UserError("README.md has no section “The notebooks” that begins with a table: the front page needs it.")
    rows = re.sub(r"^\| \d\d \| `(\d\d-[\w-]+)`", r"| [](notebooks/\1/\1.ipynb)", found[3], flags=re.M)
    return f"{found[1]}\n{found[2]}\n{rows}"
