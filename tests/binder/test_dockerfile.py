"""What repo2docker would write for a clean checkout, without building it: ours is in it, in order, and little else."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from repo2docker.app import Repo2Docker

from tests.binder.image import HOME, PREFIX, ROOT, USER, checkout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    checkout(folder)
    return folder


@pytest.fixture(scope="module")
def dockerfile(clone: Path) -> str:
    """As `jupyter-repo2docker --no-build --debug` prints it."""
    builder = Repo2Docker(repo=str(clone), platform="linux/amd64")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone)
        packs = (kind(base_image=builder.base_image) for kind in builder.buildpacks)
        pack = next(pack for pack in packs if pack.detect())
        pack.platform = builder.platform
        return pack.render({"NB_UID": "1000"})


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in found}


def test_our_files_make_the_environment_then_postbuild_then_start(dockerfile: str) -> None:
    steps = [
        "COPY --chown=1000:1000 src/ ${REPO_DIR}/",  # before what follows, which reads requirements.txt beside it
        'env update -p ${NB_PYTHON_PREFIX} --file ".binder/environment.yml"',
        "USER ${NB_USER}\n\n# Make sure that postBuild",
        "RUN ./.binder/postBuild",
        'ENV R2D_ENTRYPOINT="${REPO_DIR}/.binder/start"',
    ]
    places = [dockerfile.index(step) for step in steps]
    assert places == sorted(places)
    assert dockerfile.count("env update") == 1, "one environment, for the server and its kernels"
    assert re.search(r"COPY .* \S*environment-2epy-2d3-2e11-2dlinux-2d64-2elock\S* ", dockerfile), "Python 3.11"
    assert "ENV KERNEL_PYTHON_PREFIX=${NB_PYTHON_PREFIX}" in dockerfile
    paths = dockerfile.replace("${CONDA_DIR}", "${APP_BASE}/conda").replace("${APP_BASE}", "/srv")
    assert f"ENV NB_PYTHON_PREFIX={PREFIX}\n" in paths
    assert f"HOME={HOME}" in dockerfile.replace("${NB_USER}", USER) and "ARG REPO_DIR=${HOME}" in dockerfile


def test_what_these_steps_read_is_in_a_clean_checkout_and_nothing_of_a_class_is(clone: Path) -> None:
    for name in ("environment.yml", "requirements.txt", "postBuild", "start", "jupyter_config.json"):
        assert (clone / ".binder" / name).is_file()
    said = (clone / ".binder/postBuild").read_text("utf-8")
    settings = "tools/jupyterlab/student/labconfig/default_setting_overrides.json"
    for name in ("requirements-checkpoint.txt", settings, ".binder/jupyter_config.json"):
        assert name in said and (clone / name).is_file()
    assert not [name for name in (".venv", "submitted", "feedback", "gradebook.db", "test-results", ".anatomy")
                if (clone / name).exists()]  # fmt: skip


def test_no_package_is_there_for_tests_only_and_none_of_the_system_for_us(dockerfile: str) -> None:
    only_tests = pins("requirements-test.txt").keys() - pins("requirements.txt").keys()
    assert {"pytest", "playwright", "jupyterhub", "jupyter-repo2docker", "mypy"} <= only_tests
    assert not only_tests & pins(".binder/requirements.txt").keys()
    assert not (ROOT / ".binder/apt.txt").exists() and dockerfile.count("apt-get -qq install") == 2  # its own


def test_its_server_goes_with_what_we_pin() -> None:
    """The image has JupyterHub's server before our requirements are installed over it."""
    ours = pins(".binder/requirements.txt")
    needed = [Requirement(line) for line in metadata.requires("jupyterhub") or ()]
    shared = [one for one in needed if canonicalize_name(one.name) in ours]
    assert len(shared) > 5
    assert [str(one) for one in shared if ours[canonicalize_name(one.name)] not in one.specifier] == []
