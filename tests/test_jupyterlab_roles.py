"""The configuration folders in tools/jupyterlab/: what of nbgrader each role sees, in the page and in the server."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager
from jupyterlab_server.config import get_federated_extensions, get_page_config
from jupyterlab_server.settings_utils import get_settings

LABEXTENSIONS = Path(sys.prefix, "share", "jupyter", "labextensions")
PAGE = {"menu", "create-assignment", "formgrader", "course-list", "assignment-list", "validate-assignment"}
SERVER = {"formgrader", "course_list", "assignment_list", "validate_assignment"}
SHOWN = {
    (): (PAGE, SERVER),
    ("student",): ({"validate-assignment"}, {"validate_assignment"}),
    ("exchange", "student"): (
        {"menu", "assignment-list", "validate-assignment"},
        {"assignment_list", "validate_assignment"},
    ),
}


@pytest.mark.parametrize("roles", SHOWN, ids="+".join)
def test_what_a_role_sees(roles, root, tmp_path, monkeypatch):
    folders = [str(root / "tools" / "jupyterlab" / role) for role in roles]
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", os.pathsep.join(folders))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    hidden = get_page_config([str(LABEXTENSIONS)])["disabledExtensions"]
    loaded = ExtensionConfigManager(read_config_path=jupyter_config_path()).get_jpserver_extensions()
    page, server = SHOWN[roles]
    assert page == {part for part in PAGE if f"@jupyter/nbgrader:{part}" not in hidden}
    assert server == {part for part in SERVER if loaded[f"nbgrader.server_extensions.{part}"]}


@pytest.mark.parametrize("role", ["student", "instructor"])
def test_nobody_is_asked_about_news(role, root, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(root / "tools" / "jupyterlab" / role))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    schemas, here = str(Path(sys.prefix, "share", "jupyter", "lab", "schemas")), str(tmp_path)
    found, _ = get_settings(here, schemas, here, "@jupyterlab/apputils-extension:notification")
    assert found["schema"]["properties"]["fetchNews"]["default"] == "false", "“none” means that JupyterLab asks"


def test_nbgrader_still_calls_its_parts_so():
    scripts = "".join(path.read_text("utf-8") for path in LABEXTENSIONS.glob("@jupyter/nbgrader/static/*.js"))
    assert all(f"nbgrader:{part}" in scripts for part in PAGE)


def test_a_wheel_and_a_checkout_have_the_same_extension(root):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    [(place, [files])] = project["tool"]["setuptools"]["data-files"].items()
    [found] = get_federated_extensions([str(root / "tools" / "jupyterlab" / "data" / "labextensions")]).values()
    assert place == f"share/jupyter/labextensions/{found['name']}"
    assert {path.name for path in root.glob(files)} == {"package.json", found["jupyterlab"]["_build"]["load"]}
