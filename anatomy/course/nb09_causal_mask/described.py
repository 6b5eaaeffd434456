"""What the judge says of the results of 09-causal-mask."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb05_encoder_layer.asked import LAST
from anatomy.course.nb05_encoder_layer.described import UNRELATED, depends_on, dropped_in_words, part_in_words
from anatomy.course.nb09_causal_mask.asked import AT_ZERO, PAIRS, Writer, state, token_table, used_before
from anatomy.course.nb09_causal_mask.right import next_token_probabilities
from anatomy.engine.calls import unpacked
from anatomy.engine.describing import Description
from anatomy.engine.describing.generators import continues
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case
from anatomy.engine.observing.plain_data import plain, same

# ---------------------------------------------------------------------------------------------- future_leak


def _named(state: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay as it is, by name."""
    parts: dict[str, Any] = {"the training mode": state["training"]}
    for name, value in state["parameters"].items():
        parts[name] = value
        parts[f"the gradient kept in {name}"] = state["gradients"][name]
        parts[f"{name}.requires_grad"] = state["requires_grad"][name]
    parts |= {f"the function {name or 'model'}.forward": number for name, number in state["replaced"].items()}
    return parts | {f"the number of hooks at {name or 'the model'}": number for name, number in state["hooks"].items()}


def _unchanged(raw: Any, case: Case) -> Any:
    """Where it is needed: what has become of the model, in words."""
    if case.asks != "model unchanged":
        return raw
    if not gathered(raw, "state", "own_hook", "outputs"):
        return as_it_is(raw)
    if not raw["own_hook"]:
        return "a hook that the model had is gone"
    model = deepcopy(case.args["model"])
    used_before(model)
    before, after = _named(plain(state(model))), _named(raw["state"])
    if changed := [name for name, value in before.items() if not same(value, after.get(name))]:
        return f"{changed[0]} has changed"
    as_before = torch.allclose(raw["outputs"], model(case.args["ids"]).detach(), atol=1e-5)
    return "the model as it was" if as_before else "the model gives other outputs than before"


# ---------------------------------------------------------------------------------------------- CausalSelfAttention


def _state_dict(raw: Any) -> dict[str, str]:
    """What the module's state dict holds, in words."""
    kept = gathered(raw, "buffers") and raw["buffers"]
    return {"the state dict": "parameters and buffers" if kept else "parameters only"}


def _attended(raw: Any, case: Case) -> Any:
    """Where it is needed, in words: which tokens the outputs see, or what the module says of itself."""
    if case.asks == "parameters":
        return _state_dict(raw)
    if case.asks == "num_heads":
        return {"num_heads": raw.get("num_heads", "missing")}
    if case.asks is None:
        return raw
    if not gathered(raw, "outputs", "changed"):
        return as_it_is(raw)
    (x,), outputs, changed = case.args.values(), raw["outputs"], raw["changed"]
    length = x.size(1)
    if outputs.shape != x.shape or changed.shape != (length, *x.shape) or not depends_on(outputs, x):
        return UNRELATED
    apart = (changed - outputs).abs().amax(dim=(1, 3)).T  # (T, S)
    sees = ~(apart <= 1e-5)  # NaN is no evidence of not seeing
    later = [t for t in range(length) if sees[t, t + 1 :].any()]
    blind = [t for t in range(length) if not sees[t, : t + 1].all()]
    return {
        "later tokens": f"seen by outputs {later}" if later else "seen by none",
        "tokens up to its own": f"not all seen by outputs {blind}" if blind else "seen by each output",
    }


# ---------------------------------------------------------------------------------------------- DecoderBlock, GPT


def _block(raw: Any, case: Case) -> Any:
    """Where dropout is needed, in words: what it does to one of the two parts."""
    part = case.args.get("part")
    if part is None:
        return raw
    if not isinstance(raw, dict) or "$other" in raw:
        return as_it_is(raw)
    return f"{part}, {part_in_words(raw, case.args['x'], case.init[0].resid_pdrop, LAST[part])}"


def _gpt(raw: Any, case: Case) -> Any:
    """Where it is needed, in words: what dropout does to the embeddings; what else the state dict holds."""
    if case.asks == "parameters":
        return _state_dict(raw)
    if case.asks != "dropout":
        return raw
    if raw == {}:
        return "there is no first block in `blocks`"
    if not gathered(raw, "calm", "noisy", "into_blocks"):
        return as_it_is(raw)
    seen, ids = raw["into_blocks"], case.args["ids"]
    if len(seen) != 2 or not all(isinstance(x, Tensor) for x in seen):
        return "the first block in `blocks` is not called once with a tensor"
    calm, noisy = seen
    vectors = token_table(case.sizes["V"], case.sizes["D"])[ids]  # (B, T, D)
    if calm.shape != vectors.shape or not (depends_on(calm, vectors) or _says_the_same_twice(calm, ids)):
        return UNRELATED
    said = dropped_in_words(noisy, calm, case.init[0].embd_pdrop)
    random = "not " * torch.equal(raw["noisy"], raw["calm"]) + "random"
    return f"what reaches the first block in training: {said}; logits {random}"


def _says_the_same_twice(vectors: Tensor, ids: Tensor) -> bool:
    """Whether a token that two texts have at the same place has the same vector in both."""
    same_token = ids[:, None] == ids  # (B, B, T)
    apart = (vectors[:, None] - vectors).abs().amax(dim=-1)  # (B, B, T)
    return bool((apart[same_token] <= 1e-4).all())


# ---------------------------------------------------------------------------------------------- load_gpt2_weights

REFUSED, LOADED = "refused", "loaded without a word"
UNKNOWN = "what gpt holds is neither its own nor the dict's"


def _loaded(raw: Any, case: Case) -> Any:
    """In words, where it is needed: what is refused; whether two are one; whether model and dict went apart."""
    given, start = case.args["state_dict"], _numbers_of(case)
    if case.asks == "independence":
        names = ("state_dict", "loaded", "trainable", "later")
        return _independence(raw, case) if gathered(raw, *names) else as_it_is(raw)
    if case.asks == "refusals" and case.note:
        return (REFUSED if raw["error"] else LOADED) if gathered(raw, "error") else as_it_is(raw)
    if case.asks == "leftover blocks":
        if not gathered(raw, "error", "loaded"):
            return as_it_is(raw)
        if not _is_from(raw["loaded"], start, given):
            return UNKNOWN
        return REFUSED if raw["error"] else LOADED
    if case.asks not in ("refusals", "tied head"):
        return raw
    if not gathered(raw, "loaded"):
        return as_it_is(raw)
    if not _is_from(raw["loaded"], start, given):
        return UNKNOWN
    if case.asks == "refusals":
        return "loaded"
    number = "one parameter" if raw["one_parameter"] else "two parameters"
    return f"token_embeddings.weight and lm_head.weight are {number}"


def _numbers_of(case: Case) -> dict[str, Tensor]:
    """What the model holds before anything is loaded."""
    return dict(case.args["gpt"].named_parameters())


def _is_from(loaded: Mapping[str, Tensor], start: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> bool:
    """Whether any of the model's parameters is as it was at the start, or one of the dict's entries."""
    mine = [loaded[name] for name in start if name in loaded]
    return any(torch.equal(one, other) for one in mine for other in (*start.values(), *given.values()))


def _independence(raw: Mapping[str, Any], case: Case) -> str:
    """Whether model and dict went separate ways, and whether the model can still be trained."""
    given, found, loaded, later = case.args["state_dict"], raw["state_dict"], raw["loaded"], raw["later"]
    start = _numbers_of(case)
    if given.keys() - found.keys():
        return "state_dict has lost entries"
    for name, value in given.items():
        if not torch.equal(found[name], value):
            return f"state_dict[{name!r}] has changed"
    if all(torch.equal(value, start[name]) for name, value in loaded.items() if name in start):
        return "nothing in gpt has changed"
    if frozen := [name for name, trainable in raw["trainable"].items() if not trainable]:
        return f"gpt.{frozen[0]} can't be trained any more"
    if shared := [name for name, value in later.items() if not torch.equal(value, loaded[name])]:
        others = " and all others change" if len(shared) == len(later) else " changes"
        return f"gpt.{shared[0]}{others} whenever the dict's tensors change"
    if not _is_from(loaded, start, given):
        return UNKNOWN
    return "the dict as it was, a model with weights of its own"


# ---------------------------------------------------------------------------------------------- probabilities


def _zero_exactly(value: Any, case: Case) -> str | None:
    """What the value of a softmax can't show by its size: whether what is left out has nothing at all."""
    if not isinstance(value, Tensor) or value.shape != case.args["logits"].shape:
        return None
    if case.args.get("top_p") == 1.0:  # rounding decides whether the sum is 1 before the last tokens
        return None
    largest = value.masked_fill(next_token_probabilities(*case.args.values()) > 0, 0.0).abs().max()
    if not 0 < largest <= 1e-5:  # larger ones are wrong values, and so is NaN
        return None
    return f"Tokens that are left out get the probability 0 exactly; yours get up to {largest:.2g}."


# ---------------------------------------------------------------------------------------------- generate


def _written(raw: Any, case: Case) -> Any:
    """Where it is needed, in words: the model's mode; from which distribution and source of chance texts are drawn."""
    if case.asks == "mode":
        if not gathered(raw, "training", "logits"):
            return as_it_is(raw)
        if not torch.equal(raw["logits"], case.args["model"].get_buffer("logits")):
            return "the model is another one afterwards"
        return f"the model is in {'training' if raw['training'] else 'eval'} mode afterwards"
    if case.asks not in ("sampling", "generator"):
        return raw
    if case.note == AT_ZERO:
        kept = gathered(raw, "state") and torch.equal(raw["state"], case.args["generator"].get_state())
        return "the generator as it was" if kept else "a generator that has moved on"
    if gathered(raw, "type"):
        return f"no tensor, but a result of type {raw['type']}"
    if case.asks == "generator":
        return _chance(raw, case) if gathered(raw, "texts", "state") else as_it_is(raw)
    return _drawn(raw["written"], case) if gathered(raw, "written") else as_it_is(raw)


def _drawn(written: Any, case: Case) -> str:
    """Two tokens, written in many rows at once."""
    model, ids = case.args["model"], case.args["ids"]
    temperature, top_k, top_p = case.args.get("temperature", 1.0), case.args.get("top_k"), case.args.get("top_p")
    if written.shape != (len(ids), ids.size(1) + 2):
        return f"a text of shape {tuple(written.shape)}, where {(len(ids), ids.size(1) + 2)} is asked for"
    new = written[:, -2:]
    if not bool((written[:, :-2] == ids).all()) or (new < 0).any() or (new >= case.sizes["V"]).any():
        return "not the given tokens with two more after them"
    if (new == new[0]).all():
        return "every row is continued alike"
    counts = torch.bincount(new[:, 0].long() * case.sizes["V"] + new[:, 1].long(), minlength=case.sizes["V"] ** 2)
    first = torch.bincount(new[:, 0].long(), minlength=case.sizes["V"])
    for words, joint in _suspects(model, ids[:1], temperature, top_k, top_p).items():
        if _fits(counts, joint.flatten()) and _fits(first, joint.sum(dim=1)):
            return f"drawn {words}"
    return "drawn from another distribution"


def _fits(counts: Tensor, probabilities: Tensor) -> bool:
    """Whether counts can come from these probabilities.

    By Bernstein's inequality a count leaves these bounds with a probability below 2·exp(−24); one whose probability is
    0 never does. Where 40 and more are expected, none at all come with a probability below exp(−40).
    """
    expected = counts.sum() * probabilities.double()
    deviation = (expected * (1 - probabilities.double())).sqrt()
    bound = torch.where(expected > 0, 7 * deviation + 16, 0.0)
    return bool(((counts - expected).abs() <= bound).all()) and not ((counts == 0) & (expected > 40)).any()


def _suspects(
    model: Writer, ids: Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> dict[str, Tensor]:
    """Distributions of the next two tokens (V, V), by the words for them; that which is needed comes first."""
    vocabulary = model.get_buffer("logits").size(1)

    def chances(ids: Tensor, temperature: float, rank: int, share: float | None) -> Tensor:  # (N, T) -> (N, V)
        return next_token_probabilities(model(ids)[:, -1].double(), temperature, rank, share)

    def joint(temperature: float, rank: int, share: float | None = top_p) -> Tensor:  # (V, V)
        both = torch.cat([ids.expand(vocabulary, -1), torch.arange(vocabulary)[:, None]], dim=1)  # (V, T + 1)
        return chances(ids, temperature, rank, share).T * chances(both, temperature, rank, share)

    rank = top_k or vocabulary
    once = chances(ids, temperature, rank, top_p)  # (1, V)
    suspects = {"as asked": joint(temperature, rank)}
    if temperature != 1.0:
        suspects |= {"as from a temperature of 1": joint(1.0, rank),
                     "as if the logits were multiplied by the temperature": joint(1 / temperature, rank)}  # fmt: skip
    if top_k is not None and top_p is not None:
        suspects |= {"as if there were no `top_k`": joint(temperature, vocabulary),
                     "as if there were no `top_p`": joint(temperature, rank, None)}  # fmt: skip
    if top_k is not None:
        suspects[f"from the {rank + 1} most probable tokens"] = joint(temperature, rank + 1)
    if top_k is not None or top_p is not None:
        suspects |= {"from all tokens": joint(temperature, vocabulary, None),
                     "from all tokens, as from a temperature of 1": joint(1.0, vocabulary, None)}  # fmt: skip
    uniform = torch.full((vocabulary, vocabulary), vocabulary**-2)
    return suspects | {
        "twice from the distribution of the first token": once.T * once,
        "with the same probability for every token": uniform,
    }


def _chance(raw: Mapping[str, Any], case: Case) -> Any:
    """Whether the generator, and nothing else, decides."""
    state = "moved on by draws" if continues(raw["state"], case.args["generator"]) else "seeded inside the function"
    pairs = dict(zip(PAIRS, unpacked(raw["texts"]), strict=True))
    texts = {what: "the same text" if same(*two) else "other texts" for what, two in pairs.items()}
    return {"the generator": state, **texts}


DESCRIPTIONS = {
    "future_leak": Description(describe=_unchanged),
    "CausalSelfAttention": Description(describe=_attended),
    "DecoderBlock": Description(describe=_block),
    "GPT": Description(describe=_gpt),
    "load_gpt2_weights": Description(describe=_loaded),
    "next_token_probabilities": Description(rules={"top-k": _zero_exactly, "top-p": _zero_exactly}),
    "generate": Description(describe=_written),
}
