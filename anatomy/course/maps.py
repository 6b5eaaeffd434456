"""The map of the whole Transformer, with the part of one notebook lit.

`assets/map.svg` is the drawing: each notebook's part is every element of class `part-NN`, drawn muted; an element with
`data-pin="x y"` says where the flag "you are here" goes. This module adds a class, a flag and the words.
"""

from __future__ import annotations

import argparse
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from anatomy.engine.course import Notebook

ASSETS = Path(__file__).resolve().parents[2] / "assets"
SVG = "http://www.w3.org/2000/svg"

# What each notebook builds, and where that stands on the map: the words of the picture.
PARTS = {
    "00": ("Start here", "the whole map: every block carries the number of the notebook that builds it"),
    "01": ("Embedding lookup", "at the foot of both the encoder and the decoder: text becomes pieces, ids and vectors"),
    "02": ("Scores", "the first step inside attention: each query is compared with each key, divided by the root of d"),
    "03": ("Softmax", "the second step inside attention: scores become weights, and weights mix the values"),
    "04": ("Heads", "inside attention several heads work side by side; together they are the encoder's self-attention"),
    "05": ("Layer", "inside the encoder: attention, feed-forward, and add and norm after each of them"),
    "06": (
        "Positions",
        "just above the embedding lookup on both sides: where each token stands is added to its vector",
    ),
    "07": ("Encoder", "the left column: embeddings, positions and N layers; every token sees both sides"),
    "08": ("Classification head", "on top of the encoder: a decision, such as noun or verb"),
    "09": (
        "Decoder",
        "the right column: its causal mask leaves only the past to see, and a head on top gives the next word",
    ),
    "10": ("Cross-attention", "the bridge from left to right: the decoder asks, the encoder gives keys and values"),
    "11": ("Look inside", "below the view into attention: the attention of real models made visible"),
    "12": ("Pretraining", "at the bottom of the map: where the weights come from, learned from plain text"),
    "13": ("Family tree", "at the bottom of the map: BERT, GPT, T5 and their kin, and which to use when"),
    "14": ("Since GPT-2", "the last row of the map: what has changed in the decoder's block, part by part"),
}


def light(part: str | None = None) -> str:
    """The map as SVG text, the part of notebook `part` lit and the rest muted; "00" shows all parts evenly.

    `part` is a number ("03", "3") or a notebook's name ("03-softmax"). Without one nobody is anywhere on the map: all
    parts are shown evenly, and there is no flag. Raises KeyError if the map has no such part, and FileNotFoundError if
    the drawing is missing.
    """
    key = None if part is None else part_of(part)
    root = _drawing()
    for element in root.iter():
        classes = element.get("class", "").split()
        if f"part-{key}" in classes:
            element.set("class", " ".join([*classes, "lit"]))
        elif "part" in classes and key in (None, "00"):
            element.set("class", " ".join([*classes, "even"]))
    pinned = [e for e in root.iter() if f"part-{key}" in e.get("class", "").split() and e.get("data-pin")]
    for element in pinned[:1]:
        root.append(_flag(*(float(number) for number in element.get("data-pin", "").split())))
    for element in root.iter():
        element.attrib.pop("data-pin", None)
    title, words = root.find(f"{{{SVG}}}title"), root.find(f"{{{SVG}}}desc")
    assert title is not None and words is not None
    title.text, words.text = alt(key), describe(key)
    ET.register_namespace("", SVG)
    return ET.tostring(root, encoding="unicode") + "\n"


def alt(part: str | None = None) -> str:
    """One sentence for `![…](map.svg)`."""
    if part is None:
        return "Map of the Transformer: every block carries the number of the notebook that builds it."
    key = part_of(part)
    name, place = PARTS[key]
    return f"Map of the Transformer. You are at {key}, {name}: {place}."


def describe(part: str | None = None) -> str:
    """The map in words, beginning with where notebook `part` stands."""
    key = None if part is None else part_of(part)
    rest = " ".join(f"{number} {name}: {place}." for number, (name, place) in PARTS.items() if number != key)
    return (
        f"{alt(key)} The encoder stands on the left, the decoder on the right, a view into attention between them; "
        f"both columns are read from below. {rest}"
    )


def drawings_beside(notebook: Notebook) -> dict[str, str]:
    """The map with the notebook's part lit; beside 00 the picture of the three types, too. File name → SVG text.

    A notebook that an instructor adds, such as an exam, is not on the map and gets none.
    """
    drawings = {"map.svg": light(notebook.slug)} if notebook.slug[:2] in PARTS else {}
    if notebook.number == 0:
        drawings["three-types.svg"] = (ASSETS / "three-types.svg").read_text(encoding="utf-8")
    return drawings


def part_of(notebook: str) -> str:
    """The two digits of a notebook's number or name. Raises KeyError, listing the parts, if the map has none such."""
    found = re.match(r"\d{1,2}(?!\d)", notebook)
    key = found.group().zfill(2) if found else ""
    if key not in PARTS:
        raise KeyError(f"The map has no part {notebook!r}; it has {', '.join(PARTS)}.")
    return key


def _drawing() -> ET.Element:
    file = ASSETS / "map.svg"
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: maps are made in a checkout of the course, which has assets/.")
    return ET.fromstring(file.read_text(encoding="utf-8"))


def _flag(x: float, y: float) -> ET.Element:
    """The flag at the upper right corner (x, y) of a block."""
    width, height = 96, 18
    flag = ET.Element(f"{{{SVG}}}g", {"class": "here"})
    place = {"x": f"{x - width - 10:g}", "y": f"{y - 13:g}", "width": str(width), "height": str(height), "rx": "9"}
    ET.SubElement(flag, f"{{{SVG}}}rect", place)
    words = ET.SubElement(flag, f"{{{SVG}}}text", {"x": f"{x - width / 2 - 10:g}", "y": f"{y:g}"})
    words.text = "you are here"
    return flag


def main() -> None:
    """`python -m anatomy.course.maps NOTEBOOK FILE` writes one lit map, to look at."""
    parser = argparse.ArgumentParser(description="Write the map of the Transformer for one notebook.")
    parser.add_argument("notebook", help="such as 03-softmax")
    parser.add_argument("file", type=Path, help="such as /tmp/map.svg")
    arguments = parser.parse_args()
    arguments.file.write_text(light(arguments.notebook), encoding="utf-8")


if __name__ == "__main__":
    main()
