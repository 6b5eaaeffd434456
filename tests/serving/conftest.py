"""One service for all tests of it: its worker has to import torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anatomy.classroom.serving.people import Keys, add_keys
from anatomy.classroom.serving.rates import Losses, Users
from anatomy.engine.checking import HAND_OVER, calling, joining
from anatomy.engine.observing import GRADING_SEED
from tests.serving.service import Running, running


@pytest.fixture(scope="session")
def keys_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.txt"
    add_keys(path, ["Ada Lovelace", "Alan", "Grace Hopper (instructor)"])
    return path


@pytest.fixture(scope="session")
def keys(keys_file: Path) -> dict[str, str]:
    """First name → key."""
    lines = keys_file.read_text(encoding="utf-8").splitlines()
    return {line.split()[1]: line.split()[0] for line in lines}


@pytest.fixture(scope="session")
def one_service(keys_file: Path) -> Iterator[Running]:
    async def rest(slug: str) -> None:
        """It does not get ready for anything: who stops its worker would stop it at that."""

    with running(Keys(keys_file), workers=1) as here:
        here.service.workers.want = rest  # type: ignore[method-assign]
        yield here


@pytest.fixture
def judge(one_service: Running) -> Running:
    """The service, with nothing counted and noted yet."""
    one_service.service.users, one_service.service.losses = Users(), Losses()
    one_service.room.noted.clear()
    return one_service


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A student's own machine: no hub, no judge and no key yet."""
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.setattr(calling, "SECONDS", 60.0)  # a busy machine
    hub = ("JUPYTERHUB_API_TOKEN", "JUPYTERHUB_API_URL", "JUPYTERHUB_PUBLIC_HUB_URL", "JUPYTERHUB_HOST")
    for name in (joining.JUDGE, joining.KEY, *hub, GRADING_SEED, HAND_OVER):
        monkeypatch.delenv(name, raising=False)
