"""The course's encoder against the library's BertModel: forward pass, same weights, three lengths.

Four encoders: `BertModel` with its eager and with its sdpa attention; the reference of notebooks 05 to 07 as it is
written there, with all heads in one product, and GELU and layer norm by hand; and the same reference "fused", that is,
with torch's own kernels for these two. First their outputs must agree; then they take turns, in another order each
round, and a ratio is the median over rounds of two times taken in the same round, so that the machine and its mood
cancel out.

    python bench/encoder.py            writes bench/results/encoder.json and .png
    python bench/encoder.py --quick    a tiny model, a few rounds: does it run?
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
import transformers
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from anatomy.course.nb07_encoder.right import TransformerEncoder, load_bert_weights
from anatomy.course.views import Picture, bar_chart

RESULTS = Path(__file__).parent / "results"
EAGER, SDPA, FUSED, WRITTEN = "library, eager", "library, sdpa", "course, fused", "course, by hand"
COMPARED = (SDPA, FUSED, WRITTEN)
BATCH = 4
TOLERANCE = 1e-4
GOAL = 1.1  # time of the fused course encoder over the library's with eager attention


def sizes(quick: bool) -> tuple[BertConfig, dict[int, int]]:
    """The model's config, and how many rounds for each length. Seeded weights: their values do not matter for time."""
    if quick:
        return BertConfig(vocab_size=99, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                          intermediate_size=48, max_position_embeddings=64), {8: 3, 16: 3, 32: 3}  # fmt: skip
    return BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536), {
        32: 48, 128: 24, 512: 8,
    }  # fmt: skip


def build(config: BertConfig) -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    """Four encoders with the same weights, each (B, T) ids and mask -> (B, T, D)."""
    torch.manual_seed(0)
    eager = BertModel._from_config(config, attn_implementation="eager", add_pooling_layer=False).eval()
    with torch.no_grad():
        for parameter in eager.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)  # fresh biases are 0 and norms 1: a swap would not show
    sdpa = BertModel._from_config(config, attn_implementation="sdpa", add_pooling_layer=False).eval()
    sdpa.load_state_dict(eager.state_dict())
    written = TransformerEncoder(config).eval()
    load_bert_weights(written, eager.state_dict())
    return {
        EAGER: lambda ids, mask: eager(ids, attention_mask=mask).last_hidden_state,
        SDPA: lambda ids, mask: sdpa(ids, attention_mask=mask).last_hidden_state,
        FUSED: fused(written),
        WRITTEN: written,
    }


def fused(written: TransformerEncoder) -> TransformerEncoder:
    """A copy whose GELUs and layer norms are torch's: one pass over memory where the handwritten ones take several."""
    encoder = copy.deepcopy(written)
    for layer in encoder.layers:
        layer.feed_forward.gelu = nn.functional.gelu
        for name in ("layer_norm_1", "layer_norm_2"):
            mine = getattr(layer, name)
            theirs = nn.LayerNorm(mine.weight.shape, eps=mine.eps)
            theirs.load_state_dict(mine.state_dict())
            setattr(layer, name, theirs)
    return encoder


def batch(config: BertConfig, length: int) -> tuple[Tensor, Tensor]:  # -> (B, T), (B, T)
    """Sentences of `length` tokens, the last one a quarter padding."""
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(1, config.vocab_size, (BATCH, length), generator=generator)
    mask = torch.ones_like(ids)
    mask[-1, -length // 4 :] = 0
    return ids, mask


def largest_difference(outputs: dict[str, Tensor], mask: Tensor) -> float:
    """Between the eager library's vectors of real tokens and the others'. Raises SystemExit when they disagree."""
    real = mask.bool()
    worst = max(float((found - outputs[EAGER])[real].abs().max()) for found in outputs.values())
    if not worst < TOLERANCE:
        raise SystemExit(f"the encoders disagree by {worst:.2g}: their times can't be compared")
    return worst


def measure(
    models: dict[str, Callable[[Tensor, Tensor], Tensor]], config: BertConfig, length: int, rounds: int
) -> dict:
    """Milliseconds per pass and ratios to eager, from interleaved rounds."""
    ids, mask = batch(config, length)
    worst = largest_difference({name: model(ids, mask) for name, model in models.items()}, mask)  # also warms up
    names = list(models)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in track(range(rounds), f"{length} tokens", transient=True):
        for name in names[turn % 4 :] + names[: turn % 4]:
            start = time.perf_counter()
            models[name](ids, mask)
            times[name].append(time.perf_counter() - start)
    ratios = {name: [mine / eager for mine, eager in zip(times[name], times[EAGER], strict=True)] for name in COMPARED}
    return {
        "length": length,
        "rounds": rounds,
        "largest difference": float(f"{worst:.2g}"),
        "milliseconds": {name: round(1000 * statistics.median(values), 2) for name, values in times.items()},
        "ratio to eager": {name: round(statistics.median(values), 3) for name, values in ratios.items()},
        "middle half": {
            name: [round(value, 3) for value in statistics.quantiles(values, n=4)[::2]]
            for name, values in ratios.items()
        },
    }


def machine() -> dict[str, str | int | float]:
    """What a reader needs to judge the numbers."""
    names = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count() or 0,
        "threads": torch.get_num_threads(),
        "busy cores before the run": round(os.getloadavg()[0], 1),  # far above 0: the numbers are rough
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def _lines(file: str) -> list[str]:
    return Path(file).read_text().splitlines() if Path(file).exists() else []


def table(results: list[dict]) -> Table:
    shown = Table(title="Forward pass of an encoder: milliseconds (multiple of the library's with eager attention)")
    for column in ("tokens", EAGER, *COMPARED):
        shown.add_column(column, justify="right")
    for found in results:
        took, ratio = found["milliseconds"], found["ratio to eager"]
        cells = [f"{took[name]:.1f} ({ratio[name]:.2f})" for name in COMPARED]
        shown.add_row(str(found["length"]), f"{took[EAGER]:.1f}", *cells)
    return shown


def picture(results: list[dict]) -> Picture:
    """The ratios as bars; the picture's alt text has the numbers."""
    return bar_chart(
        {EAGER: [1.0] * len(results)}
        | {name: [found["ratio to eager"][name] for found in results] for name in COMPARED},
        "Forward pass: the course's encoder and the library's",
        value_label="time, as a multiple of the library's with eager attention",
        groups=[f"{found['length']} tokens" for found in results],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tiny model and a few rounds")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results (default: bench/results)")
    parser.add_argument("--threads", type=int, default=2, help="torch's threads (default: 2)")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    where = machine()
    config, lengths = sizes(options.quick)
    with torch.inference_mode():
        models = build(config)
        results = [measure(models, config, length, rounds) for length, rounds in lengths.items()]

    console = Console()
    console.print(table(results))
    worst = max(found["ratio to eager"][FUSED] for found in results)
    apart = max(found["largest difference"] for found in results)
    console.print(
        f"Outputs agree to {apart:.0e}. {FUSED}: at most {worst:.2f} times the library's time (goal: {GOAL})."
    )

    about = {
        "batch": BATCH, "layers": config.num_hidden_layers, "width": config.hidden_size,
        "heads": config.num_attention_heads, "vocabulary": config.vocab_size,
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": where, "model": about, "results": results}, indent=2, ensure_ascii=False)
    (options.out / "encoder.json").write_text(text + "\n", encoding="utf-8")
    (options.out / "encoder.png").write_bytes(picture(results).png())


if __name__ == "__main__":
    main()
