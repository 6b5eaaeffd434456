"""What is asked in 01-convolution."""

from __future__ import annotations

from collections.abc import Iterator

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz


def any_signal(draw: Draw) -> Case:
    draw.sized(T=(1, 12))
    draw.sizes["K"] = draw.pick(1, 3, 5)
    return draw.case(signal=draw.floats("T"), kernel=draw.floats("K"))


@exercise(properties={"shape": 1, "values": 2, "gradients": 1}, returns="T", inputs=any_signal)
def convolve(seed: int) -> Iterator[Case]:
    for length, size in ((9, 3), (12, 5)):
        draw = Draw(seed, T=length, K=size)
        yield draw.case(signal=draw.normal("T"), kernel=draw.normal("K"))


quiz_padding = quiz("quiz_padding", {"outside the signal stand": ("zeros", "ones")})
