"""What travels between the one who grades a class and the workers: facts and files as bytes that hold no code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

FILES = "files/"
"""How the names of the files beside a notebook begin in a parcel."""


def pack(facts: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Facts, as JSON has them, and files as one parcel."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("facts", json.dumps(dict(facts)))
        for number, (name, content) in enumerate(files.items()):
            archive.writestr(f"{number}/{name}", content)
    return whole.getvalue()


def unpack(parcel: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What was packed."""
    with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
        facts = json.loads(archive.read("facts"))
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist() if name != "facts"}
    return facts, files


def ungraded(reason: str) -> bytes:
    """The result for a submission that no mark can be given for."""
    return pack({"ungraded": reason}, {})
