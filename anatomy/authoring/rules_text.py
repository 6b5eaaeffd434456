"""Rules about what a student reads: headers, hints, tables, pictures, links."""

from __future__ import annotations

import re
from importlib.util import find_spec

from anatomy.authoring.markdown import as_html, pieces, plain
from anatomy.authoring.master import Master
from anatomy.authoring.rules import Complaints, rule
from anatomy.authoring.site_links import Page
from anatomy.wiring import the_course

HEADER = re.compile(
    r"### Exercise (?P<notebook>\d+)\.(?P<number>\d+) · `(?P<name>\w+)`\n\n(?P<difficulty>●{1,5}○{0,4}) · "
    r"about (?P<minutes>\d+) minutes? · (?P<worth>optional|\d+ points?)"
)
PATTERN = "### Exercise 3.2 · `name`, an empty line, ●●○○○ · about 5 minutes · 4 points (or: optional)"
POINTS_A_MINUTE = 0.35, 1.0
"""An exercise that takes longer earns more: the fewest and the most points a minute."""
NEARLY = 3
"""Minutes by which a sum may be rounded."""
FEWEST_HINTS = 2
SERVED_BY_OTHERS = (
    "pypi.org", "pypi.python.org", "pythonhosted.org", "npmjs.com", "npmjs.org", "anaconda.org", "unpkg.com",
    "jsdelivr.net", "cdnjs.cloudflare.com",
)  # fmt: skip


@rule
def header(master: Master) -> Complaints:
    """Every exercise has a header that says difficulty, minutes and points."""
    for number, answer in enumerate(master.answers, 1):
        match = HEADER.fullmatch(answer.header)
        if not answer.header:
            yield answer.cell.id, f"Put a header before it, in this pattern: {PATTERN}"
            continue
        if not match or len(match["difficulty"]) != 5:
            yield answer.cell.id, f"Write its header in this pattern: {PATTERN}"
            continue
        if match["name"] != answer.name:
            yield answer.cell.id, f"Its header announces `{match['name']}`; the cell answers `{answer.name}`."
        if (int(match["notebook"]), int(match["number"])) != (master.notebook.number, number):
            yield (
                answer.cell.id,
                f"Number it {master.notebook.number}.{number}: it is exercise {number} of this notebook.",
            )
        exercise = master.exercises.get(answer.name)
        if exercise and match["worth"] != exercise.worth:
            yield answer.cell.id, f'Let its header say "{exercise.worth}", as the exercise\'s properties add up to.'
        fewest, most = (round(int(match["minutes"]) * rate, 2) for rate in POINTS_A_MINUTE)
        if exercise and exercise.points and not fewest <= exercise.points <= most:
            yield answer.cell.id, f"Give it {fewest:g} to {most:g} points for its {match['minutes']} minutes."


@rule
def time_line(master: Master) -> Complaints:
    """The first cell's time line adds up."""
    first = master.cells[0]
    headers = [match for answer in master.answers if (match := HEADER.fullmatch(answer.header))]
    points, minutes = sum(one.points for one in master.exercises.values()), sum(int(one["minutes"]) for one in headers)
    if (said := re.search(r"(\d+) points", first.source)) and int(said[1]) != points:
        yield first.id, f"Let it say {points} points, as all exercises together have."
    if (said := re.search(r"(\d+) for the exercises", first.source)) and abs(int(said[1]) - minutes) > NEARLY:
        yield first.id, f"Let it say about {minutes} minutes for the exercises, as their headers add up to."


@rule
def plain_english(master: Master) -> Complaints:
    """The text uses plain words, as far as proselint and a list of our own can tell."""
    if find_spec("proselint") is None:  # a tool of authors, not of instructors: `anatomy lint` says so
        return
    from anatomy.authoring.plain_english import complaints

    for cell, text in master.texts:
        yield from ((cell, advice) for advice in complaints(text))


@rule
def hints(master: Master) -> Complaints:
    """Every exercise has folded hints."""
    for answer in master.answers:
        found = len(re.findall(r"<details>\s*<summary>\s*Hint", answer.text))
        if found < FEWEST_HINTS:
            yield (
                answer.cell.id,
                f"Give it {FEWEST_HINTS} hints or more, `<details><summary>Hint 1: …`; it has {found}.",
            )


@rule
def folded_text(master: Master) -> Complaints:
    """What is folded on one line is HTML: JupyterLab shows Markdown there as it is typed."""
    for cell, text in master.texts:
        for line in text.splitlines():
            text_alone = re.sub(r"<code>.*?</code>", "", line)
            if line.startswith("<details>") and (found := re.search(r"`|\*\*|\]\(", text_alone)):
                yield cell, f"“{found[0]}” is shown as it stands in what is folded; write `<code>`, `<b>` or `<a>`."


@rule
def shapes_table(master: Master) -> Complaints:
    """An exercise says in a table what goes in and what comes out. A quiz needs none."""
    for answer in master.answers:
        if not answer.is_quiz and not any(piece.kind == "row" for piece in pieces(answer.text)):
            yield answer.cell.id, "Add a table of its arguments and result with their shapes to the exercise's text."


@rule
def alt_text(master: Master) -> Complaints:
    """Every picture says in words what it shows."""
    for cell, text in master.texts:
        for image in Page(as_html(text)).without_words:
            yield cell, f"Say in its alt text what the picture shows: {image[:60]}"


@rule
def heading_twice(master: Master) -> Complaints:
    """No two headings read the same: a table of contents lists them without their surroundings."""
    seen: set[str] = set()
    for cell, text in master.texts:
        for words in (plain(piece.text) for piece in pieces(text) if piece.kind == "heading"):
            if words in seen:
                yield cell, f"Say in this heading what its section is about, for an earlier one has its words: {words}"
            seen.add(words)


@rule
def map_image(master: Master) -> Complaints:
    """Near its top a notebook of the map shows the map of the whole Transformer."""
    first = [cell.source for cell in master.cells[:4] if cell.cell_type == "markdown"]
    if "map.svg" in the_course().beside(master.notebook) and not any("](map.svg)" in source for source in first):
        yield "", "Show the map among the first cells: ![Map of the Transformer; this notebook is …](map.svg)"


@rule
def foreign_link(master: Master) -> Complaints:
    """No link to a registry or a content delivery network: the course needs no network, and cites papers."""
    for cell in master.cells:
        for host in SERVED_BY_OTHERS:
            if re.search(rf"(?<![\w-]){re.escape(host)}\b", cell.source):
                yield cell.id, f"Remove the link to {host}."
