"""The questions of quizzes in words, as the master notebooks ask them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from anatomy.engine.notebook_files.notebooks import grade_id, is_answer, read, source_file
from anatomy.wiring import the_course


class Question(NamedTuple):
    """The `words` of a question, as Markdown, and its `options`; those of a whole quiz stand elsewhere."""

    words: str
    options: tuple[str, ...] = ()


Questions = Mapping[tuple[str, str], Mapping[str, Question]]
"""(notebook, exercise) → a question's name → the question."""

_QUESTION = re.compile(r"^(?:\||-|\d+\.) *[*`\"]+([^*`\"]+)[*`\"]+ *[|:]? *(.*?)[ |]*$", re.MULTILINE)
"""A line of a list or table that begins with a question's name."""
_OPTION = r"(?:`[^`]+`|\*[^*]+\*)"
_OPTIONS = re.compile(rf"(?:^| ){_OPTION}(?: · {_OPTION})+$")
"""The options at the end of such a line."""


def questions(root: Path) -> Questions:
    """Those of all masters under `root`; none of a notebook that has no master there.

    Raises
    ------
    BadNotebook
        When a master can't be read.
    """
    found: dict[tuple[str, str], Mapping[str, Question]] = {}
    for book in the_course().notebooks:
        path, text = source_file(root, book.slug), ""
        for cell in read(path).cells if path.is_file() else ():
            if cell.cell_type == "markdown":
                text += f"\n{cell.source}"
                continue
            if is_answer(cell) and grade_id(cell).startswith("quiz_"):
                found[book.slug, grade_id(cell)] = _asked(text.rpartition("\n### ")[2])
            text = ""
    return found


def _asked(text: str) -> dict[str, Question]:
    """A question's name → the question, without what cards can't show: bars of tables and signs of formulas."""
    return {name: _question(words.replace(" | ", " ")) for name, words in _QUESTION.findall(text)}


def _question(line: str) -> Question:
    found = _OPTIONS.search(line)
    words = line[: found.start()] if found else line
    options = found[0].split(" · ") if found else []
    return Question(re.sub(r"\$([^$]+)\$", r"`\1`", words), tuple(option.strip(' `*"') for option in options))
