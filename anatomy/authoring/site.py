"""The website: the solved notebooks, guides and lists as pages, made by Sphinx from copies in a folder of its own.

``docs/site/`` has what does not change with the course: Sphinx's settings, the front page, the style. Copies keep their
places in the repository, so that the links between them hold.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from anatomy.authoring.launch_links import Fork
from anatomy.authoring.linked_map import linked_map
from anatomy.authoring.site_links import look_through
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import (
    chosen,
    is_answer,
    read,
    solved_file,
    student_file,
    was_edited,
    write,
)
from anatomy.wiring import the_course

PAGES = (
    *("docs/*.md", "deploy/*/README.md", "assets/*.md"),
    *("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE-text.md", "THIRD-PARTY-NOTICES.md"),
)
NO_PAGES = ("assets/README.md",)
MAP, TABLE = "<!-- the map -->", "<!-- the notebooks -->"

_LINK = re.compile(r"\]\(([^()\s]+)\)")
_TO_CELL = re.compile(r"\]\([^()\s]*/(?P<slug>\d\d-[\w-]+)\.ipynb#cell-id=(?P<cell>[\w-]+)\)")
_TO_NOTEBOOK = re.compile(r'href="(\.\./(\d\d-[\w-]+)/\2)\.ipynb')
_TO_COURSE_PAGE = re.compile(r"\]\((?:\.\./00-start-here/)?(glossary|references)\.md")


def build(root: Path, target: Path, fork: Fork | None = None) -> None:
    """Make the site of the course in `root` as the folder `target`; the one that is there stays until the new is done.

    Parameters
    ----------
    fork
        Where the course is on GitHub. Without it no page has a button that opens Binder, Colab or the repository.

    Raises
    ------
    UserError
        When Sphinx is not installed or finds something to warn of, a link leads nowhere, or `target` is something else.
    """
    if not importlib.util.find_spec("myst_nb") or not importlib.util.find_spec("sphinx_book_theme"):
        raise UserError("The site needs myst-nb and sphinx-book-theme: `make site` installs them.")
    if (
        target.exists()
        and not (target / ".buildinfo").is_file()
        and not (target.is_dir() and not any(target.iterdir()))
    ):
        raise UserError(f"{target} is there and is no site: name another folder with --to, or move it away.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=target.parent) as folder:
        pages, made = Path(folder) / "pages", Path(folder) / "site"
        gather(root, pages)
        command = [sys.executable, "-m", "sphinx", "--fail-on-warning", f"--conf-dir={root / 'docs/site'}",
                   f"--doctree-dir={Path(folder) / 'doctrees'}", *_repository(fork), str(pages), str(made)]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            raise UserError("The site was not made: see Sphinx's warnings above. A site that was there is as it was.")
        report = look_through(made)
        if report.broken:
            raise UserError("\n".join(["These links lead nowhere:", *report.broken]))
        (made / "external-links.txt").write_text("".join(f"{link}\n" for link in report.external), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.replace(target)
    print(f"{report.pages} pages; {report.internal} links within the site lead where they should.")
    print(f"{len(report.external)} links leave it and were not followed: {target / 'external-links.txt'} lists them.")


def _repository(fork: Fork | None) -> list[str]:
    """What Sphinx is told of the repository."""
    if not fork:
        return []
    return [f"--define=course_repository={fork.repository}", f"--define=course_branch={fork.branch}"]


def gather(root: Path, pages: Path) -> None:
    """Write all that Sphinx is to read into the folder `pages`."""
    for book in chosen(the_course(), root):
        _gather_notebook(root, book, pages)
    texts = [path.relative_to(root) for pattern in PAGES for path in sorted(root.glob(pattern))]
    for name in texts:
        if name.as_posix() not in NO_PAGES:
            _gather_text(root, name, (root / name).read_text(encoding="utf-8"), pages)
    front = (root / "docs/site/index.md").read_text(encoding="utf-8")
    front = front.replace("](../../", "](").replace("](../", "](docs/")  # it moves to the top
    front = front.replace(TABLE, _table(root)).replace(MAP, f"```{{raw}} html\n{linked_map()}\n```")
    _gather_text(root, Path("index.md"), front, pages)


def _gather_notebook(root: Path, book: Notebook, pages: Path) -> None:
    """The solved notebook with its solutions to be folded and its cells to be linked to; and what to download of it."""
    solved = solved_file(root, book.slug)
    page = read(solved)
    for cell in page.cells:
        if is_answer(cell):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
        elif cell.cell_type == "markdown":
            text = _to_labels(_TO_COURSE_PAGE.sub(r"](../../assets/\1.md", cell.source))
            cell.source = f"({label(book.slug, cell.id)})=\n\n{text}"
        for output in cell.get("outputs", ()):
            if html := output.get("data", {}).get("text/html"):
                output["data"]["text/html"] = _TO_NOTEBOOK.sub(r'href="\1.html', html)
    copy = student_file(pages, book.slug)
    write(page, copy)
    for picture in solved.parent.glob("*.svg"):
        shutil.copyfile(picture, copy.with_name(picture.name))
    editions = {"solved": solved}
    if (student := student_file(root, book.slug)).is_file():
        if was_edited(read(student)):
            print(f"notebooks/{book.slug} has answers of yours: the site does not offer it to download.")
        else:
            editions["to-work-in"] = student
    for folder, file in editions.items():
        (pages / "downloads" / folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, pages / "downloads" / folder / file.name)


def _gather_text(root: Path, name: Path, text: str, pages: Path) -> None:
    """A page of Markdown, and the files of the repository that it links to or shows."""
    place = (pages / name).parent
    place.mkdir(parents=True, exist_ok=True)
    (pages / name).write_text(_to_labels(text.replace("](../README.md", "](../index.md")), encoding="utf-8")
    for link in _LINK.findall(text):
        parts = urlsplit(link)
        file = (root / name).parent.joinpath(unquote(parts.path)).resolve()
        if not parts.scheme and parts.path and file.is_file() and file.is_relative_to(root.resolve()):
            copy = pages / file.relative_to(root.resolve())
            if copy.suffix not in (".md", ".ipynb") and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)


def _table(root: Path) -> str:
    """The README's table of the notebooks, with links."""
    found = re.search(r"^## The notebooks\n+(\|.*?)\n\n", (root / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    if not found:
        raise UserError("README.md has no section “The notebooks” that begins with a table: the front page needs it.")
    return re.sub(r"`(\d\d-[\w-]+)`", r"[\1](notebooks/\1/\1.ipynb)", found[1])


def _to_labels(text: str) -> str:
    """Links to a cell of a notebook, as JupyterLab follows them, as links to that cell's label."""
    return _TO_CELL.sub(lambda link: f"](#{label(link['slug'], link['cell'])})", text)


def label(slug: str, cell: str) -> str:
    """What a cell is called among all cells of the course."""
    return f"cell-{slug[:2]}-{cell}"


def main() -> None:
    """`python -m anatomy.authoring.site` makes it; `make site` installs what that needs before."""
    parser = argparse.ArgumentParser(
        description="Make the course's website.",
        epilog="Example: python -m anatomy.authoring.site --repository your-name/transformer-anatomy",
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the course's folder")
    parser.add_argument("--to", type=Path, help="the folder to make; build/site by default")
    parser.add_argument("--repository", default="", help="OWNER/REPO on GitHub: adds buttons for Binder and Colab")
    parser.add_argument("--branch", default="main", help="its branch")
    given = parser.parse_args()
    try:
        fork = Fork(given.repository, given.branch) if given.repository else None
        build(given.root.resolve(), (given.to or given.root / "build/site").resolve(), fork)
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
