"""The class report in Formgrader: a Jupyter Server extension that adds a tab to its pages, and the page behind it.

On the list of assignments it also warns of *Generate*, and says what to do where there is no exchange.

It is enabled by name beside nbgrader's own, and does nothing on a server without Formgrader:

    c.ServerApp.jpserver_extensions = {"anatomy.classroom.grading.formgrader": True}    # jupyter_server_config.py
"""

from __future__ import annotations

import re
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, Environment, PrefixLoader

ADDRESS = "anatomy/class-report"
"""Where the report is, below the server's own address, which on a hub is the user's."""
TAB = '<li role="presentation"><a href="{{ base_url }}/%s">Class Report</a></li>'
"""In the same frame: JupyterLab shows Formgrader in one that may open no windows."""
SIDEBAR = "block sidebar"
ASSIGNMENTS = "manage_assignments.tpl"
NOTES = """
{% set lacks_exchange = exchange_missing or not course_id %}
{% set exchange_missing, course_id = false, true %}
{% block messages %}{{ super() }}
<div class="alert alert-warning" id="no-generate">
<b>Generate is not for this course</b>: it would remove files that lie beside a notebook, and change the notebook. What
students get is ready in <code>notebooks/</code>. After a change in <code>source/</code>, run
<code>anatomy build</code> in a terminal. If you have clicked it, <code>git checkout notebooks</code> takes that back. A
build that was not committed is taken back, too: then run <code>anatomy build</code> again.
</div>{% if lacks_exchange and not windows %}
<div class="alert alert-info" id="no-exchange">
There is no exchange here, and grading needs none. In a terminal (<i>File → New → Terminal</i>),
<code>anatomy collect NOTEBOOK ZIP</code> sorts a zip of Moodle or Canvas; without one, each student's file belongs at
<code>submitted/STUDENT/NOTEBOOK/NOTEBOOK.ipynb</code>. <code>anatomy grade</code> grades, and
<code>anatomy give-back NOTEBOOK ZIP</code> packs the pages of <code>feedback/</code> for the platform.
Releasing and collecting by a click is for classes on a JupyterHub.
</div>{% endif %}{% endblock %}"""


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    """Nothing yet: which extensions there are is known when all are loaded."""


async def _start_jupyter_server_extension(app: Any) -> None:
    if "nbgrader_formgrader" not in app.web_app.settings:
        return
    from anatomy.classroom.grading.class_report.handler import ReportHandler

    extend_pages(app.web_app.settings["nbgrader_jinja2_env"])
    address = f"{app.web_app.settings['base_url'].rstrip('/')}/{ADDRESS}"
    app.web_app.add_handlers(".*$", [(re.escape(address), ReportHandler)])


def extend_pages(environment: Environment) -> None:
    """Give each of Formgrader's pages that has tabs one more, and the list of assignments notes of our own.

    nbgrader's templates stay, each extended by one of ours.
    """
    theirs = environment.loader
    assert theirs is not None
    with_tabs = [name for name in theirs.list_templates() if SIDEBAR in theirs.get_source(environment, name)[0]]
    tab = TAB % ADDRESS
    ours = {
        name: f"{{% extends 'nbgrader/{name}' %}}{{% block sidebar %}}{{{{ super() }}}}{tab}{{% endblock %}}"
        for name in with_tabs
    }
    ours[ASSIGNMENTS] += NOTES
    environment.loader = ChoiceLoader([DictLoader(ours), PrefixLoader({"nbgrader": theirs}), theirs])
