"""What the judge says of the results of 05-encoder-layer: where dropout sits, what a mask does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from anatomy.course.nb05_encoder_layer.asked import ALONE, LAST, shares
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case

EVAL = "; and eval mode does not give what a layer without dropout gives"
NOTHING = "nothing is dropped"
NO_ZEROS = "there is noise, but no number of the result is dropped"
RIGHT = "a share p is dropped, the rest divided by 1 − p"
UNSCALED = "a share p is dropped, the rest as it was"
UNRELATED = "what is returned has nothing to do with x"
SAME_FOR = {
    (0,): "the same numbers are dropped in every sentence",
    (1,): "whole columns are dropped",
    (2,): "whole tokens are dropped",
    (0, 1): "whole columns are dropped, the same in every sentence",
    (0, 2): "whole tokens are dropped, the same in every sentence",
    (1, 2): "whole sentences are dropped",
}
"""What it means when dropout decides alike along these axes of (B, T, D)."""

LITTLE = 0.05
"""A part of the variance. Of results that have nothing to do with x, chance explains about 2·D in the number of tokens:
less than 0.02 where this is asked."""


def depends_on(results: Tensor, x: Tensor) -> bool:
    """Whether results (B, T, D) vary with x, token by token, or do not vary at all: other inputs' results do not."""
    tokens, found = x.flatten(0, -2).double(), results.flatten(0, -2).double()  # (N, D)
    normed = F.layer_norm(tokens, tokens.shape[-1:])
    known = torch.cat([tokens, normed, torch.ones_like(tokens[:, :1])], dim=1)
    known, _ = torch.linalg.qr(known)
    off = found - found.mean(dim=0)
    if not found.isfinite().all() or off.abs().max() < 1e-6:
        return True
    return bool((known.T @ off).square().sum() > LITTLE * off.square().sum())


def _alike(chosen: Tensor) -> tuple[int, ...]:
    """The axes along which neighbors are chosen together, far more often than each by itself."""
    share = chosen.float().mean()
    by_itself = share**2 + (1 - share) ** 2
    return tuple(
        axis for axis in range(chosen.dim()) if (chosen == chosen.roll(1, axis)).float().mean() > (1 + by_itself) / 2
    )


INSIDE = "put into eval mode by a module around it, it gives another result than after its own eval()"


def _noise_in_eval_mode(noisy: Tensor, again: Tensor) -> str:
    """In words, where eval mode gives other results each time; those of training mode tell the rest."""
    return f"there is noise in eval mode, and {'none' if torch.equal(noisy, again) else 'also'} in training mode"


def dropped_in_words(noisy: Tensor, calm: Tensor, p: float) -> str:
    """Which of the numbers are zero, and what has become of the others. Both (B, T, D)."""
    if torch.equal(noisy, calm):
        return NOTHING
    zero = noisy == 0
    share = zero.float().mean().item()
    if not share:
        if (noisy == noisy.flatten().mode().values).float().mean() > p / 2:
            return "dropped numbers become a constant other than 0"
        return NO_ZEROS
    if together := _alike(zero):
        return SAME_FOR.get(together, "numbers are dropped, but not each by itself")
    factor = (noisy / calm)[~zero].median().item() if share < 1 else 0.0
    if not torch.allclose(noisy, (calm * factor).where(~zero, 0.0), atol=1e-5):
        return f"a share of {share:.1f} is dropped, and there is noise in the rest"
    if abs(share - p) < 0.05 and abs(factor * (1 - p) - 1) < 1e-3:
        return RIGHT
    if abs(share - p) < 0.05 and abs(factor - 1) < 1e-3:
        return UNSCALED
    return f"a share of {share:.1f} is dropped, the rest times {factor:.2f}, for p = {p}"


def part_in_words(raw: Mapping[str, Any], x: Tensor, p: float, last_layer: str) -> str:
    """What dropout does to one of a layer's parts, by what the layer returned for x (B, T, D): see `part_outputs`.

    A token of which dropout takes all D numbers comes out as from a layer whose part adds nothing, one of which it
    takes none as from a part scaled by 1/(1 − p).
    """
    if not raw:
        return f"there is no layer `{last_layer}`"
    names = ("calm", "noisy", "noisy_again", "off", "calm_again", "off_in_training")
    calm, noisy, noisy_again, off, calm_again, off_in_training = (raw[name] for name in names)
    if any(result.shape != x.shape for result in (calm, noisy, noisy_again, off, off_in_training, *raw["scaled"])):
        return "what is returned has another shape than x"
    scaled = dict(zip(shares(p), raw["scaled"], strict=True))

    def as_in(result: Tensor) -> Tensor:  # (B, T): the tokens that come out as in this result
        return torch.isclose(noisy, result, rtol=1e-4, atol=1e-4).all(dim=-1)

    def is_about(chosen: Tensor, wanted: float) -> bool:
        return abs(chosen.float().mean().item() - wanted) < 5 * (wanted * (1 - wanted) / chosen.numel()) ** 0.5

    def fits(share: float, result: Tensor, together: bool = False) -> bool:
        """Whether such a share is dropped, each number by itself or a token's together, and the rest is as here."""
        kept, power = as_in(result), 1 if together else x.size(-1)
        return bool(kept.any()) and is_about(as_in(off), share**power) and is_about(kept, (1 - share) ** power)

    said, twice = "there is noise, but it is not dropout of what the part returns", shares(p)[1]
    others = {share: f"a share of {share} is dropped, for p = {p}" for share in shares(p)[2:]}
    if torch.equal(noisy, calm):
        said = NOTHING
    elif as_in(off).all():
        said = "all of it is dropped at some calls"
    elif as_in(scaled[p]).all():
        said = "nothing is dropped, and all is divided by 1 − p"
    elif as_in(off).any() and (as_in(off) | as_in(scaled[p])).all() and _alike(as_in(off)) == (1,):
        said = SAME_FOR[1, 2]
    elif together := SAME_FOR.get(_alike(as_in(scaled[p]))):
        said = together
    elif fits(p, scaled[p]):
        said = "the same numbers are dropped at every call" if torch.equal(noisy, noisy_again) else RIGHT
        said = said if depends_on(off, x) else UNRELATED
    elif not torch.allclose(calm, calm_again, atol=1e-5):
        said = _noise_in_eval_mode(noisy, noisy_again)
    elif ((noisy == 0) & (off != 0)).float().mean() > (p + p * p) / 2:  # p² where two numbers are added
        said = "numbers of the layer's result are dropped"
    elif not torch.allclose(off, off_in_training, atol=1e-4):
        said = "numbers on the skip connection are dropped"
    elif fits(p, scaled[p], together=True):
        said = SAME_FOR[2,]
    elif fits(p, calm):
        said = UNSCALED
    elif fits(twice, scaled[twice]):
        said = "it is dropped twice"
    elif found := next((words for share, words in others.items() if fits(share, scaled[share])), None):
        said = found
    elif as_in(off).any():
        share = as_in(off).float().mean().item() ** (1 / x.size(-1))
        rest = (
            "divided by 1 − p" if as_in(scaled[p]).any() else "as it was" if as_in(calm).any() else "scaled otherwise"
        )
        said = f"a share of about {share:.1f} is dropped, for p = {p}, the rest {rest}"
    return f"in training mode: {said}"


def _feed_forward(raw: Any, case: Case) -> Any:
    """Where dropout is needed: what training mode does to the results, in words."""
    if case.asks != "dropout":
        return raw
    if not gathered(raw, "calm", "calm_again", "noisy", "noisy_again"):
        return as_it_is(raw)
    calm, again, noisy, noisy_again = (raw[name] for name in ("calm", "calm_again", "noisy", "noisy_again"))
    undropped = raw.get("undropped", calm)
    if not torch.allclose(calm, again, atol=1e-5):
        return _noise_in_eval_mode(noisy, noisy_again)
    if not torch.allclose(calm, raw.get("inside", calm), atol=1e-5):
        return INSIDE
    if torch.equal(noisy, noisy_again) and not torch.equal(noisy, calm):
        return "in training mode: the same numbers are dropped at every call"
    p = case.init[0].hidden_dropout_prob
    said = dropped_in_words(noisy, undropped, p)
    if said == NO_ZEROS and gathered(raw, "bias", "bias_only"):
        bias, bias_only = raw["bias"], raw["bias_only"]
        if (noisy == bias).float().mean() > p / 2:
            said = "numbers are dropped before the bias of linear_2 is added"
        elif torch.allclose(bias_only, bias.expand_as(bias_only), atol=1e-6):
            said = f"{NO_ZEROS}, because the noise comes before linear_2"
    also = "" if torch.allclose(calm, undropped, atol=1e-5) else EVAL
    return f"in training mode: {said if said != RIGHT or depends_on(calm, case.args['x']) else UNRELATED}{also}"


def _start_in_words(found: Any) -> str:
    """What a new layer has under one name."""
    if found is None:
        return "missing"
    if not found["parameter"]:
        return "a tensor, but no nn.Parameter"
    numbers = found["tensor"].unique().tolist()
    start = f"all {numbers[0]:g}" if len(numbers) == 1 else "not all the same"
    return f"shape {tuple(found['tensor'].shape)}, {start}" + ("" if found["learned"] else ", not to be learned")


NO_SLOPE = "a result whose gradient is nan or infinite"


def _norm(raw: Any, case: Case) -> Any:
    """How a new layer starts; or, where the shape is needed, whether each token is treated by itself; or the result."""
    if case.asks == "parameters":
        if not gathered(raw, "weight", "bias"):
            return as_it_is(raw)
        return {name: _start_in_words(found) for name, found in raw.items()}
    if case.asks == "eps" and gathered(raw, "result", "slope"):
        result, slope = raw["result"], raw["slope"]
        return NO_SLOPE if result.isfinite().all() and not slope.isfinite().all() else result
    if case.asks != ALONE:
        return raw
    if not gathered(raw, "together", "alone"):
        return as_it_is(raw)
    together, alone, in_training = raw["together"], raw["alone"], raw["in_training"]

    def is_as(one: Tensor, other: Tensor) -> bool:
        return one.numel() == other.numel() and torch.allclose(
            one.flatten(), other.flatten(), atol=1e-4, equal_nan=True
        )

    apart = "each token as" if is_as(together, alone) else "tokens not as"
    also = "" if is_as(together, in_training) else "; and training mode gives another result than eval mode"
    return f"shape {tuple(together.shape)}, {apart} when it is alone{also}"


def _masked_in_words(raw: Mapping[str, Any], mask: Tensor) -> str:
    """Whether each sentence comes out of a padded batch as it does alone."""
    padded, alone, without = raw["padded"], raw["alone"], raw["without"]
    padding = ~mask[:, 0, 0]  # (B, T)
    lengths = (~padding).sum(dim=-1).tolist()

    def is_alone(result: Tensor) -> bool:
        pairs = [(one, own[:length]) for one, own, length in zip(alone, result, lengths, strict=True)]
        return all(torch.allclose(one.reshape(own.shape), own, atol=1e-4) for one, own in pairs)

    def are_alike(one: str, other: str) -> bool:
        return one in raw and other in raw and torch.allclose(raw[one], raw[other], atol=1e-5)

    said = "not as alone"
    if is_alone(padded):
        said = "as alone"
        if torch.equal(raw["padding_moved"][padding], padded[padding]):
            said = "as alone, but padded tokens come out the same whatever they hold"
        elif are_alike("in_training", "without") and not torch.allclose(padded, without, atol=1e-4):
            said = "as alone, but in training mode as if there were no mask"
        elif kept := raw.get("kept"):
            said = f"as alone, but with a mask nothing of {' and '.join(kept)} is dropped in training mode"
    elif are_alike("padded", "without"):
        said = "as if there were no mask"
    elif "turned_round" in raw and is_alone(raw["turned_round"]):
        said = "as if True and False were exchanged in the mask"
    elif are_alike("padded", "numbers") and are_alike("padded", "numbers_plus_1"):
        said = "as if the mask were numbers, 1 and 0, added to the scores"
    elif "nothing_hidden" in raw and not are_alike("nothing_hidden", "without"):
        said = "not as alone; and a mask that hides nothing changes the result"
    elif padded.shape[:2] == padding.shape and torch.allclose(
        raw["padding_moved"][~padding], padded[~padding], atol=1e-5
    ):
        said = "not as alone, though it makes no difference what padding holds"
    return f"with padding and a mask, each sentence comes out {said}"


def _zeros_in_words(raw: Mapping[str, Any], x: Tensor) -> str:
    """Whether the other tokens get the same from a token of zeros as from one next to 0, without a mask."""
    zeros, near = raw["zeros"], raw["next_to_0"]
    others = (x != 0).any(dim=-1)  # (B, T)
    if zeros.shape == near.shape == x.shape:
        zeros, near = zeros[others], near[others]
    alike = zeros.shape == near.shape and torch.allclose(zeros, near, atol=1e-3, equal_nan=True)
    return f"without a mask, tokens of zeros are {'looked at like others' if alike else 'not looked at like others'}"


def _layer(raw: Any, case: Case) -> Any:
    """Where it is needed: what a mask does, or dropout, in words."""
    if case.asks == "mask" and "mask" not in case.args:
        return _zeros_in_words(raw, case.args["x"]) if gathered(raw, "zeros", "next_to_0") else as_it_is(raw)
    if case.asks == "mask":
        return (
            _masked_in_words(raw, case.args["mask"]) if gathered(raw, "padded", "alone", "without") else as_it_is(raw)
        )
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


def _count(raw: Any, case: Case) -> Any:
    """The count; or in words what it is where it can't hold every whole number."""
    if not gathered(raw, "number", "type"):
        return raw
    imprecise = str(raw["type"]).startswith("float") and raw["type"] != "float64"
    return f"a number of type {raw['type']}, which can't hold every whole number" if imprecise else raw["number"]


def _entry(raw: Any, case: Case) -> Any:
    """One entry of the dict, or in words why there is none; or which entries there are."""
    if not gathered(raw, "type", "entries"):
        return as_it_is(raw)
    counted = raw["entries"]
    if counted is None:
        return f"{raw['type']}, where a dict is required"
    if case.asks == "entries":
        return ", ".join(sorted(counted))
    return counted.get(case.asks, f"no entry {case.asks!r}")


DESCRIPTIONS = {
    "FeedForward": Description(describe=_feed_forward),
    "LayerNorm": Description(describe=_norm),
    "TransformerEncoderLayer": Description(describe=_layer),
    "PostNormEncoderLayer": Description(describe=_layer),
    "count_layer_parameters": Description(describe=_count),
    "layer_flops": Description(describe=_entry),
}
