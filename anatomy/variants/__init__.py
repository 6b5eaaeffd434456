"""What is also right: the same answers written differently, called ``exercise__style``. One module per notebook.

They keep the check honest: an answer is judged by what it does, not by how it is written.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from anatomy import exercises
from anatomy.course import Notebook


def of_notebook(notebook: Notebook) -> dict[str, Any]:
    """All variants of one notebook's answers, by name."""
    asked = exercises.of_notebook(notebook)
    module = vars(import_module(f"anatomy.variants.{notebook.module}"))
    return {name: answer for name, answer in module.items() if "__" in name and name.partition("__")[0] in asked}
