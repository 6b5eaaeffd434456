"""The explorer explains its words with sections of the course that exist, and calls changes what changes.py does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anatomy import course

ROOT = Path(__file__).parents[2]
EXPLORING = Path(course.__file__).parent / "exploring"
PROGRAM = "console.log(JSON.stringify((await import(process.argv[1]))[process.argv[2]]));"

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def exported(module: str, name: str) -> Any:
    """What a module of the page exports."""
    path = ROOT / "tools" / "explorer" / "src" / module
    command = ["node", "--input-type=module", "--eval", PROGRAM, path.as_uri(), name]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_every_term_points_at_its_section() -> None:
    """As in the glossary, which `anatomy build` makes."""
    terms = exported("terms.js", "TERMS")
    glossary = (ROOT / "assets" / "glossary.md").read_text(encoding="utf-8")
    assert len(terms) == 23
    for name, term in terms.items():
        notebook = term["notebook"]
        link = f"[{notebook[:2]} · {term['section']}](../notebooks/{notebook}/{notebook}.ipynb#cell-id={term['cell']})"
        assert link in glossary, name


def test_a_page_without_a_host_calls_changes_by_the_same_names() -> None:
    source = (EXPLORING / "changes.py").read_text(encoding="utf-8")
    text = (ROOT / "tools" / "explorer" / "src" / "changes.js").read_text(encoding="utf-8")  # it imports D3
    (line,) = (one for one in text.splitlines() if one.startswith("export const LABELS"))
    labels = dict(re.findall(r'"([^"]+)": "([^"]+)"', line))
    assert len(labels) == 3
    for change, label in labels.items():
        assert f'"{change}"' in source
        assert f'"{label}"' in source
