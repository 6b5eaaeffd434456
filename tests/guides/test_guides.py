"""Every command of every guide is run, or its stand-in is; all exist, with their options; settings load; links lead."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from commands import problems
from guide import GUIDES, ROOT, STUDENT_GUIDE, anchors, blocks, inline_commands, links, steps
from settings import unknown_settings
from walking import is_as_shown, walk

LONG = ("docs/author-guide.md", "docs/install.md", "docs/instructor-guide.md")
"""Which a plain run does not walk; it looks at their commands' names and options."""
TYPED = [
    pytest.param(guide, marks=[pytest.mark.many] * (guide in LONG))
    for guide in GUIDES
    if any(block.language == "console" for block in blocks(guide))
]


@pytest.mark.slow
@pytest.mark.xdist_group("guides")
@pytest.mark.parametrize("guide", TYPED)
def test_the_commands_of_a_guide_do_what_it_says(guide, tmp_path):
    troubles = [walked.trouble for walked in walk(guide, tmp_path) if walked.trouble]
    assert not troubles, "\n\n".join(troubles)


@pytest.mark.xdist_group("guides")
@pytest.mark.parametrize("guide", [*GUIDES, STUDENT_GUIDE])
def test_commands_and_their_options_exist(guide):
    typed = [step.command for block in blocks(guide) if block.language == "console" for step in steps(block)]
    found = {command: problems(command) for command in [*typed, *inline_commands(guide)]}
    assert not {command: wrong for command, wrong in found.items() if wrong}


@pytest.mark.parametrize("guide", GUIDES)
def test_blocks_say_their_language_and_python_is_python(guide):
    for block in blocks(guide):
        assert block.language, f"{block.place}: a block without a language: `console` is run, `text` is not"
        assert block.language not in ("bash", "sh", "shell"), f"{block.place}: `console` is what the tests run"
        if block.language == "python":
            ast.parse(re.sub(r"^%.*$", "", block.text, flags=re.MULTILINE), block.place)  # a notebook's `%pip`


@pytest.mark.parametrize("guide", GUIDES)
def test_settings_are_known_to_those_who_read_them(guide):
    """All of a guide's at once: what it configures later builds on what it loaded before."""
    texts = [block.text for block in blocks(guide) if block.language == "python"]
    assert not unknown_settings("\n".join(text for text in texts if re.search(r"^c(\.| = get_config)", text, re.M)))


@pytest.mark.parametrize("unit", sorted((ROOT / "deploy").rglob("*.service")), ids=lambda unit: unit.name)
def test_units_start_what_exists_and_a_guide_says_where_they_go(unit):
    text = unit.read_text(encoding="utf-8")
    (command,) = re.findall(r"^ExecStart=(.*)$", text, flags=re.MULTILINE)
    assert not problems(command)
    typed = [step.command for guide in GUIDES for block in blocks(guide) for step in steps(block)]
    assert f"# {Path('/etc/systemd/system', unit.name)}" in text
    assert f"sudo cp /srv/anatomy/{unit.relative_to(ROOT)} /etc/systemd/system/" in typed


@pytest.mark.parametrize("guide", GUIDES)
def test_links_lead_to_files_and_headings(guide):
    for target in links(guide):
        path, _, heading = target.partition("#")
        file = (ROOT / guide).parent / path if path else ROOT / guide
        assert file.exists(), f"{guide} links to {target}"
        if heading and file.suffix == ".md":
            assert heading in anchors(str(file.resolve().relative_to(ROOT))), f"{guide} links to {target}"


# ---- the reader of guides itself -----------------------------------------------------------------------------------


def test_shown_output_is_compared_and_an_ellipsis_stands_for_anything():
    assert is_as_shown("a  \nb\n12 s\n", "a\nb\n… s")
    assert not is_as_shown("a\nc\n", "a\nb")


@pytest.mark.parametrize(
    "command",
    ["anatomy grades", "anatomy grade --fast", "anatomy grade --workers=all", "anatomy hunt 01 02", "make coffee",
     "nbgrader exprot", "nbgrader export --form=csv", "nbgrader collect 03-softmax --update=yes",
     "python -m anatomy.nowhere", ".venv/bin/anatomyx", "frobnicate --now"],
)  # fmt: skip
def test_a_command_that_does_not_exist_is_found(command):
    assert problems(command)


def test_a_setting_that_does_not_exist_is_found():
    assert unknown_settings("c.Execute.timeuot = 3") == ["Execute.timeuot"]
    assert unknown_settings("c.Exekute.timeout = 3") == ["Exekute.timeout"]


def test_a_block_is_read_as_it_is_typed(tmp_path, monkeypatch):
    page = "x\n\n```console\n$ one \\\n    two   # why\n1\n\n2\n$ three\n```\n"
    page += "\nNow append to `a/b.py`:\n\n```python\nx = 1\n```\n"
    (tmp_path / "page.md").write_text(page)
    monkeypatch.setattr("guide.ROOT", tmp_path)
    typed, code = blocks("page.md")
    assert [(step.place, step.command, step.output) for step in steps(typed)] == [
        ("page.md:4", "one two   # why", "1\n\n2"),
        ("page.md:9", "three", None),
    ]
    assert (code.language, code.appended_to, code.text) == ("python", "a/b.py", "x = 1")
    assert Path(code.guide) == Path("page.md")
