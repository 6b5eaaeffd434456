"""What 09-causal-mask asks.

The models on which answers are tried are the judge's own. They have the names of the contract and none of its code: a
kernel that grades this notebook must not hold its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.course.nb03_softmax import asked as notebook_03
from anatomy.course.nb05_encoder_layer.asked import LAST, part_outputs
from anatomy.engine.calls import packed
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

TOKENS = {"T": "tokens"}


def _config(draw: Draw, eps: float = 1e-5, block_dropout: float = 0.0, embedding_dropout: float = 0.0) -> Any:
    from transformers import GPT2Config  # only when cases are built: it is slow to import

    letters = {"vocab_size": "V", "n_positions": "P", "n_embd": "D", "n_head": "H", "n_layer": "L"}
    sizes = {name: draw.sizes[letter] for name, letter in letters.items() if letter in draw.sizes}
    return GPT2Config(**sizes, layer_norm_epsilon=eps, resid_pdrop=block_dropout, embd_pdrop=embedding_dropout,
                      attn_pdrop=0.2, bos_token_id=0, eos_token_id=0)  # fmt: skip


def _any(draw: Draw, low: int, high: int) -> int:
    return int(draw.integers("1", high + 1, low))


# ---------------------------------------------------------------------------------------------- causal_mask


def _zeros_and_ones(answer: Any, case: Case) -> Any:
    """The mask as numbers: True is as good as 1."""
    mask = answer(*case.args.values())
    return mask.float() if isinstance(mask, Tensor) and not mask.is_complex() else mask


def any_length(draw: Draw) -> Case:
    length = draw.pick(draw.whole(1, 5), draw.whole(1, 20), draw.whole(1, 70), draw.whole(257, 300))  # beyond a byte
    return draw.case(length=length, sizes={"T": length, "S": length})


@exercise(
    inputs=any_length,
    properties={"shape": 1, "values": 2},
    returns="T S",
    act=_zeros_and_ones,
    when_right="A triangle is all it takes. Next, attention has to obey it.",
)
def causal_mask(seed: int) -> Iterator[Case]:
    sizes = Draw(seed)
    for length in (_any(sizes, 4, 40), _any(sizes, 4, 40), 2):
        yield Draw(seed, T=length, S=length).case(length=length)
    yield Draw(seed, T=1, S=1).case(length=1, note="for a single token")


# ---------------------------------------------------------------------------------------------- masked_attention


def _attend(answer: Any, case: Case) -> Any:
    """A mask is no parameter: gradients of one that is made of floating-point numbers are nobody's concern."""
    args = {name: value.detach() if isinstance(value, Tensor) and name == "mask" else value
            for name, value in case.args.items()}  # fmt: skip
    return answer(*args.values())


def some_keys(draw: Draw, letters: str) -> Tensor:
    """A mask that lets every query look at about half of the keys, and at one at least."""
    mask = draw.normal(letters) > 0
    return mask | (draw.normal(letters).argmax(dim=-1, keepdim=True) == torch.arange(mask.size(-1)))


def any_mask(draw: Draw, letters: str) -> Tensor:
    """A mask of some keys that broadcasts to these axes: some have size 1, some of the first ones are left out."""
    axes = [draw.pick(letter, letter, "1") for letter in letters.split()]
    return draw.laid_out(some_keys(draw, " ".join(axes[draw.whole(0, len(axes) - 1) :])))


def _far_apart(draw: Draw, highest: str) -> dict[str, Any]:
    """Scores 12,500 apart, from 0 down to −75,000, the highest hidden; or from 75,000 down to 0, the highest seen.

    Queries and keys are whole numbers in 16 columns, so that every order of summation gives the same scores. Values are
    small: gradients of query and key, zero on paper, then are next to nothing beside those of the values.
    """
    query, key = draw.integers("B T 16", 3, -2).float(), draw.integers("B S 16", 3, -2).float()
    ranks = draw.normal("B S").argsort(dim=-1).argsort(dim=-1)  # (B, S)
    last = key.size(1) - 1
    seen, some = highest == "seen", some_keys(draw, "B T S")
    query[..., 0], key[..., 0] = 5000.0, 10.0 * (ranks if seen else ranks - last)
    mask = some | (ranks == last)[:, None] if seen else (ranks < last - 1)[:, None] & some | (ranks == 2)[:, None]
    return {"query": query, "key": key, "value": draw.normal("B S 16", scale=1e-4), "mask": mask}


def _hide_huge_values(value: Tensor, mask: Tensor) -> None:
    """Make values huge, in place, to which no query looks: a weight that is only next to 0 then shows."""
    seen = mask.bool().reshape(-1, mask.size(-1)).any(dim=0).expand(value.size(-2))  # (S,)
    value[..., ~seen, :] = 1e30


def any_attention(draw: Draw) -> Case:
    if draw.pick(True, False, False, False):
        draw.sized(B=(1, 3), T=(1, 6), S=(4, 8), K=(16, 16))
        return draw.case(**_far_apart(draw, draw.pick("hidden", "seen")), returns="B T K", asks="large scores")
    leading = draw.pick("", "B ", "B H ", "B N H ")
    draw.sized(B=(1, 3), N=(1, 2), H=(1, 3), T=(1, 7), S=(1, draw.pick(7, 7, 80)), K=(1, 8), Dv=(1, 8))
    letters = {"query": "T K", "key": "S K", "value": "S Dv"}
    given: dict[str, Any] = {name: draw.floats(leading + last) for name, last in letters.items()}
    if draw.pick(True, False, False):
        return draw.case(**given, **draw.pick({}, {"mask": None}), returns=leading + "T Dv", asks="no mask")
    mask = getattr(any_mask(draw, leading + "T S"), draw.pick("bool", "bool", "long", "int", "float"))()
    plain = mask.dtype == torch.bool and mask.shape == draw.shape("T S")
    if draw.pick(True, False):
        _hide_huge_values(given["value"], mask)
    return draw.case(**given, mask=mask, returns=leading + "T Dv", asks=None if plain else "any mask")


@exercise(
    inputs=any_attention,
    properties={"shape": 1, "values": 2, "any mask": 1, "no mask": 1, "large scores": 1, "gradients": 1},
    returns="B H T K",
    axes={"Dv": "value width"},
    act=_attend,
    forbids=notebook_03.scaled_dot_product_attention.forbids,
    when_right="What is hidden has no weight at all, and the rest still sums to one.",
)
def masked_attention(seed: int) -> Iterator[Case]:
    def inputs(draw: Draw, leading: str = "B H") -> dict[str, Any]:
        query, key = draw.normal(f"{leading} T K", scale=1.5), draw.normal(f"{leading} S K")
        return {"query": query, "key": key, "value": draw.normal(f"{leading} S K")}

    draw = Draw(seed, B=2, H=3, T=5, S=7, K=4)
    yield draw.case(**inputs(draw), mask=some_keys(draw, "T S"), note="for a boolean mask of shape (T, S)")
    draw = Draw(seed, B=3, H=2, T=6, S=6, K=5)
    mask = torch.arange(6) <= torch.arange(6)[:, None]
    yield draw.case(**inputs(draw), mask=mask, note="for a causal mask")
    draw = Draw(seed, B=2, T=4, S=3, K=6, Dv=9)
    query, key, value = draw.normal("B K T").transpose(1, 2), draw.normal("B S K"), draw.normal("B S Dv")
    yield draw.case(query=query, key=key, value=value, mask=some_keys(draw, "B T S"), returns="B T Dv",
                    note="for inputs of three axes, values of another width")  # fmt: skip
    draw = Draw(seed, B=3, H=2, T=1, S=4, K=3)
    yield draw.case(**inputs(draw), mask=some_keys(draw, "T S"), note="for a single query")
    draw = Draw(seed, B=1, H=1, T=4, S=5, K=8)
    yield draw.case(**inputs(draw), mask=some_keys(draw, "T S"), note="for one sentence and one head")
    draw = Draw(seed, B=1, H=2, T=3, S=80, K=4)
    yield draw.case(**inputs(draw), mask=some_keys(draw, "T S"), note="for 80 keys")
    draw = Draw(seed, B=2, H=2, T=4, S=9, K=3)
    given, mask = inputs(draw), some_keys(draw, "T S")
    mask[:, 0], mask[:, 5:7] = True, False
    _hide_huge_values(given["value"], mask)
    yield draw.case(**given, mask=mask, note="when values that no query may see are huge")
    draw = Draw(seed, B=2, H=3, T=4, S=6, K=5)
    for letters, shape, kind in (
        ("T S", "(T, S)", "long"), ("B 1 T S", "(B, 1, T, S)", "bool"), ("B H T S", "(B, H, T, S)", "float"),
        ("B 1 1 S", "(B, 1, 1, S)", "long"),
    ):  # fmt: skip
        words = "True and False" if kind == "bool" else f"0 and 1 as {'whole' if kind == 'long' else 'float'} numbers"
        yield draw.case(**inputs(draw), mask=getattr(some_keys(draw, letters), kind)(), asks="any mask",
                        note=f"for a mask of {words}, shape {shape}")  # fmt: skip
    draw = Draw(seed, B=3, T=4, S=6, K=5)
    yield draw.case(**inputs(draw, "B"), mask=some_keys(draw, "T S").long(), returns="B T K", asks="any mask",
                    note="for inputs of three axes, a mask of shape (T, S)")  # fmt: skip
    draw = Draw(seed, B=2, H=3, T=5, S=4, K=7)
    yield draw.case(**inputs(draw), asks="no mask", note="when no mask is given")
    yield draw.case(**inputs(draw), mask=None, asks="no mask", note="when the mask is None")
    draw = Draw(seed, B=2, T=4, S=7, K=16)
    for highest in ("hidden", "seen"):
        yield draw.case(**_far_apart(draw, highest), returns="B T K", asks="large scores",
                        note=f"when {highest} scores are by far the largest")  # fmt: skip


# ---------------------------------------------------------------------------------------------- future_leak


class Reader(nn.Module):
    """A small model of which is known what each output sees: a matrix (T, T) with 0 where it must not look.

    Head and token table are one parameter.
    """

    def __init__(self, draw: Draw, sees: Tensor) -> None:
        super().__init__()
        vocabulary, width = draw.sizes["V"], draw.sizes["D"]
        self.token_embeddings = nn.utils.skip_init(nn.Embedding, vocabulary, width)
        self.hidden = nn.utils.skip_init(nn.Linear, width, width)
        for name, parameter in self.named_parameters():
            parameter.data = 0.7 * torch.randn(parameter.shape, generator=draw.fork("reader", name))
        self.register_buffer("sees", sees)

    def forward(self, ids: Tensor, /) -> Tensor:  # (B, T) -> (B, T, V)
        hidden = torch.tanh(self.hidden(self.token_embeddings(ids)))  # (B, T, D)
        mixed = torch.tanh(self.get_buffer("sees") @ hidden)  # (B, T, D)
        return mixed @ self.token_embeddings.weight.T


def used_before(model: Reader) -> None:
    """Some other training has left a gradient in the model."""
    model.hidden.bias.grad = torch.ones_like(model.hidden.bias)


def _leak(answer: Any, case: Case) -> Any:
    """As in a notebook, where gradients are on; or what the model holds, and gives for the ids, afterwards."""
    model, ids = case.args["model"], case.args["ids"]
    used_before(model)
    own = model.token_embeddings.register_forward_hook(lambda *_: None)  # somebody else looks on
    with torch.enable_grad():
        leak = answer(model, ids)
    if case.asks != "model unchanged":
        return leak
    kept = int(own.id in model.token_embeddings._forward_hooks)
    own.remove()
    return {"state": state(model), "own_hook": kept, "outputs": model(ids).detach()}


def state(model: nn.Module) -> dict[str, Any]:
    """What a model holds: parameters and their gradients by name, its mode, its modules' hooks and own `forward`s."""
    parameters = dict(model.named_parameters())
    return {
        "training": int(model.training),
        "parameters": {name: one.detach().clone() for name, one in parameters.items()},
        "gradients": {name: None if one.grad is None else one.grad.clone() for name, one in parameters.items()},
        "replaced": {name: int("forward" in vars(module)) for name, module in model.named_modules()},
        "requires_grad": {name: int(one.requires_grad) for name, one in parameters.items()},
        "hooks": {
            name: len(module._forward_hooks) + len(module._forward_pre_hooks) for name, module in model.named_modules()
        },
    }


def _reads(draw: Draw, sees: Callable[[Tensor], Tensor]) -> dict[str, Any]:
    """A model that mixes with numbers from ½ to 1½, and ids in which tokens come twice."""
    mixes = 0.5 + torch.rand(draw.shape("T T"), generator=draw.fork("mixes"))
    return {"model": Reader(draw, sees(mixes)), "ids": draw.laid_out(draw.integers("B T", draw.sizes["V"]))}


def any_model(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 6), V=(1, draw.pick(9, 300)), D=(1, 8))
    draw.sizes["S"] = draw.sizes["T"]
    kept = draw.pick(torch.ones(draw.shape("T T")), draw.integers("T T", 2)).tril(draw.pick(-1, 0, 0, 1, 6))
    given, asks = _reads(draw, lambda mixes: mixes * kept), None if kept.triu(1).any() else "causal model"
    given["model"].train(draw.pick(True, False))
    return draw.case(**given, asks=draw.pick(asks, asks, asks, "model unchanged"))


@exercise(
    inputs=any_model,
    properties={"shape": 1, "values": 3, "causal model": 2, "model unchanged": 1},
    returns="B T S",
    axes={"T": "outputs", "S": "inputs"},
    act=_leak,
    when_right="A gauge for peeking: where it is not zero, an output has seen what comes later.",
)
def future_leak(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, S=5, V=4, D=6)
    everything = _reads(draw, lambda mixes: mixes)
    yield draw.case(**everything, note="for a model without a mask")
    draw = Draw(seed, B=2, T=6, S=6, V=7, D=3)
    yield draw.case(**_reads(draw, lambda mixes: mixes.tril(1)), note="for a model that peeks one token ahead")
    draw = Draw(seed, B=4, T=7, S=7, V=5, D=8)
    yield draw.case(**_reads(draw, lambda mixes: mixes.triu()), note="for a model that sees only what comes later")
    draw = Draw(seed, B=1, T=4, S=4, V=9, D=5)
    once = torch.eye(4)
    once[1, 3] = 1.0
    yield draw.case(**_reads(draw, lambda mixes: mixes * once), note="for a model in which output 1 sees input 3")
    for length in (_any(Draw(seed), 4, 12), 1):
        draw = Draw(seed, B=2, T=length, S=length, V=6, D=4)
        note = "for a causal model" + (" and a single token" if length == 1 else "")
        yield draw.case(**_reads(draw, lambda mixes: mixes.tril()), asks="causal model", note=note)
    yield draw.case(**everything, asks="model unchanged")
    quiet = everything | {"model": deepcopy(everything["model"]).eval()}
    quiet["model"].hidden.weight.requires_grad_(False)
    yield draw.case(**quiet, asks="model unchanged", note="for a model in eval mode with a frozen parameter")


# ---------------------------------------------------------------------------------------------- CausalSelfAttention


def _attention(module: Any, case: Case) -> Any:
    """Called; or what it returns when one token after the other is changed, or what it says of itself."""
    (x,) = case.args.values()
    if case.asks == "parameters":
        return {"buffers": buffers(module)}
    if case.asks == "num_heads":
        return {"num_heads": str(module.num_heads)} if hasattr(module, "num_heads") else {}
    if case.asks is None:
        return module(x)
    with torch.no_grad():
        _, outputs, _ = (module(text) for text in (x[:, :2], x, x[:, :2]))  # a mask kept from one would not fit another
        if not isinstance(outputs, Tensor) or outputs.shape != x.shape:
            return outputs
        noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
        changed = []
        for place in range(x.size(1)):
            other = x.clone()
            other[:, place] += 3 * noise[:, place]
            changed.append(module(other))
    return {"outputs": outputs, "changed": torch.stack(changed)}


def buffers(module: Any) -> int:
    """How many entries of a module's state dict are no parameters; blocks answer for themselves."""
    if not isinstance(module, nn.Module):
        return 0
    names = module.state_dict().keys() - dict(module.named_parameters(remove_duplicate=False)).keys()
    return sum(not name.startswith("blocks.") for name in names)


def _any_width(draw: Draw, longest: int, narrowest: int = 3) -> None:
    """Sizes of B, T and H, and of K, the width of a head, by which D is H times as wide."""
    draw.sized(B=(1, 3), T=(1, longest), H=(1, 4), K=(narrowest, 5))
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]


def any_vectors(draw: Draw) -> Case:
    _any_width(draw, draw.pick(6, 80), narrowest=1)
    return draw.case(init=(_config(draw),), x=draw.floats("B T D"))


@exercise(
    inputs=any_vectors,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "no peeking": 1, "num_heads": 1},
    returns="B T D",
    axes=TOKENS,
    act=_attention,
    when_right="Notebook 04's attention, plus one triangle. Next it goes into a block.",
)
def CausalSelfAttention(seed: int) -> Iterator[Case]:
    for batch, length in ((2, 5), (1, 8)):  # the second goes through the first one's module, too
        draw = Draw(seed, B=batch, T=length, D=12, H=3, K=4)
        config = _config(draw, block_dropout=0.3, embedding_dropout=0.4)
        yield draw.case(init=(config,), x=draw.normal("B T D", scale=2.0))
    draw = Draw(seed, B=3, T=7, D=10, H=2, K=5)
    yield draw.case(init=(_config(draw),), x=draw.normal("B D T", scale=2.0).transpose(1, 2))
    draw = Draw(seed, B=3, T=4, D=6, H=1, K=6)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=2.0), note="for a single head")
    draw = Draw(seed, B=1, T=1, D=8, H=4, K=2)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D"), note="for a single token")
    draw = Draw(seed, B=200, T=6, D=12, H=2, K=6)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D"), asks="no peeking",
                    note="when one token after the other is changed")  # fmt: skip
    sizes = Draw(seed)
    heads, width = (2 + sizes.permutation(10)[:2]).tolist()
    draw = Draw(seed, B=2, T=6, D=heads * width, H=heads, K=width)
    for asks in ("parameters", "num_heads"):
        yield draw.case(init=(_config(draw),), x=draw.normal("B T D"), asks=asks)


# ---------------------------------------------------------------------------------------------- DecoderBlock


def _block(block: Any, case: Case) -> Any:
    """Called in eval mode; or what it returns, with dropout, while one of its two parts works."""
    x, part = case.args["x"], case.args.get("part")
    if part is None or not isinstance(block, nn.Module):
        return (block.eval() if isinstance(block, nn.Module) else block)(x)
    with torch.no_grad():
        calm = block.eval()(x)
        return part_outputs(block, (x,), part, case.init[0].resid_pdrop, LAST) if isinstance(calm, Tensor) else calm


def any_vectors_and_eps(draw: Draw) -> Case:
    _any_width(draw, draw.pick(6, 20))
    eps = draw.pick(1e-5, 1e-5, 0.01, 0.3)
    config, x = _config(draw, eps, draw.pick(0.0, 0.1)), draw.floats("B T D", "plain", "wide", "negative")
    return draw.case(init=(config,), x=x, asks=None if eps == 1e-5 else "eps")


@exercise(
    inputs=any_vectors_and_eps,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    act=_block,
    when_right="A stack of these, with embeddings below and a head on top, is GPT.",
)
def DecoderBlock(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=6, D=12, H=3, K=4)
    yield draw.case(init=(_config(draw, block_dropout=0.1),), x=draw.normal("B T D", scale=4.0, shift=0.5))
    draw = Draw(seed, B=3, T=4, D=10, H=2, K=5)
    x = draw.normal("B D T", scale=4.0).transpose(1, 2)
    yield draw.case(init=(_config(draw, block_dropout=0.3),), x=x)
    draw = Draw(seed, B=1, T=1, D=8, H=2, K=4)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=6.0), note="for one sentence of one token")
    draw = Draw(seed, B=2, T=5, D=6, H=1, K=6)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=4.0), note="for a single head")
    draw = Draw(seed, B=2, T=5, D=8, H=2, K=4)
    yield draw.case(init=(_config(draw, eps=0.3),), x=draw.normal("B T D", scale=0.003), asks="eps",
                    note="for layer_norm_epsilon = 0.3")  # fmt: skip
    draw = Draw(seed, B=24, T=40, D=3, H=1, K=3)
    for part in ("attention", "feed_forward"):
        init = (_config(draw, block_dropout=0.4, embedding_dropout=0.7),)
        yield draw.case(
            init=init, x=draw.normal("B T D"), part=part, asks="dropout", once=True, note="for resid_pdrop = 0.4"
        )


# ---------------------------------------------------------------------------------------------- GPT


def _gpt(model: Any, case: Case) -> Any:
    """The logits; or what else the state dict holds; or, with dropout, what reaches the first block, and the logits."""
    if not isinstance(model, nn.Module):
        return model(*case.args.values())
    if case.asks == "parameters":
        return {"buffers": buffers(model)}
    _as_if_tied(model)
    if case.asks != "dropout":
        return model.eval()(case.args["ids"])
    with torch.no_grad():
        return _with_dropout(model, case.args["ids"])


def _with_dropout(model: nn.Module, ids: Tensor) -> Any:
    calm = model.eval()(ids)
    if not isinstance(calm, Tensor):
        return calm
    seen: list[Any] = []
    first = next(iter(getattr(model, "blocks", ())), None)
    if not isinstance(first, nn.Module):
        return {}
    hook = first.register_forward_pre_hook(lambda _, args, kwargs: seen.extend([*args, *kwargs.values()][:1]),
                                           with_kwargs=True)  # fmt: skip
    try:
        model(ids)
        noisy = model.train()(ids)
    finally:
        hook.remove()
        model.eval()
    return {"calm": calm, "noisy": noisy, "into_blocks": seen}


def _as_if_tied(model: nn.Module) -> None:
    """The same numbers for token table and head, be they one parameter or two: sharing is another property's matter."""
    table, head = (getattr(getattr(model, name, None), "weight", None) for name in ("token_embeddings", "lm_head"))
    if not isinstance(table, Tensor) or table.dim() != 2:
        return
    with torch.no_grad():
        table.copy_(token_table(*table.shape))
        if isinstance(head, Tensor) and head.shape == table.shape:
            head.copy_(table)


def token_table(vocabulary: int, width: int) -> Tensor:
    """The token table (V, D) with which a model is tried."""
    generator = torch.Generator().manual_seed(vocabulary * width)
    return torch.randn(vocabulary, width, generator=generator) / width**0.5


def any_ids(draw: Draw) -> Case:
    _any_width(draw, draw.pick(6, 20))
    length, eps = draw.sizes["T"], draw.pick(1e-5, 1e-5, 0.3)
    draw.sized(L=(1, 2 if eps == 1e-5 else 1), V=(2, draw.pick(9, 300)))
    draw.sizes["P"] = most = draw.pick(length, length + 1, 600, max(1, length - 1), draw.whole(1, length))
    asks: dict[str, Any] = {"asks": None if eps == 1e-5 else "eps"}
    if length > most:
        asks = {"asks": "too long", "message_names": (str(length), str(most))}
    return draw.case(init=(_config(draw, eps),), ids=draw.ids("B T", draw.sizes["V"]), **asks)


@exercise(
    inputs=any_ids,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "eps": 1, "too long": 1},
    returns="B T V",
    axes=TOKENS,
    act=_gpt,
    when_right="GPT-2, whole. It knows nothing yet: what it should learn fits into one line.",
)
def GPT(seed: int) -> Iterator[Case]:
    for batch, length in ((2, 5), (1, 8)):  # the second goes through the first one's module, too
        draw = Draw(seed, B=batch, T=length, D=12, H=3, L=2, V=17, P=9)
        yield draw.case(init=(_config(draw, 1e-5, 0.1, 0.2),), ids=draw.integers("B T", 17))
    draw = Draw(seed, B=3, T=7, D=10, H=2, L=3, V=6, P=7)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 6), note="when T is as long as the table")
    draw = Draw(seed, B=1, T=1, D=8, H=1, L=1, V=11, P=4)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 11), note="for a single token and a single block")
    draw = Draw(seed, B=2, T=4, D=6, H=1, L=1, V=9, P=8)  # how blocks are stacked does not show
    yield draw.case(init=(_config(draw, eps=0.3),), ids=draw.integers("B T", 9), asks="eps",
                    note="for layer_norm_epsilon = 0.3")  # fmt: skip
    draw = Draw(seed, B=2, T=3, D=6, H=2, L=1, V=5, P=7)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 5), asks="parameters")
    draw = Draw(seed, B=24, T=25, D=6, H=2, L=1, V=40, P=25)
    for block, embedding in ((0.0, 0.4), (0.4, 0.0)):
        init = (_config(draw, 1e-5, block, embedding),)
        note = f"for embd_pdrop = {embedding:g} and resid_pdrop = {block:g}"
        yield draw.case(init=init, ids=draw.integers("B T", 40), asks="dropout", note=note)
    most = _any(Draw(seed), 11, 60)
    draw = Draw(seed, B=2, T=most + 1, D=6, H=2, L=2, V=99, P=most)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 99), asks="too long",
                    note=f"for {most + 1} tokens and {most} positions",
                    message_names=(str(most + 1), str(most)))  # fmt: skip


# ---------------------------------------------------------------------------------------------- next_token_loss


def any_logits_and_ids(draw: Draw) -> Case:
    draw.sized(B=(1, 5), T=(2, 9), V=(1, draw.pick(9, 300)))
    steep = draw.pick(1.0, 1.0, 100.0)
    return draw.case(logits=steep * draw.floats("B T V"), ids=draw.ids("B T", draw.sizes["V"]),
                     asks=None if steep == 1.0 else "large logits")  # fmt: skip


@exercise(
    inputs=any_logits_and_ids,
    properties={"shape": 1, "values": 2, "large logits": 1, "gradients": 1},
    axes=TOKENS,
    holds=lambda case: int(case.args["ids"].max()) < case.args["logits"].size(-1),
    when_right="A text is its own teacher: every token is the label of the position before it.",
)
def next_token_loss(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, V=7)
    yield draw.case(logits=draw.normal("B T V", scale=2.0), ids=draw.integers("B T", 7))
    draw = Draw(seed, B=4, T=4, V=4)
    logits = draw.normal("V T B", scale=2.0).permute(2, 1, 0)  # (B, T, V), in another order in memory
    yield draw.case(logits=logits, ids=draw.integers("B T", 4), note="when B, T and V are equal")
    draw = Draw(seed, B=5, T=2, V=3)
    yield draw.case(logits=draw.normal("B T V", scale=2.0), ids=draw.integers("B T", 3), note="for two tokens")
    draw = Draw(seed, B=1, T=6, V=9)
    yield draw.case(logits=draw.normal("B T V", scale=2.0), ids=draw.integers("B T", 9), note="for a single text")
    draw = Draw(seed, B=2, T=4, V=5)
    steep = 300.0 * draw.normal("B T V").argsort(dim=-1).float() + draw.normal("B T V")
    ids = draw.integers("B T", 5)
    ids[0, 2] = 0  # here, too, a token like any other
    yield draw.case(logits=steep, ids=ids, asks="large logits",
                    note="when logits lie hundreds apart")  # fmt: skip


# ---------------------------------------------------------------------------------------------- load_gpt2_weights


class Parts(nn.Module):
    """Layers by name, and nothing that could be called."""

    num_heads: int

    def __init__(self, **layers: nn.Module) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)


def _attention_parts(draw: Draw) -> Parts:
    width = draw.sizes["D"]
    parts = Parts(**{name: nn.Linear(width, width) for name in ("q", "k", "v", "output_linear")})
    parts.num_heads = draw.sizes["H"]
    return parts


def _gpt_parts(draw: Draw, depth: int) -> Parts:
    vocabulary, positions, width = (draw.sizes[letter] for letter in "VPD")
    blocks = [
        Parts(
            layer_norm_1=nn.LayerNorm(width), attention=_attention_parts(draw), layer_norm_2=nn.LayerNorm(width),
            feed_forward=Parts(linear_1=nn.Linear(width, 4 * width), linear_2=nn.Linear(4 * width, width)),
        )
        for _ in range(depth)
    ]  # fmt: skip
    tokens, head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
    head.weight = tokens.weight
    return Parts(token_embeddings=tokens, position_embeddings=nn.Embedding(positions, width),
                 blocks=nn.ModuleList(blocks), layer_norm=nn.LayerNorm(width), lm_head=head)  # fmt: skip


def _noise(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Numbers of real variance for weights, biases and norms: a GPT-2 fresh from its config has biases of zero."""
    noise = torch.randn(shape, generator=generator)
    return noise / shape[-1] ** 0.5 if len(shape) > 1 else 1.0 + 0.3 * noise


def _fill(module: nn.Module, draw: Draw) -> None:
    for name, parameter in module.named_parameters():
        parameter.data = _noise(parameter.shape, draw.fork(type(module).__name__, name))


def _library_weights(draw: Draw) -> dict[str, Tensor]:
    """The state dict of a `GPT2LMHeadModel`."""
    vocabulary, positions, width = (draw.sizes[letter] for letter in "VPD")
    layers = {"ln_1": (width,), "attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width), "ln_2": (width,),
              "mlp.c_fc": (width, 4 * width), "mlp.c_proj": (4 * width, width)}  # fmt: skip
    all_layers = {f"h.{number}.{name}": shape for number in range(draw.sizes["L"]) for name, shape in layers.items()}
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (vocabulary, width), "wpe.weight": (positions, width)}
    for name, shape in {**all_layers, "ln_f": (width,)}.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[-1:]}
    weights = {f"transformer.{name}": _noise(shape, draw.fork("library", name)) for name, shape in shapes.items()}
    return {**weights, "lm_head.weight": weights["transformer.wte.weight"].clone()}


@lru_cache(maxsize=8)
def _library_and_own(seed: int, *sizes: int) -> dict[str, Any]:
    """A seeded GPT-2's state dict, and parts with other weights. Shared by the cases: a run works on copies."""
    draw = Draw(seed, **dict(zip("VPDHL", sizes, strict=True)))
    gpt = _gpt_parts(draw, draw.sizes["L"])
    _fill(gpt, draw)
    return {"gpt": gpt, "state_dict": _library_weights(draw)}


def _load_and_look(answer: Any, case: Case) -> Any:
    """Load outside of `no_grad`, as in a notebook, then look at one side of the result. `gpt` is a copy already."""
    gpt, state_dict = case.args["gpt"], case.args["state_dict"]
    if case.asks == "refusals" and case.note:  # what is loaded before a refusal is nobody's concern
        return {"error": _error(answer, deepcopy(gpt), _copies(state_dict))}
    if case.asks == "independence":
        return _before_and_after(answer, gpt, state_dict)
    if case.asks == "leftover blocks":
        gpt.blocks = gpt.blocks[: case.sizes["L"]]
        return {"error": _error(answer, gpt, _copies(state_dict)), "loaded": _numbers(gpt)}
    _load(answer, gpt, _copies(state_dict))  # what happens to the dict itself is asked once, above
    if case.asks == "refusals":  # who refuses everything has understood nothing
        return {"error": "", "loaded": _numbers(gpt)}
    if case.asks == "tied head":
        return {"one_parameter": int(gpt.lm_head.weight is gpt.token_embeddings.weight), "loaded": _numbers(gpt)}
    loaded = {name: value.detach() for name, value in gpt.named_parameters(remove_duplicate=False)}
    blocks = case.asks == "blocks"
    return {name: value for name, value in loaded.items() if name.startswith("blocks.") == blocks}


def _load(answer: Any, gpt: nn.Module, state_dict: Mapping[str, Tensor]) -> None:
    with torch.enable_grad():
        answer(gpt, state_dict)


def _error(answer: Any, gpt: nn.Module, state_dict: Mapping[str, Tensor]) -> str:
    """The kind of error that loading stops with; empty where it does not stop."""
    try:
        _load(answer, gpt, state_dict)
    except NotImplementedError:
        raise
    except Exception as error:  # any error will do: what counts is that there is one
        return type(error).__name__
    return ""


def _unfit(state_dict: Mapping[str, Tensor], start: str, how: str) -> dict[str, Tensor]:
    """The dict without all that begins so; or with one row more of this, or with its first row only."""
    copy = _copies(state_dict)
    for name in [name for name in copy if name.startswith(start)]:
        value = copy.pop(name)
        if how != "missing":
            copy[name] = torch.cat([value, value[:1]]) if how == "longer" else value[:1]
    if start == "transformer.wte.weight" and how != "missing":
        copy["lm_head.weight"] = copy[start]  # tied
    return copy


def _before_and_after(answer: Any, gpt: nn.Module, state_dict: Mapping[str, Tensor]) -> dict[str, Any]:
    """The dict and the model's numbers after loading, what can be trained, and the numbers when the dict's change."""
    _load(answer, gpt, state_dict)
    values = {name: value for name, value in state_dict.items() if isinstance(value, Tensor)}
    seen = {
        "state_dict": _copies(values),
        "loaded": _numbers(gpt),
        "trainable": {name: int(one.requires_grad and one.is_leaf) for name, one in gpt.named_parameters()},
    }
    for value in values.values():
        value.data.add_(1)
    return {**seen, "later": _numbers(gpt)}


def _copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in tensors.items()}


def _numbers(module: nn.Module) -> dict[str, Tensor]:
    return _copies(dict(module.named_parameters()))


def any_weights(draw: Draw) -> Case:
    asks = draw.pick("embeddings", "blocks", "refusals", "refusals", "leftover blocks")
    draw.sized(L=(1, 2), V=(2, 6), P=(2, 6), H=(1, 2), K=(1, 3))
    draw.sizes["D"] = max(2, draw.sizes["H"] * draw.sizes["K"])
    if asks == "leftover blocks":
        draw.sizes["L"] = 3
    given = dict(_library_and_own(draw.seed, *(draw.sizes[letter] for letter in "VPDHL")))
    if asks == "refusals":
        name = draw.pick(*(name for name in given["state_dict"] if name != "lm_head.weight"))
        how = draw.pick("missing", "one row", "missing" if name.endswith("c_attn.bias") else "longer")  # who cuts, cuts
        given["state_dict"] = _unfit(given["state_dict"], name, how)
        return draw.case(**given, asks=asks, note="when an entry does not fit")
    return draw.case(**given, asks=asks, sizes={"L": draw.whole(1, 2)} if asks == "leftover blocks" else None)


@exercise(
    inputs=any_weights,
    properties={"embeddings": 1, "blocks": 2, "tied head": 1, "refusals": 1, "leftover blocks": 1, "independence": 1},
    axes=TOKENS,
    act=_load_and_look,
    when_right="Weights of a library GPT-2 in code of your own: the next cell compares the two.",
)
def load_gpt2_weights(seed: int) -> Iterator[Case]:
    draw, given = Draw(seed, D=12, L=2, V=17, P=9, H=3), _library_and_own(seed, 17, 9, 12, 3, 2)
    for asks in ("embeddings", "blocks", "tied head", "refusals", "independence"):
        yield draw.case(**given, asks=asks)
    for note, start, how in (
        ("when a bias is missing", "transformer.h.0.attn.c_proj.bias", "missing"),
        ("when the final norm's weight is missing", "transformer.ln_f.weight", "missing"),
        ("when the positions are missing", "transformer.wpe.weight", "missing"),
        ("when the last block is missing", "transformer.h.1.", "missing"),
        ("when the table of positions is longer", "transformer.wpe.weight", "longer"),
        ("when the token table is longer", "transformer.wte.weight", "longer"),
        ("when the table of positions has a single row", "transformer.wpe.weight", "one row"),
        ("when a bias has a single number", "transformer.h.0.attn.c_proj.bias", "one row"),
    ):
        unfit = _unfit(given["state_dict"], start, how)
        yield draw.case(gpt=given["gpt"], state_dict=unfit, asks="refusals", note=note)
    yield draw.case(**given, asks="leftover blocks", sizes={"L": 1}, note="when the dict has two blocks, the model one")
    draw, given = Draw(seed, D=4, L=12, V=5, P=3, H=2), _library_and_own(seed, 5, 3, 4, 2, 12)
    yield draw.case(**given, asks="blocks", note="for twelve blocks", once=True)
    for depth, word in ((9, "nine"), (10, "ten")):  # as texts, "9" comes after "11"
        note = f"when the dict has twelve blocks, the model {word}"
        yield draw.case(**given, asks="leftover blocks", sizes={"L": depth}, note=note, once=True)


# ---------------------------------------------------------------------------------------------- probabilities


def _spaced(draw: Draw, letters: str, step: float = 0.6, steepest: float = 1.0) -> Tensor:
    """Logits in random order in which no two of a row are nearly equal: rounding decides nothing. Each row has its own
    height, which is nothing to a softmax; up to `steepest` times as steep as others, it is surer than they are."""
    ranks = draw.normal(letters).argsort(dim=-1).float()
    noise = 0.4 * torch.rand(ranks.shape, generator=draw.generator)
    heights = 4.0 * draw.normal(letters)[..., :1]
    order = draw.permutation(heights.numel()) if steepest > 1 else torch.zeros(heights.numel())
    steep = steepest ** (order / max(1, len(order) - 1)).view(heights.shape)
    return step * steep * (ranks + noise) + heights


def _clear(logits: Tensor, near: float, temperature: float = 1.0, top_k: int | None = None) -> float:
    """A `top_p` near this one that is far from every sum of a row's largest probabilities: rounding decides nothing."""
    best = (logits.double() / temperature).softmax(dim=-1).sort(dim=-1, descending=True).values[..., :top_k]
    sums = (best.cumsum(dim=-1) / best.sum(dim=-1, keepdim=True)).flatten()  # (rows · k,)
    choices = torch.linspace(near - 0.05, near + 0.05, 201, dtype=torch.float64)
    return round(float(choices[(choices[:, None] - sums).abs().amin(dim=1).argmax()]), 4)


def _no_ties(logits: Tensor) -> bool:
    """Whether no two logits of a row are equal: of those that tie at a cut, one or all may stay."""
    return bool((logits.sort(dim=-1).values.diff(dim=-1) > 0).all())


def any_logits(draw: Draw) -> Case:
    leading = draw.pick("", "B ", "B T ", "B H T ")
    draw.sized(B=(1, 3), H=(1, 2), T=(1, 4), V=(1, draw.pick(9, 9, 120)))
    temperature, most = draw.pick(1.0, 2, 0.1, 0.5, 3.0), draw.sizes["V"]
    steepest = draw.pick(1.0, 5.0) if temperature >= 0.5 else 1.0  # else a softmax is 0 where it should not be
    logits = draw.laid_out(_spaced(draw, leading + "V", 6 / most, steepest))
    given: dict[str, Any] = draw.pick(
        {}, {"temperature": temperature},
        *({"temperature": temperature, "top_k": draw.pick(1, draw.whole(1, most), most, most + 9)} for _ in range(3)),
    )  # fmt: skip
    asks = "top-k" if "top_k" in given else "temperature" if given else None
    if draw.pick(True, False, False):
        top_k = draw.pick(None, None, draw.whole(1, most))
        near = 0.06 + 0.88 * draw.whole(0, 99) / 99
        clear = _clear(logits, near, temperature, top_k)
        top_p = draw.pick(clear, clear, 0.001)
        given, asks = {"temperature": temperature, "top_k": top_k, "top_p": top_p}, "top-p"
    return draw.case(logits=logits, **given, returns=leading + "V", asks=asks)


@exercise(
    inputs=any_logits,
    properties={"shape": 1, "values": 1, "temperature": 1, "top-k": 1, "top-p": 1},
    returns="B V",
    holds=lambda case: _no_ties(case.args["logits"]),
    when_right="From a row of logits to a die that can be rolled.",
)
def next_token_probabilities(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, V=7)
    yield draw.case(logits=_spaced(draw, "B V"), note="without temperature and top_k")
    draw = Draw(seed, B=2, T=4, V=5)
    yield draw.case(logits=_spaced(draw, "B T V"), returns="B T V", note="for logits of shape (B, T, V)")
    draw = Draw(seed, V=9)
    yield draw.case(logits=_spaced(draw, "V"), returns="V", note="for a single row of logits")
    draw = Draw(seed, B=1, V=10)
    yield draw.case(logits=_spaced(draw, "B V"), note="for a batch of one text")
    draw = Draw(seed, B=4, V=6)
    logits = _spaced(draw, "B V")
    for temperature in (0.5, 3.0, 0.01):
        yield draw.case(logits=logits, temperature=temperature, asks="temperature",
                        note=f"for a temperature of {temperature:g}")  # fmt: skip
    draw = Draw(seed, B=3, V=8)
    logits = _spaced(draw, "B V")
    for top_k in (3, 1, 8, 20):
        note = f"for top_k = {top_k}" + {8: ", which is V", 20: ", more than V"}.get(top_k, "")
        yield draw.case(logits=logits, temperature=1.0, top_k=top_k, asks="top-k", note=note)
    yield draw.case(logits=logits, temperature=2.0, top_k=4, asks="top-k", note="for a temperature of 2 and top_k = 4")
    draw = Draw(seed, B=2, T=3, V=6)
    yield draw.case(logits=_spaced(draw, "B T V"), temperature=0.7, top_k=2, returns="B T V", asks="top-k",
                    note="for logits of shape (B, T, V) and top_k = 2")  # fmt: skip
    draw = Draw(seed, V=5)
    yield draw.case(logits=_spaced(draw, "V"), temperature=1.0, top_k=2, returns="V", asks="top-k",
                    note="for a single row of logits and top_k = 2")  # fmt: skip
    draw = Draw(seed, B=2, V=90)
    yield draw.case(logits=_spaced(draw, "B V", step=0.05), temperature=1.0, top_k=70, asks="top-k",
                    note="for top_k = 70")  # fmt: skip
    draw = Draw(seed, B=4, V=9)
    logits = _spaced(draw, "B V", step=0.15, steepest=10.0)  # few tokens have much in one row, many in another
    for top_p in (_clear(logits, 0.6), _clear(logits, 0.9), 0.01):
        yield draw.case(logits=logits, temperature=1.0, top_k=None, top_p=top_p, asks="top-p",
                        note=f"for top_p = {top_p:g}")  # fmt: skip
    draw = Draw(seed, B=2, V=9)  # at 1 rounding decides of the last tokens: they have next to nothing
    yield draw.case(logits=_spaced(draw, "B V", step=2.2), temperature=1.0, top_k=None, top_p=1.0, asks="top-p",
                    note="for top_p = 1")  # fmt: skip
    draw = Draw(seed, B=2, T=3, V=7)
    logits = _spaced(draw, "B T V")
    top_p = _clear(logits, 0.75, temperature=3.0)
    yield draw.case(logits=logits, temperature=3.0, top_k=None, top_p=top_p, returns="B T V", asks="top-p",
                    note=f"for logits of shape (B, T, V), a temperature of 3 and top_p = {top_p:g}")  # fmt: skip
    draw = Draw(seed, V=8)
    logits = _spaced(draw, "V")
    top_p = _clear(logits, 0.5)
    yield draw.case(logits=logits, temperature=1.0, top_k=None, top_p=top_p, returns="V", asks="top-p",
                    note=f"for a single row of logits and top_p = {top_p:g}")  # fmt: skip
    draw = Draw(seed, B=3, V=11)
    logits = _spaced(draw, "B V", step=0.2)
    for top_k, near in ((5, 0.65), (3, 0.9)):  # more tokens have p together than top_p keeps; more than top_k does
        top_p = _clear(logits, near, top_k=top_k)
        yield draw.case(logits=logits, temperature=1.0, top_k=top_k, top_p=top_p, asks="top-p",
                        note=f"for top_k = {top_k} and top_p = {top_p:g}")  # fmt: skip


# ---------------------------------------------------------------------------------------------- generate


class Writer(nn.Module):
    """A model of the judge's own: what it says depends on every token and on its place in what the model is shown.

    Without a mask that is so at each position, also for tokens that come later.
    """

    STATES = 31

    def __init__(self, draw: Draw, step: float = 0.9, masked: bool = True) -> None:
        super().__init__()
        self.masked = masked
        positions, vocabulary = draw.sizes["P"], draw.sizes["V"]
        self.position_embeddings = nn.Embedding(positions, 2)
        weights = torch.randint(1, self.STATES, (positions,), generator=draw.fork("weights"))
        ranks = torch.rand(self.STATES, vocabulary, generator=draw.fork("ranks")).argsort(dim=-1).float()
        self.register_buffer("weights", weights)  # (P,)
        self.register_buffer("logits", step * (ranks - vocabulary))  # (states, V): all below 0, no two in a row equal

    def forward(self, ids: Tensor, /) -> Tensor:  # (B, T) -> (B, T, V)
        length, most = ids.size(1), self.position_embeddings.num_embeddings
        if length > most:
            raise IndexError(f"{length} tokens, but there are only {most} positions")
        sums = ((ids + 1) * self.get_buffer("weights")[:length]).cumsum(dim=1)  # (B, T)
        return self.get_buffer("logits")[(sums if self.masked else sums[:, -1:].expand_as(sums)) % self.STATES]


ROWS = 3000
CLOSE = 1e-5
"""How far apart logits lie where nothing is to be drawn: to draw at a low temperature would show."""


def _write(answer: Any, case: Case) -> Any:
    """The ids; or those of many texts, or of texts written with one generator and another; or the model's mode.

    At a temperature of 0, the state in which it leaves a generator: whether it also stops is for other cases.
    """
    if case.note == AT_ZERO:
        generator = torch.Generator().set_state(case.args["generator"].get_state())
        try:
            answer(*{**case.args, "generator": generator}.values())
        except NotImplementedError:
            raise  # it is not written yet
        except Exception:
            pass
        return {"state": generator.get_state()}
    if case.asks == "generator":
        return _with_generators(answer, case)
    written = answer(*case.args.values())
    if case.asks == "mode" and written is not None:
        model = case.args["model"]
        return {"training": int(model.training), "logits": model.get_buffer("logits")}
    if case.asks != "sampling" or written is None:
        return written
    if not isinstance(written, Tensor):
        return {"type": type(written).__name__}
    small = written.to(torch.int16) if written.dtype == torch.int64 else written
    return {"written": small if torch.equal(small.to(written.dtype), written) else written}


def _with_generators(answer: Any, case: Case) -> Any:
    """Texts, in pairs, that differ in the generator, in its seed, or in the state of torch's own; see `PAIRS`.

    With them comes the state in which a generator is that was used twice.
    """
    model, ids, steps, given = (case.args[name] for name in ("model", "ids", "max_new_tokens", "generator"))
    seed = given.initial_seed()

    def write(seed: int | torch.Generator | None, elsewhere: int) -> Any:
        torch.default_generator.manual_seed(elsewhere)
        generator = torch.Generator().manual_seed(seed) if isinstance(seed, int) else seed
        return answer(model, ids, steps, 1.0, None, None, generator)

    first = write(seed, 1)
    if first is None:
        return None
    if not isinstance(first, Tensor):
        return {"type": type(first).__name__}
    one = torch.Generator().manual_seed(seed)
    texts = [(first, write(seed, 2)), (first, write(seed + 1, 1)), (write(one, 1), write(one, 1)),
             (write(None, 1), write(None, 1)), (write(None, 1), write(None, 2))]  # fmt: skip
    return {"texts": packed(texts), "state": one.get_state()}


AT_ZERO = "at a temperature of 0"

PAIRS = (
    "two generators with the same seed",
    "two generators with other seeds",
    "the same generator, used again",
    "no generator, torch's own with the same seed",
    "no generator, torch's own with other seeds",
)


def any_beginnings(draw: Draw) -> Case:
    """One time in four, many rows to draw from; else nothing is left to chance: greedy, or a single token to draw."""
    if draw.pick(True, False, False, False):
        draw.sized(T=(1, 4), V=(3, 7))
        draw.sizes |= {"B": ROWS, "P": 8}
        return draw.case(model=Writer(draw), ids=draw.integers("1 T", draw.sizes["V"]).expand(ROWS, -1),
                         max_new_tokens=2, temperature=draw.pick(0.5, 1.5, 3.0), top_k=draw.pick(None, 2, 3),
                         top_p=draw.pick(None, 0.7), asks="sampling")  # fmt: skip
    draw.sized(B=(1, 4), T=(1, 8), V=(1, draw.pick(9, 200)), P=(1, 12))
    steps = draw.whole(0, 6)
    model = Writer(draw, CLOSE, masked=draw.pick(True, False)).train(draw.pick(True, False))
    if draw.pick(True, False, False, False, False):
        return draw.case(model=model, ids=draw.ids("B T", draw.sizes["V"]), max_new_tokens=steps + 1, temperature=0,
                         top_k=None, top_p=None, generator=draw.fork("at zero"), asks="generator",
                         note=AT_ZERO)  # fmt: skip
    how = draw.pick({"temperature": 0}, {"temperature": 0, "top_k": None, "top_p": 0.9},
                    {"temperature": 0.0, "top_k": draw.whole(1, 9)},
                    {"temperature": draw.pick(0.5, 1.0, 2.0), "top_k": 1})  # fmt: skip
    asks = "greedy" if draw.sizes["T"] + steps <= draw.sizes["P"] else "long texts"
    return draw.case(model=model, ids=draw.ids("B T", draw.sizes["V"]), max_new_tokens=steps, **how,
                     asks=draw.pick(asks, asks, asks, "mode"))  # fmt: skip


@exercise(
    inputs=any_beginnings,
    properties={"greedy": 1, "long texts": 1, "sampling": 2, "generator": 1, "mode": 1},
    axes=TOKENS,
    act=_write,
    when_right="It writes. What it has to say depends on what it has read.",
)
def generate(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=4, V=11, P=16)
    greedy: dict[str, Any] = {"model": Writer(draw, CLOSE), "ids": draw.integers("B T", 11)}
    yield draw.case(**greedy, max_new_tokens=7, temperature=0, asks="greedy")
    yield draw.case(**greedy, max_new_tokens=0, temperature=0, asks="greedy", note="for max_new_tokens = 0")
    note = "when top_k, top_p and a generator are given, too"
    yield draw.case(**greedy, max_new_tokens=3, temperature=0.0, top_k=2, top_p=0.9, generator=draw.fork("greedy"),
                    asks="greedy", note=note)  # fmt: skip
    draw = Draw(seed, B=1, T=1, V=9, P=6)
    ids, note = draw.integers("B T", 9), "for one text of one token"
    yield draw.case(model=Writer(draw, CLOSE), ids=ids, max_new_tokens=5, temperature=0, asks="greedy", note=note)
    draw = Draw(seed, B=3, T=2, V=10, P=20)
    ids, note = draw.integers("B T", 10), "for a model without a causal mask"
    yield draw.case(model=Writer(draw, CLOSE, masked=False), ids=ids, max_new_tokens=6, temperature=0, asks="greedy",
                    note=note)  # fmt: skip
    draw = Draw(seed, B=2, T=5, V=13, P=7)
    short, ids = Writer(draw, CLOSE), draw.integers("B T", 13)
    yield draw.case(model=short, ids=ids, max_new_tokens=9, temperature=0, asks="long texts",
                    note="when the text grows longer than the table of positions")  # fmt: skip
    draw = Draw(seed, B=2, T=12, V=13, P=7)
    yield draw.case(model=short, ids=draw.integers("B T", 13), max_new_tokens=2, temperature=0, asks="long texts",
                    note="when the text is longer than the table from the start")  # fmt: skip
    draw = Draw(seed, B=2, T=3, V=1, P=4)  # all is token 0, which ends no text
    yield draw.case(model=Writer(draw, CLOSE), ids=draw.integers("B T", 1), max_new_tokens=5, temperature=0,
                    asks="long texts", note="for a vocabulary of one token")  # fmt: skip
    draw = Draw(seed, B=ROWS, T=3, V=5, P=8)
    model, ids = Writer(draw), draw.integers("1 T", 5).expand(ROWS, 3)
    for temperature, top_k, top_p in ((2.0, None, None), (0.5, None, None), (1.0, 2, None), (2.5, 3, None),
                                      (2.5, None, 0.7)):  # fmt: skip
        note = f"for a temperature of {temperature:g}" + (f" and top_k = {top_k}" if top_k else "")
        note += f" and top_p = {top_p:g}" if top_p else ""
        yield draw.case(model=model, ids=ids, max_new_tokens=2, temperature=temperature, top_k=top_k, top_p=top_p,
                        generator=draw.fork("sampling"), asks="sampling", note=note)  # fmt: skip
    yield draw.case(model=model, ids=ids, max_new_tokens=2, asks="sampling", note="when nothing more is given")
    draw = Draw(seed, B=ROWS, T=2, V=6, P=8)
    yield draw.case(model=Writer(draw, 0.01), ids=draw.integers("1 T", 6).expand(ROWS, 2), max_new_tokens=2,
                    temperature=0.01, top_k=None, top_p=None, generator=draw.fork("low"), asks="sampling",
                    note="for a temperature of 0.01 and logits that are close together")  # fmt: skip
    draw = Draw(seed, B=ROWS, T=2, V=55, P=8)
    yield draw.case(model=Writer(draw), ids=draw.integers("1 T", 55).expand(ROWS, 2), max_new_tokens=2,
                    temperature=1000.0, top_k=None, top_p=None, generator=draw.fork("many"), asks="sampling",
                    note="when 55 tokens have nearly the same probability")  # fmt: skip
    draw = Draw(seed, B=6, T=3, V=8, P=16)
    yield draw.case(model=Writer(draw), ids=draw.integers("B T", 8), max_new_tokens=12,
                    generator=draw.fork("generator"), asks="generator")  # fmt: skip
    yield draw.case(model=Writer(draw), ids=draw.integers("B T", 8), max_new_tokens=5, temperature=0, top_k=None,
                    top_p=None, generator=draw.fork("at zero"), asks="generator", note=AT_ZERO)  # fmt: skip
    for mode in ("training", "eval"):
        model = Writer(draw).train(mode == "training")
        yield draw.case(model=model, ids=draw.integers("B T", 8), max_new_tokens=2, temperature=1.0, top_k=None,
                        top_p=None, generator=draw.fork("mode"), asks="mode",
                        note=f"for a model in {mode} mode")  # fmt: skip


# ---------------------------------------------------------------------------------------------- cached_attention


def _filled_attention(draw: Draw) -> Parts:
    attention = _attention_parts(draw)
    _fill(attention, draw)
    return attention


def any_new_tokens(draw: Draw) -> Case:
    draw.sized(B=(1, 3), N=(1, draw.pick(1, 6)), P=(1, draw.pick(6, 70)), H=(1, 4), K=(1, 5))
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]
    given: dict[str, Any] = {"attention": _filled_attention(draw), "x": draw.floats("B N D")}
    if draw.pick(True, False, False):
        del draw.sizes["P"]
        return draw.case(**given, **draw.pick({}, {"cache": None}), asks="no cache")
    cache = draw.floats("B H P K"), draw.floats("B H P K")
    return draw.case(**given, cache=cache, asks=None if draw.sizes["N"] == 1 else "several tokens")


@exercise(
    inputs=any_new_tokens,
    properties={"shape": 0, "values": 0, "no cache": 0, "several tokens": 0},
    axes=TOKENS,
    when_right="Keys and values of the past are kept: a new token costs one row of scores, not a whole square.",
)
def cached_attention(seed: int) -> Iterator[Case]:
    def case(asks: str | None, note: str, **sizes: int) -> Case:
        draw = Draw(seed, **sizes)
        given: dict[str, Any] = {"attention": _filled_attention(draw), "x": draw.normal("B N D", scale=1.5)}
        if "P" in sizes:
            given["cache"] = (draw.normal("B H P K", scale=1.5), draw.normal("B H P K"))
        elif asks == "no cache" and sizes["N"] > 1:
            given["cache"] = None
        return draw.case(**given, asks=asks, note=note)

    yield case(None, "for one new token", B=2, N=1, P=5, D=12, H=3, K=4)
    yield case(None, "for one new token and one in the cache", B=3, N=1, P=1, D=10, H=2, K=5)
    yield case(None, "for one text and a single head", B=1, N=1, P=4, D=6, H=1, K=6)
    yield case("no cache", "when the cache is None", B=2, N=5, D=12, H=3, K=4)
    yield case("no cache", "for a first token, without a cache", B=3, N=1, D=8, H=2, K=4)
    yield case("several tokens", "for 4 new tokens and 3 in the cache", B=2, N=4, P=3, D=12, H=3, K=4)
    yield case("several tokens", "for 2 new tokens and 6 in the cache", B=3, N=2, P=6, D=8, H=4, K=2)


quiz_decoder = quiz(
    "quiz_decoder",
    {
        "in training, a text of 100 tokens gives": ("1 prediction", "99 predictions at once", "99 runs of the model"),
        "without the mask, the training loss": ("falls to nearly 0", "stays the same", "rises"),
        "a perplexity of 1 means": ("always sure and right", "pure guessing", "half of the guesses are right"),
        "temperature towards 0": ("all tokens alike", "always the most probable token", "an ever larger loss"),
        "few-shot examples change": ("all weights", "the head's weights", "nothing but the input"),
    },
    when_right="The decoder writes on. Notebook 10 gives it something to write about: a text that an encoder has read.",
)
