"""Links that open a fork elsewhere: each leads to a file that is there, and survives decoding."""

from __future__ import annotations

import re
import shlex
import sys
from urllib.parse import parse_qs, unquote, urlsplit

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from typer.testing import CliRunner

from anatomy.authoring.launch_links import INSTALL, Fork, as_markdown, path
from anatomy.cli import app
from anatomy.course import COURSE
from anatomy.engine.errors import UserError

FORK = Fork("your-name/transformer-anatomy", "week 1/R&D#2")
HUB = "https://hub.example.org/jupyter/"


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_each_link_leads_to_a_notebook_that_is_there(book, root):
    assert (root / path(book)).is_file()
    binder, hub, colab, kaggle = map(
        urlsplit, (FORK.binder(book), FORK.hub(HUB, book), FORK.colab(book), FORK.kaggle(book))
    )

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
    file = f"your-name/transformer-anatomy/blob/week 1/R&D#2/{path(book)}"
    assert unquote(colab.path) == f"/github/{file}"

    assert (kaggle.netloc, kaggle.path, kaggle.fragment) == ("kaggle.com", "/kernels/welcome", "")
    ((name, (address,)),) = parse_qs(kaggle.query).items()
    assert (name, unquote(address)) == ("src", f"https://github.com/{file}") and "#" not in address


@pytest.mark.parametrize("edition", ["source", "notebooks", "solutions"])
@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_a_notebooks_first_cell_says_how_to_get_the_course(book, edition, root):
    cells = nbformat.read(root / edition / book.slug / f"{book.slug}.ipynb", as_version=4).cells
    source = next(cell.source for cell in cells if cell.cell_type == "code")
    before, said, after = source.partition(f"# {INSTALL.format('OWNER/REPO')}\nfrom anatomy")
    assert said and after and "import anatomy" not in before and "from anatomy" not in before
    assert before.splitlines()[-1].startswith("# On Colab or Kaggle, name the course's OWNER/REPO in the next line")


def test_where_the_course_is_missing_the_error_shows_that_line(root, monkeypatch, capsys):
    """IPython shows the line that failed and the two above it."""
    cells = nbformat.read(root / "notebooks/03-softmax/03-softmax.ipynb", as_version=4).cells
    monkeypatch.setitem(sys.modules, "anatomy", None)
    result = InteractiveShell().run_cell(next(cell.source for cell in cells if cell.cell_type == "code"))
    assert isinstance(result.error_in_exec, ModuleNotFoundError)
    said = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "# On Colab or Kaggle" in said and INSTALL.format("OWNER/REPO") in said


def test_the_markdown_has_a_badge_and_a_line_a_notebook():
    text = as_markdown(FORK, HUB)
    badge, _, *table, _, words, _, line = text.splitlines()
    assert badge == f"[![Open on Binder](https://mybinder.org/badge_logo.svg)]({FORK.binder(COURSE.notebooks[0])})"
    assert len(table) == 2 + len(COURSE.notebooks) and {line.count("|") for line in table} == {6}
    assert "Colab and Kaggle" in words and line == f"    {FORK.install()}"
    links = re.findall(r"\]\((\S+?)\)", text)
    assert len(links) == 2 + 4 * len(COURSE.notebooks)
    assert not re.search(
        r"[ #&<>\"']", "".join(link.replace("&branch=", "").replace("&urlpath=", "") for link in links)
    )


def test_without_a_hub_there_is_no_link_to_one():
    text = as_markdown(Fork("your-name/transformer-anatomy"))
    assert "git-pull" not in text and {line.count("|") for line in text.splitlines()[2:-4]} == {5}
    assert "/gh/your-name/transformer-anatomy/main?urlpath=lab%2Ftree%2Fnotebooks%2F00-start-here%2F" in text


def test_the_line_gets_the_fork_in_the_branch_that_was_asked_for():
    assert FORK.install().split()[4] == "git+https://github.com/your-name/transformer-anatomy@week%201/R%26D%232"
    assert Fork("a/b").install() == INSTALL.format("a/b@main")


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
