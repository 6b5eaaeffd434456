"""Do the experiments of notebooks 01 to 13 hold with other seeds? Each over five, with the notebook's own cells.

    python bench/five_seeds.py [--seeds 5] [01 02 …]

For each measurement: its value with each seed. The notebooks' texts quote the ranges. Some twenty minutes for all of
them on one core. (What a teacher, pretraining and the induction circuit do has scripts of its own.)
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable

import torch
from notebook_cells import run_cells

Measured = dict[str, float]


def company(seed: int) -> Measured:
    """01: which of six words end up alike after a tiny skip-gram, as cosines."""
    names = run_cells("01-embedding-lookup", "setup", "skip-gram", shift=seed)
    cosines = names["cosines"]().nan_to_num(-1.0)  # (6, 6): pear, peach, cat, dog, monday, sunday
    found = {"pear and peach": cosines[0, 1], "cat and dog": cosines[2, 3], "monday and sunday": cosines[4, 5]}
    others = cosines.masked_fill(torch.block_diag(*[torch.ones(2, 2)] * 3).bool(), -1.0)
    return {**{pair: value.item() for pair, value in found.items()}, "the closest other pair": others.max().item()}


def noise(seed: int) -> Measured:
    """02: scores of random queries and keys, and the gradients that come back from them."""
    made = ("setup", "dot-product-scores", "scaled-scores", "measure", "gradients", "gradients-at-query")
    names = run_cells("02-attention-scores", *made, shift=seed)
    found: Measured = {}
    for kind in ("unscaled", "scaled"):
        found[f"variance at width 64, {kind}"] = names["variance"][kind][3]
        found[f"entropy at width 1024, {kind}"] = names["evenness"][kind][-1]
        found[f"gradient at a row of scores, width 64, {kind}"] = names["typical"][kind][3]
        found[f"gradient at a row of scores, width 1024, {kind}"] = names["typical"][kind][-1]
        lengths = names["gradient_at_query"](names[f"{'dot_product' if kind == 'unscaled' else kind}_scores"], 256)
        found |= {
            f"at a query, {kind}: median": lengths.median().item(),
            f"at a query, {kind}: mean": lengths.mean().item(),
        }
        for percent in (5, 95, 99):
            found[f"at a query, {kind}: {percent} % are below"] = lengths.quantile(percent / 100).item()
        for limit in (1e-5, 0.005, 1.0, 10.0):
            found[f"at a query, {kind}: share below {limit:g}"] = (lengths < limit).float().mean().item()
    return found


def two_jobs(seed: int) -> Measured:
    """04: the mean squared error of the last 20 steps with 1 to 16 heads."""
    made = ("setup", "AttentionHead", "split-heads", "merge-heads", "FusedMultiHeadAttention", "two-jobs")
    curves = run_cells("04-heads", *made, shift=seed)["curves"]
    return {name: sum(curve[-20:]) / 20 for name, curve in curves.items()}


def layers(seed: int) -> Measured:
    """05: tokens that become alike, gradients through a stack, four stacks that learn or don't, an LSTM's reach."""
    made = ("setup", "self-attention", "collapse", "gelu", "FeedForward", "norms", "LayerNorm", "skip")
    more = ("TransformerEncoderLayer", "PostNormEncoderLayer", "gradients", "gradients-picture", "training")
    names = run_cells("05-encoder-layer", *made, *more, shift=seed)
    found: Measured = {}
    arrived = names["arrived"]
    found["skip: what a network leaves of the gradient"] = (arrived["part(x)"][-1] / arrived["part(x)"][0]) ** (1 / 23)
    found["skip: growth of the gradient over 24"] = arrived["x + part(x)"][-1] / arrived["x + part(x)"][0]
    for name, curve in names["curves"].items():
        found[f"cross-entropy of the last 20 steps: {name}"] = sum(curve[-20:]) / 20
    collapse = run_cells("05-encoder-layer", "setup", "self-attention", "collapse", shift=seed)["curves"]
    for name, curve in collapse.items():
        found |= {f"alike after {depth} layers: {name}": curve[depth] for depth in (1, 2, 3, 12)}
    again = ("LayerNorm", "gelu", "FeedForward", "TransformerEncoderLayer", "PostNormEncoderLayer", "gradients")
    ids = ("setup", "self-attention", "collapse", *again, "gradients-picture", "alike-again", "reach")
    names = run_cells("05-encoder-layer", *ids, shift=seed)
    found |= {f"alike after 12 layers: {name}": curve[-1] for name, curve in names["curves"].items()}
    for name, values in names["reach"].items():
        found |= {f"reach over {d} tokens: {name}": values[i] for i, d in ((0, 1), (-1, 63))}
    return found


def positions(seed: int) -> Measured:
    """06: how far scores vary along diagonals, and how often a random pair's rotary peak is at offset 0, of 200."""
    made = ("setup", "permutation-gap", "gaps", "sinusoidal-encoding", "Embeddings", "real-embeddings-measured")
    shown = ("relative-position-bias", "apply-rotary", "diagonals-picture", "four-picture")
    names = run_cells("06-positional-encodings", *made, *shown, shift=seed)
    spread = {
        name: max((scores.diagonal(k).max() - scores.diagonal(k).min()).item() for k in range(-12, 13))
        for name, scores in (("added", names["added"]), ("turned", names["rotated"]))
    }
    return {**spread, "peaks at offset 0": names["peaks_at_0"]}


def random_encoder(seed: int) -> Measured:
    """07: noun or verb, read from an encoder with random weights."""
    made = (
        "setup",
        "padding-matters",
        "padding-mask",
        "TransformerEncoder",
        "load-bert-weights",
        "agreement",
        "silent",
    )
    asked = ("data", "flies-by-layer", "nearest-centroid", "by-layer", "ablation")
    curves = run_cells("07-encoder", *made, *asked, seed=seed)["curves"]
    return {"random weights, last depth": curves["random weights"][-1]}


def heads_for_tasks(seed: int) -> Measured:
    """08: fine-tuned and frozen, for one label and for a passage; names, token by token."""
    classifier = ("setup", "cls-by-layer", "TransformerForSequenceClassification", "untrained", "cross-entropy")
    trained = ("train-step", "train-classifier", "data", "fine-tune", "frozen", "TokenClassifier", "flights", "tag")
    spans = ("tag-look", "span-scores", "best-span", "questions", "train-spans", "tune-spans")
    names = run_cells("08-classification-head", *classifier, *trained, *spans, seed=seed)
    new, right = names["new"], names["right"]
    return {
        **{f"noun or verb: {name}": share for name, share in names["flies"].items()},
        "passage: trained body, frozen": names["frozen_spans"],
        "passage: trained body, fine-tuned": names["tuned_spans"],
        "names: new tokens right": right[new].float().mean().item(),
        "names: sentences without a mistake": right.all(dim=1).float().mean().item(),
    }


def language_model(seed: int) -> Measured:
    """09: with and without the mask; perplexities; a made-up word, repeated."""
    made = ("setup", "shift-picture", "causal-mask", "masked-attention", "CausalSelfAttention", "DecoderBlock", "GPT")
    more = ("tied", "leak-models", "next-token-loss", "initial-loss", "next-token-probabilities", "generate")
    shown = ("data", "training", "without", "by-place", "ladder", "next-character", "shots-measure")
    names = run_cells("09-causal-mask", *made, "future-leak", *more, *shown, seed=seed)
    first, *_, last = names["at_position"]["with the mask"]
    *others, guessed = names["at_position"]["without"]
    return {
        "training loss after 300 steps, no mask": names["smooth"](names["peeking_losses"])[-1],
        "no mask, unseen text: last position": guessed,
        "no mask, unseen text: all others": sum(others) / len(others),
        "with the mask, unseen text: first position": first,
        "with the mask, unseen text: last position": last,
        "perplexity on unseen text": names["ladder"]["your GPT, after a minute"],
        "perplexity on the text it learned from": names["perplexity"](names["storyteller"], names["seen"]),
        "last letter, no example": names["shares"][0],
        "last letter, eight examples": names["shares"][8],
    }


def dates(seed: int) -> Measured:
    """10: whole dates; fed the right tokens or its own; greedy and with a beam."""
    made = ("setup", "shift-right", "decoder-mask", "CrossAttention", "TransformerDecoderLayer", "Transformer")
    trained = ("teacher-forcing-loss", "data", "greedy-decode", "train", "exact", "beam-search", "beam-dates")
    names = run_cells("10-encoder-decoder", *made, *trained, seed=seed)
    as_ids, as_text, pairs = names["as_ids"], names["as_text"], names["test_pairs"]
    found: Measured = {"whole dates right": names["exact"].float().mean().item()}
    for step in (100, 200, 300, 800):
        forced, free = (right.float().mean().item() for right in names["measured"][step])
        found |= {f"step {step}: fed the right tokens": forced, f"step {step}: fed its own": free}
    forced, free = (right.float().mean(dim=0) for right in names["measured"][200])
    found |= {
        "step 200, 2nd digit: fed the right tokens": forced[1].item(),
        "step 200, 2nd digit: fed its own": free[1].item(),
    }
    for beam_size in (1, 4):
        right = 0
        for written, iso in pairs[:50]:
            step_of = names["writer"](names["young"], as_ids(written)[None])
            ids, _ = names["beam_search"](step_of, names["START"], names["END"], beam_size, 12)
            right += as_text(torch.tensor(ids)) == iso
        found[f"step 200, beam of {beam_size}: right, of 50"] = right
    return found


def repeating(seed: int) -> Measured:
    """11: the case that deceives, followed through both layers, and with each head switched off; dates."""
    cells = ("setup", "induction", "gpt", "follow", "switch-off-heads", "switch-gpt", "dates")
    names = run_cells("11-bertviz", *cells, seed=seed)
    count, said, texts = names["count"], names["said"], names["texts"][:64]
    looked, followed = [], []
    for b in range(2):
        looked.append((texts.gather(1, names["second"][:, b])[:, :-1] == said)[count].float().mean().item())
        for a in range(2):
            origin = names["first"][:, a].gather(1, names["second"][:, b])
            followed.append((texts.gather(1, origin)[:, :-1] == said)[count].float().mean().item())
    off = {f"letters right: {name}": share for name, share in names["left"].items()}
    source, target = names["as_batch"](names["test_pairs"])
    written = names["greedy_decode"](names["reader"], source, names["START"], names["END"], max_len=target.size(1))
    written = torch.nn.functional.pad(written, (0, target.size(1) - written.size(1)))
    off["dates right after 300 steps"] = (written == target).all(dim=1).float().mean().item()
    return {"looked at is said, best head": max(looked), "two steps back is said, best way": max(followed), **off}


def masked_model(seed: int) -> Measured:
    """12: a gap filled, gaps in other sentences, what the topic gives away, two losses at once."""
    made = ("setup", "mask-tokens", "mlm-loss", "data", "train", "loss-curve", "held-out", "draw-below")
    more = ("next-sentence-pairs", "sentence-order-pairs", "topic", "teacher", "finetuning-loss", "gpt")
    names = run_cells("12-pretraining", *made, *more, seed=seed)
    known, kept = names["accuracies"].values()
    topic = [float(title.rsplit(" ", 1)[1].rstrip("%")) / 100 for title in names["titles"]]
    return {
        "“arrow” in the gap after 500 steps": names["filled"][500].get("arrow", 0.0),
        "nothing hidden: loss of the last 20 steps": names["smooth"](names["copier_losses"])[-1],
        "gaps filled at 15 %, known sentences": known[1] / 100,
        "gaps filled at 15 %, kept back": kept[1] / 100,
        "gaps filled at 90 %, known sentences": known[-1] / 100,
        "by topic: next sentence": topic[0],
        "by topic: sentence order": topic[1],
        **{
            f"{name}: change of the language model's loss": line[-1] - line[0] for name, line in names["curves"].items()
        },
    }


def family(seed: int) -> Measured:
    """13: layers until all have heard of all; the tiny CLIP."""
    masks = ("setup", "sliding-window-mask", "bigbird-mask", "layers-needed")
    clip = ("patchify", "show-scenes", "show-patches", "clip-loss", "towers", "train-clip")
    names = run_cells("13-family-tree", *masks, *clip, seed=seed)
    own = torch.arange(40)
    found: Measured = {"first loss": names["curve"][0], "loss of the last 20 steps": sum(names["curve"][-20:]) / 20}
    for name, axis in (("images", 1), ("texts", 0)):
        found[f"unseen {name} that have their own nearest, of 40"] = int((names["after"].argmax(dim=axis) == own).sum())
    for length in (24, 96, 384):
        generator = torch.Generator().manual_seed(seed)
        found[f"layers with random keys, {length} tokens"] = names["layers_until_all"](
            names["bigbird_mask"](length, 4, 0, 2, generator)
        )
    return found


EXPERIMENTS: dict[str, Callable[[int], Measured]] = {
    "01": company,
    "02": noise,
    "04": two_jobs,
    "05": layers,
    "06": positions,
    "07": random_encoder,
    "08": heads_for_tasks,
    "09": language_model,
    "10": dates,
    "11": repeating,
    "12": masked_model,
    "13": family,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", metavar="NN", help="default: all of " + ", ".join(EXPERIMENTS))
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    for notebook in asked.notebooks or EXPERIMENTS:
        print(EXPERIMENTS[notebook].__doc__, flush=True)
        found = []
        for seed in range(asked.seeds):
            with contextlib.redirect_stdout(io.StringIO()):  # the cells print what they draw
                found.append(EXPERIMENTS[notebook](seed))
        for name in found[0]:
            print(f"  {name:50}", *(f"{one[name]:8.4g}" for one in found), flush=True)


if __name__ == "__main__":
    main()
