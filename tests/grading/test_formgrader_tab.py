"""The class report's tab in Formgrader: on each of its pages, below any prefix; and what is behind it without marks."""

from __future__ import annotations

import pytest
from jinja2 import Environment, FileSystemLoader
from nbgrader.server_extensions.formgrader import handlers

from anatomy.classroom.grading.class_report.handler import report
from anatomy.classroom.grading.formgrader import extend_pages


@pytest.fixture(scope="module")
def environment():
    made = Environment(loader=FileSystemLoader([handlers.template_path]))
    extend_pages(made)
    return made


@pytest.mark.parametrize(
    "page", ["manage_assignments", "manage_submissions", "gradebook_assignments", "gradebook_notebooks",
             "gradebook_notebook_submissions", "manage_students", "manage_students_assignments"],
)  # fmt: skip
def test_each_page_has_the_tab_once_beside_its_own(environment, page):
    shown = environment.get_template(f"{page}.tpl").render(base_url="/hub/user/ada")
    assert shown.count('href="/hub/user/ada/anatomy/class-report"') == 1
    assert shown.count('href="/hub/user/ada/formgrader/manage_students"') >= 1


def test_without_an_exchange_the_list_of_assignments_says_what_to_do(environment):
    page = environment.get_template("manage_assignments.tpl")
    for lacks in ({"exchange_missing": True, "course_id": "anatomy"}, {"exchange_missing": False, "course_id": ""}):
        shown = page.render(base_url="", **lacks)
        assert "submitted/STUDENT/NOTEBOOK" in shown and "anatomy grade" in shown and 'id="warning' not in shown
    shown = page.render(base_url="", exchange_missing=False, course_id="anatomy")
    assert "no-exchange" not in shown and 'id="warning' not in shown
    windows = page.render(base_url="", exchange_missing=True, course_id="", windows=True)
    assert "warning-windows" in windows and "no-exchange" not in windows


def test_the_list_of_assignments_warns_of_generate(environment):
    for lacks in (True, False):
        shown = environment.get_template("manage_assignments.tpl").render(base_url="", exchange_missing=lacks)
        assert "Generate is not for this course" in shown and "git checkout notebooks" in shown


def test_a_course_without_marks_says_what_to_do(tmp_path, new_course):
    page = report(new_course(tmp_path / "<b>", "03-softmax"), anonymous=False, back="/user/ada/formgrader")
    assert "Grade first" in page and "anatomy grade" in page and "<b>" not in page
    assert 'href="/user/ada/formgrader"' in page
