"""The report as Formgrader shows it: made when it is asked for, from what the gradebook says then."""

from __future__ import annotations

import asyncio
from datetime import datetime
from html import escape
from pathlib import Path

from nbgrader.server_extensions.formgrader.base import BaseHandler
from tornado import web

from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.pseudonyms import without_names
from anatomy.classroom.grading.class_report.questions import questions
from anatomy.classroom.grading.class_report.results import read_records
from anatomy.engine.errors import UserError

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
"""The page runs nothing and asks for nothing, whatever a student has written into it."""
NOTHING_YET = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Class report</title></head>'
    '<body><nav><a href="{}">← Formgrader</a></nav><h1>Class report</h1><p>{}</p></body></html>'
)


class ReportHandler(BaseHandler):
    """The class report on the course that Formgrader shows; with ``?anonymous`` numbers in place of names."""

    @property
    def content_security_policy(self) -> str:
        return POLICY

    @web.authenticated
    async def get(self) -> None:
        root, anonymous = Path(self.coursedir.root), self.get_argument("anonymous", None) is not None
        page = await asyncio.get_running_loop().run_in_executor(
            None, report, root, anonymous, f"{self.base_url}/formgrader/gradebook"
        )
        self.set_header("Cache-Control", "no-store")
        self.finish(page)


def report(root: Path, anonymous: bool, back: str) -> str:
    """The page, with a link back to Formgrader; where there is nothing to report on, one that says so."""
    try:
        records = read_records(root)
        if anonymous:
            records = without_names(records, root)
        found = figures(records, questions(root))
    except UserError as reason:
        return NOTHING_YET.format(escape(back), escape(str(reason)))
    return as_html(found, datetime.now().astimezone(), anonymous=anonymous, back=back)
