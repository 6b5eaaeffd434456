"""The map has a part for every notebook, stands on its own, and says in words what it shows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from anatomy.course import COURSE, maps
from anatomy.engine.course import Notebook

S = f"{{{maps.SVG}}}"
DRAWINGS = sorted(maps.ASSETS.glob("*.svg"))


def classes(element: ET.Element) -> set[str]:
    return set(element.get("class", "").split())


@pytest.mark.parametrize(
    "notebook", [n.slug for n in COURSE.notebooks] + [f"{n:02}" for n in range(len(COURSE.notebooks))]
)
def test_every_notebook_has_a_part_that_can_be_lit(notebook: str) -> None:
    root = ET.fromstring(maps.light(notebook))
    key = notebook[:2]
    parts = [e for e in root.iter() if "part" in classes(e)]
    mine = [e for e in parts if f"part-{key}" in classes(e)]
    lit = [e for e in parts if "lit" in classes(e)]
    assert mine and lit == mine
    assert {"".join(e.itertext()).strip()[:2] for e in mine} & {key} or key == "05"
    even = [e for e in parts if "even" in classes(e)]
    assert len(even) == (len(parts) - 1 if key == "00" else 0)
    flags = [e for e in root.iter() if "here" in classes(e)]
    assert len(flags) == 1 and "".join(flags[0].itertext()).strip() == "you are here"
    title, words = root.find(f"{S}title"), root.find(f"{S}desc")
    assert title is not None and words is not None
    assert f"You are at {key}" in (title.text or "")
    assert all(name in (words.text or "") for name, _ in maps.PARTS.values())


def test_without_a_notebook_nobody_is_anywhere_on_the_map() -> None:
    root = ET.fromstring(maps.light())
    parts = [e for e in root.iter() if "part" in classes(e)]
    assert parts and all("even" in classes(e) and "lit" not in classes(e) for e in parts)
    assert not [e for e in root.iter() if "here" in classes(e)]
    said = " ".join(root.itertext())
    assert "you are" not in said.lower()
    assert all(name in said for name, _ in maps.PARTS.values())


def test_the_flag_stays_inside_the_picture() -> None:
    for part in maps.PARTS:
        root = ET.fromstring(maps.light(part))
        box = next(e for e in root.iter() if "here" in classes(e)).find(f"{S}rect")
        assert box is not None
        x, y = float(box.get("x", "-1")), float(box.get("y", "-1"))
        assert 0 <= x <= 800 - float(box.get("width", "0")) and 0 <= y <= 706, part


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.name)
def test_drawings_are_wellformed_described_and_selfcontained(drawing: Path) -> None:
    text = drawing.read_text(encoding="utf-8")
    root = ET.fromstring(text)
    assert root.get("viewBox", "").startswith("0 0 800 ") and root.get("role") in ("img", "group")
    for tag in ("title", "desc"):
        element = root.find(f"{S}{tag}")
        assert element is not None and element.text
        named = f"{root.get('aria-labelledby', '')} {root.get('aria-describedby', '')}"
        assert element.get("id") in named.split()
    links = re.findall(r'<a href="([^"]+)"', text)  # the family tree has some: they lead away and load nothing
    assert not re.search(r"(href|@import|<script|<image|<foreignObject)", re.sub(r'<a href="[^"]+"', "", text))
    assert re.findall(r"https?://[^\"\s]+", text) == [maps.SVG, *links]
    assert all(reference.startswith("#") for reference in re.findall(r"url\(([^)]*)\)", text))
    assert drawing.with_suffix(".md").is_file(), "every drawing has its words in a file of the same name"


def test_text_is_large_enough_to_read_at_800_pixels() -> None:
    for drawing in DRAWINGS:
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawing.read_text(encoding="utf-8"))]
        assert sizes and min(sizes) >= 11.5, drawing.name


@pytest.mark.parametrize("unknown", ["99", "softmax", "", "123"])
def test_an_unknown_part_is_refused(unknown: str) -> None:
    with pytest.raises(KeyError, match="no part"):
        maps.light(unknown)


def test_beside_a_notebook_lie_its_map_and_beside_00_the_three_types() -> None:
    assert list(COURSE.beside(COURSE.notebook("00-start-here"))) == ["map.svg", "three-types.svg"]
    assert COURSE.beside(COURSE.notebook("03-softmax")) == {"map.svg": maps.light("03")}
    assert COURSE.beside(Notebook("20-exam", "Exam")) == {}
