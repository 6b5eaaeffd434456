"""The explorer on the website: the runs that the solved notebooks hold, each as a page, and a page that shows them."""

from __future__ import annotations

import html
import re
from pathlib import Path

from nbformat import NotebookNode

FOLDER = "explore"
SHOWN = {
    "13": ("encoder", "An encoder with real weights"),
    "09": ("gpt", "A GPT that has read some fables"),
    "10": ("encoder-decoder", "Encoder and decoder: a date is rewritten"),
    "14": ("llama", "A Llama, with the block of today"),
}
"""Notebook → what its runs are called in an address, and what the link to them says, in this order."""
_FRAME = re.compile(r'<iframe class="anatomy-explorer"[^>]* srcdoc="([^"]*)"')
_BODY = re.compile(r"<body\b[^>]*>")
_CELL = re.compile(r"\b([Rr])un the cell\b")
_NOWHERE = html.escape('data-notebooks=""')


def to_read(output: str) -> str:
    """An output of a notebook; if it is the explorer, as the site shows it: what can be run is elsewhere."""
    if _NOWHERE not in output:
        return output
    return _without_cells(output.replace(_NOWHERE, html.escape('data-notebooks="../*/*.html"')))


def _without_cells(text: str) -> str:
    """The explorer's words for a page that has no cell to run, and whose code is the solution's."""
    return _CELL.sub(r"\1un the notebook in JupyterLab", text).replace("Your code", "Code")


def _way_back(slug: str) -> str:
    """A link to the notebook's page; a frame does not show it."""
    style = "margin:0;padding:8px 16px;font:14px system-ui,sans-serif"
    link = f'<a href="../notebooks/{slug}/{slug}.html">← Notebook {slug[:2]}</a>'
    unframed = '<script>if (self !== top) document.querySelector(".way-back").remove()</script>'
    return f'<p class="way-back" style="{style}">{link}</p>{unframed}'


def recorded(book: NotebookNode, slug: str) -> str | None:
    """The explorer's page in a notebook's outputs, as a page of its own in `FOLDER`; None where there is none."""
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            if found := _FRAME.search(output.get("data", {}).get("text/html", "")):
                page = html.unescape(found[1])
                page = page.replace('data-notebooks=""', 'data-notebooks="../notebooks/*/*.html"', 1)
                page = page.replace('data-host="frame"', 'data-host="none"', 1)
                return _without_cells(_BODY.sub(rf"\g<0>\n{_way_back(slug)}", page, count=1))
    return None


def write_recorded(book: NotebookNode, slug: str, downloads: Path) -> bool:
    """Write the page of a notebook's runs to where the site takes it from. Returns whether there is one."""
    page = recorded(book, slug)
    if page:
        (downloads / FOLDER).mkdir(parents=True, exist_ok=True)
        (downloads / FOLDER / f"{slug}.html").write_text(page, encoding="utf-8")
    return page is not None


def address(slug: str) -> str:
    """Where the site shows a notebook's runs, seen from its first folder."""
    name, _ = SHOWN.get(slug[:2], ("", ""))
    return f"explore.html#{name}" if name else "explore.html"


def choice(downloads: Path) -> str:
    """Links to the pages of runs, and a frame that shows the one that is chosen, in MyST Markdown."""
    pages = {path.stem[:2]: f"{FOLDER}/{path.name}" for path in sorted((downloads / FOLDER).glob("*.html"))}
    links = [
        f'<a href="{pages[book]}" target="explorer" id="{name}">{said}</a>'
        for book, (name, said) in SHOWN.items()
        if book in pages
    ]
    if not links:
        return "The notebooks of this site have no runs to show."
    first = next(pages[book] for book in SHOWN if book in pages)
    frame = f'<iframe class="explorer" name="explorer" title="The explorer" src="{first}"></iframe>'
    row = "\n".join(links)
    alone = f'<p class="run-note">To print it, open it <a id="alone" href="{first}">on a page of its own</a>.</p>'
    return f'```{{raw}} html\n<p class="run-this">\n{row}\n</p>\n{alone}\n{frame}\n```'
