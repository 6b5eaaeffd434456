"""``notebooks/`` and ``solutions/`` are what ``source/`` gives, and every master is clean.

After a change in ``source/``: `anatomy lint`, then `anatomy build`, and commit the result with the change.
"""

from __future__ import annotations

import pytest

from anatomy.authoring.build import stale
from anatomy.authoring.course_pages import stale_pages
from anatomy.authoring.lint import lint
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import source_file


@pytest.fixture(params=COURSE.notebooks, ids=lambda notebook: notebook.slug)
def slug(request, root) -> str:
    """Each notebook that has a source."""
    if not source_file(root, request.param.slug).is_file():
        pytest.skip(f"{request.param.slug} has no source yet")
    return request.param.slug


def test_both_editions_are_fresh(root, slug):
    assert stale(root, [slug]) == [], f"run `anatomy build {slug}`"


def test_the_pages_made_of_all_notebooks_are_fresh(root):
    assert stale_pages(root) == [], (
        "run `anatomy build` (or, for these alone, `python -m anatomy.authoring.course_pages`)"
    )


@pytest.mark.slow
def test_the_master_is_clean(root, slug):
    found = [f"{finding.cell or 'notebook'}: {finding.rule}: {finding.advice}" for finding in lint(root, [slug])]
    assert found == [], f"`anatomy lint {slug}` shows this as a table"
