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
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rich.console import Console

from anatomy.authoring import course_pages, glossary
from anatomy.authoring.front_page import in_numbers, notebooks, wrong_answer
from anatomy.authoring.launch_links import Fork
from anatomy.authoring.linked_map import linked_map
from anatomy.authoring.markdown import as_html
from anatomy.authoring.site_explorer import address as address_of_runs
from anatomy.authoring.site_explorer import choice, to_read, write_recorded
from anatomy.authoring.site_links import Page, look_through
from anatomy.authoring.site_reading import for_readers
from anatomy.authoring.solved import solved_edition
from anatomy.authoring.student import student_edition
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import (
    chosen,
    fingerprint,
    is_answer,
    read,
    solved_file,
    student_file,
    write,
)
from anatomy.wiring import the_course

PAGES = (
    *("docs/*.md", "deploy/*/README.md", "assets/*.md"),
    *("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE-text.md", "THIRD-PARTY-NOTICES.md"),
)
NO_PAGES = ("assets/README.md",)
MAP_IN_WORDS = Path("assets/map.md")
GLOSSARY = Path("assets") / course_pages.GLOSSARY
ADDRESS = "<address of this repository>"
"""What the guides say to clone."""
WHERE_FROM = "These pages don't know the repository's address. You find it where you got this site from."
"""What a site says below the first command with `ADDRESS` of a page if it does not know better."""
FOR_READERS = (
    "This is the solved notebook, to read: its cells have been run. Solutions, hints, and results to guess are folded. "
    "The buttons with ↓ save a file that JupyterLab opens. If your browser shows it as text, right-click the button "
    "and choose “Save link as”."
)
"""What stands below the buttons of a notebook's page."""

_TO_CELL = re.compile(r"\]\([^()\s]*/(?P<slug>\d\d-[\w-]+)\.ipynb#cell-id=(?P<cell>[\w-]+)\)")
_NAMED = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\[[^\]]*\]\([^)]*\)|<[^>]*>|[Nn]otebook (?P<number>\d\d)\b"
    r"|[Nn]otebooks (?P<several>\d\d(?: \([^()]*\))?(?:(?:,| and| or| to) \d\d\b(?: \([^()]*\))?)+)"
    r"|arXiv:(?P<paper>\d{4}\.\d{4,5})",
    re.DOTALL,
)
_NUMBER = re.compile(r"\b\d\d\b(?![^(]*\))")
_TO_CLONE = re.compile(rf"^```console\n[^`]*{ADDRESS}[^`]*^```$", re.MULTILINE)
_MAP = re.compile(r"!\[[^\]]*\]\(map\.svg\)")
_TO_NOTEBOOK = re.compile(r'href="(\.\./(?P<slug>\d\d-[\w-]+)/(?P=slug))\.ipynb(?:#cell-id=(?P<cell>[\w-]+))?')
_TO_COURSE_PAGE = re.compile(r"\]\((?:\.\./00-start-here/)?(glossary|references)\.md")


def build(root: Path, target: Path, fork: Fork | None = None, address: str = "") -> None:
    """Make the site of the course in `root` as the folder `target`; the one that is there stays until the new is done.

    Parameters
    ----------
    fork
        Where the course is on GitHub. Without it no page has a button that opens Binder, Colab or the repository.
    address
        Where the site will be on the web. Without it a page that is shared elsewhere has no picture.

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
        old = gather(root, pages, fork)
        command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", f"--conf-dir={root / 'docs/site'}",
                   f"--doctree-dir={Path(folder) / 'doctrees'}", f"--define=html_extra_path={pages / 'downloads'}",
                   *_told(fork, address), str(pages), str(made)]  # fmt: skip
        with Console(stderr=True).status("Making the pages: a minute or two …"):
            failed = subprocess.run(command, check=False).returncode
        if failed:
            raise UserError("The site was not made: see Sphinx's warnings above. A site that was there is as it was.")
        report = look_through(made)
        if report.broken:
            raise UserError("\n".join(["These links lead nowhere:", *report.broken]))
        (made / "external-links.txt").write_text("".join(f"{link}\n" for link in report.external), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.replace(target)
    print(f"{report.pages} pages; {report.internal} links within the site lead where they should.")
    print(f"{len(report.external)} links leave it and were not followed: {target / 'external-links.txt'} lists them.")
    print(f"Open {target / 'index.html'}.\n{_how_complete(old)}")


def _how_complete(old: list[str]) -> str:
    """Whether the site shows every notebook as it is in source/, and what to run if it does not."""
    if not old:
        return "The site is complete: it shows every notebook as source/ has it."
    numbers = " ".join(slug[:2] for slug in old)
    return (
        f"The site is complete but for {', '.join(old)}: of these it shows a version older than source/.\n"
        f"Run `.venv/bin/anatomy build {numbers}`, then make the site again."
    )


def _told(fork: Fork | None, address: str) -> list[str]:
    """What Sphinx's settings can't know of themselves."""
    settings = {"html_baseurl": address} if address else {}
    if fork:
        theme = {"repository_url": fork.address, "use_repository_button": "true"}
        settings |= {f"html_theme_options.{name}": value for name, value in theme.items()}
    return [f"--define={name}={value}" for name, value in settings.items()]


def gather(root: Path, pages: Path, fork: Fork | None = None) -> list[str]:
    """Write all that Sphinx must read into the folder `pages`. Returns the notebooks whose solved edition is old."""
    books = chosen(the_course(), root)
    for book in books:
        _gather_notebook(root, book, pages, fork)
    texts = [path.relative_to(root) for pattern in PAGES for path in sorted(root.glob(pattern))]
    for name in texts:
        if name.as_posix() not in NO_PAGES:
            text = (root / name).read_text(encoding="utf-8")
            text = text.replace(ADDRESS, fork.address) if fork else _TO_CLONE.sub(rf"\g<0>\n\n{WHERE_FROM}", text, 1)
            if name == GLOSSARY:
                text = glossary.with_addresses(text)
            if name == MAP_IN_WORDS:
                text = text.replace("\n\n", f"\n\n{linked_map('../notebooks')}\n\n", 1)
            _gather_text(root, name, text, pages)
    _gather_text(root, Path("explore.md"), _top_page(root, "explore", {"the runs": choice(pages / "downloads")}), pages)
    first = f"notebooks/{books[0].slug}/{books[0].slug}.html"
    made = {
        "run": _row({first: "Begin to read", **_ways_to_run(books[0], fork, "")}),
        "in numbers": in_numbers(root),
        "a wrong answer": wrong_answer(),
        "the map": linked_map("notebooks"),
        "the notebooks": notebooks(root),
    }
    _gather_text(root, Path("index.md"), _top_page(root, "index", made), pages)
    return [book.slug for book in books if _is_old(root, book)]


def _top_page(root: Path, name: str, made: dict[str, str]) -> str:
    """A page of docs/site, which moves to the site's first folder, with what is made for its marks."""
    text = (root / f"docs/site/{name}.md").read_text(encoding="utf-8")
    text = text.replace("](../../", "](").replace("](../", "](docs/")
    for mark, block in made.items():
        text = text.replace(f"<!-- {mark} -->", block)
    return text


def _is_old(root: Path, book: Notebook) -> bool:
    return fingerprint(read(solved_file(root, book.slug))) != fingerprint(solved_edition(root, book.slug))


def _gather_notebook(root: Path, book: Notebook, pages: Path, fork: Fork | None) -> None:
    """The solved notebook with its solutions to be folded and its cells to be linked to; and what to download of it."""
    solved = solved_file(root, book.slug)
    page = read(solved)
    for_readers(page)
    title, _, text = page.cells[0].source.partition("\n")
    files = {"to-work-in": "↓ Notebook to work in", "solved": "↓ Solved notebook"}
    links = {f"../../{folder}/{book.slug}.ipynb": said for folder, said in files.items()}
    if write_recorded(page, book.slug, pages / "downloads"):
        links[f"../../{address_of_runs(book.slug)}"] = "◉ Watch its model work"
    row = _row({**_ways_to_run(book, fork, "../../"), **links}, note=FOR_READERS)
    page.cells[0].source = f"{title}\n\n{row}\n\n{text}"
    for cell in page.cells:
        if is_answer(cell):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
        elif cell.cell_type == "markdown":
            text = _to_labels(_TO_COURSE_PAGE.sub(r"](../../assets/\1.md", cell.source))
            text = glossary.with_places(_with_links(text, book))
            text = _MAP.sub(lambda _: linked_map("..", book.slug), text)
            cell.source = f"({label(book.slug, cell.id)})=\n\n{text}"
        for output in cell.get("outputs", ()):
            if html := output.get("data", {}).get("text/html"):
                output["data"]["text/html"] = to_read(_TO_NOTEBOOK.sub(_to_page, html))
    copy = student_file(pages, book.slug)
    write(page, copy)
    for picture in solved.parent.glob("*.svg"):
        shutil.copyfile(picture, copy.with_name(picture.name))
    write(student_edition(root, book.slug), pages / "downloads/to-work-in" / copy.name)
    write(read(solved), pages / "downloads/solved" / copy.name)


def _with_links(text: str, here: Notebook) -> str:
    """A text cell in which "notebook 02" and "arXiv:1706.03762" lead there: not in code, formulas, links and HTML."""
    slugs = {f"{book.number:02}": book.slug for book in the_course().notebooks if book.number != here.number}

    def to_notebook(said: str, number: str) -> str:
        slug = slugs.get(number)
        return f"[{said}](../{slug}/{slug}.ipynb)" if slug else said

    def link(found: re.Match[str]) -> str:
        if found["paper"]:
            return f"[{found[0]}](https://arxiv.org/abs/{found['paper']})"
        if found["several"]:
            return _NUMBER.sub(lambda number: to_notebook(number[0], number[0]), found[0])
        return to_notebook(found[0], found["number"] or "")

    paragraphs = text.split("\n\n")
    return "\n\n".join(one if one.startswith("<") else _NAMED.sub(link, one) for one in paragraphs)


def _ways_to_run(book: Notebook, fork: Fork | None, top: str) -> dict[str, str]:
    """Where to work on the notebook: link → what it says. `top` is the way to the site's first folder."""
    here = {f"{top}docs/install.html": "▶ Run it on your computer"}
    return {fork.binder(book): "▶ Run it on Binder", fork.colab(book): "▶ Run it on Colab", **here} if fork else here


def _row(links: dict[str, str], note: str = "") -> str:
    """Links as a row of buttons, in MyST Markdown; one to a notebook saves it, whatever the server takes it for."""
    row = "\n".join(
        f'<a href="{escape(link)}"{" download" if link.endswith(".ipynb") else ""}>{said}</a>'
        for link, said in links.items()
    )
    note = f'\n<p class="run-note">{note}</p>' if note else ""
    return f'```{{raw}} html\n<p class="run-this">\n{row}\n</p>{note}\n```'


def _gather_text(root: Path, name: Path, text: str, pages: Path) -> None:
    """A page of Markdown, and the files of the repository that it links to or shows."""
    place = (pages / name).parent
    place.mkdir(parents=True, exist_ok=True)
    (pages / name).write_text(_to_labels(text.replace("](../README.md", "](../index.md")), encoding="utf-8")
    for link in Page(as_html(text)).links:
        parts = urlsplit(link)
        file = (root / name).parent.joinpath(unquote(parts.path)).resolve()
        if not parts.scheme and parts.path and file.is_file() and file.is_relative_to(root.resolve()):
            copy = pages / file.relative_to(root.resolve())
            if copy.suffix not in (".md", ".ipynb") and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)


def _to_labels(text: str) -> str:
    """Links to a cell of a notebook, as JupyterLab follows them, as links to that cell's label."""
    return _TO_CELL.sub(lambda link: f"](#{label(link['slug'], link['cell'])})", text)


def _to_page(link: re.Match[str]) -> str:
    """A link of an output to a notebook, or to a cell of one, as a link to its page, or to that cell's label there."""
    place = f"#{label(link['slug'], link['cell'])}" if link["cell"] else ""
    return f'href="{link[1]}.html{place}'


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
    parser.add_argument("--address", default="", help="where the site will be; by default the fork's GitHub Pages")
    given = parser.parse_args()
    try:
        fork = Fork(given.repository, given.branch) if given.repository else None
        build(given.root.resolve(), (given.to or given.root / "build/site").resolve(), fork,
              given.address or (fork.pages if fork else ""))  # fmt: skip
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
