"""How true are the cards? Right answers with a random edit, checked as a notebook checks them.

    python bench/mutants.py [NOTEBOOK …] [--mutants 2000] [--seed 0] [--two] [--show]

A mutant is a right answer of the course, its local names changed or not, with one random edit of a program; with
`--two` it has two. Whether it is wrong is known: it is, if it differs from the reference on 200 draws of the exercise's
`inputs` or on the chosen cases of other seeds. Of the wrong ones are counted:

- accepted, though wrong;
- refuted: a sentence of the card that is not said when other seeds and ten times as many draws are judged;
- located: the card names a mistake, points at the edited line, or names what a lost line had set;
- vague: neither.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from anatomy.course import COURSE  # noqa: E402
from tests.mutants.trying import Result, one_notebook  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="*", help="numbers or names; all of them if none is given")
    parser.add_argument("--mutants", type=int, default=2000, help="how many in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--two", action="store_true", help="two edits in each mutant")
    parser.add_argument("--show", action="store_true", help="print those that are accepted, refuted or vague")
    given = parser.parse_args()
    books = [COURSE.find(name) for name in given.notebook] or COURSE.notebooks
    worth = {book.slug: sum(bool(one.inputs) for one in COURSE.exercises(book).values()) for book in books}
    numbers = {slug: given.mutants * count // sum(worth.values()) for slug, count in worth.items() if count}
    results: dict[str, list[Result]] = defaultdict(list)
    began = time.monotonic()
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(one_notebook, slug, number, given.seed, 1 + given.two) for slug, number in numbers.items()]
        for job in jobs:
            for result in job.result():
                results[result.mutant.exercise].append(result)
                if given.show and (result.refuted or result.status in ("accepted", "vague")):
                    _show(result)
    _print(results, time.monotonic() - began)


def _show(result: Result) -> None:
    mutant = result.mutant
    print(f"\n=== {result.status} {result.refuted}: {mutant.exercise} ({mutant.origin}), line {mutant.lines}")
    print(f"{mutant.source}\n--- {result.card}")


def _print(results: dict[str, list[Result]], seconds: float) -> None:
    table = Table("exercise", "wrong", "accepted", "refuted", "located", "vague", "seconds, 95 of 100")
    everything = [one for some in results.values() for one in some]
    for name, some in (*results.items(), ("all", everything)):
        wrong = [one for one in some if one.status != "equal"]
        counts = Counter(one.status for one in wrong)
        slow = sorted(one.seconds for one in some)[int(0.95 * len(some))] if some else 0.0
        share = [_share(counts["accepted"], wrong), _share(sum(bool(one.refuted) for one in wrong), wrong),
                 _share(counts["located"], wrong), _share(counts["vague"], wrong)]  # fmt: skip
        table.add_row(name, str(len(wrong)), *share, f"{slow:.2f}")
    Console(width=110).print(table)
    print(f"{len(everything)} mutants in {seconds:.0f} s")


def _share(count: int, of: list[Result]) -> str:
    return f"{count} ({count / max(len(of), 1):.1%})"


if __name__ == "__main__":
    main()
