"""The judge as a service: how long students wait for an answer when a class checks at once.

    python bench/bench_service.py [--students 30] [--rounds 10] [--out FOLDER]

`anatomy serve` runs with two workers, prepared for the notebooks (`--prepare`). Each student sends what a kernel
saw of an answer that somebody wrote (`attempts.json`) or of a right one; all send at the same moment, and wait. Each
round every student sends another answer, and none is one that the service remembers, except where that is measured.
Beside it, in this process: what judging the same answers takes in a student's own notebook.

On a machine with other work to do, the wall clock measures that work. So the processors' time that the service takes is
measured, too: what an answer costs it, and how long the last of a class would wait on two cores that do nothing else.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from peers.classroom import BIN, ROOT

sys.path.insert(0, str(ROOT))
WORKERS = 2
NOTEBOOKS = "02", "03", "04", "06"
WANTED = 300
"""Milliseconds within which nineteen of twenty answers should be there."""


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a class waits for the judge.")
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results", help="the folder for service.json")
    given = parser.parse_args()
    requests = observed()
    local = [judged_here(request) for request in requests]  # works out the expectations
    local = [judged_here(request) for request in requests]
    with service(5 * given.students) as (port, keys, processes):
        classes = [keys[start::5] for start in range(5)]  # none of whom asks more often than a student may
        rounds(port, classes[0], requests, -(-len(requests) // given.students))  # each worker meets many answers once
        rounds(port, classes[1], requests, -(-len(requests) // given.students))
        before = processor_seconds(processes)
        times = {"all at once": rounds(port, classes[2], requests, given.rounds)}
        cost = (processor_seconds(processes) - before) / (given.rounds * given.students)
        alone = zip(classes[3] * 3, requests, strict=False)
        times["one alone"] = [ask(port, key, salted(request)) for key, request in alone]
        times["all at once, when others gave the same before"] = [
            *rounds(port, classes[4], requests, given.rounds, salt=False),
            *rounds(port, classes[3], requests, given.rounds, salt=False),
        ][given.rounds * given.students :]
        memory = round(max(process.memory_info().rss for process in processes) / 2**20)
    found = {
        "students": given.students, "rounds": given.rounds, "workers": WORKERS, "answers": len(requests),
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)},
        "milliseconds": {name: summary(times) for name, times in times.items()},
        "judging in a notebook, processor milliseconds": round(statistics.mean(local), 1),
        "processor milliseconds an answer": round(1000 * cost, 1),
        "ratio of these two": round(1000 * cost / statistics.mean(local), 2),
        "largest process, MB": memory,
        "the last of the class on two idle cores, milliseconds": round(1000 * cost * given.students / WORKERS),
    }  # fmt: skip
    print(json.dumps(found, indent=1))
    print(f"wanted: p95 ≤ {WANTED} ms all at once")
    (given.out / "service.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def observed() -> list[bytes]:
    """What kernels send of the attempts at some notebooks, and of as many right answers; mixed."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    from anatomy.course import COURSE
    from anatomy.engine.checking.calling import VERSION
    from anatomy.engine.checking.looking import look_for_judge
    from anatomy.engine.observing.records import encode
    from tests.attempts.attempts import Attempt, attempts, surroundings

    found = []
    for book in map(COURSE.find, NOTEBOOKS):
        given, wrong = surroundings(book), attempts(book)
        right = [Attempt(one.exercise, "right", "") for one in wrong[::2]]
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance()
        for attempt in [*wrong, *right]:
            shell.user_ns.update(given)  # among them all right answers
            with capture_output():
                shell.run_cell(attempt.source)
                seen, parts = look_for_judge(COURSE.exercise(attempt.exercise), shell.user_ns)
            asked = {"version": VERSION, "observation": encode(seen), "parts": [encode(part) for part in parts]}
            found.append(json.dumps(asked).encode())
    random.Random(1).shuffle(found)
    return found


def judged_here(request: bytes) -> float:
    """Milliseconds of the processor that judging takes where student and judge are one process."""
    from anatomy.classroom.serving.judging import answer
    from anatomy.engine.judging.expectations import remembering

    known = judged_here.__dict__.setdefault("known", remembering())
    began = time.process_time()
    answer(request, known)
    return 1000 * (time.process_time() - began)


@contextmanager
def service(people: int) -> Iterator[tuple[int, list[str], list[psutil.Process]]]:
    """Port, keys, and the processes of a service that has prepared itself."""
    prepare = [word for number in NOTEBOOKS for word in ("--prepare", number)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="anatomy-bench-") as folder:
        keys = Path(folder) / "keys.txt"
        names = [f"student {n}" for n in range(people)]
        subprocess.run([BIN / "anatomy", "serve", "--new-keys", keys, *names], check=True, stdout=subprocess.DEVNULL,
                       env=environment)  # fmt: skip
        command = [BIN / "anatomy", "serve", "--keys", keys, "--port", "0", "--workers", str(WORKERS), *prepare]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
            assert running.stderr
            try:
                found = next(
                    filter(None, (re.search(r"answers at http://[^:]*:(\d+)", said) for said in running.stderr))
                )
                port = int(found[1])
                threading.Thread(target=running.stderr.read, daemon=True).start()
                while min(health(port)["prepared"].values()) < 1:
                    time.sleep(1)
                parent = psutil.Process(running.pid)
                yield port, [line.split()[0] for line in keys.read_text().splitlines()], [
                    parent, *parent.children(recursive=True)]  # fmt: skip
            finally:
                running.terminate()


def health(port: int) -> dict[str, float]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/health")
    return json.loads(connection.getresponse().read())


def rounds(port: int, keys: list[str], requests: list[bytes], count: int, salt: bool = True) -> list[float]:
    """Milliseconds that each answer took when all students asked at the same moment, so many times."""
    taken: list[float] = []
    for number in range(count):
        start = threading.Barrier(len(keys))

        def student(index: int, number: int = number, start: threading.Barrier = start) -> None:
            request = requests[(number * len(keys) + index) % len(requests)]
            start.wait()
            taken.append(ask(port, keys[index], salted(request) if salt else request))

        threads = [threading.Thread(target=student, args=(index,)) for index in range(len(keys))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return taken


def salted(request: bytes) -> bytes:
    """The same request in other bytes: the service has not answered it before."""
    return request[:-1] + f', "salt": {random.getrandbits(60)}}}'.encode()


def ask(port: int, key: str, request: bytes) -> float:
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/check", request, {"Authorization": f"token {key}"})
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    assert answer.status == 200, said
    return 1000 * (time.perf_counter() - began)


def processor_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median": round(statistics.median(ordered), 1),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
        "max": round(ordered[-1], 1),
    }


if __name__ == "__main__":
    main()
