"""nbgrader's exchange on a machine that students share: what they can write there is not believed.

Every student may put folders into the inbox, under any name, and change them until they are collected. nbgrader's own
collector warns of a folder whose owner is not the student whom it names, and takes it; it follows links, with the
instructor's rights; and it stops at the first name that it can't read, for the whole class.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback

DEEPEST, MOST_FILES = 8, 1000
"""Folders within folders, and files, that are taken along; what is beyond stays in the inbox."""
AFTERWARDS = 300
"""Seconds that a submission may take to arrive. What changes later is said to the instructor."""
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"


class Collect(ExchangeCollect):
    """Takes a submission from the student whom it names only, and files that are that student's own, no links."""

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """What a folder's name says, with no name of a student if it must not be collected."""
        try:
            record = super()._path_to_record(path)
            owner = _owner(path)
            if record["username"] == owner:
                return record
            self.log.warning("Not collected: %s is %s's, not %s's.", path, owner, record["username"])
        except Exception as error:  # dateutil has several for what is no date
            self.log.warning("Not collected: %s: %s", path, error)
        return {"username": "", "filename": os.path.basename(path), "timestamp": datetime.min}

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy what the student owns, and say what is left out; then write down when it was handed in."""
        room = 1000 * self.coursedir.max_dir_size
        handed_in = self._path_to_record(src)["timestamp"]
        changed, files = 0.0, 0
        for folder, name, handle in self._own_files(src):
            with open(handle, "rb") as file:
                content = file.read(room + 1)
                changed = max(changed, os.fstat(handle).st_ctime)
            files += 1
            if len(content) > room or files > MOST_FILES:
                self.log.warning("Left out: %s (too large, or too many files)", os.path.join(folder, name))
                continue
            room -= len(content)
            place = Path(dest, os.path.relpath(folder, src), name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        late = changed - handed_in.replace(tzinfo=UTC).timestamp()
        if late > AFTERWARDS:
            self.log.warning("%s was changed %.0f minutes after the time that its name says.", src, late / 60)
        Path(dest).mkdir(parents=True, exist_ok=True)
        Path(dest, TIMESTAMP).write_text(f"{handed_in:%Y-%m-%d %H:%M:%S.%f} UTC", encoding="utf-8")
        if not _is_text(Path(dest, SECRET)):  # without one, releasing would stop here; nobody can fetch by this one
            Path(dest, SECRET).write_text(secrets.token_hex(64), encoding="utf-8")

    def _own_files(self, src: str) -> Iterator[tuple[str, str, int]]:
        """Folder, name and an open handle of each file that is the student's. The handle is what was looked at."""
        owner = os.lstat(src).st_uid
        for folder, subfolders, names, at in os.fwalk(src):
            deep = len(Path(folder).relative_to(src).parts) >= DEEPEST
            names = [name for name in names if not self._is_ignored(name)]
            subfolders[:] = [
                name for name in subfolders if not (deep or self._is_ignored(name) or name in (TIMESTAMP, SECRET))
            ]
            for name in names:
                try:
                    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
                except OSError as error:
                    self.log.warning("Left out: %s (%s)", os.path.join(folder, name), error.strerror)
                    continue
                status = os.fstat(handle)
                if stat.S_ISREG(status.st_mode) and status.st_uid == owner:
                    yield folder, name, handle
                else:
                    os.close(handle)
                    self.log.warning("Left out: %s (not a file of the student's own)", os.path.join(folder, name))

    def _is_ignored(self, name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in self.coursedir.ignore)


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Passes on the pages of work that came through the exchange; nbgrader's own stops at the first that did not."""

    def copy_files(self) -> None:
        pages = Path(self.coursedir.format_path(self.coursedir.feedback_directory, "*", self.coursedir.assignment_id))
        came_otherwise = {
            folder.parent.name
            for folder in Path(self.coursedir.root).glob(str(pages.relative_to(self.coursedir.root)))
            if not all((folder / name).is_file() for name in (TIMESTAMP, SECRET))
        }
        for student in sorted(came_otherwise):
            self.log.warning("%s did not hand in through the exchange: give the page in feedback/ yourself.", student)
        excluded = {*filter(None, self.coursedir.student_id_exclude.split(",")), *came_otherwise}
        self.coursedir.student_id_exclude = ",".join(sorted(excluded))
        super().copy_files()


def _owner(path: str) -> str:
    """The name of a folder's owner. A link is nobody's folder."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError("not a folder")
    import pwd  # not on Windows, where nothing is collected, but where this module is imported, too

    try:
        return pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return f"user {status.st_uid}"


def _is_text(path: Path) -> bool:
    try:
        return bool(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False
