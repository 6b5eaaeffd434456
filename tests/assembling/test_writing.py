"""No edit of a student's file is ever lost."""

from __future__ import annotations

import pytest

from anatomy.course.assembling.writing import NotWritten, marked, may_be_replaced, refuse_what_is_not_ours, write


def test_what_it_wrote_may_be_written_anew(tmp_path):
    path = tmp_path / "deep" / "my_transformer.py"
    assert may_be_replaced(path)
    assert write(marked("x = 1\n"), path) is None
    assert may_be_replaced(path)
    assert write(marked("x = 2\n"), path) is None
    assert path.read_text(encoding="utf-8").startswith("x = 2\n")
    assert not list(path.parent.glob("*.tmp"))


@pytest.mark.parametrize(
    "edit", [lambda text: text.replace("1", "3"), lambda text: text + "y = 2\n", lambda text: "x = 1\n"]
)
def test_an_edited_file_is_refused_and_kept(tmp_path, edit):
    path = tmp_path / "my_transformer.py"
    write(marked("x = 1\n"), path)
    edited = edit(path.read_text(encoding="utf-8"))
    path.write_text(edited, encoding="utf-8")
    with pytest.raises(NotWritten, match="--force"):
        refuse_what_is_not_ours(path)
    kept = write(marked("x = 4\n"), path)
    assert kept is not None and kept.read_text(encoding="utf-8") == edited
    assert kept.name.startswith("my_transformer.") and kept.name.endswith(".bak.py")


def test_two_copies_in_one_second_are_two(tmp_path):
    path, kept = tmp_path / "my_transformer.py", set()
    for text in ("one", "two", "three"):
        path.write_text(text, encoding="utf-8")
        kept.add(write(marked("x"), path))
    assert sorted(copy.read_text(encoding="utf-8") for copy in kept) == ["one", "three", "two"]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(NotWritten, match="is a folder"):
        refuse_what_is_not_ours(tmp_path)
