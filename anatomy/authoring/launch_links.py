"""Links that open a fork of this course elsewhere: Binder, a JupyterHub with nbgitpuller, Colab, Kaggle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.wiring import the_course

INSTALL = "%pip install --quiet --no-deps git+https://github.com/{} bertviz jaxtyping wadler-lindig"
"""What gets the course on Colab and Kaggle, as the first cell of each notebook has it for OWNER/REPO.

`--no-deps`, because they have the rest already, and replacing their IPython or torch breaks what is running.
"""


@dataclass(frozen=True)
class Fork:
    """A copy of the course on GitHub.

    Raises
    ------
    UserError
        When `repository` is no OWNER/REPO.
    """

    repository: str
    branch: str = "main"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+", self.repository):
            raise UserError(f"{self.repository!r} is not a GitHub repository: say OWNER/REPO, as in its address, "
                            "e.g. your-name/transformer-anatomy.")  # fmt: skip

    @property
    def address(self) -> str:
        """Its page on GitHub."""
        return f"https://github.com/{self.repository}"

    @property
    def pages(self) -> str:
        """Where GitHub Pages shows its website."""
        owner, name = self.repository.split("/")
        return f"https://{owner.lower()}.github.io/{name}/"

    def binder(self, book: Notebook) -> str:
        """Binder's launch page, then the notebook in JupyterLab (https://mybinder.readthedocs.io, *urlpath*)."""
        query = urlencode({"urlpath": f"lab/tree/{path(book)}"}, quote_via=quote, safe="")
        return f"https://mybinder.org/v2/gh/{self.repository}/{quote(self.branch)}?{query}"

    def hub(self, address: str, book: Notebook) -> str:
        """A JupyterHub that has nbgitpuller: it fetches the course, then opens the notebook in JupyterLab.

        As its link generator makes them: https://nbgitpuller.readthedocs.io/en/latest/topic/url-options.html.

        Raises
        ------
        UserError
            When `address` is no web address.
        """
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
            raise UserError(f"{address!r} is not a hub's address; one looks like https://hub.example.org.")
        folder = self.repository.partition("/")[2].removesuffix(".git")
        query = urlencode(
            {
                "repo": self.address,
                "branch": self.branch,
                "urlpath": f"lab/tree/{folder}/{path(book)}",
            },
            quote_via=quote,
            safe="",
        )
        return f"{address.rstrip('/')}/hub/user-redirect/git-pull?{query}"

    def colab(self, book: Notebook) -> str:
        """Colab opens the one file; its first cell says how to install the course."""
        return f"https://colab.research.google.com/github/{self._file(book)}"

    def kaggle(self, book: Notebook) -> str:
        """Kaggle makes a notebook of the one file; its first cell says how to install the course."""
        return f"https://kaggle.com/kernels/welcome?src={quote(f'https://github.com/{self._file(book)}', safe='/:')}"

    def _file(self, book: Notebook) -> str:
        return f"{self.repository}/blob/{quote(self.branch)}/{path(book)}"

    def install(self) -> str:
        """The line that gets the course where a link opens the one file."""
        return INSTALL.format(f"{self.repository}@{quote(self.branch)}")


def path(book: Notebook) -> str:
    """Where the student edition is in the repository."""
    return f"notebooks/{book.slug}/{book.slug}.ipynb"


def as_markdown(fork: Fork, hub: str = "") -> str:
    """A badge that opens the first notebook, and a table with each notebook's links; to be pasted into a README."""
    lines = [
        f"[![Open on Binder](https://mybinder.org/badge_logo.svg)]({fork.binder(the_course().notebooks[0])})",
        "",
        f"| Notebook | Binder |{' JupyterHub |' if hub else ''} Colab | Kaggle |",
        f"|---|---|{'---|' if hub else ''}---|---|",
    ]
    for book in the_course().notebooks:
        links = [fork.binder(book), *([fork.hub(hub, book)] if hub else []), fork.colab(book), fork.kaggle(book)]
        lines.append(f"| {book.slug[:2]} {book.title} | {' | '.join(f'[open]({link})' for link in links)} |")
    lines += [
        "",
        "Colab and Kaggle open the one file: there, this line in its first cell gets the course.",
        "",
        f"    {fork.install()}",
    ]
    return "\n".join(lines)
