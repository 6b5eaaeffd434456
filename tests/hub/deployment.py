"""A server as deploy/jupyterhub/README.md describes it, in a folder: Unix users, an installation, a hub."""

from __future__ import annotations

import contextlib
import grp
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = {"teacher": "anatomy-instructors", "ada": "anatomy-students", "ben": "anatomy-students"}
PASSWORD = "a class of three"
SPAWN = """
import json, sys
from types import SimpleNamespace
from traitlets.config import Config
file, user, group = sys.argv[1:]
config = Config()
def load_subconfig(file):
    scope = {"get_config": lambda: config, "load_subconfig": load_subconfig, "__file__": file}
    exec(compile(open(file).read(), file, "exec"), scope)
load_subconfig(file)
somebody = SimpleNamespace(name=user, groups=[SimpleNamespace(name=group)])
spawner = SimpleNamespace(environment=config.Spawner.environment, user=somebody)
config.Spawner.pre_spawn_hook(spawner)
print(json.dumps(spawner.environment))
"""
"""Prints the variables that the hub's configuration gives a user's server."""


def python_for_everyone() -> str | None:
    """A Python of this version that any user can run, or None."""
    candidates = [os.path.realpath(sys.executable), f"/usr/bin/python3.{sys.version_info.minor}"]
    asks = [["runuser", "-u", "nobody", "--", path, "-c", "import ssl, sqlite3, venv"] for path in candidates]
    runs = (path for path, ask in zip(candidates, asks, strict=True) if _succeeds(ask))
    return next(runs, None)


def spawned(python: Path, settings: Path, user: str, group: str) -> dict[str, str]:
    """The variables that a hub with this configuration, run by this Python, gives a user's server."""
    asks = [str(python), "-c", SPAWN, str(settings), user, group]
    given: dict[str, str] = json.loads(subprocess.run(asks, capture_output=True, text=True, check=True).stdout)
    return given


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, cwd="/", capture_output=True, check=False).returncode == 0


class Deployment:
    """The folders of a server, and what its people do outside the browser."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin, self.program, self.exchange = folder / "venv/bin", folder / "srv", folder / "exchange"
        self.edition = folder / "srv-class"
        """What students import where answers stay with the instructor."""
        self.state = folder / "state"
        self.settings = self.state / "jupyterhub_config.py"
        self.users = {name: f"{name}-{os.getpid()}" for name in PEOPLE}

    def home(self, name: str) -> Path:
        return self.folder / "home" / name

    @property
    def course(self) -> Path:
        return self.home("teacher") / "transformer-anatomy"

    def install(self, python: str) -> None:
        """What is installed for these tests, for every user: an environment of its own that borrows the packages."""
        subprocess.run([python, "-m", "venv", "--without-pip", self.bin.parent], check=True)
        for name in ("share", "etc"):
            (self.bin.parent / name).symlink_to(Path(sys.prefix, name))
        for name in ("alembic", "anatomy", "jupyter", "jupyterhub", "jupyterhub-singleuser", "nbgrader"):
            script = Path(sys.prefix, "bin", name).read_text("utf-8").split("\n", 1)[1]
            (self.bin / name).write_text(f"#!{self.bin / 'python'}\n{script}", encoding="utf-8")
            (self.bin / name).chmod(0o755)
        packages = self.bin.parent / f"lib/python3.{sys.version_info.minor}/site-packages"
        (packages / "these.pth").write_text(f"{self.program}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        for name in ("anatomy", "deploy", "tools"):
            shutil.copytree(ROOT / name, self.program / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.state.mkdir(mode=0o700)
        self.configure()

    def configure(self, more: str = "") -> None:
        """The file that the README has an operator write; `more` stands below it."""
        self.settings.write_text(
            f"""load_subconfig({str(self.program / "deploy/jupyterhub/jupyterhub_config.py")!r})
c = get_config()
c.Spawner.environment["ANATOMY_EXCHANGE"] = {str(self.exchange)!r}
{more}""",
            encoding="utf-8",
        )

    def make_exchange(self) -> None:
        """The commands of the README, word for word but for the folder and the name."""
        here = {"/srv/anatomy-exchange": str(self.exchange), " teacher ": f" {self.users['teacher']} "}
        readme = (self.program / "deploy/jupyterhub/README.md").read_text("utf-8")
        for command in re.findall(r"^sudo (install .*/srv/anatomy-exchange.*)$", readme, flags=re.MULTILINE):
            for theirs, ours in here.items():
                command = command.replace(theirs, ours)
            subprocess.run(shlex.split(command), check=True)

    def environment(self, name: str) -> dict[str, str]:
        """That of somebody's server, as the hub's configuration makes it."""
        given = spawned(self.bin / "python", self.settings, self.users[name], PEOPLE[name])
        return {"HOME": str(self.home(name)), "USER": self.users[name], "LANG": "C.UTF-8", **given}

    def run(self, name: str, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A command in the terminal of somebody's server."""
        account, environment = pwd.getpwnam(self.users[name]), self.environment(name)
        program = shutil.which(command[0], path=environment["PATH"]) or command[0]
        return subprocess.run(
            [program, *command[1:]], cwd=cwd or self.home(name), env=environment, user=account.pw_uid,
            group=account.pw_gid, extra_groups=[], text=True, capture_output=True, check=False,
        )  # fmt: skip


@contextlib.contextmanager
def people(deployment: Deployment) -> Iterator[None]:
    """Unix users and groups, for as long as this lasts."""
    there = {group.gr_name for group in grp.getgrall()}
    new_groups = sorted(set(PEOPLE.values()) - there)
    for group in new_groups:
        subprocess.run(["groupadd", group], check=True)
    try:
        (deployment.folder / "home").mkdir()
        for name, group in PEOPLE.items():
            home = str(deployment.home(name))
            account = ["--create-home", "--home-dir", home, "--key", "HOME_MODE=0700", "--shell", "/bin/bash"]
            subprocess.run(["useradd", *account, "--user-group", "--groups", group, deployment.users[name]], check=True)
        words = "".join(f"{user}:{PASSWORD}\n" for user in deployment.users.values())
        subprocess.run(["chpasswd"], input=words, text=True, check=True)
        yield
    finally:
        for user in deployment.users.values():
            subprocess.run(["userdel", "--force", user], check=False, capture_output=True)
        for group in new_groups:
            subprocess.run(["groupdel", group], check=False, capture_output=True)


@contextlib.contextmanager
def hub(deployment: Deployment, more: str = "") -> Iterator[str]:
    """The address of a running hub.

    Parameters
    ----------
    more
        What stands below the rest of its configuration.
    """
    port, api, proxy = free_ports(3)
    address = f"http://127.0.0.1:{port}"
    state = deployment.state
    deployment.configure(f"""
c.JupyterHub.bind_url = "{address}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.ConfigurableHTTPProxy.command = [{shutil.which("configurable-http-proxy", path=proxy_path())!r}]
c.Spawner.args = ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"]
{more}""")
    command = ["setpriv", "--pdeathsig", "TERM"]  # it ends, and all that it started, however this process ends
    command += [str(deployment.bin / "jupyterhub"), "--config", str(deployment.settings)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(state), "LANG": "C.UTF-8"}
    with (state / "hub.log").open("w") as log:
        process = subprocess.Popen(command, cwd=state, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        while True:  # as long as it is starting; pytest's own limit ends what hangs
            try:
                urllib.request.urlopen(f"{address}/hub/login", timeout=10)
                break
            except (URLError, OSError):
                assert process.poll() is None, (state / "hub.log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)  # ends the proxy and everybody's servers, too
        process.wait()


def proxy_path() -> str:
    return os.pathsep.join([str(Path(sys.prefix, "bin")), "/usr/local/bin", "/usr/bin"])


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
