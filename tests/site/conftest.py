"""The website, made once: all that is tested of it as pages is tested of the same folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from anatomy.authoring.site import build
from tests.browser.conftest import chromium as chromium


@pytest.fixture(scope="session")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder. That it is there says: Sphinx had nothing to warn of, and every inner link leads somewhere."""
    folder = tmp_path_factory.mktemp("made") / "site"
    build(root, folder)
    return folder
