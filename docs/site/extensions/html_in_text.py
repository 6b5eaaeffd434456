"""HTML in a text cell, such as a folded hint: JupyterLab reads formulas in it, and links lead to it."""

from docutils import nodes
from mathml import mathml
from sphinx.application import Sphinx

from anatomy.authoring.formulas import IN_HTML as FORMULA


def complete(app: Sphinx, doctree: nodes.document) -> None:
    """Draw its formulas, and write down the names of its place, which docutils gives to no HTML."""
    for node in doctree.findall(nodes.raw):
        html = node.astext()
        if html.startswith("<details"):
            html = FORMULA.sub(lambda found: mathml(found[1], location=node), html)  # noqa: B023
        places = "".join(f'<span id="{name}"></span>' for name in node.get("ids", ()))
        node.children = [nodes.Text(places + html)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
