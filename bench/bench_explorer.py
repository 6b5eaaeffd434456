"""How long does the explorer take for a state, and how large is it? An encoder with 6 layers and 12 heads of width 32.

    python bench/bench_explorer.py

Random weights. "first" is the first state, for which lines of code are looked up; "again" the same text once more;
"changed" the slowest change of those that are offered; "model" what the model itself takes. Times are those of one
core, counted by the process, so that other programs do not count; medians of several runs.
"""

from __future__ import annotations

import argparse
import statistics
import string
import time
from collections.abc import Callable
from typing import Any

import torch
from transformers import BertConfig

from anatomy.course.exploring.explorer import Explorer
from anatomy.course.exploring.still import page
from anatomy.course.nb07_encoder.right import TransformerEncoder

LENGTHS = (12, 32, 64)


def seconds(run: Callable[[], Any], repeats: int) -> float:
    """The median time of a run."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def every_change(explorer: Explorer) -> list[str]:
    """Each change that is offered, at the first layer where it needs a place."""
    layer = explorer.parts.layers[0].place
    places = {None: "", "skip": f":{layer}.self", "head": f":{layer}.self.1", "layer": f":{layer}"}
    return [choice["id"] + places[choice["of"]] for choice in explorer.choices()]


def measured(length: int, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds and kilobytes, for a text of so many tokens."""
    alphabet = string.ascii_lowercase
    config = BertConfig(vocab_size=len(alphabet), hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                        intermediate_size=1536, max_position_embeddings=128)  # fmt: skip
    model = TransformerEncoder(config).eval()
    text = (alphabet * 3)[:length]
    ids = torch.tensor([[alphabet.index(letter) for letter in text]])
    explorer = Explorer(model, alphabet)
    first = seconds(lambda: explorer.state(text), 1)
    state = explorer.state(text)
    with torch.no_grad():
        times = {
            "model": seconds(lambda: model(ids), repeats),
            "first": first,
            "again": seconds(lambda: explorer.state(text), repeats),
            "changed": max(
                seconds(lambda change=change: explorer.state(text, changes=[change]), repeats)
                for change in every_change(explorer)
            ),
            "packed for a page": seconds(state.compressed, 1),
        }
    sizes = {"sent": len(state.packed()), "in a page": len(state.compressed()), "page": len(page([state]).encode())}
    return {name: 1000 * value for name, value in times.items()}, {name: value / 1000 for name, value in sizes.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=5)
    repeats = options.parse_args().repeats
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, medians of {repeats}")
    rows = [(length, *measured(length, repeats)) for length in LENGTHS]
    columns = [*(f"{name}, ms" for name in rows[0][1]), *(f"{name}, kB" for name in rows[0][2])]
    print(f"| tokens | {' | '.join(columns)} |\n|{'---:|' * (len(columns) + 1)}")
    for length, times, sizes in rows:
        print(f"| {length} | {' | '.join(f'{value:.0f}' for value in (*times.values(), *sizes.values()))} |")


if __name__ == "__main__":
    main()
