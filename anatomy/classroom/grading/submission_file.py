"""The file that a student handed in: which one it is, and reading it even if it is damaged or of an old format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from anatomy.classroom.grading.errors import Unrepairable

LARGEST = 100 * 2**20
"""Bytes beyond which a file is not read."""
MOST_VALUES = 3_000_000
"""Commas and brackets beyond which a file is not parsed. Python takes a hundred bytes for each; a notebook of this
course has some thousands, and pictures in it have none."""


def find_notebook(folder: Path, slug: str) -> tuple[Path, list[str]]:
    """The file in a submission's folder that is the notebook, and what had to be assumed.

    Raises
    ------
    Unrepairable
        When there is none, or several under other names.
    """
    wanted = folder / f"{slug}.ipynb"
    if wanted.is_symlink():
        raise Unrepairable(f"{wanted.name} is a symbolic link, not a file.")
    if wanted.is_file():
        return wanted, []
    others = sorted(path for path in folder.glob("*.ipynb") if path.is_file() and not path.is_symlink())
    if len(others) == 1:
        return others[0], [f"The file was called {others[0].name}."]
    if others:
        raise Unrepairable(f"{wanted.name} is missing, and there are several other notebooks: "
                           f"{', '.join(path.name for path in others[:5])}.")  # fmt: skip
    raise Unrepairable(f"{wanted.name} is missing.")


def parse_notebook(raw: bytes) -> tuple[NotebookNode, list[str]]:
    """The notebook in a file's content, in the current format, and what had to be done to read it.

    Raises
    ------
    Unrepairable
        When it is empty, not JSON, JSON but no notebook, or too much to be read.
    """
    if sum(map(raw.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Unrepairable(f"The file holds more than {MOST_VALUES:,} values, which is too much to be read. "
                           "Without its outputs it may be small enough.")  # fmt: skip
    text, notes = _decoded(raw)
    if not text.strip():
        raise Unrepairable("The file is empty.")
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise Unrepairable("Lists or metadata in the file lie too deep in each other to be read.") from error
    except ValueError as error:
        raise Unrepairable("The file is damaged or cut off: save the notebook in JupyterLab, and hand it in again "
                           f"(not JSON: {_brief(error)}).") from error  # fmt: skip
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise Unrepairable("The file is JSON, but not a notebook.")
    try:
        if content["nbformat"] != 4:
            notes.append(f"The notebook was in format {content['nbformat']}.")
            content = nbformat.convert(nbformat.reader.reads(text), 4)
        return _normal(content), notes
    except Unrepairable:
        raise
    except Exception as error:  # a notebook can be malformed in more ways than nbformat foresees
        raise Unrepairable(f"The notebook's structure is damaged ({_brief(error)}).") from error


def _decoded(raw: bytes) -> tuple[str, list[str]]:
    for encoding in ("utf-16", "utf-8-sig") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return raw.decode(encoding), [] if encoding == "utf-8-sig" else ["The file was encoded as UTF-16."]
        except UnicodeDecodeError:
            continue
    return raw.decode("cp1252", errors="replace"), ["The file was not UTF-8: accents and symbols may have suffered."]


def _normal(content: dict[str, Any]) -> NotebookNode:
    """Every cell with the fields that later steps rely on, and of the right types; nothing else is taken over."""
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise Unrepairable("The notebook has no list of cells.")
    normal = [cell for cell in map(_normal_cell, cells) if cell is not None]
    if not normal:
        raise Unrepairable("The notebook has no cells.")
    return nbformat.from_dict({"cells": normal, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _normal_cell(cell: Any, index: int = 0) -> dict[str, Any] | None:
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    cell_type = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "code"
    normal = {
        "cell_type": cell_type,
        "metadata": _normal_metadata(cell.get("metadata")),
        "source": _encodable(source.replace("\r\n", "\n")),
    }
    if isinstance(cell.get("id"), str):
        normal["id"] = cell["id"]
    if cell_type == "code":
        return {**normal, "outputs": [], "execution_count": None}
    attachments = _normal_attachments(cell.get("attachments"))
    return {**normal, "attachments": attachments} if attachments else normal


def _normal_metadata(metadata: Any) -> dict[str, Any]:
    """The name for grading. All else is the student edition's, or nothing that grading looks at."""
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return {"nbgrader": {"grade_id": name}} if isinstance(name, str) else {}


def _normal_attachments(attachments: Any) -> dict[str, dict[str, str]]:
    """File → type → content, of those that are in this form."""
    if not isinstance(attachments, dict):
        return {}
    return {
        _encodable(file): {_encodable(kind): _encodable(text) for kind, text in content.items()}
        for file, content in attachments.items()
        if isinstance(content, dict) and content and all(isinstance(text, str) for text in content.values())
    }


def _encodable(text: str) -> str:
    """The text with a question mark for each lone surrogate, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _brief(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
