"""What 00-start-here asks: all dot products of a batch of rows, and what each of the three types is for."""

from __future__ import annotations

from collections.abc import Iterator

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz


def any_rows(draw: Draw) -> Case:
    draw.sized(B=(1, 5), T=draw.pick((1, 9), (1, 9), (40, 70)), D=(1, 12))
    return draw.case(x=draw.floats("B T D"))


@exercise(
    inputs=any_rows,
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B T T",
    axes={"T": "rows"},
    when_right="You have written the heart of attention: 02 calls the rows queries and keys, their products scores.",
)
def pairwise_dot(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, D=8)
    yield draw.case(x=draw.normal("B T D"))
    draw = Draw(seed, B=4, T=7, D=3)
    yield draw.case(x=draw.normal("B T D", scale=2.0, shift=1.5), note="when there are more rows than columns")
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(x=draw.normal("B D T").transpose(1, 2), note="when the rows are not stored one after the other")
    draw = Draw(seed, B=1, T=1, D=9)
    yield draw.case(x=draw.normal("B T D"), note="when the batch is a single sentence of a single row")


TYPES = ("encoder", "decoder", "encoder-decoder")

quiz_types = quiz(
    "quiz_types",
    {
        "noun or verb": TYPES,
        "continue a story": TYPES,
        "translate": TYPES,
        "never looks right": TYPES,
        "bridge": TYPES,
        "find similar texts": TYPES,
    },
    when_right="Now you know where you are going. In 01 the way begins: text becomes pieces, ids, and vectors.",
)
