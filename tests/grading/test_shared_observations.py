"""What one worker finds out about mistakes the others read, and it says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anatomy.classroom.forked_kernels import NO_SANDBOX
from anatomy.classroom.grading.shared_observations import SharedObservations
from anatomy.classroom.grading.workers import local
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging import expectations
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import encode
from anatomy.wiring import the_course


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "count_layer_parameters", "LayerNorm", "copy_heads"])
def test_what_is_read_is_what_was_found_out(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the judge describes raw results in words, as for copied heads."""
    monkeypatch.setattr(expectations, "WORTH_SHARING", 0)
    exercise, shared = the_course().exercise(name), SharedObservations(tmp_path)
    alone, one, other = (Expectations(exercise, SEEDS, where) for where in (None, shared, shared))
    some = list(exercise.mistakes.values())[:4]
    places = [(mistake, index) for mistake in some for index in (0, len(alone.cases) - 1)]
    for mistake, index in places:
        one.with_mistake(mistake, index)
    monkeypatch.setattr(expectations, "observe_case", None)  # nothing is found out twice
    read = [encode_one(other, *place) for place in places]
    monkeypatch.undo()
    assert read == [encode_one(alone, *place) for place in places]
    seen = observe(exercise, some[0].answer)
    found, wanted = (judge(exercise, seen, SEEDS, lambda *_, of=known: of) for known in (other, alone))
    assert (found.diagnoses, found.results) == (wanted.diagnoses, wanted.results) and wanted.diagnoses


def encode_one(known: Expectations, mistake: Any, index: int) -> dict[str, Any]:
    return encode(known.with_mistake(mistake, index))  # type: ignore[arg-type]


def test_what_takes_no_time_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "WORTH_SHARING", 60)
    exercise = the_course().exercise("softmax")
    Expectations(exercise, SEEDS, SharedObservations(tmp_path)).with_mistake(next(iter(exercise.mistakes.values())), 0)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_read_or_written_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    shared = SharedObservations(tmp_path)
    seen = observe(the_course().exercise("softmax"), None).cases[0]
    shared.put("a", seen)
    assert shared.get("a") == seen and shared.get("b") is None
    (file,) = tmp_path.iterdir()
    for content in (b"", b"{", b"[]", b'{"tree": {}, "tensors": ""}', b"\xff"):
        file.write_bytes(content)
        assert shared.get("a") is None
    gone = SharedObservations(tmp_path / "gone")
    gone.put("a", seen)
    assert gone.get("a") is None


@pytest.mark.parametrize("sandbox", ["bubblewrap", NO_SANDBOX])
def test_nothing_is_shared_where_student_code_could_read_it(sandbox: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pool:
        def __init__(self, count: int) -> None: ...

        def end(self) -> None: ...

    monkeypatch.setattr(local, "get_fork_server", lambda *_, **__: "address")
    monkeypatch.setattr(local, "LocalPool", Pool)
    with local.local_workers(2, sandbox) as workers:
        assert bool(workers.shared) == (sandbox != NO_SANDBOX)
        folder = Path(workers.shared)
        assert not workers.shared or (folder.stat().st_mode & 0o077 == 0)
    assert not workers.shared or not folder.exists()
