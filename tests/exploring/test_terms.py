"""The explorer explains its words with the course's sections, and these exist."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from anatomy import course

ROOT = Path(__file__).parents[2]
TERMS = Path(course.__file__).parent / "exploring" / "page" / "src" / "terms.js"
PROGRAM = "const { TERMS } = await import(process.argv[1]); console.log(JSON.stringify(TERMS));"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_every_term_points_at_its_section() -> None:
    """As in the glossary, which `anatomy build` makes."""
    command = ["node", "--input-type=module", "--eval", PROGRAM, TERMS.as_uri()]
    terms = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    glossary = (ROOT / "assets" / "glossary.md").read_text(encoding="utf-8")
    assert len(terms) == 22
    for name, term in terms.items():
        notebook = term["notebook"]
        link = f"[{notebook[:2]} · {term['section']}](../notebooks/{notebook}/{notebook}.ipynb#cell-id={term['cell']})"
        assert link in glossary, name
