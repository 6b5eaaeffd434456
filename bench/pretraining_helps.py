"""What is pretraining worth? Notebook 12's classifier from the checkpoint and from random weights, over five seeds.

    python bench/pretraining_helps.py

Each of the two chooses its learning rate on 36 of the 156 sentences, kept back, over two seeds; then it learns from all
156, with five seeds, and answers for the 84 unseen ones. A few minutes.
"""

from __future__ import annotations

import statistics

import torch
from notebook_cells import run_cells

RATES = {True: (2e-5, 5e-5, 1e-4), False: (1e-4, 3e-4, 1e-3)}
SEEDS, KEPT_BACK = range(5), 36


def main() -> None:
    names = run_cells("12-pretraining", "setup", "teacher")
    names["bar"] = lambda *_: None
    everything = names["train_rows"]
    order = torch.randperm(len(everything), generator=torch.Generator().manual_seed(1)).tolist()
    kept_back, rest = ([everything[n] for n in some] for some in (order[:KEPT_BACK], order[KEPT_BACK:]))

    def scored(pretrained: bool, rate: float, seed: int, learned: list, asked: list) -> float:
        names["train_rows"] = learned
        classifier = names["fine_tuned"](names["new_classifier"](pretrained, seed), rate)
        return float(names["percent_right"](classifier, asked))

    for pretrained, rates in RATES.items():
        kept = {}
        for rate in rates:
            kept[rate] = statistics.mean(scored(pretrained, rate, seed, rest, kept_back) for seed in SEEDS[:2])
        best = max(kept, key=kept.__getitem__)
        found = [scored(pretrained, best, seed, everything, names["test_rows"]) for seed in SEEDS]
        print(f"{'pretrained' if pretrained else 'random weights':15} kept back: "
              + ", ".join(f"{rate:g} {share:.0f} %" for rate, share in kept.items()))  # fmt: skip
        print(f"{'':15} unseen, at {best:g}: {', '.join(f'{one:.0f}' for one in sorted(found))} %; "
              f"mean {statistics.mean(found):.1f} %")  # fmt: skip


if __name__ == "__main__":
    main()
