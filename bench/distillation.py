"""Does a teacher help a small student? Notebook 12's experiment at four learning rates, five seeds each.

    python bench/distillation.py

Each way of learning is tried at each rate twice: on 120 of the 156 sentences, scored on the 36 that are kept back,
which chooses its rate; and on all 156, scored on the 84 unseen ones, which the notebook's table shows. A few minutes.
"""

from __future__ import annotations

import statistics

import torch
from notebook_cells import run_cells
from rich.console import Console
from rich.table import Table

RATES, SEEDS, KEPT_BACK = (2e-4, 5e-4, 1e-3, 2e-3), range(5), 36


def main() -> None:
    cells = ("setup", "data", "draw-below", "distillation-loss", "teacher", "students")
    names = run_cells("12-pretraining", *cells)
    names["bar"] = lambda *_: None
    study, ways = names["study"], names["ways"]
    unseen = names["test_ids"], names["test_labels"]
    order = torch.randperm(len(names["few"]), generator=torch.Generator().manual_seed(1))
    kept_back, rest = order[:KEPT_BACK], order[KEPT_BACK:]
    validation = names["few"][kept_back], names["labels"][kept_back]
    table = Table(
        title="percent of the unseen sentences right (of those kept back): mean of five seeds ± standard error"
    )
    for head in ("", *(f"{rate:g}" for rate in RATES), "chosen"):
        table.add_column(head)
    for name, (*data, alpha) in ways.items():
        copies = len(data[0]) // len(order)
        some = (rest[:, None] * copies + torch.arange(copies)).flatten()
        cells_of_row, best = [], (-1.0, 0.0, "")
        for rate in RATES:
            names["test_ids"], names["test_labels"] = validation
            kept = statistics.mean(study(seed, rate, *(one[some] for one in data), alpha) for seed in SEEDS)
            names["test_ids"], names["test_labels"] = unseen
            found = [study(seed, rate, *data, alpha) for seed in SEEDS]
            error = statistics.stdev(found) / len(found) ** 0.5
            cells_of_row.append(f"{statistics.mean(found):.1f} ± {error:.1f} ({kept:.1f})")
            best = max(best, (kept, statistics.mean(found), f"{rate:g}"))
        table.add_row(name, *cells_of_row, f"{best[2]}: {best[1]:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
