"""What the edition for a class holds: every file's name and bytes, the same whenever and wherever they are made."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import jinja2

from anatomy.authoring import course_pages
from anatomy.authoring.student import student_edition
from anatomy.classroom.class_edition.on_disk import ABOUT
from anatomy.classroom.grading.package_copies import hidden_but, modules_in, package_with
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files import notebooks
from anatomy.wiring import the_course

Files = dict[PurePosixPath, bytes]

COPIED = (
    "requirements.txt", "requirements-checkpoint.txt", "LICENSE", "LICENSE-text.md", "THIRD-PARTY-NOTICES.md",
    "tools/setup.sh", "tools/jupyterlab", "assets",
)  # fmt: skip
"""Files and folders that are the same in every edition."""

NOT_COPIED = tuple(
    PurePosixPath("assets", name) for name in ("README.md", course_pages.GLOSSARY, course_pages.REFERENCES)
)
"""What is about notebooks that are not handed out yet."""

_REFUSAL = '''"""Not in the edition for a class: importing it says why."""

from anatomy.engine.errors import NotHere

raise NotHere({why!r})
'''

_KNOWS = (
    "{name} is not in your class's edition of the course: what knows the answers stays with your instructor, and the "
    "check cells of your notebooks ask there."
)
_HUNT = (
    "The bug hunt is not in your class's edition of the course: it shows wrong answers beside right ones, which stay "
    "with your instructor."
)
_ASSEMBLING = (
    "Assembling is not in your class's edition of the course: it compares your answers with the right ones, which stay "
    "with your instructor."
)
_ANSWERS = (
    "The right answers of {slug} are not on this machine. They come when your class goes on to the next notebook."
)

Say = Callable[[str], None]


def edition(root: Path, book: Notebook, judge: str, say: Say = lambda _: None) -> Files:
    """The edition with the notebooks up to `book`, and the right answers of those before it.

    Parameters
    ----------
    root
        The course's folder.
    judge
        The address of the service that judges, see `judge_address`.
    say
        Told, in a few words, what is being done.

    Returns
    -------
    dict
        Path in the edition → what the file holds.

    Raises
    ------
    UserError
        When the address is none, or a master can't be made into a student edition.
    """
    notebooks.chosen(the_course(), root)  # says where sources are to be had, if this is no clone
    books = [other for other in the_course().notebooks if other.number <= book.number]
    about = {"judge": judge_address(judge), "notebooks": [other.slug for other in books]}
    files: Files = {}
    for path, content in package_with(refusing(book)).items():
        if path.suffix != ".pyc":
            files[_posix(path)] = content.read_bytes() if isinstance(content, Path) else content.encode()
    files[ABOUT] = (json.dumps(about, indent=1) + "\n").encode()
    files |= dict(_copied(root))
    files |= {PurePosixPath(name): text.encode() for name, text in _templates(root, books, str(about["judge"]))}
    for other in books:
        say(f"{other.slug}: student edition")
        files |= _notebook(root, other, books)
    return dict(sorted(files.items()))


def judge_address(text: str) -> str:
    """The judge's address without a slash at its end.

    Raises
    ------
    UserError
        When it is none that a student's kernel could reach.
    """
    address = urlsplit(text.strip())
    if address.scheme not in ("http", "https") or not address.hostname or address.query or address.fragment:
        raise UserError(
            f"{text!r} is not the address of a judge. Say where `anatomy serve` answers, "
            "e.g. --judge https://hub.example.org/services/judge."
        )
    if address.username or address.password:
        raise UserError("Leave the key out of the judge's address: it would be handed to everybody. Each student has "
                        "a key of their own.")  # fmt: skip
    return address.geturl().rstrip("/")


def refusing(book: Notebook) -> dict[str, str]:
    """Module or package → the text that stands in its place, which says in a sentence why it is not there."""
    return {name: _REFUSAL.format(why=why) for name, why in _left_out(book)}


def _left_out(book: Notebook) -> Iterator[tuple[str, str]]:
    """Module or package → why it is not in the edition."""
    course = the_course()
    asked = {course.module(other, "asked") for other in course.notebooks if other.number <= book.number}
    right = {course.module(other, "right") for other in course.notebooks if other.number < book.number}
    whys = {course.module(other, "right"): _ANSWERS.format(slug=other.slug) for other in course.notebooks}
    whys |= {course.module(other, "asked"): f"{other.slug} has not been handed out yet." for other in course.notebooks}
    yield from ((name, whys.get(name, _KNOWS.format(name=name))) for name in hidden_but(asked | right))
    yield from ((name, _HUNT) for name in modules_in("anatomy.engine.hunting"))
    yield from ((name, _ASSEMBLING) for name in modules_in("anatomy.course.assembling"))


def _copied(root: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    for name in COPIED:
        for file in (root / name, *(root / name).rglob("*")):
            path = _posix(file.relative_to(root))
            if file.is_file() and path not in NOT_COPIED and not any(part.startswith(".") for part in path.parts):
                yield path, file.read_bytes()


def _notebook(root: Path, book: Notebook, books: list[Notebook]) -> Files:
    """A notebook's folder, with its map; beside the first one the pages made of all that are handed out."""
    folder = PurePosixPath("notebooks", book.slug)
    files = {folder / f"{book.slug}.ipynb": notebooks.as_text(student_edition(root, book.slug)).encode()}
    files |= {folder / name: text.encode() for name, text in the_course().beside(book).items()}
    if book == books[0]:
        made_of = course_pages.pages(root, "..", [other.slug for other in books])
        files |= {folder / name: text.encode() for name, text in made_of}
    return files


def _templates(root: Path, books: list[Notebook], judge: str) -> Iterator[tuple[str, str]]:
    """The edition's own README, Makefile, pyproject.toml, nbgrader_config.py and .gitignore."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("anatomy.classroom.releasing"), undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False,
    )  # fmt: skip
    for name in environment.list_templates(extensions=["j2"]):
        text = environment.get_template(name).render(project=project, books=books, judge=judge)
        yield name.removesuffix(".j2").replace("dot-", "."), text


def _posix(path: Path) -> PurePosixPath:
    return PurePosixPath(path.as_posix())
