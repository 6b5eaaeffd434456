"""What the judge says of the results of 10-encoder-decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb05_encoder_layer.described import (
    EVAL,
    LITTLE,
    UNRELATED,
    depends_on,
    dropped_in_words,
    part_in_words,
)
from anatomy.course.nb10_encoder_decoder.asked import LAST
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case


def _may_look(mask: Any, case: Case) -> Any:
    """Where the mask lets a query look, as (B, 1, T, T): numbers that forbid by being added to scores are as good."""
    if not isinstance(mask, Tensor):
        return mask
    sizes = case.sizes
    if mask.is_floating_point():
        shown = mask > -1e4
        if not mask.isnan().any() and len(mask[shown].unique()) < 2 and mask.amax() < torch.inf:
            mask = shown  # what is added to all that is shown makes no difference to a softmax
    whole = (sizes["B"], 1, sizes["T"], sizes["T"])
    fits = mask.dim() <= 4 and all(mine in (1, size) for mine, size in zip(mask.shape[::-1], whole[::-1], strict=False))
    return mask.expand(whole) if fits else mask


def _layer(raw: Any, case: Case) -> Any:
    """Where it is needed: what dropout does, in words."""
    if case.asks != "dropout":
        return raw
    x, part = case.args["x"], case.args.get("part")
    if not isinstance(raw, dict) or "$other" in raw:
        return as_it_is(raw)
    if part is not None:
        said = f"{part}, {part_in_words(raw, x, case.init[0].hidden_dropout_prob, LAST[part])}"
        rests = "in_eval_mode" not in raw or torch.allclose(raw["in_eval_mode"], raw["calm"], atol=1e-4)
        return said if rests else said + EVAL
    calm, noisy = raw["calm"], raw["noisy"]
    changes = "nothing" if torch.allclose(noisy, calm, atol=1e-5) else "the result"
    return f"for p = 0, training mode changes {changes}" if depends_on(calm, x) else UNRELATED


NOT_OF_THESE_IDS = "what goes in has nothing to do with the tokens"


def _transformer(raw: Any, case: Case) -> Any:
    """Where it is needed: what dropout does to what goes into the first layer, in words."""
    if case.asks != "dropout":
        return raw
    if gathered(raw, "memory", "encoded", "logits", "weight"):
        return _dropped_inside(raw, case)
    return _embeddings_dropped(raw, case) if gathered(raw, "calm", "noisy", "again", "table") else as_it_is(raw)


def _dropped_inside(raw: Mapping[str, Any], case: Case) -> str:
    """In words, of a model with a layer on each side: what dropout does around the layers."""
    p, size, width = case.init[0].hidden_dropout_prob, case.sizes["V"], case.sizes["D"]
    encoded, logits, table = raw["encoded"], raw["logits"], raw["weight"]
    if encoded.shape[-1] != width or logits.shape[-1] != size or table.shape != (size, width):
        return "what is returned is neither the encoder's vectors nor logits"
    if not logits.isfinite().all() or logits.numel() == 0:
        return "not all logits are numbers"
    into_head = torch.linalg.lstsq(table.double(), logits.double().flatten(0, -2).T).solution

    def name_of(share: float) -> str:
        wanted = {"nothing": 0.0, "a share p": p, "more than p, as if twice,": 1 - (1 - p) ** 2}
        words = (name for name, one in wanted.items() if abs(share - one) < (0.1 if one else 0.02))
        return next(words, f"a share of {share:.1f}")

    def share_of(zero: Tensor) -> str:
        return name_of(zero.double().mean().item())

    def lost_of(name: str, right: float) -> str:
        """Where no gradient comes at all, that says nothing of dropout."""
        zero = raw[name] == 0
        return share_of(zero) if not zero.all() else name_of(right)

    return (
        f"in training mode: of what goes into the encoder's layer, {lost_of('into the encoder', p)} is dropped, "
        f"of what it returns, {share_of(encoded == 0)}; of what goes into the decoder's layer, "
        f"{lost_of('into the decoder', p)}, of the memory, {lost_of('memory', 0.0)}, of what it returns, "
        f"{share_of(into_head.abs() < 1e-4)}"
    )


def _embeddings_dropped(raw: Mapping[str, Any], case: Case) -> str:
    """In words, for a model without layers: what comes out of its encoder went in, and so did what the head got."""
    source, target, p = case.args["source"], case.args["target"], case.init[0].hidden_dropout_prob
    table, size, width = raw["table"], case.sizes["V"], case.sizes["D"]
    if table.shape != (size, width):
        return f"`token_embeddings` has a table of shape {tuple(table.shape)}"

    def entering(halves: Mapping[str, Tensor]) -> dict[str, Tensor]:
        encoded, logits = halves["encoder"], halves["decoder"]
        if encoded.shape != (*source.shape, width) or logits.shape != (*target.shape, size):
            raise ValueError("neither the encoder's vectors nor logits")
        written = torch.linalg.lstsq(table.double(), logits.double().flatten(0, 1).T).solution
        written = written.T.reshape(*target.shape, -1).float()  # (B, T, D): what the head was given
        return {"the encoder": encoded, "the decoder": written.where(written.abs() > 1e-5, 0.0)}

    own, noisy, again = (entering(raw[name]) for name in ("calm", "noisy", "again"))
    calm = entering(raw["undropped"]) if "undropped" in raw else own

    def said_of(where: str) -> str:
        before, after = calm[where], noisy[where]
        if torch.equal(after, again[where]) and not torch.allclose(after, before, atol=1e-5):
            return "the same numbers are dropped at every call"
        return dropped_in_words(after.where(~after.isclose(before, atol=1e-5), before), before, p)

    ids = {"the encoder": source, "the decoder": target}
    if not all(_varies_with(calm[where], ids[where], size) for where in calm):
        return NOT_OF_THESE_IDS
    said = "in training mode: " + "; ".join(f"what goes into {where}, {said_of(where)}" for where in calm)
    return said if all(torch.allclose(own[where], calm[where], atol=1e-4) for where in calm) else said + EVAL


def _varies_with(vectors: Tensor, ids: Tensor, size: int) -> bool:
    """Whether vectors (B, T, D) vary with these ids (B, T), or do not vary at all: those of other ids do not."""
    found = vectors.flatten(0, 1).double()
    off = found - found.mean(dim=0)
    chosen = torch.nn.functional.one_hot(ids.flatten(), size).double()  # (B·T, V)
    means = chosen.T @ off / chosen.sum(dim=0).clamp(min=1)[:, None]  # (V, D)
    return bool(off.abs().max() < 1e-6) or bool((chosen @ means).square().sum() > LITTLE * off.square().sum())


NO_WAY_BACK = "no gradient: what is returned is no tensor with a single number and a way back to the logits"


def _loss(raw: Any, case: Case) -> Any:
    """The loss; or its gradient, or in words why there is none."""
    if case.asks != "gradient":
        return raw
    if not gathered(raw, "gradient"):
        return NO_WAY_BACK
    return "no gradient reaches the logits" if raw["gradient"] is None else raw["gradient"]


def _written(raw: Any, case: Case) -> Any:
    """What was written; or in words how often the model was asked."""
    if case.asks != "work":
        return raw
    if not gathered(raw, "encode", "decode"):
        return as_it_is(raw)
    return f"`encode` is called {_times(raw['encode'])}, `decode` {_times(raw['decode'])}"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _searched(raw: Any, case: Case) -> Any:
    """What was found; or in words what `step` was asked."""
    if case.asks != "work":
        return raw
    return f"`step` is called for beginnings of length {', '.join(map(str, raw.tolist())) or 'none'}"


DESCRIPTIONS = {
    "decoder_mask": Description(describe=_may_look),
    "TransformerDecoderLayer": Description(describe=_layer),
    "Transformer": Description(describe=_transformer),
    "teacher_forcing_loss": Description(describe=_loss),
    "greedy_decode": Description(describe=_written),
    "beam_search": Description(describe=_searched),
}
