"""Where the judge is that checks answers for a class, and the key by which it knows a student."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from anatomy.engine.checking.home import home
from anatomy.engine.class_edition import class_edition
from anatomy.engine.errors import UserError
from anatomy.engine.typed import anatomy_command

JUDGE = "ANATOMY_JUDGE"
"""The environment variable with the judge's address; else it stands in the edition for a class."""

KEY = "ANATOMY_KEY"
"""The environment variable with the key; else it is what `anatomy join` stored, or on a JupyterHub the hub's token."""

LOCAL = ("localhost", "127.0.0.1", "::1")


def class_judge() -> str:
    """The address of the judge, without a slash at its end; empty where answers are judged here."""
    edition = class_edition()
    return (os.environ.get(JUDGE) or (edition.judge if edition else "")).rstrip("/")


def key_file() -> Path:
    """Where `anatomy join` keeps keys: one small JSON file, a judge's address → the key for it."""
    return home() / "judge.json"


def key_for(address: str) -> str:
    """The key to show to the judge at this address; empty where there is none.

    The hub's token opens the student's own server, too. So it is shown only to a judge of this hub: one that the
    environment names, as the hub's operator does, or that has the hub's own address.
    """
    if key := os.environ.get(KEY) or _stored().get(address):
        return key
    is_of_hub = bool(os.environ.get(JUDGE)) or urlsplit(address).hostname in _hub()
    return os.environ.get("JUPYTERHUB_API_TOKEN", "") if is_of_hub else ""


def joined_judges() -> list[str]:
    """The addresses of the judges for which `anatomy join` has stored a key, the last one last."""
    return list(_stored())


def is_key_set() -> bool:
    """Whether the environment holds the key: one that is stored is not looked at then."""
    return bool(os.environ.get(KEY))


def command_for_key() -> str:
    """What to type in a terminal so that another key counts."""
    return f"export {KEY}=KEY" if is_key_set() else f"{anatomy_command()} join KEY"


def is_private(address: str) -> bool:
    """Whether nobody on the way can read what is sent to this address: over TLS, on this machine or inside the hub."""
    parts = urlsplit(address)
    return parts.scheme == "https" or parts.hostname in LOCAL or parts.hostname in _hub()


def store_key(address: str, key: str) -> Path:
    """Keep the key for the judge at this address; only this user can read the file.

    Raises
    ------
    UserError
        When it can't be written.
    """
    path = key_file()
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(fresh, "w", encoding="utf-8", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
            json.dump({**_stored(), address: key}, file, indent=1)
        fresh.replace(path)
    except OSError as error:
        raise UserError(f"{path} can't be written ({error.strerror}): set {KEY} to your key instead.") from error
    return path


def _stored() -> dict[str, str]:
    """Address → key. What can't be read counts as not stored."""
    try:
        content = json.loads(key_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {address: key for address, key in content.items() if isinstance(key, str)}


def _hub() -> set[str | None]:
    """The hosts by which this server knows its hub."""
    names = ("JUPYTERHUB_API_URL", "JUPYTERHUB_PUBLIC_HUB_URL", "JUPYTERHUB_HOST")
    return {urlsplit(value).hostname for name in names if (value := os.environ.get(name))} - {None}
