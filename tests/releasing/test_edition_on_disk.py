"""An edition as a folder and as a zip file; nobody's work is lost."""

from __future__ import annotations

import json
import os
import tracemalloc
import zipfile
from datetime import datetime, timedelta
from pathlib import PurePosixPath

import pytest

from anatomy.classroom.class_edition import on_disk
from anatomy.classroom.class_edition.on_disk import ABOUT, LIST, NotWritten, opened, update, write, write_zip, zipped

BOOK = PurePosixPath("notebooks/00-start-here/00-start-here.ipynb")
LATER = PurePosixPath("notebooks/01-embedding-lookup/01-embedding-lookup.ipynb")
CODE = PurePosixPath("anatomy/course.py")
SCRIPT = PurePosixPath("tools/setup.sh")
NOON = datetime(2026, 3, 2, 12)


def files(*books, code=b"1\n"):
    about = {"judge": "https://x.org", "notebooks": [book.stem for book in books]}
    more = {book: f'{{"cells": ["{book.stem}"]}}\n'.encode() for book in books}
    return {ABOUT: json.dumps(about).encode(), CODE: code, SCRIPT: b"#!/bin/sh\n", **more}


def held(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != str(LIST)
    }


def named(made):
    return {str(path): content for path, content in made.items()}


def test_files_from_a_zip_file_are_of_the_time_of_the_release_and_the_same_edition_is_the_same_file(tmp_path):
    path, made = tmp_path / "two.zip", files(BOOK)
    before = datetime.now() - timedelta(seconds=2)  # a zip file counts in steps of two
    write_zip(made, path)
    with zipfile.ZipFile(path) as file:
        assert all(before <= datetime(*info.date_time) <= datetime.now() for info in file.infolist())
    path.write_bytes(zipped(made, "two", NOON))
    write_zip(dict(reversed(made.items())), path)
    assert path.read_bytes() == zipped(made, "two", NOON)
    write_zip(files(BOOK, LATER), path)
    assert opened(path) == files(BOOK, LATER)


def test_a_folder_and_a_zip_file_hold_it_and_say_so_twice_the_same(tmp_path):
    made = files(BOOK)
    assert write(made, tmp_path / "one").files == len(made)
    write_zip(made, tmp_path / "two.zip")
    assert held(tmp_path / "one") == named(made) and os.access(tmp_path / "one" / SCRIPT, os.X_OK)
    assert opened(tmp_path / "one") == opened(tmp_path / "two.zip") == made
    assert zipped(made, "x", NOON) == zipped(dict(reversed(made.items())), "x", NOON)
    with zipfile.ZipFile(tmp_path / "two.zip") as file:
        assert {info.filename.partition("/")[0] for info in file.infolist()} == {"two"}
        assert file.getinfo(f"two/{SCRIPT}").external_attr >> 16 & 0o777 == 0o755
        file.extractall(tmp_path / "unpacked")
    assert opened(tmp_path / "unpacked") == made
    assert write(made, tmp_path / "one").files == 0


def test_the_next_release_replaces_the_former_one(tmp_path):
    write(files(BOOK) | {PurePosixPath("anatomy/old.py"): b""}, tmp_path)
    done = write(files(BOOK, LATER, code=b"2\n"), tmp_path)
    assert done.files == 3 and done.left == done.copies == []
    assert held(tmp_path) == named(files(BOOK, LATER, code=b"2\n"))


def test_what_somebody_worked_on_stays(tmp_path):
    write(files(BOOK) | {PurePosixPath("anatomy/old.py"): b""}, tmp_path)
    for path in (BOOK, CODE, PurePosixPath("anatomy/old.py")):
        (tmp_path / path).write_bytes(b"mine")
    (tmp_path / "notes.txt").write_bytes(b"mine, too")
    (tmp_path / LATER).parent.mkdir()
    (tmp_path / LATER).write_bytes(b"from a friend")
    done = write(files(BOOK, LATER, code=b"2\n"), tmp_path)
    assert done.left == [tmp_path / BOOK, tmp_path / LATER]
    assert [copy.read_bytes() for copy in done.copies] == [b"mine"] and (tmp_path / CODE).read_bytes() == b"2\n"
    now = held(tmp_path)
    assert now[str(BOOK)] == now["anatomy/old.py"] == b"mine" and now["notes.txt"] == b"mine, too"
    assert now[str(LATER)] == b"from a friend"
    assert write(files(BOOK, LATER, code=b"2\n"), tmp_path).left == [tmp_path / BOOK, tmp_path / LATER]


@pytest.mark.parametrize("what", ["a folder with something else", "a file", "another zip file", "no disk for it"])
def test_what_is_not_a_former_release_is_refused(tmp_path, what):
    place = tmp_path / "place"
    if what == "a folder with something else":
        place.mkdir()
        (place / "thesis.txt").write_text("years of work")
    elif what == "a file":
        place.write_text("years of work")
    elif what == "another zip file":
        with zipfile.ZipFile(place, "w") as file:
            file.writestr("thesis.txt", "years of work")
        with pytest.raises(NotWritten, match="was not written by `anatomy release`"):
            write_zip(files(BOOK), place)
    else:
        (tmp_path / "file").write_text("")
        place = tmp_path / "file" / "inside"
    before = held(tmp_path)
    with pytest.raises(
        NotWritten, match=r"was not written by `anatomy release`\. Name another|can't be written: Not a"
    ):
        write(files(BOOK), place)
    assert held(tmp_path) == before


def test_a_student_updates_from_a_zip_file(tmp_path):
    mine = tmp_path / "mine"
    write(files(BOOK), mine)
    (mine / BOOK).write_bytes(b"my answers")
    write_zip(files(BOOK, LATER), tmp_path / "next.zip")
    done = update(tmp_path / "next.zip", mine)
    assert done.left == [mine / BOOK] and (mine / BOOK).read_bytes() == b"my answers" and (mine / LATER).is_file()
    write_zip(files(BOOK), tmp_path / "old.zip")
    with pytest.raises(NotWritten, match=r"old\.zip is older than what you have: 01-embedding-lookup would be missing"):
        update(tmp_path / "old.zip", mine)
    with pytest.raises(NotWritten, match="is not a class's edition"):
        update(tmp_path / "next.zip", tmp_path / "elsewhere")


@pytest.mark.parametrize("name", ["../outside.py", "/etc/outside.py", "..\\outside.py", "C:/outside.py"])
def test_nothing_is_written_outside(tmp_path, name):
    made = files(BOOK)
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        for path, content in made.items():
            file.writestr(f"top/{path}", content)
        file.writestr(f"top/{name}", b"bad")
        file.writestr(f"top/{LIST}", json.dumps({**{str(path): "" for path in made}, name: ""}))
    with pytest.raises(NotWritten, match="holds no edition for a class"):
        opened(tmp_path / "bad.zip")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"{}"])
def test_what_is_no_edition_is_said_to_be_none(tmp_path, content):
    (tmp_path / "file.zip").write_bytes(content)
    for path in (tmp_path / "file.zip", tmp_path, tmp_path / "missing"):
        with pytest.raises(NotWritten, match="holds no edition for a class: name the zip file"):
            opened(path)


def _spoilt_stream(file, content):
    """One file's compressed bytes are others."""
    (first, *_) = zipfile.ZipFile(file).infolist()
    start = 30 + len(first.filename)
    file.write_bytes(content[:start] + b"\xff" * first.compress_size + content[start + first.compress_size :])


def _marked(file, content, place, mark):
    """Two bytes of each entry in the list at the end of a zip file are others."""
    parts = content.split(b"PK\x01\x02")
    file.write_bytes(b"PK\x01\x02".join([parts[0], *(part[:place] + mark + part[place + 2 :] for part in parts[1:])]))


def _about(file, about):
    files_of_it = files(BOOK, LATER) | {ABOUT: about}
    file.write_bytes(zipped(files_of_it, "top", NOON))


DAMAGED, UNPACK = "holds no edition for a class.*it is damaged: get it once more", "unpack it with another program"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_spoilt_stream, DAMAGED),
        (lambda file, content: file.write_bytes(content[:-100]), DAMAGED),
        (lambda file, content: _marked(file, content, 4, b"\x01\x00"), UNPACK),  # encrypted
        (lambda file, content: _marked(file, content, 6, b"\x63\x00"), UNPACK),  # packed by a method of its own
        (lambda file, content: _marked(file, content, 6, b"\x0e\x00"), UNPACK),  # LZMA, so it says
        (lambda file, _: _about(file, b'{"judge": ""}'), DAMAGED),
        (lambda file, _: _about(file, b'{"notebooks": 3}'), DAMAGED),
        (lambda file, _: _about(file, b"[" * 100_000), DAMAGED),
    ],
    ids=["stream", "end", "encrypted", "method", "lzma", "no notebooks", "a number", "brackets"],
)
def test_a_zip_file_that_cannot_be_unpacked_is_said_and_changes_nothing(tmp_path, spoil, said):
    mine, zip_file = tmp_path / "mine", tmp_path / "next.zip"
    write(files(BOOK), mine)
    (mine / BOOK).write_bytes(b"my answers")
    before = held(mine)
    write_zip(files(BOOK, LATER), zip_file)
    spoil(zip_file, zip_file.read_bytes())
    with pytest.raises(NotWritten, match=said):
        update(zip_file, mine)
    assert held(mine) == before


def test_a_zip_file_that_unpacks_to_very_much_is_refused(tmp_path, monkeypatch):
    write_zip(files(BOOK, code=bytes(2**20)), tmp_path / "some.zip")
    assert opened(tmp_path / "some.zip")
    monkeypatch.setattr(on_disk, "LARGEST", 2**20)
    with pytest.raises(NotWritten, match=r"some\.zip unpacks to 1 MB and more"):
        opened(tmp_path / "some.zip")


def test_a_zip_file_that_says_too_little_of_its_size_takes_no_more_memory(tmp_path):
    file = tmp_path / "bomb.zip"
    write_zip(files(BOOK, code=bytes(40 * 2**20)), file)
    file.write_bytes(file.read_bytes().replace((40 * 2**20).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    tracemalloc.start()
    try:
        with pytest.raises(NotWritten):
            opened(file)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("about", [None, b"{", b"{}"])
def test_an_edition_that_does_not_know_its_notebooks_any_more_is_mended(tmp_path, about):
    mine = tmp_path / "mine"
    write(files(BOOK), mine)
    (mine / BOOK).write_bytes(b"my answers")
    (mine / ABOUT).unlink() if about is None else (mine / ABOUT).write_bytes(about)
    write_zip(files(BOOK, LATER), tmp_path / "next.zip")
    assert update(tmp_path / "next.zip", mine).left == [mine / BOOK]
    assert (mine / ABOUT).read_bytes() == files(BOOK, LATER)[ABOUT] and (mine / BOOK).read_bytes() == b"my answers"
