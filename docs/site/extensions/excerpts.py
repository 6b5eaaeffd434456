"""What the search shows of the pages that it finds: the text of each section, as a script that a file may load, too."""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PAGE, SCRIPTS = "search", ("sections.js", "excerpts.js")


def sections(doctree: nodes.document) -> list[tuple[str, str, str]]:
    """Anchor, title and text of each section, without what cells printed and what lies in sections inside."""
    found = []
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        text = " ".join(words(part) for part in section.children if not isinstance(part, nodes.section | nodes.title))
        found.append((section["ids"][0], title.astext() if title else "", " ".join(text.split())))
    return found


def words(node: nodes.Node) -> str:
    classes = node.get("classes", ()) if isinstance(node, nodes.Element) else ()
    if isinstance(node, nodes.raw | nodes.comment) or "cell_output" in classes:
        return ""
    if isinstance(node, nodes.Text) or not node.children:
        return node.astext()
    between = "" if isinstance(node, nodes.TextElement) else " "
    return between.join(words(part) for part in node.children)


def write(app: Sphinx, failed: Exception | None) -> None:
    if not failed:
        pages = {name: sections(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", SCRIPTS[0]).write_text(f"const SECTIONS = {text}\n", encoding="utf-8")


def load(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if pagename == PAGE:
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
