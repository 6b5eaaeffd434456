"""Files from Moodle, Canvas or a mailbox, sorted into submitted/ by nbgrader's zip collector, as the guide says."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.plugins.zipcollect import FileNameCollectorPlugin

from tests.hub.deployment import ROOT

SLUG = "03-softmax"
GUIDE = (ROOT / "docs/operator-guide.md").read_text(encoding="utf-8")
PATTERNS = re.findall(r'`c\.FileNameCollectorPlugin\.named_regexp = r"(.*)"`', GUIDE)
NAMES = {
    "ab123_03-softmax.ipynb": "ab123",
    "ab123/03-softmax.ipynb": "ab123",
    "doeadele_LATE_4711_815_03-softmax-1.ipynb": "doeadele",
    "Ada Doe_4711_assignsubmission_file/03-softmax.ipynb": "Ada Doe_4711",
}


@pytest.mark.parametrize(("pattern", "name"), zip(PATTERNS, NAMES, strict=True))
def test_each_pattern_of_the_guide_finds_who_and_what(pattern: str, name: str) -> None:
    assert name.split("/")[0].replace("_LATE", "") in GUIDE or name in GUIDE
    for slug in (SLUG, "14-since-gpt-2"):
        path = f"/course/downloaded/{slug}/extracted/class/{name.replace(SLUG, slug)}"
        found = FileNameCollectorPlugin(named_regexp=pattern).collect(path)
        assert found == {"student_id": NAMES[name], "file_id": slug}


def test_a_zip_of_a_class_is_sorted_into_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = (ROOT / "nbgrader_config.py").read_text("utf-8")
    (tmp_path / "nbgrader_config.py").write_text(
        f'{settings}\nc.FileNameCollectorPlugin.named_regexp = r"{PATTERNS[0]}"\n', encoding="utf-8"
    )
    released = tmp_path / "notebooks" / SLUG / f"{SLUG}.ipynb"
    archive = tmp_path / "downloaded" / SLUG / "archive" / "class.zip"
    for path in (released, archive):
        path.parent.mkdir(parents=True)
    released.write_text("{}")
    with zipfile.ZipFile(archive, "w") as file:
        for student in ("ab123", "cd456"):
            file.writestr(f"{student}_{SLUG}.ipynb", student)
        file.writestr("a picture of my cat.ipynb", "?")
    monkeypatch.chdir(tmp_path)
    collector = ZipCollectApp()
    monkeypatch.setattr("sys.path", [*sys.path])  # nbgrader adds the folder it is started in
    collector.initialize([SLUG, "--force"])
    collector.start()
    found = {str(path.relative_to(tmp_path / "submitted")) for path in (tmp_path / "submitted").rglob("*.ipynb")}
    assert found == {f"{student}/{SLUG}/{SLUG}.ipynb" for student in ("ab123", "cd456")}
