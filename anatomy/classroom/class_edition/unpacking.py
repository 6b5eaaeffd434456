"""A zip file that somebody was handed: whatever it is, it takes bounded memory and fails in a few known ways."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Self

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How files are packed; of other methods Python can't say how much memory they take."""


class Damaged(Exception):
    """It is no zip file, or not as it was written."""


class TooLarge(Exception):
    """It unpacks to more than is needed."""


class CannotUnpack(Exception):
    """It is packed in a way that is not known here, such as with a password. The message says which."""


class ZippedFiles:
    """A zip file that is open for reading.

    Raises
    ------
    Damaged, TooLarge, CannotUnpack
        When it is opened, or a file in it is read.
    OSError
        When the disk refuses.

    Parameters
    ----------
    most
        Bytes to which all its files together may unpack.
    """

    def __init__(self, path: Path, most: int) -> None:
        try:
            self._file = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, EOFError) as error:
            raise Damaged from error
        except NotImplementedError as error:
            raise CannotUnpack(error) from error
        if sum(info.file_size for info in self._file.infolist()) > most:
            self._file.close()
            raise TooLarge
        self.names = self._file.namelist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, name: str) -> bytes:
        """What this file in it holds; a `KeyError` if there is none."""
        info = self._file.getinfo(name)
        if info.compress_type not in METHODS:
            raise CannotUnpack(f"{name} is packed by method {info.compress_type}")
        try:
            with self._file.open(info) as file:
                return file.read(info.file_size)  # without the number it would unpack first, and cut then
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError) as error:
            raise Damaged from error
        except RuntimeError as error:  # a password is needed
            raise CannotUnpack(error) from error
