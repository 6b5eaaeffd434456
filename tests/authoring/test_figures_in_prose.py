"""Figures in the text: what a notebook says of its outputs is what they say.

Looked at are numbers with a decimal point or a thousands separator, and percentages, outside of code, formulas and
paragraphs that cite a source. Each is one that the notebook prints, draws in words or has in its code, rounded as
written, or is listed in `BY_HAND`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anatomy.authoring.markdown import masked
from anatomy.authoring.prose import blocks, text_cells
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import read

BY_HAND = {
    "01-embedding-lookup": "0.001 0.92 0.98 0.62 0.77 0.59 0.48",
    "02-attention-scores": "0.21 0.005 0.71 0.86",
    "03-softmax": "22000 65504 0.57 87.3",
    "04-heads": "0.54 0.47 3072 76.8 0.001 0.08 0.43",
    "05-encoder-layer": "0.977 0.044715 0.0005 2.77 0.79 1536 3072 4608",
    "06-positional-encodings": "0.001 0.841 0.540 0.995 0.010 0.909 0.416 0.199 0.980 0.020 0.26 0.54 0.84 393216",
    "07-encoder": "0.23 0.77 0.74 0.33",
    "08-classification-head": "10000 60 95 78 74 2695",
    "09-causal-mask": "0.0005 50257 1024 0.84 0.60 0.13 0.14 0.39 0.24 0.09 0.73 0.82 0.95 2048 0.11 0.03 37",
    "10-encoder-decoder": "37000",
    "11-bertviz": "0.00005",
    "12-pretraining": "75000 30522 22.6 0.92",
    "13-family-tree": "590592 1536 393216 0.005 32768 0.67 0.28 0.24 0.63 0.37 0.81",
    "14-since-gpt-2": "11008 3072 4718592 1.90 1.81 2.02 0.05 1.91 1.83 1.65 1.64 1.66 1.97 0.04 1.86 2.04 "
    "0.11 1.58 1.56 0.23 0.27 2.54 0.625 0.375",
}
"""Notebook → numbers that no cell of it prints: calculated in the text, read off a picture, or over several seeds."""
_NUMBER = re.compile(r"\d[\d,]*\.?\d*(?:e[+-]?\d+)?")
_SAID = re.compile(
    r"(?<![\w.,§:/×^–-])(?P<number>\d+\.\d+|\d{1,3}(?:,\d{3})+)(?P<share>\s?%)?(?![\w.]*\d)"
    r"|(?<![\w.,§/])(?P<whole>\d+)(?P<percent>\s?%)"
)
_CODE = re.compile(r"```.*?```|`[^`\n]*`|\$[^$]*\$", re.DOTALL)
_CITES = re.compile(r"et al\.|\b(?:19|20)\d\d[,;)]|§|Table \d|Figure \d|arXiv")


def numbers(text: str) -> Iterator[float]:
    for found in _NUMBER.finditer(text):
        yield float(found[0].replace(",", "").rstrip("."))


def shown(notebook: Any) -> Iterator[str]:
    """All that a solved notebook has besides prose: code, outputs and their words, formulas, words for pictures."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            yield " ".join([*_CODE.findall(cell.source), *re.findall(r"!\[[^\]]*\]|alt=\"[^\"]*\"", cell.source)])
            continue
        yield cell.source
        for output in cell.outputs:
            yield output.get("text", "")
            yield json.dumps(output.get("metadata", {}))
            for kind, data in output.get("data", {}).items():
                if kind.startswith("text/"):
                    yield re.sub(r"<[^>]*>", " ", "".join(re.findall(r"(?:alt|aria-label)=\"[^\"]*\"", data)) + data)


_OF_TIME = re.compile(r"\d s\b|[Ss]econds")
"""What says how long something took: another run says something else, and has another figure by chance."""


def unsupported(path: Path, by_hand: set[str], times: bool = True) -> list[str]:
    """Each figure that nothing supports, with the words around it; without `times`, nothing that tells a time does."""
    lines = (line for text in shown(read(path)) for line in text.split("\n") if times or not _OF_TIME.search(line))
    known = {number for line in lines for number in numbers(line)}
    found = []
    for block in blocks(text_cells(path)):
        if "ource" in block.section or _CITES.search(block.text):
            continue
        text = masked(block.text, code=" ", formula=" ", address=" ", tag=" ")
        for said in _SAID.finditer(text):
            figure = (said["number"] or said["whole"]).replace(",", "")
            slack = 0.51 * 10 ** -len(figure.partition(".")[2])
            scales = (1, 100) if said["share"] or said["percent"] else (1,)
            if figure in by_hand or any(abs(one * scale - float(figure)) <= slack for one in known for scale in scales):
                continue
            around = text[max(0, said.start() - 60) : said.end() + 20]
            found.append(f"{block.cell}: {figure} in “…{' '.join(around.split())}…”")
    return found


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_figures_are_those_of_the_outputs(root, book):
    listed = set(BY_HAND.get(book.slug, "").split())
    path = root / "solutions" / book.slug / f"{book.slug}.ipynb"
    assert unsupported(path, listed) == []
    needed = {line.split(": ")[1].split(" ")[0] for line in unsupported(path, set(), times=False)}
    assert listed <= needed, "What the notebook shows need not be listed."


def test_a_figure_that_no_output_has_is_found(root, tmp_path):
    book = COURSE.notebooks[2]
    path = root / "solutions" / book.slug / f"{book.slug}.ipynb"
    listed = set(BY_HAND.get(book.slug, "").split())
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text = {"cell_type": "markdown", "id": "new", "metadata": {}, "source": "The share is 17.7331 %, or 4,711,998."}
    notebook["cells"].insert(1, text)
    other = tmp_path / path.name
    other.write_text(json.dumps(notebook), encoding="utf-8")
    assert [line.split(" in ")[0] for line in unsupported(other, listed)] == ["new: 17.7331", "new: 4711998"]
