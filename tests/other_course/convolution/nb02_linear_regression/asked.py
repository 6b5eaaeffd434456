"""What is asked in 02-linear-regression."""

from __future__ import annotations

from collections.abc import Iterator

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise


@exercise(properties={"shape": 1, "values": 2, "gradients": 1}, returns="")
def squared_loss(seed: int) -> Iterator[Case]:
    for points, features in ((7, 3), (5, 2)):
        draw = Draw(seed, N=points, D=features)
        yield draw.case(x=draw.normal("N D"), weights=draw.normal("D"), y=draw.normal("N"))
