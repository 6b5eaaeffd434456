"""Whether a command exists, with its options and what they take: asked of the programs' own parsers, not run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import typer
import typer.main
from guide import ROOT
from traitlets.utils.importstring import import_item

from anatomy import cli

PROGRAMS = Path(sys.executable).parent
UNFINISHED = r"Missing|requires an argument|does not exist"
"""What a parser says of a command that a sentence only mentions, or of a file that its reader will have."""
SYSTEM = (
    "adduser|apt|apt-get|cat|cd|chmod|chown|conda|cp|createdb|createuser|crontab|curl|diff|docker|du|echo|export|find|git|"
    "grep|groupadd|install|journalctl|less|ln|ls|mkdir|mv|npm|npx|openssl|passwd|pg_dump|printf|psql|rm|rsync|runuser|scp|"
    "source|ssh|su|sudo|systemctl|tar|tee|ufw|unzip|useradd|usermod"
)
"""Programs of other people's systems: what they do is not ours to check."""


def problems(line: str) -> list[str]:
    """What is wrong with a command line: a program, target, subcommand or option that does not exist."""
    lexer = shlex.shlex(re.sub(r"<<.*", "", line, flags=re.DOTALL), posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    found, words = [], list[str]()
    try:
        for word in [*lexer, ";"]:
            if word and set(word) <= set("|&;"):
                found += _problems(words)
                words = []
            else:
                words.append(word)
    except ValueError as error:
        return [f"{error}: {line}"]
    return found


def _problems(words: list[str]) -> list[str]:
    while words and (words[0] in ("sudo", "exec", "nohup") or re.match(r"\w+=", words[0])):
        words = _after_options_of_sudo(words[1:]) if words[0] == "sudo" else words[1:]
    words = [word for word in words if word not in ("…", "...", "&")]
    if not words:
        return []
    program, rest = Path(words[0]).name, words[1:]
    if program == "anatomy":
        return _typer(typer.main.get_command(cli.app), rest, program)
    if program == "make":
        return _make(rest)
    if program == "nbgrader":
        return _nbgrader(rest)
    if program.startswith("python"):
        return _python(rest)
    if (PROGRAMS / program).exists():
        return _by_its_help(program, rest)
    if "/" in words[0]:
        ends = ["/".join(Path(words[0]).parts[start:]) for start in range(len(Path(words[0]).parts))]
        found = any((ROOT / end).is_file() for end in ends if not end.startswith("/"))
        return [] if found else [f"{words[0]} is neither in the repository nor in .venv"]
    return (
        []
        if re.fullmatch(SYSTEM, program) or shutil.which(program)
        else [f"nobody has heard of the program {program!r}"]
    )


def _after_options_of_sudo(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("--user", "-u", "--group", "-g") else words[1:]
    return words


_UsageError: Any = typer.BadParameter.__base__
"""Of what the parsers of Typer raise; it has no other public name."""


def _options(words: list[str]) -> list[str]:
    return [word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]


def _typer(command: Any, words: list[str], path: str) -> list[str]:
    if commands := getattr(command, "commands", None):
        if not words or words[0].startswith("-"):
            return []
        if words[0] not in commands:
            return [f"{path} has no command {words[0]!r}"]
        return _typer(commands[words[0]], words[1:], f"{path} {words[0]}")
    try:
        command.make_context(path, words)
    except typer.Exit:  # it printed its help
        return []
    except _UsageError as error:
        said = error.format_message()
        return [] if re.search(UNFINISHED, said) else [f"{path}: {said}"]
    return []


def _make(words: list[str]) -> list[str]:
    targets = re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    asked = [word for word in words if re.fullmatch(r"[a-z][\w-]*", word)]
    return [f"make has no target {target!r}" for target in asked if target not in targets]


def _nbgrader(words: list[str]) -> list[str]:
    from nbgrader.apps.nbgraderapp import NbGraderApp

    app, path = NbGraderApp(), "nbgrader"
    while app.subcommands and words and re.fullmatch(r"[a-z][\w-]*", words[0]):
        if words[0] not in app.subcommands:
            return [f"{path} has no command {words[0]!r}"]
        kind = app.subcommands[words[0]][0]
        app, path, words = (import_item(kind) if isinstance(kind, str) else kind)(), f"{path} {words[0]}", words[1:]
    names = [name for item in (*app.flags, *app.aliases) for name in ([item] if isinstance(item, str) else item)]
    asked = [option for option in _options(words) if "." not in option and option not in ("--help", "-h", "--help-all")]
    if unknown := [f"{path} has no option {option}" for option in asked if option.lstrip("-") not in names]:
        return unknown
    try:
        app.parse_command_line(words)
    except SystemExit:  # it printed why
        return [f"{path} does not take {' '.join(words)}"]
    return []


def _python(words: list[str]) -> list[str]:
    if words[:1] == ["-m"]:
        # not importlib.util's for pip: being asked for pip, setuptools takes its distutils away from this process
        find = importlib.util.find_spec if "." in words[1] else PathFinder.find_spec
        return [] if find(words[1]) else [f"there is no module {words[1]}"]
    scripts = [word for word in words if word.endswith(".py")]
    return [f"there is no {script}" for script in scripts if not (ROOT / script).is_file()]


def _by_its_help(program: str, words: list[str]) -> list[str]:
    """Long options must stand in the program's own help, or in that of its subcommand."""
    asked = [option for option in _options(words) if option.startswith("--") and "." not in option]
    if not asked:
        return []
    subcommands = tuple(word for word in words[:1] if re.fullmatch(r"[a-z][\w-]*", word))
    said = _help(program, *subcommands)
    return [f"{program} does not list the option {option}" for option in asked if option not in said]


@cache
def _help(program: str, *subcommands: str) -> str:
    asked = [PROGRAMS / program, *subcommands, "--help"]
    run = subprocess.run(asked, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    return run.stdout + run.stderr
