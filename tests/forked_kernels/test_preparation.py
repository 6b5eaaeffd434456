"""Another course's kernels: what its preparation says is what they have, and nothing of this course."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anatomy.classroom.forked_kernels import ForkedKernelManager, ForkServerFailed, Preparation, get_fork_server
from anatomy.classroom.forked_kernels.sandbox import bubblewrap
from tests.forked_kernels.kernel_session import session, soon

pytestmark = [
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not bubblewrap(), reason="needs bubblewrap"),
]


def write_copy(name: str, folder: Path) -> Path:
    package = folder / name / "statistics_course"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "week.py").write_text(f"WEEK = {name!r}\n")
    return folder / name


class StatisticsKernelManager(ForkedKernelManager):
    preparation = Preparation(
        "statistics-101",
        modules=("statistics_course", "sqlite3", "no_such_module"),
        sample_cell="import wave, colorsys",
        warm_up="import sqlite3; sqlite3.warmed_up = True",
        not_preloaded=("colorsys",),
        copies=("one", "two"),
        make_copy=write_copy,
        copy_variable="COURSE_WEEK",
        variables=("COURSE_WEEK",),
        defaults=(("COURSE_LANGUAGE", "en"),),
        home_variables=(("COURSE_HOME", ".course"),),
    )


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_course_has_what_it_asks_for(sandbox):
    preparation = StatisticsKernelManager.preparation
    try:
        for week in ("two", "one", "unknown"):
            env = {"COURSE_WEEK": week, "SECRET": "x"}
            with session(manager=StatisticsKernelManager, env=env, sandbox=sandbox) as one:
                modules = one.value("sorted(__import__('sys').modules)")
                assert {"sqlite3", "statistics_course"} <= set(modules)
                assert not {"torch", "anatomy", "statistics_course.week"} & set(modules)
                assert one.value("__import__('sqlite3').warmed_up") is True
                found = one.value("__import__('statistics_course.week').week.WEEK")
                assert found == ("two" if week == "two" else "one")
                given = one.value("dict(__import__('os').environ)")
                assert given["COURSE_WEEK"] == week and given["COURSE_LANGUAGE"] == "en" and "SECRET" not in given
                assert given["COURSE_HOME"] == f"{given['HOME']}/.course" and "ANATOMY_HOME" not in given
    finally:
        get_fork_server(preparation, sandbox).stop()


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_what_the_sample_cell_imports_is_there_when_some_kernels_were_made(sandbox):
    preparation = StatisticsKernelManager.preparation

    def has_them():
        with session(manager=StatisticsKernelManager, sandbox=sandbox) as one:
            return one.value("sorted({'wave', 'colorsys', 'sqlite3'} & {*__import__('sys').modules})")

    try:
        assert [has_them(), has_them()] == [["sqlite3"], ["sqlite3"]]
        assert soon(lambda: has_them() == ["sqlite3", "wave"])
    finally:
        get_fork_server(preparation, sandbox).stop()


@pytest.mark.slow
def test_later_modules_are_there_when_some_kernels_were_made():
    class Manager(ForkedKernelManager):
        preparation = Preparation("later", later_modules=("no_such_module", "wave"))

    class Other(Manager):
        later = False

    def has_it(manager=Manager):
        with session(manager=manager) as one:
            return one.value("'wave' in __import__('sys').modules")

    try:
        assert [has_it(Other) for _ in range(4)] == [False] * 4, "they don't ask for it"
        assert [has_it(), has_it()] == [False, False]
        assert soon(has_it)
    finally:
        get_fork_server(Manager.preparation).stop()


def test_a_server_is_started_now_and_waited_for_later():
    preparation = Preparation("waited for later", modules=("wave",))
    started = get_fork_server(preparation, wait=False)
    try:
        assert get_fork_server(preparation) is started and started.is_alive
    finally:
        started.stop()


def test_a_server_that_fails_says_so_when_it_is_waited_for():
    preparation = Preparation("fails", warm_up="import os; os.write(2, b'no room'); os._exit(1)")
    for _ in range(2):
        get_fork_server(preparation, wait=False)
        with pytest.raises(ForkServerFailed, match="no room"):
            get_fork_server(preparation)


def test_nothing_need_be_prepared():
    with session(manager=ForkedKernelManager) as one:
        assert one.run("print(6 * 7)").text == "42\n"
        assert one.value("'torch' in __import__('sys').modules") is False
    get_fork_server(Preparation()).stop()
