"""Rules about what makes the notebooks one book: terms marked once and before they are used, sources in one form."""

from __future__ import annotations

import re

from anatomy.authoring import references
from anatomy.authoring.glossary import DFN, Term
from anatomy.authoring.markdown import prose
from anatomy.authoring.master import Master
from anatomy.authoring.rules import Complaints, rule

LEANS = re.compile(r"(?:It|Its|They|Their|This|That|These|Those|Such|Both|Here|There|Which|He|She)\b")
POINTS = re.compile(
    r"\b(?:above|below|(?:next|last|previous) (?:cell|section|picture)|this (?:notebook|section|cell))\b"
)


@rule
def term_twice(master: Master) -> Complaints:
    """A term is marked once in the course."""
    seen = {term.key: term for term in master.terms if term.notebook.number < master.notebook.number}
    for term in master.own_terms:
        if first := seen.get(term.key):
            yield (
                term.cell,
                f"“{term.name}” is marked in {first.notebook.slug} already, cell {first.cell}.",
            )
        seen.setdefault(term.key, term)


@rule
def term_alone(master: Master) -> Complaints:
    """What the glossary takes can be read by itself, as far as a program can see that."""
    for term in master.own_terms:
        if LEANS.match(term.words) or POINTS.search(term.words):
            yield term.cell, f"“{term.name}” is explained by a sentence that needs its surroundings: {term.words[:80]}"
    found: dict[str, int] = {}
    for term in master.own_terms:
        found[term.cell] = found.get(term.cell, 0) + 1
    for cell, text in master.texts:
        if len(DFN.findall(text)) != found.get(cell, 0) or len(re.findall(r"<dfn\b", text)) != found.get(cell, 0):
            yield cell, 'Write <dfn>term</dfn> or <dfn title="name">term</dfn> in a sentence, not in code or a heading.'


@rule
def term_early(master: Master) -> Complaints:
    """What a later notebook explains is not used without a word about that: the first use names the notebook."""
    read = [(cell, text, prose(text.partition(f"## {references.SECTION}")[0], code=" ")) for cell, text in master.texts]
    for term in master.terms:
        if term.notebook.number > master.notebook.number:
            for cell, text, words in read:
                if _uses(words, term):
                    if not re.search(rf"\b{term.notebook.slug[:2]}\b", text):
                        yield (
                            cell,
                            f"“{term.name}” is explained in {term.notebook.slug}: explain it here, or name that one.",
                        )
                    break


@rule
def source_form(master: Master) -> Complaints:
    """Every source is listed in one form."""
    for block in master.own_sources[1]:
        yield block.cell, f"Write this source as {references.FORM} It is: {block.text[:60]}"


@rule
def source_differs(master: Master) -> Complaints:
    """A paper is listed with the same words everywhere."""
    before = {source.paper: source for source in master.sources if source.notebook.number < master.notebook.number}
    for source in master.own_sources[0]:
        first = before.get(source.paper)
        if first and first.words != source.words:
            yield source.cell, f"List it as {first.notebook.slug} does: {first.words}"


@rule
def source_missing(master: Master) -> Complaints:
    """Every paper that the text cites is in the list."""
    listed = {source.key for source in master.own_sources[0]}
    for cell, (name, year) in dict.fromkeys(references.cited(master.texts)):
        if (name, year) not in listed:
            yield cell, f"{name} {year} is cited, and not under “## {references.SECTION}”."


def _uses(text: str, term: Term) -> bool:
    """Whether a text has the term, or its plural."""
    words = re.escape(term.key).replace(r"\ ", r"\s+")
    return bool(re.search(rf"(?<![\w-]){words}s?(?![\w-])", text, re.IGNORECASE))
