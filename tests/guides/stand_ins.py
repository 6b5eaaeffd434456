"""What a guide's command is replaced by where a test can't run it, each with its reason. All others run as they stand.

A stand-in is no free pass: the command's program and options must exist, as those of every command (`commands.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class StandIn:
    """Commands that match `pattern` from their first character on are replaced by `run`; if that is empty, not run."""

    pattern: str
    reason: str
    run: str = ""


STAND_INS = (
    StandIn(r"git clone <", "the course lies at hand", 'ln -s "$COURSE" transformer-anatomy && cd transformer-anatomy'),
    StandIn(r"conda activate", "no conda here; an environment of the same packages", "source .venv/bin/activate"),
    StandIn(r"conda ", "no conda and no network; tests/test_house.py compares environment.yml with the lock file"),
    StandIn(r"(\.venv/bin/)?(python -m )?pip install|npm ", "no network; tests/test_house.py looks at the packages"),
    StandIn(r"course/bin/pip install|uvx ", "no wheel lies here; tests/test_start.py makes one and begins with it"),
    StandIn(r"course/bin/anatomy start", "what is installed", ".venv/bin/anatomy start ../transformers"),
    StandIn(r"course/bin/anatomy lab", "other guides open JupyterLab"),
    StandIn(r"(sudo|apt|apt-get) ", "needs the rights of an administrator"),
    StandIn(r"make (grade|build)$", "the whole course; the instructor guide's first class does it with one notebook",
            "make --dry-run {}"),
    StandIn(r"make test TEST_ARGS='tests/exercises -k row_lengths'", "the same tests, without workers",
            ".venv/bin/python -m pytest -q -p no:cacheprovider tests/exercises -k row_lengths"),
    StandIn(r"make (test|lint|bench|site|test-latest)\b", "this is what runs this test, or takes minutes",
            "make --dry-run {}"),
    StandIn(r"\.venv/bin/pre-commit install", "it would write into a repository's .git"),
    StandIn(r"\.venv/bin/anatomy serve .*--host ", "another address than this machine has; it is started without, too"),
    StandIn(r"(\S*/)?anatomy join ", "no judge listens; the key is stored all the same",
            "ANATOMY_JUDGE=http://127.0.0.1:9 .venv/bin/anatomy {}"),
    StandIn(r"(\S*/)?anatomy update ", "there is no downloaded file; tests/releasing/ has one"),
    StandIn(r"ls test-results/", "pictures that only browser tests take"),
)  # fmt: skip

SERVERS = (
    r"make lab\b|jupyter[ -]lab\b|(\.venv/bin/)?anatomy (lab\b|serve\b(?!.*--new-keys))|(\.venv/bin/)?jupyterhub\b"
)
"""Commands that stay up: started until they answer at the address that they print, then stopped; each once."""

ENDS_WITH = {
    r"\S*anatomy assemble": 2,  # no notebook holds an answer yet, which it says
}
"""Exit codes that are not 0, of commands that do what the guide says all the same."""


def stand_in(command: str) -> StandIn | None:
    return next((item for item in STAND_INS if re.match(item.pattern, command)), None)


def ends_with(command: str) -> int:
    return next((code for pattern, code in ENDS_WITH.items() if re.match(pattern, command)), 0)
