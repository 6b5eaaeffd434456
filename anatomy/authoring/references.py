"""The sources: the list at the end of each notebook, read from it, and one list of them all.

A source is one line under "## Sources": who and when as the text cites it, what, where it appeared, and after a colon
the places that the notebook uses, ``- Devlin et al. 2019, *BERT: …*, NAACL, arXiv:1810.04805: §3 (sizes).``
A line without a title in italics, such as one about PyTorch's documentation, is no source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anatomy.authoring.prose import Block, blocks
from anatomy.engine.course import Notebook

SECTION = "Sources"
LINE = re.compile(
    r"(?P<who>[^*\d]+?) (?P<year>\d{4}[a-z]?), \*(?P<title>[^*]+)\*, (?P<appeared>.+?)(?:: (?P<places>\S.*?))?\.?",
    re.DOTALL,
)
FORM = "Surname, Surname and Surname 2019, *Title*, venue, arXiv:1234.56789: §1 (what for)."
_NAME = r"(?!(?:The|In|By|From|Before|Since|After|Until) )[A-Z][\w-]*[a-z](?: [A-Z][\w-]*[a-z])*"
_CITED = re.compile(
    rf"(?P<name>{_NAME})(?:['’]s)?(?: et al\.|(?:, {_NAME})*,? and {_NAME})?,? \(?(?P<year>(?:19|20)\d\d[a-z]?)\b"
)


@dataclass(frozen=True)
class Source:
    """One line of a list of sources."""

    who: str
    year: str
    title: str
    appeared: str
    places: str
    notebook: Notebook
    cell: str

    @property
    def key(self) -> tuple[str, str]:
        """By what a text cites it: the first author's last name and the year."""
        return re.split(r",| and | et al", self.who)[0].split()[-1], self.year

    @property
    def paper(self) -> tuple[str, str, str]:
        """What two lists have in common that mean the same paper, even if they write it differently."""
        return (*self.key, re.findall(r"\w+", self.title.casefold())[0])

    @property
    def words(self) -> str:
        """The line without the places, which are the notebook's own."""
        return f"{self.who} {self.year}, *{self.title}*, {self.appeared}"


def sources_of(notebook: Notebook, cells: Iterable[tuple[str, str]]) -> tuple[list[Source], list[Block]]:
    """The sources that a notebook lists, and the lines of its list that have a title but not the form."""
    found, other = [], []
    for block in listed(cells):
        if match := LINE.fullmatch(" ".join(block.text.split())):
            found.append(Source(**{**match.groupdict(default="")}, notebook=notebook, cell=block.cell))
        elif "*" in block.text:
            other.append(block)
    return found, other


def listed(cells: Iterable[tuple[str, str]]) -> Iterator[Block]:
    """The lines of a notebook's list of sources."""
    return (block for block in blocks(cells) if block.section == SECTION)


def cited(cells: Iterable[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Cell, first author and year of each paper that a notebook's text cites, its list aside."""
    for block in blocks(cells):
        if block.section != SECTION:
            for match in _CITED.finditer(" ".join(block.text.split())):
                yield block.cell, (match["name"].split()[-1], match["year"])


def as_markdown(sources: Iterable[Source], notebooks: str) -> str:
    """The page: every paper once, with the notebooks that cite it. `notebooks` is the way to their folder."""
    lines = [
        "# References",
        "",
        "Every paper that the course cites, with the notebooks that cite it and the places they use.",
        "",
        "<!-- Made by `anatomy build` from the lists at the ends of the notebooks. -->",
        "",
    ]
    by_words: dict[str, list[Source]] = {}
    for source in sources:
        by_words.setdefault(source.words, []).append(source)
    for words in sorted(by_words, key=_order):
        links = []
        for source in by_words[words]:
            slug = source.notebook.slug
            places = f": {source.places}" if source.places else ""
            links.append(f"[{slug[:2]}]({notebooks}/{slug}/{slug}.ipynb){places}")
        lines.append(f"- {words}. In {'; '.join(links)}.")
    return "\n".join(lines) + "\n"


def _order(words: str) -> str:
    """Alphabetical, accents aside."""
    plain = unicodedata.normalize("NFKD", words.casefold().replace("ł", "l"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))
