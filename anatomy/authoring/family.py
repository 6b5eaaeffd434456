"""Writes the family tree and its words into `assets/`: `python -m anatomy.authoring.family`."""

from __future__ import annotations

from pathlib import Path

from anatomy.course.maps import ASSETS
from anatomy.course.views.family import family_table, family_tree, in_words


def write_family_tree(folder: Path) -> None:
    """Write `family-tree.svg` and `family-tree.md` into `folder`."""
    (folder / "family-tree.svg").write_text(family_tree().svg + "\n", encoding="utf-8")
    text = f"# The family tree of the Transformer, in words\n\n{in_words()}\n\n{family_table().markdown}\n"
    (folder / "family-tree.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_family_tree(ASSETS)
