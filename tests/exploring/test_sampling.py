"""The page's distributions and those of notebooks 09 and 14 are the same, number for number."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from anatomy.course.nb09_causal_mask.right import next_token_probabilities
from anatomy.course.nb14_since_gpt_2.right import min_p_probabilities

SAMPLING = Path(__file__).parents[2] / "tools" / "explorer" / "src" / "sampling.js"
PROGRAM = """
import { readFileSync } from "node:fs";
const { probabilities } = await import(process.argv[1]);
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([logits, settings]) => [...probabilities(logits, settings)])));
"""

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

Case = tuple[list[float], dict[str, Any]]


def of_the_page(cases: list[Case]) -> list[list[float]]:
    """What sampling.js makes of each case."""
    command = ["node", "--input-type=module", "--eval", PROGRAM, SAMPLING.as_uri()]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def of_the_course(logits: list[float], settings: dict[str, Any]) -> Tensor:  # -> (V,)
    """The same with the functions of the exercises."""
    row = torch.tensor(logits, dtype=torch.float64)
    if settings["temperature"] == 0:  # what `generate` does
        return torch.nn.functional.one_hot(row.argmax(), len(logits)).double()
    found = next_token_probabilities(row, settings["temperature"], settings["topK"], settings["topP"])
    return found if settings["minP"] is None else min_p_probabilities(found.log(), settings["minP"])


def some_cases(count: int) -> list[Case]:
    """Logits and settings at random; in every other case many logits are equal."""
    drawn = random.Random(14)
    cases = []
    for number in range(count):
        size = drawn.choice([1, 2, 5, 55, 300])
        spread = drawn.choice([0.1, 1.0, 8.0])
        logits = [drawn.gauss(0, spread) for _ in range(size)]
        if number % 2:
            logits = [float(round(each)) for each in logits]
        settings = {
            "temperature": drawn.choice([0, 0.1, 0.7, 1, 1.0, 2.5]),
            "topK": drawn.choice([None, 1, 2, 10, 1000]),
            "topP": drawn.choice([None, 0.05, 0.5, 0.9, 1.0]),
            "minP": drawn.choice([None, 0.0, 0.1, 0.5, 1.0]),
        }
        cases.append((logits, settings))
    return cases


def test_same_distribution_as_the_exercises() -> None:
    """Where equal logits stand at the edge of top-p, PyTorch's sort keeps any of them, and the page the first ones."""
    cases = some_cases(1000)
    with_ties = 0
    for (logits, settings), numbers in zip(cases, of_the_page(cases), strict=True):
        found = torch.tensor(numbers, dtype=torch.float64)
        expected = of_the_course(logits, settings)
        torch.testing.assert_close(found.sort().values, expected.sort().values, rtol=0, atol=1e-6, msg=str(settings))
        alone = torch.tensor([logits.count(each) == 1 for each in logits])
        torch.testing.assert_close(found[alone], expected[alone], rtol=0, atol=1e-6, msg=str(settings))
        with_ties += not alone.all()
    assert with_ties > 300
