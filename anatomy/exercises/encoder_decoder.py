"""What 10-encoder-decoder asks."""

from __future__ import annotations

from collections.abc import Iterator

from anatomy.exercises.spec import Case, Draw, exercise, quiz

SLUG = "10-encoder-decoder"


@exercise(
    SLUG,
    properties={"shape": 1, "values": 2},
    returns="B T",
    when_right="What is fed ends where what is asked for begins: one token later.",
)
def shift_right(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=6)
    yield draw.case(target=draw.integers("B T", 30, low=5), start_id=2)


@exercise(SLUG, properties={"shape": 1, "values": 3}, returns="B 1 T T")
def decoder_mask(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=6)
    yield draw.case(target=draw.integers("B T", 30, low=5), pad_id=0)


@exercise(SLUG, kind="module", properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "mask": 1})
def CrossAttention(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(
    SLUG,
    kind="module",
    properties={"values": 2, "parameters": 1, "gradients": 1, "dropout": 1, "masks": 1, "eps": 1},
)
def TransformerDecoderLayer(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(
    SLUG,
    kind="module",
    properties={"values": 2, "parameters": 1, "gradients": 1, "dropout": 1, "padding": 1, "encode and decode": 1},
)
def Transformer(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(SLUG, properties={"values": 2, "padding": 2, "gradients": 1})
def teacher_forcing_loss(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(SLUG, properties={"values": 2, "ends": 2, "work": 1})
def greedy_decode(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(SLUG, properties={"values": 2, "ends": 1, "ties": 1, "length penalty": 2, "work": 1})
def beam_search(seed: int) -> Iterator[Case]:
    yield from ()


quiz_encoder_decoder = quiz(
    SLUG,
    "quiz_encoder_decoder",
    {
        "queries of cross-attention come from": ("the encoder", "the decoder", "both"),
        "rows and columns of its weights": ("target and target", "source and source", "target and source"),
        "for one translation the source is encoded": ("once", "once for each token written", "once for each layer"),
        "teacher forcing feeds": (
            "the right tokens so far", "what the model wrote so far", "the right tokens, the next one included",
        ),
        "a wider beam finds": (
            "the most probable sequence, always", "a sequence as probable or more, mostly",
            "a better translation, always",
        ),
    },
    when_right="Encoder, decoder, and the two together: all three branches of the family tree stand on what you wrote.",
)  # fmt: skip
