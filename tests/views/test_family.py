"""The family tree: what is drawn, what is written, and that both are of one table."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import pytest

from anatomy.authoring.family import write_family_tree
from anatomy.course.maps import ASSETS, SVG
from anatomy.course.views import family_table, family_tree
from anatomy.course.views.family import AGAIN, BOX, PLACES, TALL, TURN
from anatomy.course.views.family_members import BRANCHES, FAMILY

S = f"{{{SVG}}}"
NAMES = [member.name for member in FAMILY]


def test_every_model_has_a_parent_before_it_and_a_link() -> None:
    assert len(set(NAMES)) == len(FAMILY) and set(PLACES) == set(NAMES)
    for place, member in enumerate(FAMILY):
        assert member.branch in BRANCHES
        assert (member.parent in NAMES[:place]) or (place == 0 and not member.parent), member.name
        parent = next((one for one in FAMILY if one.name == member.parent), member)
        assert 2017 <= parent.year <= member.year <= 2025
        assert parent.branch in ("root", member.branch)
        assert (parent.year <= TURN < member.year) <= (parent.name in AGAIN), "it is named again where the tree goes on"
        assert re.fullmatch(
            r"https://(arxiv\.org/abs/\d{4}\.\d{5}|github\.com/\S+|cdn\.openai\.com/\S+\.pdf)", member.link
        )
        assert all((member.changed, member.objective, member.size, member.source))
        assert "|" not in "".join((member.changed, member.objective, member.size, member.source)), (
            "it ends a table cell"
        )


def test_each_box_is_a_link_and_none_covers_another() -> None:
    root = ET.fromstring(family_tree().svg)
    links = root.findall(f"{S}a")
    assert [link.get("href") for link in links] == [member.link for member in FAMILY]
    assert [link.findtext(f"{S}text") for link in links] == NAMES
    boxes = [link.find(f"{S}rect") for link in links]
    corners = [(float(box.get("x", "0")), float(box.get("y", "0"))) for box in boxes if box is not None]
    for (x, y), (other_x, other_y) in combinations(corners, 2):
        assert abs(x - other_x) >= BOX or abs(y - other_y) >= TALL
    height = float(root.get("height", "0"))
    assert all(0 <= x <= 800 - BOX and 0 <= y <= height - TALL for x, y in corners)


def test_no_text_is_wider_than_its_box() -> None:
    for member in FAMILY:
        assert 6.2 * len(member.size) < BOX, member.size  # pixels of 11.5-pixel letters, widely reckoned


@pytest.mark.parametrize("words", [family_tree().words, family_table().markdown], ids=["words", "table"])
def test_the_words_have_every_model_with_its_size(words: str) -> None:
    for member in FAMILY:
        assert member.name in words and member.size in words


def test_the_table_has_a_row_for_each_model_and_as_many_cells() -> None:
    rows = family_table().markdown.split("\n")
    assert {row.count("|") for row in rows} == {8}
    assert sum(row.startswith("| [") for row in rows) == len(FAMILY)


def test_both_show_themselves_with_words() -> None:
    tree, table = family_tree()._repr_mimebundle_(), family_table()._repr_mimebundle_()
    assert "<svg" in tree["text/html"] and tree["text/plain"] == repr(family_tree())
    assert table["text/markdown"] == table["text/plain"]


def test_what_is_in_assets_is_what_the_table_gives(tmp_path: Path) -> None:
    write_family_tree(tmp_path)
    for file in tmp_path.iterdir():
        assert (ASSETS / file.name).read_bytes() == file.read_bytes(), "run python -m anatomy.authoring.family"
