"""Families of mistakes: what goes wrong in many exercises, written once and asked for in an exercise's block.

@MISTAKES.of(LayerNorm)
def in_LayerNorm(at):
    class_beginnings(at, ("shape", "values", "parameters"), takes="dim, eps")
    squeezed(at, ("shape", "values"), "has the shape of `x`")
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable

from anatomy.engine.mistakes import MistakesIn

# fmt: off


def class_beginnings(at: MistakesIn, breaks: str | Iterable[str], takes: str) -> None:
    """What goes wrong at the start of any module; `takes` are the arguments of its constructor."""
    at("def __init__(", breaks,
       ("init_misspelled", "def _init_(", f"Your class can't be made with `{takes}`: its constructor is called `__init__`, with two underscores on each side, and takes `self` and `{takes}`."))
    at("super().__init__()\n", breaks,
       ("no_super", "pass\n", "`super().__init__()` comes first in `__init__`: before it PyTorch can't keep track of layers and parameters."))


def squeezed(at: MistakesIn, breaks: str | Iterable[str], form: str) -> None:
    """The result without its axes of size 1; `form` ends the sentence that begins with "The right result", for its shape."""
    result = _returned(at.right)
    at(f"return {result}", breaks,
       ("squeezed", f"return ({result}).squeeze()", f"Your result loses its axes of size 1: `squeeze()` takes away all of them. The right result {form}."))


def other_fills(at: MistakesIn, fill: str, breaks: str | Iterable[str], low: str = "") -> None:
    """Other numbers than −∞ for hidden scores; `fill` is what stands there, `low` what the lowest ones cost."""
    still = "and what is hidden keeps some of its weight. A score must be −∞ for its weight to be 0."
    at(fill, breaks,
       ("zero_score", "0.0", f"Hidden scores become 0, or a number next to 0 (−1e-9 is tiny; −1e9 is large), and e⁰ = 1, {still}"),
       ("minus_one", "-1.0", f"Hidden scores become −1, {still}"),
       ("minus_ten", "-10.0", f"Hidden scores become −10, {still}"),
       ("low_number", "-100.0", "Hidden scores become a number such as −100 or −10,000. Other scores can be lower still, and then hidden keys win. −∞ is lower than all: `-torch.inf`.", low or breaks),
       ("plus_infinity", "torch.inf", "Hidden scores become +∞, the highest of all, and the softmax of ∞ is NaN. −∞ is needed."))

def one_more_or_less(at: MistakesIn, count: str, breaks: str | Iterable[str], sentence: str, what: str = "one") -> None:
    """A loop over `range(count)` that runs once too often or too rarely; `sentence` has {} for "few" or "many"."""
    at(f"range({count})", breaks,
       (f"{what}_too_few", f"range({count} - 1)", sentence.format("few")),
       (f"{what}_too_many", f"range({count} + 1)", sentence.format("many")))


def other_measures_of_surprise(at: MistakesIn, breaks: str | Iterable[str]) -> None:
    """A loss in bits, and a perplexity, in the place of a loss in nats."""
    result = _returned(at.right)
    at(f"return {result}", breaks,
       ("bits", f"return {result} / math.log(2)", "Your loss is in bits: its logarithm has base 2. In this course, and in the library, it is in nats (base e): smaller by the factor ln 2 = 0.693."),
       ("perplexity", f"return {result}.exp()", "This is the perplexity, e to the power of the loss. The loss itself is needed, in nats."))


def other_lengths(at: MistakesIn, vector: str, width: str) -> None:
    """Other numbers than the Euclidean length of the last axis: `vector` in words, and its width."""
    euclidean = "The Euclidean length is the root of the sum of their squares: `norm(dim=-1)`."
    at(".norm(dim=-1)", "values",
       ("sum_of_sizes", ".abs().sum(dim=-1)", f"You add up the sizes of the {vector}'s numbers (the 1-norm). {euclidean}"),
       ("mean_of_sizes", ".abs().mean(dim=-1)", f"You take the mean size of the {vector}'s numbers. {euclidean}"),
       ("signed_sum", ".sum(dim=-1)", f"You add up the {vector}'s numbers with their signs, so that they cancel. {euclidean}"),
       ("root_mean_square", ".pow(2).mean(dim=-1).sqrt()", f"You divide by √{width}: the root of the *mean* square. The Euclidean length is the root of the sum: `norm(dim=-1)`."))

def called_otherwise(at: MistakesIn, mine: str, others: Iterable[str], breaks: str | Iterable[str], name: str = "called") -> None:
    """A layer under another name than `mine`, by which no weights could be copied; `name` is how the mistake's begins."""
    times = inspect.getsource(at.right).count(f"self.{mine}")
    for other in others:
        at(f"self.{mine}", breaks, (f"{name}_{other}", f"self.{other}", f"Your `{other}` must be called `{mine}`. Weights are copied by name, so names are part of the answer."), times=times)


# fmt: on


def _returned(right: object) -> str:
    """The text of what a function returns at its end, or a module's `forward`."""
    source = textwrap.dedent(inspect.getsource(right))  # type: ignore[arg-type]
    definition = ast.parse(source).body[0]
    if isinstance(definition, ast.ClassDef):
        definition = next(node for node in definition.body if getattr(node, "name", "") == "forward")
    last = max((node for node in ast.walk(definition) if isinstance(node, ast.Return)), key=lambda node: node.lineno)
    return ast.get_source_segment(source, last.value) or "" if last.value else ""
