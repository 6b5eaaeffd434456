"""A guide as its readers use it: the blocks to type, the commands inside sentences, the links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("README.md", "CONTRIBUTING.md", "docs/*.md", "deploy/**/README.md")
    for path in ROOT.glob(pattern)
)
STUDENT_GUIDE = "source/00-start-here/00-start-here.ipynb"

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_COMMAND = re.compile(
    r"(?:\.venv/bin/)?(?:anatomy|nbgrader|jupyter|make|python|pip|pre-commit) +\S|\.venv/bin/\w|tools/\w"
)
_APPEND = re.compile(r"[Aa]ppend to\s+`([^`]+)`[^`]*\Z")


@dataclass(frozen=True)
class Block:
    """One fenced block: where it begins, its language and text, and the file that the sentence before appends it to."""

    guide: str
    line: int
    language: str
    text: str
    appended_to: str = ""

    @property
    def place(self) -> str:
        return f"{self.guide}:{self.line}"


@dataclass(frozen=True)
class Step:
    """One command of a console block, and what the guide shows as its output (None: nothing is shown)."""

    place: str
    command: str
    output: str | None = None


def text_of(guide: str) -> str:
    """The guide's Markdown; of a notebook, that of its text cells."""
    path = ROOT / guide
    if path.suffix == ".ipynb":
        return "\n\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    return path.read_text(encoding="utf-8")


def blocks(guide: str) -> list[Block]:
    """The fenced blocks, in order."""
    text, found = text_of(guide), []
    for fence in _FENCE.finditer(text):
        before = text[: fence.start()]
        indent = len(fence[1])
        body = "\n".join(line[indent:] for line in fence[3].splitlines())
        append = _APPEND.search(before.rstrip().rpartition("\n\n")[2])
        found.append(Block(guide, before.count("\n") + 2, fence[2], body, append[1] if append else ""))
    return found


def steps(block: Block) -> list[Step]:
    """The commands of a console block. Where lines begin with ``$ ``, the others are output; else all are commands."""
    marked = any(line.startswith("$ ") for line in block.text.splitlines())
    found: list[Step] = []
    shown: list[str] = []
    lines = iter(enumerate(block.text.splitlines(), start=block.line))

    def close() -> None:
        if found and any(shown):
            found[-1] = Step(found[-1].place, found[-1].command, "\n".join(shown).strip("\n"))
        shown.clear()

    for number, line in lines:
        if marked and not line.startswith("$ "):
            shown.append(line)
            continue
        close()
        command = line.removeprefix("$ ")
        while command.endswith("\\"):
            command = command[:-1] + next(lines)[1].strip()
        if document := re.search(r"<<-?\s*['\"]?(\w+)", command):
            while command.splitlines()[-1].strip() != document[1]:
                command += "\n" + next(lines)[1]
        if command.strip() and not command.lstrip().startswith("#"):
            found.append(Step(f"{block.guide}:{number}", command))
    close()
    return found


def inline_commands(guide: str) -> list[str]:
    """The commands that stand inside sentences and tables."""
    return [span for span in _INLINE.findall(_FENCE.sub("", text_of(guide))) if _COMMAND.match(span)]


def links(guide: str) -> list[str]:
    """The targets of its links to other files and to headings."""
    targets = re.findall(r"\]\(([^)\s]+)\)", _INLINE.sub("", _FENCE.sub("", text_of(guide))))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(guide: str) -> set[str]:
    """What a link may name after ``#``: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ +(.+)$", _FENCE.sub("", text_of(guide)), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
