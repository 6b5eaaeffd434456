"""A JupyterHub for a class: one server, Unix users, nbgrader's exchange. README.md says how to set it up.

Settings of your own go into /etc/jupyterhub/jupyterhub_config.py, which loads this file first.
"""

import os
import pwd
import shutil
import sys
from grp import getgrall
from pathlib import Path

c = get_config()  # noqa: F821  (JupyterHub defines it)
HERE = Path(__file__).resolve().parent
JUPYTERLAB = HERE.parents[1] / "tools" / "jupyterlab"  # its README says who sees what
BIN = Path(sys.executable).parent

STUDENTS, INSTRUCTORS = "anatomy-students", "anatomy-instructors"
"""The Unix groups that decide who may log in, and as what."""
COURSE = "transformer-anatomy"
"""The course's folder in its instructor's home: source/, the gradebook, what was collected."""

# ---- who may log in, and who teaches: Unix users and groups, looked up at each login ---------------------------------
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {STUDENTS, INSTRUCTORS}
c.Authenticator.manage_groups = True


def with_unix_groups(authenticator, handler, authentication):
    """The hub's groups of a user are those of the two above that Unix says."""
    groups = [group.gr_name for group in getgrall() if authentication["name"] in group.gr_mem]
    return {**authentication, "groups": [name for name in groups if name in (STUDENTS, INSTRUCTORS)]}


c.Authenticator.post_auth_hook = with_unix_groups

# ---- everybody's server: a process of that Unix user -----------------------------------------------------------------
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(BIN / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120  # thirty people who log in at nine share the processors
c.Spawner.environment = {
    "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",  # one answer is small; thirty kernels with as many threads each as there are cores are not
    "JUPYTER_PATH": str(JUPYTERLAB / "data"),
    "ANATOMY_EXCHANGE": "/srv/anatomy-exchange",
    "ANATOMY_CLASS_EDITION": "",  # a folder: students' kernels import the package from there (README.md)
    "ANATOMY_JUDGE": "",  # an address: students' checks ask there (README.md); an instructor's judge by themselves
}


def by_group(spawner):
    """Students see neither Formgrader nor Create Assignment. An instructor's commands and Formgrader know the course,
    and use its own copy of the package, so that answers and grading always fit together.
    """
    teaches = INSTRUCTORS in {group.name for group in spawner.user.groups}
    if teaches:
        roles = [HERE / "instructors", JUPYTERLAB / "instructor"]
    else:
        roles = [JUPYTERLAB / "exchange", JUPYTERLAB / "student"]
    settings = [*roles, HERE / "everybody"]
    course = Path(pwd.getpwnam(spawner.user.name).pw_dir, COURSE)
    spawner.environment = {
        **spawner.environment,
        "JUPYTER_CONFIG_PATH": os.pathsep.join(map(str, settings)),
        "ANATOMY_COURSE": str(course) if teaches else "",
        "PYTHONPATH": str(course) if teaches else spawner.environment["ANATOMY_CLASS_EDITION"],
        "ANATOMY_JUDGE": "" if teaches else spawner.environment["ANATOMY_JUDGE"],
    }


c.Spawner.pre_spawn_hook = by_group

# ---- the hub itself: only the proxy is seen from outside -------------------------------------------------------------
c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # behind a web server that has the certificate
c.ConfigurableHTTPProxy.command = [shutil.which("configurable-http-proxy", path=f"{BIN}:/usr/local/bin:/usr/bin")]
c.JupyterHub.cookie_secret_file = "jupyterhub_cookie_secret"
c.JupyterHub.db_url = "sqlite:///jupyterhub.sqlite"
