"""Tests of one exercise run in one process, which observes the reference and the mistakes once for all."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        values = getattr(item, "callspec", None)
        if values and item.path.parent.name == "exercises":
            subject = values.params.get("exercise") or values.params.get("wrong")
            name = getattr(subject, "exercise", None) or getattr(subject, "name", "exercises")
            item.add_marker(pytest.mark.xdist_group(str(name)))
