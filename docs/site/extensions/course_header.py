"""The buttons above a notebook: download it, or open it elsewhere when it is known where the course's repository is."""

from pathlib import PurePosixPath
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from anatomy.authoring.launch_links import Fork
from anatomy.wiring import the_course

BOOKS = {f"notebooks/{book.slug}/{book.slug}": book for book in the_course().notebooks}


def group(label: str, icon: str, tooltip: str, buttons: list[dict[str, str]]) -> dict[str, Any]:
    """One button of the theme that opens a list."""
    return {"type": "group", "label": label, "icon": f"fas {icon}", "tooltip": tooltip, "buttons": buttons}


def link(label: str, url: str, text: str, tooltip: str, icon: str) -> dict[str, str]:
    return {"type": "link", "label": label, "url": url, "text": text, "tooltip": tooltip, "icon": f"fas {icon}"}


def add_buttons(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put this course's buttons before the theme's."""
    if pagename not in BOOKS:
        return
    book, file = BOOKS[pagename], f"{PurePosixPath(pagename).name}.ipynb"
    found = []
    if app.config.course_repository:
        fork = Fork(app.config.course_repository, app.config.course_branch)
        found.append(group("launch-buttons", "fa-rocket", "Work on it now", [
            link("launch-binder", fork.binder(book), "Binder", "Open the notebook on Binder", "fa-play"),
            link("launch-colab", fork.colab(book), "Colab", "Open the notebook on Colab", "fa-play"),
        ]))  # fmt: skip
    editions = [
        ("to-work-in", "To work in (.ipynb)", "The notebook without its solutions", "fa-pen"),
        ("solved", "Solved (.ipynb)", "The notebook with solutions and outputs", "fa-check"),
    ]
    found.append(group("download-buttons", "fa-download", "Download the notebook", [
        link(f"download-{folder}", context["pathto"](f"{folder}/{file}", 1), text, tooltip, icon)
        for folder, text, tooltip, icon in editions
        if (app.srcdir / "downloads" / folder / file).is_file()
    ]))  # fmt: skip
    context["header_buttons"][:0] = found


def tell_the_theme(app: Sphinx, config: Config) -> None:
    """The files to download; and the theme's own link to the repository, when there is one."""
    config.html_extra_path = [str(app.srcdir / "downloads")]
    if config.course_repository:
        options = {"repository_url": f"https://github.com/{config.course_repository}", "use_repository_button": True}
        config.html_theme_options = {**config.html_theme_options, **options}


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_repository", "", "html")
    app.add_config_value("course_branch", "main", "html")
    app.connect("config-inited", tell_the_theme)
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
