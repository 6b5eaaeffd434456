"""Links that open a fork elsewhere: each leads to a file that is there, and survives decoding."""

from __future__ import annotations

import re
import shlex
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from typer.testing import CliRunner

from anatomy.cli import app
from anatomy.course import NOTEBOOKS
from anatomy.errors import UserError
from anatomy.launch_links import Fork, as_markdown, path

FORK = Fork("your-name/transformer-anatomy", "week 1/R&D#2")
HUB = "https://hub.example.org/jupyter/"


@pytest.mark.parametrize("book", NOTEBOOKS, ids=lambda book: book.slug)
def test_each_link_leads_to_a_notebook_that_is_there(book, root):
    assert (root / path(book)).is_file()
    binder, hub, colab = map(urlsplit, (FORK.binder(book), FORK.hub(HUB, book), FORK.colab(book)))

    assert (binder.netloc, binder.fragment) == ("mybinder.org", "")
    assert unquote(binder.path) == "/v2/gh/your-name/transformer-anatomy/week 1/R&D#2"
    assert parse_qs(binder.query) == {"urlpath": [f"lab/tree/{path(book)}"]}

    assert (hub.netloc, hub.path, hub.fragment) == ("hub.example.org", "/jupyter/hub/user-redirect/git-pull", "")
    assert parse_qs(hub.query) == {
        "repo": ["https://github.com/your-name/transformer-anatomy"],
        "branch": ["week 1/R&D#2"],
        "urlpath": [f"lab/tree/transformer-anatomy/{path(book)}"],
    }

    assert (colab.netloc, colab.query, colab.fragment) == ("colab.research.google.com", "", "")
    assert unquote(colab.path) == f"/github/your-name/transformer-anatomy/blob/week 1/R&D#2/{path(book)}"


def test_the_markdown_has_a_badge_and_a_line_a_notebook():
    text = as_markdown(FORK, HUB)
    badge, _, *table = text.splitlines()
    assert badge == f"[![Open on Binder](https://mybinder.org/badge_logo.svg)]({FORK.binder(NOTEBOOKS[0])})"
    assert len(table) == 2 + len(NOTEBOOKS) and {line.count("|") for line in table} == {5}
    links = re.findall(r"\]\((\S+?)\)", text)
    assert len(links) == 2 + 3 * len(NOTEBOOKS)
    assert not re.search(
        r"[ #&<>\"']", "".join(link.replace("&branch=", "").replace("&urlpath=", "") for link in links)
    )


def test_without_a_hub_there_is_no_link_to_one():
    text = as_markdown(Fork("your-name/transformer-anatomy"))
    assert "git-pull" not in text and {line.count("|") for line in text.splitlines()[2:]} == {4}
    assert "/gh/your-name/transformer-anatomy/main?urlpath=lab%2Ftree%2Fnotebooks%2F00-start-here%2F" in text


@pytest.mark.parametrize("repository", ["", "name", "https://github.com/a/b", "a/b/c", "a/b?c", "a b/c", "a/b\n"])
def test_what_is_no_repository_is_answered_with_what_is(repository):
    with pytest.raises(UserError, match="OWNER/REPO"):
        Fork(repository)


@pytest.mark.parametrize("hub", ["hub.example.org", "javascript:alert(1)", "https://"])
def test_what_is_no_hub_is_refused(hub):
    with pytest.raises(UserError, match=r"https://hub\.example\.org"):
        as_markdown(FORK, hub)


def test_the_guides_command_prints_them(root):
    guide = (root / "docs/instructor-guide.md").read_text("utf-8")
    (command,) = re.findall(r"^\.venv/bin/anatomy (binder-link .*)$", guide, flags=re.MULTILINE)
    result = CliRunner().invoke(app, shlex.split(command))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == as_markdown(Fork("your-name/transformer-anatomy"), "https://hub.example.org") + "\n"
