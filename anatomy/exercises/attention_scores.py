"""What 02-attention-scores asks."""

from __future__ import annotations

from collections.abc import Iterator

from anatomy.exercises.spec import Case, Draw, exercise


@exercise(
    "02-attention-scores",
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B T S",
    leads_on="Works for any T and S, and gradients flow to both inputs.",
)
def scaled_scores(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7, D=8)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))
    draw = Draw(seed, B=3, T=4, S=6, D=10)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))
