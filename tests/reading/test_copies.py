"""What an edit does costs a sentence and nothing else: programs are tried in a copy of the process."""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from anatomy.engine.notebook_files.running import run
from anatomy.engine.reading.copies import in_a_copy, trial
from tests.reading.effects import ANSWER, EFFECTS, SETUP

ROOT = Path(__file__).parents[2]
LONG = 30.0
UNSAID = {"all files closed"}
"""After these the copy can't say anything any more."""


def children() -> list[int]:
    """The processes that this one has started, as the system lists them."""
    listed = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(encoding="ascii")
    return [int(pid) for pid in listed.split()]


@pytest.mark.slow
def test_whatever_an_edit_does_the_card_is_shown_and_the_notebook_stays_as_it_was(
    tmp_path: Path, everything: bool
) -> None:
    step = 1 if everything else 12
    ran = subprocess.run(
        [sys.executable, "-m", "tests.reading.effects", str(tmp_path), str(step)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    seen = {line["effect"]: line for line in map(json.loads, ran.stdout.splitlines())}
    assert list(seen) == list(EFFECTS)[::step], (ran.returncode, ran.stderr[-2000:])
    for name, here in seen.items():
        assert here["happened"], f"no edit did this: {name}"
        assert "A small example" in here["card"] or name in UNSAID, name
        assert "in line 6" in here["card"] or name in UNSAID, name
        assert "✗ values (different)" in here["card"], name
        assert here["objects"] == ["kept", ["kept"], [1.0, 1.0]] and not here["names"], name
        assert here["same random numbers"], name
        assert here["files"] == ["home", "kept.txt", "work"] and here["file"] == "kept", name
        assert here["printed"].count("\n") == 1 and here["printed"].startswith("dot_product_scores: "), name


SAYS_MORE = "from IPython.display import display; display('shown'); input('asked'); print('printed', file=stream)"


@pytest.mark.slow
def test_a_kernel_lives_and_shows_its_card_alone(tmp_path: Path) -> None:
    cells = [SETUP, "happened = [0]; stream = sys.stdout; torch.randn(999, 999) @ torch.randn(999, 999)"]
    for effect in (EFFECTS["lists that contain each other"], SAYS_MORE):
        cells += [f"def effect():\n    {effect}", ANSWER, 'check("dot_product_scores")']
    cells += ["print(box.value)"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    run(book, tmp_path, keep_going=True)
    checks = [cell for cell in book.cells if cell.source.startswith("check(")]
    assert [[output.output_type for output in cell.outputs] for cell in checks] == [["display_data", "error"]] * 2
    assert book.cells[-1].outputs[0].text == "kept\n"


BEAM_SEARCH = """
def beam_search(step, start_id, end_id, beam_size, max_len, length_penalty=0.0):
    beams, finished = [([], 0.0)], []
    for _ in range(max_len):
        rows = step(torch.tensor([[start_id, *ids] for ids, _ in beams])).tolist()
        extensions = []
        for (ids, total), row in zip(beams, rows, strict=True):
            for token, log_p in enumerate(row):
                if log_p > -math.inf:
                    extensions.append((ids + [token], total + log_p))
        kept = sorted(extensions, key=lambda pair: -pair[1])[:beam_size]
        finished += [pair for pair in kept if pair[0][-1] == end_id][-1:]
        beams = [pair for pair in kept if pair[0][-1] != end_id]
        if not beams:
            break
    ids, total = max(finished or beams, key=lambda pair: pair[1] / len(pair[0]) ** length_penalty)
    return ids, total / len(ids) ** length_penalty
"""
CHECKED = f"""
from IPython.core.interactiveshell import InteractiveShell
from anatomy.engine.checking import judging_here

judging_here.LEAST = judging_here.MOST = 20.0  # on any machine
shell = InteractiveShell.instance()
shell.run_cell("import math, torch; from anatomy import check")
shell.run_cell({BEAM_SEARCH!r})
shell.run_cell('check("beam_search")')
"""


@pytest.mark.slow
def test_an_edit_that_makes_lists_contain_each_other_ends_no_notebook(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", CHECKED],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ANATOMY_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "is not what is needed there" in ran.stdout


def test_a_check_goes_on_behind_what_ends_its_copy() -> None:
    def work() -> Iterator[list[int]]:
        yield [number for number in range(6) if odd(number)]
        yield [number for number in range(6) if odd(number)]

    @trial(lost=False)
    def odd(number: int) -> bool:
        if number == 3:
            os._exit(0)
        return number % 2 == 1

    assert in_a_copy(work, LONG) == [[1, 5], [1, 5]]


def test_what_was_answered_is_not_asked_again() -> None:
    asked = mmap.mmap(-1, 8)  # shared with copies

    @trial(lost=False)
    def survives(number: int) -> bool:
        asked[number] += 1
        if number == 6:
            os.abort()
        return number != 2

    assert in_a_copy(lambda: iter([[survives(number) for number in range(8)]]), LONG) == [
        [True, True, False, True, True, True, False, True]
    ]
    assert list(asked[:]) == [1] * 8


def test_torch_computes_in_a_copy_after_it_did_so_here_in_several_threads() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        large = torch.randn(700, 700) @ torch.randn(700, 700)

        def work() -> Iterator[float]:
            yield float((torch.randn(700, 700) @ torch.randn(700, 700)).sum())
            yield float(torch.softmax(large.repeat(4, 1), -1).sum())

        assert len(in_a_copy(work, LONG)) == 2
    finally:
        torch.set_num_threads(threads)


def test_nothing_of_a_copy_is_left() -> None:
    before = children()

    def work() -> Iterator[str]:
        threading.Thread(target=time.sleep, args=(1000,)).start()
        yield "said"

    assert in_a_copy(work, LONG) == ["said"] and children() == before
    assert not Path("/proc/self/fd").joinpath("0").is_dir()


def test_who_interrupts_the_check_interrupts_the_copy() -> None:
    before = children()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_a_copy(lambda: iter([time.sleep(1000)]), LONG)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert children() == before


@pytest.mark.slow
@pytest.mark.parametrize("work", [lambda: iter([time.sleep(1000)]), lambda: iter([sum(range(10**12))])])
def test_what_neither_ends_nor_says_anything_is_given_up(work: Callable[[], Iterator[Any]]) -> None:
    began, before = time.thread_time(), children()
    assert in_a_copy(work, 0.1) == [] and children() == before
    assert time.thread_time() - began < 1, "this process waits, and does not compute"


def test_other_threads_can_have_copies() -> None:
    """As cells that run beside others, in a kernel's subshells."""
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.extend(in_a_copy(lambda: iter(["said"]), LONG)))
    thread.start()
    thread.join()
    assert told == ["said"]


def test_without_forks_nothing_is_read(monkeypatch: pytest.MonkeyPatch, notebook, reading) -> None:
    source = "def dot_product_scores(query, key):\n    return query @ key.mT + 1\n"
    assert reading("dot_product_scores", notebook(source)).example
    monkeypatch.delattr(os, "fork")
    verdict = reading("dot_product_scores", notebook(source))
    assert verdict.example is None and verdict.diagnoses and verdict.status == "wrong"


@pytest.mark.parametrize("heard", [b'{"says"', b"\xff\n", b"[" * 100_000, b'{"says": 1}\n[]\n"the e', b"1e999\nnull\n"])
def test_what_is_no_message_is_left_out(heard: bytes) -> None:
    def work() -> Iterator[str]:
        os.write(pipe, heard)
        yield "more"

    reader, pipe = os.pipe()
    os.close(reader), os.close(pipe)  # the copy's own will have these numbers
    assert in_a_copy(work, LONG) in ([], [1], ["more"], [1, "more"])
