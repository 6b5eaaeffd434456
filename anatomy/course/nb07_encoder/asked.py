"""What 07-encoder asks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

TOKENS = {"T": "tokens"}


def _lengths(size: int, *lengths: int) -> Tensor:
    """(B, S): as many 1s as each sentence has tokens, then 0s."""
    return (torch.arange(size) < torch.tensor(lengths)[:, None]).long()


def _config(vocab: int, width: int, layers: int, heads: int, inner: int, positions: int, dropout: float = 0.1) -> Any:
    from transformers import BertConfig  # only when cases are built: it is slow to import

    return BertConfig(
        vocab_size=vocab, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=inner, max_position_embeddings=positions, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------- padding_mask


def _some_lengths(draw: Draw, count: int, *fixed: int) -> list[int]:
    """Lengths of sentences, in any order: of so many tokens as given, the others shorter than S and all different."""
    rest = [length for length in (1 + draw.permutation(draw.sizes["S"] - 1)).tolist() if length not in fixed]
    lengths = [*fixed, *rest[: count - len(fixed)]]
    return [lengths[index] for index in draw.permutation(count).tolist()]


def _any_padding(draw: Draw, count: int, size: int) -> Tensor:
    """A mask (count, size) of sentences of any lengths, with padding on the right or on the left."""
    least = draw.pick(1, 1, 1, size)  # now and then, nothing is padding
    mask = _lengths(size, *(draw.whole(least, size) for _ in range(count)))
    return draw.laid_out(draw.pick(mask, mask.flip(1)))


def any_padding(draw: Draw) -> Case:
    asks = draw.pick(None, None, "large scores")
    low = 3 if asks else 1  # so that padding outscores some real key, and by more than next to nothing
    draw.sized(B=(low, 4), H=(1, 3), T=(low, 7), S=draw.pick((low, 9), (low, 9), (130, 140)), K=(3, 4))
    return draw.case(attention_mask=_any_padding(draw, draw.sizes["B"], draw.sizes["S"]), asks=asks)


@exercise(
    inputs=any_padding,
    properties={"shape": 1, "values": 2, "large scores": 1},
    returns="B H T S",
    when_right="Padding gets a weight of exactly zero from every query. Now a whole stack of layers can use it.",
)
def padding_mask(seed: int) -> Iterator[Case]:
    sizes = Draw(seed)
    draw = Draw(seed, B=3, H=2, T=5, S=sizes.whole(7, 16), K=4)
    yield draw.case(attention_mask=_lengths(draw.sizes["S"], *_some_lengths(draw, 3, draw.sizes["S"])),
                    note="when T differs from S")  # fmt: skip
    draw = Draw(seed, B=2, H=3, T=6, S=6, K=4)
    yield draw.case(attention_mask=_lengths(6, 6, draw.whole(2, 4)), note="when queries and keys are the same tokens")
    draw = Draw(seed, B=2, H=1, T=4, S=sizes.whole(5, 14), K=3)
    yield draw.case(attention_mask=_lengths(draw.sizes["S"], *_some_lengths(draw, 2)).flip(1),
                    note="when the padding is on the left")  # fmt: skip
    draw = Draw(seed, B=1, H=2, T=3, S=sizes.whole(4, 12), K=3)
    yield draw.case(attention_mask=_lengths(draw.sizes["S"], *_some_lengths(draw, 1)), note="for one sentence")
    draw = Draw(seed, B=2, H=2, T=4, S=6, K=3)
    yield draw.case(attention_mask=_lengths(6, 6, 6), note="when nothing is padding")
    draw = Draw(seed, B=4, H=3, T=6, S=sizes.whole(8, 14), K=4)
    yield draw.case(attention_mask=_lengths(draw.sizes["S"], *_some_lengths(draw, 4, 1, draw.sizes["S"])),
                    asks="large scores", note="when scores reach ±200")  # fmt: skip


# ---------------------------------------------------------------------------------------------- TransformerEncoder


AFTER = "after a call with another mask and T"
"""The size that says how long a sentence goes through the same module before: no mask may be kept from it."""


def _real_tokens(encoder: Any, case: Case) -> Any:
    """What the encoder makes of the real tokens; what is at the padding does not matter, and is set to zero."""
    try:
        inspect.signature(encoder.forward).bind(*case.args.values())
    except TypeError:
        raise TypeError(f"forward can't be called with ({', '.join(case.args)})") from None
    if AFTER in case.sizes:
        with torch.no_grad():
            encoder(torch.zeros(1, case.sizes[AFTER], dtype=torch.long), _lengths(case.sizes[AFTER], 1))
    hidden, attention_mask = encoder(*case.args.values()), case.args.get("attention_mask")
    if attention_mask is not None and isinstance(hidden, Tensor) and hidden.shape[:-1] == attention_mask.shape:
        return hidden.masked_fill(attention_mask[..., None] == 0, 0.0)
    return hidden


def any_ids_and_mask(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 9), H=(1, 3), K=(4, 6), L=(1, 3), V=(2, 40))
    batch, length, heads = (draw.sizes[letter] for letter in "BTH")
    draw.sizes["D"] = width = heads * draw.sizes["K"]
    config = _config(draw.sizes["V"], width, draw.sizes["L"], heads, draw.whole(3, 30), length + draw.whole(0, 5))
    ids = draw.ids("B T", draw.sizes["V"])
    mask = draw.pick(None, torch.ones(batch, length).long(), *[_any_padding(draw, batch, length)] * 2)
    given = {} if mask is None else {"attention_mask": mask}
    if draw.pick(True, False, False):
        draw.sizes[AFTER] = draw.pick(length, draw.whole(1, length))
    return draw.case(init=(config,), ids=ids, **given, asks=None if mask is None or mask.all() else "padding")


@exercise(
    inputs=any_ids_and_mask,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "padding": 1},
    returns="B T D",
    axes=TOKENS,
    act=_real_tokens,
    when_right="This is BERT's body. All it lacks is what BERT has learned.",
)
def TransformerEncoder(seed: int) -> Iterator[Case]:
    small = _config(vocab=29, width=24, layers=2, heads=4, inner=40, positions=11)
    draw = Draw(seed, B=2, T=7, D=24, L=2)
    ids = draw.integers("B T", 29)
    ids[0, [0, 3]] = ids[1, 5] = 0
    yield draw.case(init=(small,), ids=ids)
    draw = Draw(seed, B=3, T=5, D=20, L=3)
    without_dropout = _config(17, 20, 3, 5, 28, 9, dropout=0.0)
    yield draw.case(init=(without_dropout,), ids=draw.integers("B T", 17))
    draw = Draw(seed, B=1, T=1, D=24, L=2)
    yield draw.case(init=(small,), ids=draw.integers("B T", 29), note="for a single token")
    draw = Draw(seed, B=3, T=9, D=24, L=2)
    mask = _lengths(9, 9, 4, 6)
    yield draw.case(init=(small,), ids=draw.integers("B T", 29), attention_mask=mask, asks="padding",
                    note="for sentences of 9, 4 and 6 tokens in one batch")  # fmt: skip
    draw = Draw(seed, B=2, T=6, D=24, L=2)
    yield draw.case(init=(small,), ids=draw.integers("B T", 29), attention_mask=_lengths(6, 3, 5).flip(1),
                    asks="padding", note="when the padding is on the left")  # fmt: skip
    draw = Draw(seed, B=1, T=6, D=24, L=2)
    yield draw.case(init=(small,), ids=draw.integers("B T", 29), attention_mask=_lengths(6, 4),
                    asks="padding", note="for one sentence with padding")  # fmt: skip
    draw = Draw(seed, B=2, T=6, D=24, L=2)
    own = _config(29, 24, 2, 4, 32, 11)  # its own config: what is kept shows in this case alone
    yield draw.case(init=(own,), ids=draw.integers("B T", 29), attention_mask=_lengths(6, 4, 6), sizes={AFTER: 6},
                    asks="padding", note="after a call with another mask")  # fmt: skip


# ---------------------------------------------------------------------------------------------- load_bert_weights


class Encoder(nn.Module):
    """The parts of a post-norm encoder, by name: what `load_bert_weights` may rely on."""

    def __init__(self, config: Any) -> None:
        from anatomy.course.nb05_encoder_layer.right import PostNormEncoderLayer
        from anatomy.course.nb06_positional_encodings.right import Embeddings

        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))


def _fill(module: nn.Module, draw: Draw) -> None:
    """Weights, biases and norms with real variance: a BERT fresh from its config has biases of zero."""
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            noise = torch.randn(parameter.shape, generator=draw.fork(type(module).__name__, name))
            if parameter.dim() > 1:
                parameter.copy_(noise if "embeddings" in name else noise / parameter.shape[-1] ** 0.5)
            else:
                parameter.copy_(0.3 * noise + (1.0 if name.endswith("LayerNorm.weight") else 0.0))


@lru_cache(maxsize=32)
def _bert_and_encoder(seed: int, *sizes: int) -> dict[str, Any]:
    """A seeded BERT's state dict and an encoder with other weights. Shared by the cases: a run works on copies."""
    from transformers import BertModel

    config, draw = _config(*sizes), Draw(seed)
    bert, encoder = BertModel(config), Encoder(config).eval()
    _fill(bert, draw)
    _fill(encoder, draw)
    return {"encoder": encoder, "state_dict": {name: value.clone() for name, value in bert.state_dict().items()}}


def _load_and_look(answer: Any, case: Case) -> Any:
    """Load outside of `no_grad`, as in a notebook, then look at one side of the result. `encoder` is a copy already."""
    encoder, state_dict = case.args["encoder"], case.args["state_dict"]
    if case.asks == "missing keys":
        errors = {what: _error(answer, encoder, rest) for what, rest in _incomplete(case.args).items()}
        _load(answer, encoder, _copy(state_dict))  # who refuses everything has understood nothing
        return {"errors": errors, "loaded": _numbers(encoder)}
    if case.asks == "independence":
        return _before_and_after(answer, encoder, state_dict)
    _load(answer, encoder, _copy(state_dict))  # what happens to the dict itself is asked once, above
    if case.asks == "leftover layers":
        loaded, layers, raised = _numbers(encoder), encoder.layers, []
        for fewer in range(1, min(3, len(layers))):
            encoder.layers = layers[:-fewer]
            raised.append(_error(answer, encoder, _copy(state_dict)))
        return {"errors": raised, "loaded": loaded}
    draw = Draw(0, **case.sizes)
    ids, hidden = draw.integers("B T", case.sizes["V"]), draw.normal("B T D")
    keep = _lengths(case.sizes["T"], *range(case.sizes["T"], 0, -2))[: case.sizes["B"]].bool()
    mask = keep[:, None, None, :]
    if case.asks == "embeddings":
        return encoder.embeddings(ids)
    if case.asks == "layers":
        outputs = {f"layers.{number}": layer(hidden, mask) for number, layer in enumerate(encoder.layers)}
        # a key's bias adds the same to all scores of a query, which no softmax shows
        biases = {
            f"layers.{number}.attention.k.bias": layer.attention.k.bias for number, layer in enumerate(encoder.layers)
        }
        return outputs | biases
    states = [encoder.embeddings(ids)]
    for layer in encoder.layers:
        states.append(layer(states[-1], mask))
    return [state.masked_fill(~keep[..., None], 0.0) for state in states]


def _load(answer: Any, encoder: nn.Module, state_dict: Mapping[str, Tensor]) -> None:
    with torch.enable_grad():
        answer(encoder, state_dict)


def _incomplete(args: Mapping[str, Any]) -> dict[str, dict[str, Tensor]]:
    """Dicts that lack something, by what they lack."""
    last = f"encoder.layer.{len(args['encoder'].layers) - 1}."
    names = ("embeddings.", "encoder.layer.0.")
    lacking = {name: name for name in args["state_dict"] if name.startswith(names)} | {"the last layer": last}
    return {
        what: _copy({name: value for name, value in args["state_dict"].items() if not name.startswith(start)})
        for what, start in lacking.items()
    }


def _error(answer: Any, encoder: nn.Module, state_dict: Mapping[str, Tensor]) -> str:
    """The kind of error that loading stops with; empty where it does not stop."""
    try:
        _load(answer, encoder, state_dict)
    except NotImplementedError:
        raise
    except Exception as error:  # any error will do: what counts is that there is one
        return type(error).__name__
    return ""


def _before_and_after(answer: Any, encoder: nn.Module, state_dict: Mapping[str, Tensor]) -> dict[str, Any]:
    """The dict and the encoder's numbers after loading, what can be trained, and the numbers when the dict's change."""
    _load(answer, encoder, state_dict)
    values = {name: value for name, value in state_dict.items() if isinstance(value, Tensor)}
    seen = {
        "state_dict": _copy(values),
        "loaded": _numbers(encoder),
        "trainable": {name: int(one.requires_grad and one.is_leaf) for name, one in encoder.named_parameters()},
    }
    for value in values.values():
        value.data.add_(1)
    return {**seen, "later": _numbers(encoder)}


def _copy(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in tensors.items()}


def _numbers(module: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach().clone() for name, parameter in module.named_parameters()}


def any_bert_and_encoder(draw: Draw) -> Case:
    """In any order are the dict's entries, and the pooler's may be missing."""
    asks = draw.pick("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence")
    many = (17, 20, 3, 5, 28, 9), (29, 24, 2, 4, 40, 11)
    sizes = draw.pick(*many, *[(12, 8, 1, 1, 7, 30)] * (asks != "leftover layers"))
    draw.sized(B=(1, 3), T=(5, 9))  # each sentence has two tokens less than the one before
    draw.sizes |= {"V": sizes[0], "D": sizes[1], "L": sizes[2]}
    made = _bert_and_encoder(draw.pick(0, 1), *sizes)
    entries = list(made["state_dict"].items())
    if draw.pick(True, False):
        entries = [entries[index] for index in draw.permutation(len(entries)).tolist()]
    if draw.pick(True, False):
        entries = [entry for entry in entries if not entry[0].startswith("pooler.")]
    return draw.case(encoder=made["encoder"], state_dict=dict(entries), asks=asks)


@exercise(inputs=any_bert_and_encoder,
    properties={"embeddings": 1, "layers": 2, "agreement": 1, "missing keys": 1, "leftover layers": 1,
                "independence": 1},
    axes=TOKENS,
    act=_load_and_look,
    when_right="Trained weights in code of your own. The next cell compares it with the library, layer by layer.",
)  # fmt: skip
def load_bert_weights(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, D=24, L=2, V=29)
    for asks in ("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence"):
        note = {"agreement": "for sentences of 7, 5 and 3 tokens in one batch",
                "leftover layers": "when the dict has two layers and the encoder one"}.get(asks, "")  # fmt: skip
        yield draw.case(**_bert_and_encoder(seed, 29, 24, 2, 4, 40, 11), asks=asks, note=note)
    draw = Draw(seed, B=2, T=5, D=20, L=3, V=17)
    made = _bert_and_encoder(seed, 17, 20, 3, 5, 28, 9)
    rest = {name: value for name, value in made["state_dict"].items() if not name.startswith("pooler.")}
    yield draw.case(encoder=made["encoder"], state_dict=rest, asks="agreement", note="when the dict has no pooler")
    yield draw.case(**_bert_and_encoder(seed, 17, 20, 3, 5, 28, 9), asks="leftover layers",
                    note="when the dict has three layers and the encoder one or two")  # fmt: skip
    draw = Draw(seed, B=1, T=5, D=8, L=1, V=12)
    yield draw.case(**_bert_and_encoder(seed, 12, 8, 1, 1, 7, 30), asks="missing keys", note="for one layer")
    draw = Draw(seed, B=2, T=3, D=8, L=12, V=5)
    yield draw.case(**_bert_and_encoder(seed, 5, 8, 12, 2, 12, 4), asks="layers", note="for twelve layers", once=True)
    yield draw.case(**_bert_and_encoder(seed, 5, 8, 12, 2, 12, 4), asks="leftover layers",
                    note="when the dict has twelve layers and the encoder ten or eleven", once=True)  # fmt: skip


# ---------------------------------------------------------------------------------------------- masked_mean


def any_hidden_and_mask(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=draw.pick((1, 9), (1, 9), (130, 140)), D=(1, 9))
    mask = draw.integers("B T", 2)
    mask[torch.arange(len(mask)), draw.integers("B", draw.sizes["T"])] = 1
    return draw.case(hidden=draw.floats("B T D"), attention_mask=draw.laid_out(mask))


@exercise(
    inputs=any_hidden_and_mask,
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B D",
    axes=TOKENS,
    when_right="One vector a sentence, and it no longer depends on the rest of the batch.",
)
def masked_mean(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, D=5)
    yield draw.case(hidden=draw.normal("B T D", shift=0.5), attention_mask=_lengths(7, 4, 7, 2))
    draw = Draw(seed, B=4, T=6, D=3)
    mask = _lengths(6, 2, 5, 1, 6).flip(1)
    yield draw.case(hidden=draw.normal("B D T").transpose(1, 2), attention_mask=mask,
                    note="when the padding is on the left")  # fmt: skip
    draw = Draw(seed, B=2, T=5, D=6)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0]])
    yield draw.case(hidden=draw.normal("B T D", scale=30.0), attention_mask=mask,
                    note="when the tokens to leave out are in between")  # fmt: skip
    draw = Draw(seed, B=1, T=6, D=8)
    hidden = draw.normal("B T D").relu()
    hidden[0, 2] = 0.0
    yield draw.case(hidden=hidden, attention_mask=_lengths(6, 5), note="for one sentence, with zeros in its vectors")
    draw = Draw(seed, B=2, T=1, D=4)
    yield draw.case(hidden=draw.normal("B T D"), attention_mask=_lengths(1, 1, 1), note="for a single token")


# ---------------------------------------------------------------------------------------------- flies_by_layer


class Reader:
    """A tokenizer and something like an encoder: sentences in, ids and the hidden states of all layers out.

    Every vector depends on its layer, its token, its position and the other real tokens of its sentence; not padding.
    """

    WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] . ##ed ##s a an arrow around banana bird buzz flies fly fruit in like of"
    MORE_WORDS = "room swarm the time two when you butterflies ,"
    OTHERS = "time fruit buzzed a the birds swarms butterflies fly when like ouch two banana arrow"

    def __init__(self, draw: Draw, layers: int, width: int) -> None:
        from transformers import BertTokenizer

        words = f"{self.WORDS} {self.MORE_WORDS}".split()
        order = [0, *(1 + draw.permutation(len(words) - 1)).tolist()]  # the id of a word is another each time
        self.tokenizer = BertTokenizer(vocab={words[old]: new for new, old in enumerate(order)})
        self.tokens = torch.randn(layers + 1, len(words), width, generator=draw.fork("tokens"))
        self.places = torch.randn(layers + 1, 16, width, generator=draw.fork("places"))

    def __repr__(self) -> str:
        return "a reader"

    def __call__(self, sentences: list[str]) -> tuple[Tensor, list[Tensor]]:
        batch = self.tokenizer(sentences, padding=True, return_tensors="pt")
        ids, real = batch["input_ids"], batch["attention_mask"][..., None]  # (N, T), (N, T, 1)
        states = []
        for tokens, places in zip(self.tokens, self.places, strict=True):
            hidden = tokens[ids] + places[: ids.size(1)]  # (N, T, D)
            states.append(hidden + (hidden * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True))
        return ids, states


def _any_sentence(draw: Draw, flies: int) -> str:
    """Up to six words, so many of them “flies” in addition; capital letters, commas, periods, unknown words."""
    others = Reader.OTHERS.split()
    words = ["flies"] * flies + [draw.pick(*others) for _ in range(draw.whole(0, 4))]
    words = [words[index] + draw.pick("", "", "", ",") for index in draw.permutation(len(words)).tolist()]
    sentence = " ".join(words) + draw.pick(".", "", " .")
    return draw.pick(sentence, sentence.capitalize(), sentence.upper())


def any_sentences(draw: Draw) -> Case:
    draw.sized(L=(1, 4), N=(1, 5), D=(1, 8))
    counts = [1] * draw.sizes["N"]
    if refused := draw.pick(False, False, True):
        counts[draw.whole(0, len(counts) - 1)] = draw.pick(0, 2)
        counts[draw.whole(0, len(counts) - 1)] = draw.pick(0, 2)
    model = Reader(draw, draw.sizes["L"], draw.sizes["D"])
    sentences = [_any_sentence(draw, count) for count in counts]
    return draw.case(model=model, sentences=sentences, asks="refusal" if refused else None)


@exercise(
    inputs=any_sentences,
    properties={"shape": 1, "values": 3, "refusal": 1},
    returns="L+1 N D",
    axes={"L+1": "layers", "N": "sentences"},
    when_right="The same word, once for every sentence and every layer. Now let something tell them apart.",
)
def flies_by_layer(seed: int) -> Iterator[Case]:
    draw = Draw(seed, L=3, N=5, D=6)
    sentences = ["Time flies like an arrow.", "Fruit flies like a banana.", "Swarms of flies buzzed around the room.",
                 "When birds like you buzzed, the bird flies.", "flies"]  # fmt: skip
    shuffled = [sentences[index] for index in draw.permutation(5).tolist()]
    yield draw.case(model=Reader(draw, 3, 6), sentences=shuffled)
    draw = Draw(seed, L=2, N=2, D=8)
    yield draw.case(
        model=Reader(draw, 2, 8), sentences=["The room swarms, the two flies like you.", "Flies buzz in time."]
    )
    draw = Draw(seed, L=2, N=2, D=7)
    yield draw.case(
        model=Reader(draw, 2, 7),
        sentences=["Butterflies like fruit, flies like a banana.", "Like butterflies, time flies."],
        note="when there are butterflies, too",
    )
    draw = Draw(seed, L=1, N=1, D=5)
    yield draw.case(model=Reader(draw, 1, 5), sentences=["Fruits, when flies swarm"], note="for a single sentence")
    draw = Draw(seed, L=2, N=3, D=4)
    yield draw.case(model=Reader(draw, 2, 4), sentences=["Time flies.", "A bird in the room", "Two flies"],
                    asks="refusal", note="when a sentence has no “flies”")  # fmt: skip
    draw = Draw(seed, L=2, N=2, D=4)
    yield draw.case(model=Reader(draw, 2, 4), sentences=["Time flies.", "Fruit flies like flies."],
                    asks="refusal", note="when a sentence has two “flies”")  # fmt: skip
    draw = Draw(seed, L=1, N=2, D=5)
    yield draw.case(model=Reader(draw, 1, 5), sentences=["A bird in the room", "Fruit flies like flies."],
                    asks="refusal", note="when one sentence has two “flies” and another none")  # fmt: skip


# ---------------------------------------------------------------------------------------------- nearest_centroid


def _clouds(draw: Draw, classes: int) -> dict[str, Any]:
    """Clouds of points around centers, some clouds larger and wider than others, and points to label between them."""
    centers = 2.0 * draw.normal(f"{classes} D")
    labels = torch.cat([torch.arange(classes), draw.integers("N", classes * classes).float().sqrt().long()])
    labels = labels[: draw.sizes["N"]][draw.permutation(draw.sizes["N"])]
    labels = torch.cat([labels[labels == classes - 1], labels[labels < classes - 1]])  # the last label comes first
    train = centers[labels] + (0.5 + labels[:, None]) * draw.normal("N D")
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(classes)])
    sums = torch.stack([train[labels == label].sum(dim=0) for label in range(classes)])
    test = torch.cat([sums.flip(0), 2.5 * draw.normal("300 D")])
    near, next_best = torch.cdist(test, centroids).sort(dim=1).values[:, :2].unbind(dim=1)
    test = test[next_best - near > 0.01]  # so that rounding decides nothing
    return {"train": train, "labels": labels, "test": test[: draw.sizes["M"]]}


def any_clouds(draw: Draw) -> Case:
    classes = draw.whole(2, 5)
    draw.sized(N=(classes, 30), M=(1, 60), D=(1, 8))
    clouds, order, shift = _clouds(draw, classes), draw.permutation(draw.sizes["N"]), draw.pick(0.0, 4.0, -9.0)
    train, test = (draw.laid_out(clouds[name] + shift) for name in ("train", "test"))
    draw.sizes["M"] = len(test)
    asks = "three classes" if classes > 2 else None
    return draw.case(train=train[order], labels=clouds["labels"][order], test=test, asks=asks)


@exercise(
    inputs=any_clouds,
    properties={"shape": 1, "values": 2, "three classes": 1},
    returns="M",
    axes={"M": "vectors to label"},
    when_right="No training, no parameters: whatever it tells apart was already in the vectors.",
)
def nearest_centroid(seed: int) -> Iterator[Case]:
    draw = Draw(seed, N=21, M=80, D=3)
    yield draw.case(**_clouds(draw, 2))
    draw = Draw(seed, N=12, M=70, D=5)
    clouds = _clouds(draw, 2)
    shift = torch.full((5,), 4.0)
    yield draw.case(train=clouds["train"] + shift, labels=clouds["labels"], test=clouds["test"] + shift,
                    note="when all vectors are far from the origin")  # fmt: skip
    draw = Draw(seed, N=10, M=8, D=4)
    clouds = _clouds(draw, 2)
    yield draw.case(train=2.0**12 * clouds["train"], labels=clouds["labels"], test=2.0**12 * clouds["test"],
                    note="when all distances are large")  # fmt: skip
    draw = Draw(seed, N=9, M=1, D=3)
    yield draw.case(**_clouds(draw, 2), note="for a single vector")
    draw = Draw(seed, N=25, M=120, D=4)
    yield draw.case(**_clouds(draw, 3), asks="three classes", note="with three classes")


quiz_encoder = quiz(
    "quiz_encoder",
    {
        "a padding mask hides": ("queries", "keys", "queries and keys"),
        "BERT's weights in a pre-norm stack": ("an error when loading", "the same numbers", "other numbers, no error"),
        "a key that strict=False skips": ("raises an error", "is set to zero", "keeps its random start"),
        "flies at depth 0 knows": ("word and position", "only the word", "the words around it"),
    },
    when_right="Notebook 08 puts a small head on this encoder and trains both.",
)
