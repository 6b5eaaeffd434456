"""The glossary: the terms of the field, each with the sentence that explains it, collected from the masters.

A term is marked once, where it is first explained, inside that sentence: ``<dfn>attention weights</dfn>``. A `title`
names the term where the text has another form of it: ``<dfn title="attention head">heads</dfn>``. The sentence is what
stands between two full stops of a paragraph or list item, with the formula that it leads up to; in a table it is the
row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from anatomy.authoring.markdown import plain
from anatomy.authoring.prose import Block, blocks, is_formula, sentences
from anatomy.engine.course import Notebook

ALSO = {
    "batch norm": "batch normalization",
    "feed-forward network": "FFN, MLP",
    "key–value cache": "KV cache",
    "layer norm": "layer normalization",
    "skip connection": "residual connection",
}
"""Term → its other names, by which the website's search finds it, too."""

DFN = re.compile(r'<dfn(?:\s+title="(?P<title>[^"]*)")?>(?P<words>.*?)</dfn>', re.DOTALL)
_BRACKETED = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*[.!?])\)?")
_ENTRY = re.compile(r"^\*\*(.+?)\*\* · ", re.MULTILINE)
_WHERE = re.compile(
    r"\[(?P<number>\d\d) · (?P<where>.*?)\]\((?P<notebook>[^()\s]+)\.ipynb#cell-id=[\w-]+\)$", re.MULTILINE
)
_LEANING = re.compile(r"^(?:So|Therefore|But|Then|And) (?=\w)")
_DISPLAY = re.compile(r"\s*(\$\$.*?\$\$)\s*", re.DOTALL)


@dataclass(frozen=True)
class Term:
    """One marked term: its name, the Markdown that explains it, and where that stands."""

    name: str
    explanation: str
    notebook: Notebook
    section: str
    cell: str

    @cached_property
    def key(self) -> str:
        """What two marks of the same term have in common."""
        return self.name.casefold()

    @cached_property
    def words(self) -> str:
        """Its explanation on one line."""
        return " ".join(self.explanation.split())


def terms_of(notebook: Notebook, cells: Iterable[tuple[str, str]]) -> list[Term]:
    """The terms that a notebook marks, in its order. `cells` are the id and the Markdown of its text cells."""
    return [
        Term(_name(mark), explanation, notebook, block.section, block.cell)
        for block in blocks(cells)
        for explanation, marks in _explanations(block)
        for mark in marks
    ]


def as_markdown(terms: Iterable[Term], notebooks: str) -> str:
    """The page. `notebooks` is the way from where it lies to the folder of the notebooks."""
    lines = [
        "# Glossary",
        "",
        "The terms of the course, each with the sentence that explains it and the section where it stands.",
        "",
        "<!-- Made by `anatomy build` from the notebooks: to change a sentence, change it there. -->",
    ]
    for letter, group in groupby(sorted(terms, key=_order), key=lambda term: _order(term)[0][0].upper()):
        lines += ["", f"## {letter}"]
        for term in group:
            explanation = re.sub(r"\]\(\.\./", f"]({notebooks}/", term.explanation)
            number = f"{term.notebook.slug[:2]} · "
            where = number + term.section.removeprefix(number)
            link = f"{notebooks}/{term.notebook.slug}/{term.notebook.slug}.ipynb#cell-id={term.cell}"
            gap = "\n\n" if explanation.endswith("$$") else " "
            lines += ["", f"**{term.name}** · {explanation}{gap}[{where}]({link})"]
    return "\n".join(lines) + "\n"


def with_addresses(page: str) -> str:
    """The glossary for the website: each term can be linked to, and leads to the place that explains it."""
    start, *entries = _ENTRY.split(page)
    return start + "".join(map(_with_address, entries[::2], entries[1::2]))


def _with_address(name: str, entry: str) -> str:
    """An entry after its name, as MyST Markdown."""
    address = address_of(name)
    itself = f'<a class="headerlink" href="#{address}" title="Link to this term">#</a>'
    entry = _WHERE.sub(rf'<a href="\g<notebook>.html#{address}">\g<number>&nbsp;· \g<where></a>{itself}', entry)
    also = f" ({ALSO[name]})" if name in ALSO else ""
    return f"({address})=\n\n**{name}{also}** · {entry}"


def with_places(text: str) -> str:
    """The text of a notebook whose marked terms can be linked to, by the addresses that they have in the glossary."""
    return DFN.sub(lambda mark: f'<dfn id="{address_of(_name(mark))}">{mark["words"]}</dfn>', text)


def address_of(name: str) -> str:
    """What a term is called in a link."""
    return "term-" + re.sub(r"\W+", "-", name.casefold()).strip("-")


def _explanations(block: Block) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Each sentence of a block that marks terms, without the marks, and its marks."""
    if block.heads and (marks := list(DFN.finditer(block.text))):
        said = ((head, cell) for head, cell in zip(block.heads, block.cells, strict=True) if not DFN.search(cell))
        yield _tidy("; ".join(f"{head}: {cell}" if head else cell for head, cell in said if cell) + "."), marks
        return
    for sentence in () if block.heads else sentences(block.text):
        if marks := list(DFN.finditer(sentence)):
            yield _tidy(DFN.sub(lambda mark: mark["words"], sentence)), marks


def _tidy(sentence: str) -> str:
    """The sentence as a paragraph of its own: no brackets around it, no word that leans on the one before."""
    if match := _BRACKETED.fullmatch(sentence):
        sentence = match[1]
    sentence = _LEANING.sub("", sentence)
    sentence = sentence[0].upper() + re.sub(r":$", ".", sentence[1:])
    pieces = [piece.strip() for piece in _DISPLAY.split(sentence)]
    return "\n\n".join(piece if is_formula(piece) else " ".join(piece.split()) for piece in pieces if piece)


def _name(mark: re.Match[str]) -> str:
    """What a mark names; a word that is capital only because it opens the sentence is not."""
    name = " ".join(plain(mark["title"] or mark["words"]).split())
    opens = not mark["title"] and not mark.string[: mark.start()].strip("(*| ")
    return name[0].lower() + name[1:] if opens and re.match(r"[A-Z][a-z-]+\b(?![A-Z])", name) else name


def _order(term: Term) -> tuple[str, str]:
    """Alphabetical, signs such as the brackets of [CLS] aside."""
    letters = re.sub(r"[^\w\s-]", "", term.key)
    return letters or term.key, term.key
