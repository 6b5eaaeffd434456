"""Some try to hold up the others: their requests never end. Whom it costs, and whom not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from anatomy.classroom.serving import workers
from anatomy.classroom.serving.judge_process import PREPARE
from anatomy.classroom.serving.people import Person
from anatomy.classroom.serving.rates import Losses
from tests.serving.service import Running, running

ENDLESS = b"endless"
HONEST = [f"honest {number}" for number in range(11)]
ANSWER = b'200{"exercise": "softmax", "status": "right", "mistakes": {}, "headline": "", "mend_first": []}'


class Named:
    """Everybody's key is their name."""

    are_at_hand = True

    async def person(self, key: str) -> Person:
        return Person(key)


class Judging:
    """In the place of a worker's process: answers at once, or, what is endless, not before its end."""

    endless: ClassVar[list[bytes]] = []
    ends = threading.Event()

    def __init__(self) -> None:
        self.process, self.prepared = SimpleNamespace(pid=id(self)), dict[str, float]()

    def ask(self, request: bytes) -> bytes:
        if request.startswith(PREPARE):
            return b"1.0"
        if not request.startswith(ENDLESS):
            return ANSWER
        ends = Judging.ends
        self.endless.append(request)
        ends.wait(60)
        self.endless.remove(request)
        raise EOFError

    def end(self) -> None: ...


@pytest.fixture(params=[2, 3], ids=["two workers", "three workers"])
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(workers, "_Worker", Judging)
    monkeypatch.setattr(workers, "LONG", 0.1)
    Judging.ends = threading.Event()
    with running(Named(), workers=request.param) as here:  # type: ignore[arg-type]
        yield here
        Judging.ends.set()


class Asking(threading.Thread):
    """Somebody who waits for an answer."""

    def __init__(self, service: Running, name: str, body: bytes) -> None:
        super().__init__(daemon=True)
        self.service, self.who, self.body = service, name, body
        self.status, self.said = 0, dict[str, Any]()
        self.start()

    def run(self) -> None:
        self.status, self.said = self.service.ask(self.body, self.who)


def until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def end_what_is_endless(*attackers: Asking) -> None:
    """As the service's limit does; and wait for what these attackers are told."""
    ends, Judging.ends = Judging.ends, threading.Event()
    ends.set()
    for attacker in attackers:
        attacker.join(30)


def honest_checks(service: Running, round_: str) -> list[int]:
    """The statuses that honest people get while what is endless goes on."""
    asking = [Asking(service, name, f"{name}, {round_}".encode()) for name in HONEST]
    for one in asking:
        one.join(30)
    return [one.status for one in asking]


def test_two_who_hold_up_workers_keep_nobody_from_an_answer(service: Running) -> None:
    count = service.service.workers.count
    clock = [0.0]
    service.service.losses = Losses(first=5, most=12, forgiven=100, clock=lambda: clock[0])
    attackers = [Asking(service, name, ENDLESS) for name in ("Mallory", "Eve")]
    until(lambda: len(Judging.endless) == 2)
    assert honest_checks(service, "at first") == [200] * 11
    assert len(Judging.endless) == 2, "all were answered meanwhile"
    end_what_is_endless(*attackers)
    assert [(one.status, one.said["retry"]) for one in attackers] == [(500, "5")] * 2

    status, said = service.ask(b"fair", "Eve")
    assert (status, said["retry"]) == (429, "5") and "wait 5 s before your next check" in said["error"]
    for pause in ("10", "12", "12"):  # twice as long, and no longer than the longest
        clock[0] += 12
        attackers = [Asking(service, name, ENDLESS) for name in ("Mallory", "Eve")]
        until(lambda: len(Judging.endless) == 1 and service.service.workers.waiting == 1)
        assert honest_checks(service, pause) == [200] * 11
        assert len(Judging.endless) == 1 <= count - 1, "one worker is the share of those who have lost some"
        end_what_is_endless()  # and the one that waits begins
        until(lambda: len(Judging.endless) == 1 and not service.service.workers.waiting)
        end_what_is_endless(*attackers)
        assert [(one.status, one.said["retry"]) for one in attackers] == [(500, pause)] * 2
    clock[0] += 100
    assert service.ask(b"fair", "Eve")[0] == 200, "forgiven"
    assert service.service.losses.count("Eve") == 0


def test_a_worker_more_is_started_only_where_all_are_held_up(service: Running) -> None:
    count = service.service.workers.count
    assert len(service.service.workers.processes) == count
    attackers = [Asking(service, f"Mallory {number}", ENDLESS) for number in range(count)]
    until(lambda: len(Judging.endless) == count)
    assert len(service.service.workers.processes) == count, "nobody waits"
    assert service.ask(b"fair", "Ada")[0] == 200
    assert len(service.service.workers.processes) == count + 1
    end_what_is_endless(*attackers)


def test_where_none_more_can_be_started_the_service_goes_on(
    service: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(workers, "_Worker", fails)
    attackers = [Asking(service, f"Mallory {number}", ENDLESS) for number in range(service.service.workers.count)]
    until(lambda: len(Judging.endless) == service.service.workers.count)
    honest = Asking(service, "Ada", b"fair")
    until(lambda: "can't be started" in caplog.text)
    monkeypatch.setattr(workers, "_Worker", Judging)
    end_what_is_endless(*attackers)
    honest.join(30)
    assert honest.status == 200


def test_a_pause_grows_and_is_forgiven() -> None:
    now = [0.0]
    losses = Losses(first=5, most=30, forgiven=100, clock=lambda: now[0])
    assert losses.wait("eve") == losses.count("eve") == 0
    pauses = []
    for _ in range(5):
        losses.note("eve")
        pauses.append(losses.wait("eve"))
        now[0] += pauses[-1]
        assert losses.wait("eve") == 0 and losses.count("eve")
    assert pauses == [5, 10, 20, 30, 30]
    assert losses.wait("ada") == 0
    now[0] += 100
    assert losses.count("eve") == 0
    losses.note("eve")
    assert losses.wait("eve") == 5


def test_who_has_lost_a_worker_uses_the_only_one_when_nobody_else_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_Worker", Judging)
    Judging.ends = threading.Event()
    with running(Named(), workers=1) as here:  # type: ignore[arg-type]
        here.service.losses = Losses(first=0)
        here.service.losses.note("Eve")
        assert here.service.losses.count("Eve") == 1
        assert here.ask(b"fair", "Eve")[0] == 200


def test_it_gets_ready_for_what_the_class_asks_about(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    asked: list[bytes] = []

    class Listening(Judging):
        def ask(self, request: bytes) -> bytes:
            if request.startswith(PREPARE):
                asked.append(request)
                return b"0.5" if asked.count(request) < 3 else b"1.0"
            return super().ask(request)

    monkeypatch.setattr(workers, "_Worker", Listening)
    caplog.set_level("INFO", "anatomy.classroom.serving")
    with running(Named(), workers=1) as here:  # type: ignore[arg-type]
        assert here.service.workers.prepared == {} and asked == []
        for _ in range(2):
            assert here.ask(b"an answer", "Ada")[0] == 200
        until(lambda: here.service.workers.prepared == {"03-softmax": 1.0})
        assert here.ask(b"", "", "/judge/health")[1]["prepared"] == {"03-softmax": 1.0}
    assert asked == [b"prepare 03-softmax"] * 3
    assert caplog.text.count("getting ready for 03-softmax") == caplog.text.count(" ready for 03-softmax") - 1 == 1


def test_a_notebook_that_ends_a_worker_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    class Fragile(Judging):
        def ask(self, request: bytes) -> bytes:
            if request.startswith(PREPARE):
                asked.append(request)
                raise EOFError
            return super().ask(request)

    monkeypatch.setattr(workers, "_Worker", Fragile)
    with running(Named(), workers=1) as here:  # type: ignore[arg-type]
        assert [here.ask(f"answer {n}".encode(), "Ada")[0] for n in range(5)] == [200] * 5
    assert len(asked) == 1
