"""The links of a folder of web pages: those within it are followed, to the anchor; those that leave it are listed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Report:
    """What was found: how many pages and links within the folder, a sentence for each broken one, and all others."""

    pages: int = 0
    internal: int = 0
    broken: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """Where a page leads, the names of its places, and its pictures without words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.without_words: list[str] = []
        self.anchors = {"", "top"}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img" and not (dict(attrs).get("alt") or "").strip():
            self.without_words.append(self.get_starttag_text() or "")
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


def look_through(folder: Path) -> Report:
    """Follow every link of every page in `folder` as a browser would that opened the files; nothing is fetched."""
    files = [path for path in sorted(folder.resolve().rglob("*.html")) if "_static" not in path.parts]  # templates
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    report, external = Report(pages=len(pages)), set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                external.add(link)
                continue
            report.internal += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            here = path.relative_to(folder.resolve())
            if not target.is_relative_to(folder.resolve()) or not target.is_file():
                report.broken.append(f"{here} → {link}: no such file")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                report.broken.append(f"{here} → {link}: that page has no such place")
    report.external = sorted(external)
    return report
