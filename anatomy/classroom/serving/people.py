"""Who asks: the keys of a file, or a JupyterHub's users."""

from __future__ import annotations

import hashlib
import hmac
import importlib
import ipaddress
import os
import secrets
import shlex
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tornado.web import RequestHandler

from anatomy.engine.errors import UserError
from anatomy.engine.typed import typed

INSTRUCTOR = "(instructor)"
"""How the name of an instructor ends in a file of keys."""

INSTRUCTORS = "anatomy-instructors"
"""The group of a JupyterHub whose members are instructors, as its admins are."""


class NoKeys(UserError):
    """Nobody is named who may ask. The message says how."""

    def __init__(self) -> None:
        first, then = typed('serve --new-keys keys.txt Ada Alan "Grace (instructor)"'), typed("serve --keys keys.txt")
        super().__init__(f"Say who may ask this judge. Make a key for each of them:\n    {first}\nThen:\n    {then}")


class BadKeys(UserError):
    """A file of keys can't be used."""


class CannotTell(Exception):
    """Who somebody is can't be found out at the moment."""


@dataclass(frozen=True)
class Person:
    name: str
    is_instructor: bool = False


class People(Protocol):
    """Knows people by their keys. `are_at_hand` tells whether it does so without asking another service."""

    are_at_hand: bool

    async def person(self, key: str) -> Person | None:
        """Whose key this is, or None. Raises `CannotTell`."""


class IsInstructor(Protocol):
    """Tells whether an instructor asks for a page. Where not, it has answered the request: with a refusal, or a login.

    What the page itself asks for later gets no `login`: nobody would see it.
    """

    def __call__(self, handler: RequestHandler, *, login: bool) -> Awaitable[bool]: ...


class Keys:
    """The people of a file, in which each line is a key and a name; an instructor's name ends in "(instructor)".

    `has_instructor` tells whether one of them is.

    Raises
    ------
    BadKeys
        When there is no such file, others than its owner may read it, or a line is not of that form.
    """

    are_at_hand = True

    def __init__(self, path: Path) -> None:
        known = read_keys(path)
        self._known = {hashlib.sha256(key.encode()).digest(): person for key, person in known.items()}
        self.has_instructor = any(person.is_instructor for person in known.values())

    async def person(self, key: str) -> Person | None:
        asked, found = hashlib.sha256(key.encode("utf-8", "replace")).digest(), None
        for digest, person in self._known.items():  # all of them, each in the same time
            if hmac.compare_digest(digest, asked):
                found = person
        return found


def is_local(host: str) -> bool:
    """Whether this name or address is this machine's for itself."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def read_keys(path: Path) -> dict[str, Person]:
    """Key → person. Raises `BadKeys`."""
    try:
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeys(f"{path} can't be read: `anatomy serve --new-keys {path} NAMES` makes one.") from error
    if os.name == "posix" and mode & 0o077:  # elsewhere these bits say nothing
        raise BadKeys(f"Others on this machine can read the keys in {path}. Run: chmod 600 {shlex.quote(str(path))}")
    known: dict[str, Person] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, _, name = line.strip().partition(" ")
        if not line.strip() or key.startswith("#"):
            continue
        if len(key) < 16 or not name.strip():
            raise BadKeys(f"{path}, line {number}: a key of 16 letters or more, then a name is needed.")
        if (first := lines.setdefault(key, number)) != number:
            raise BadKeys(
                f"{path}, line {number}: line {first} has this key already. Delete one of them; --new-keys makes "
                "another key for its name."
            )
        bare = name.strip().removesuffix(INSTRUCTOR).strip()
        known[key] = Person(bare, name.strip().endswith(INSTRUCTOR))
    if not known:
        raise BadKeys(f"{path} holds no keys: `anatomy serve --new-keys {path} NAMES` adds some.")
    return known


def add_keys(path: Path, names: Iterable[str]) -> dict[str, str]:
    """Add a key for each of these names to a file, which is made if need be; who is in it keeps theirs.

    Returns
    -------
    dict
        Name → key, of the new ones.

    Raises
    ------
    BadKeys
        When there is no name, a name has a key already, or the file can't be used.
    """
    names = [" ".join(name.split()) for name in names]
    if not names:
        command = typed(f'serve --new-keys {shlex.quote(str(path))} Ada Alan "Grace (instructor)"')
        raise BadKeys(f"Say who gets a key:\n    {command}\nA name with {INSTRUCTOR} behind it sees the live view.")
    there = {person.name for person in read_keys(path).values()} if path.exists() else set()
    for index, name in enumerate(names):
        bare = name.removesuffix(INSTRUCTOR).strip()
        if not bare or bare in there:
            raise BadKeys(f"{name!r} has a key already, or is no name. To give a new one, delete the line in {path}.")
        there.add(bare)
        names[index] = f"{bare} {INSTRUCTOR}" if name.endswith(INSTRUCTOR) else bare
    made = {name: secrets.token_hex(16) for name in names}
    try:
        with open(path, "a+", encoding="utf-8", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
            file.seek(0)
            gap = "\n" if (before := file.read()) and not before.endswith("\n") else ""
            file.write(gap + "".join(f"{key} {name}\n" for name, key in made.items()))
    except OSError as error:
        raise BadKeys(f"{path} can't be written: {error.strerror}.") from error
    return made


class Hub:
    """The users of the JupyterHub that runs this service; it is asked, and its word kept for a minute.

    Raises
    ------
    UserError
        When JupyterHub is not installed here.
    """

    are_at_hand = False

    def __init__(self) -> None:
        try:
            services = importlib.import_module("jupyterhub.services.auth")  # optional
        except ImportError as error:
            raise UserError("JupyterHub is not installed here: pip install jupyterhub") from error
        self.auth: Any = services.HubOAuth.instance(cache_max_age=60)
        self.callback: Any = services.HubOAuthCallbackHandler

    async def person(self, key: str) -> Person | None:
        if not (key and key.isascii() and key.isprintable()):
            return None  # no header can take it to the hub
        try:
            return self.known(await self.auth.user_for_token(key, sync=False))
        except Exception as error:  # whatever kept the hub from answering
            raise CannotTell from error

    def known(self, user: dict[str, Any] | None) -> Person | None:
        """The person that the hub describes, if they may use this service."""
        if not user or user.get("kind", "user") != "user" or not self.auth.check_scopes(self.auth.access_scopes, user):
            return None
        return Person(user["name"], bool(user.get("admin")) or INSTRUCTORS in user.get("groups", ()))
