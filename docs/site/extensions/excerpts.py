"""What the search shows of the pages that it finds: the text of each section, as a script that a file may load, too."""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from anatomy.authoring.formulas import as_text

PAGE, SCRIPTS = "search", ("sections.js", "excerpts.js")


def sections(doctree: nodes.document) -> list[tuple[str, str, str]]:
    """Anchor, title and text of each section and term: not a term's link to itself, what cells printed and what has an
    entry of its own.
    """
    found = []
    for part in doctree.findall(lambda node: isinstance(node, nodes.section) or is_term(node)):
        title = part.next_node(nodes.strong if is_term(part) else nodes.title)
        inside = (child for child in part.children if not isinstance(child, nodes.section) and not is_term(child))
        between = "" if is_term(part) else " "
        text = " ".join(between.join(words(child) for child in inside if child is not title).split())
        found.append((part["ids"][0], words(title) if title else "", text.removeprefix("· ").removesuffix("#")))
    return found


def is_term(node: nodes.Node) -> bool:
    """Whether this is a paragraph with a name of its own, as each term of the glossary is."""
    return isinstance(node, nodes.paragraph) and any(name.startswith("term-") for name in node["names"])


def words(node: nodes.Node) -> str:
    """What a reader reads; a formula as one would type it."""
    if isinstance(node, nodes.math | nodes.math_block):
        try:
            return as_text(node.astext())
        except ValueError:  # of which the page's own formula has warned
            return ""
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
