"""Settings of the website. `make site` gathers its pages with `anatomy.authoring.site` and gives them to Sphinx."""

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

project = "Transformer Anatomy"
html_title = project
language = "en"

extensions = ["myst_nb", "mathml", "html_in_text", "tables", "excerpts", "sharing"]
exclude_patterns = ["downloads"]
nitpicky = True

# The notebooks are shown as they were saved; a solution is folded behind its cell's tag `hide-input`.
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # as text cells are: CommonMark has no tables
nb_code_prompt_show = "Show the solution"
nb_code_prompt_hide = "Hide the solution"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # guides link to each other's sections

html_theme = "sphinx_book_theme"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_favicon = str(HERE / "static/logo.svg")
html_show_search_summary = False  # it fetches pages, which browsers refuse for files: see `excerpts`
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": project, "image_light": html_favicon, "image_dark": html_favicon, "alt_text": ""},
    "use_download_button": False,  # the row below a notebook's title has the files
    "navbar_start": [],  # the sidebar has the title and the search
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": [],
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "footer_content_items": ["extra-footer.html"],
    "extra_footer": "<p>Text and figures: CC BY 4.0. Code: MIT.</p>",
}
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_use_index = False


def say_no_folder(app: Sphinx) -> None:
    """Sphinx would end with the folder that it wrote, which moves to its place afterwards."""
    app.builder.epilog = ""


def one_title(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The title of a page goes before that of the site; the front page has that one only."""
    if pagename == app.config.root_doc:
        context["docstitle"] = ""


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", one_title)
    app.connect("builder-inited", say_no_folder)
