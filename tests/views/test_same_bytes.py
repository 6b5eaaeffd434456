"""The same data give the same view in another process: no time, no address in memory, no order of a set gets in."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from anatomy.course.views import head_view, model_view, neuron_view
from tests.views.inside_views import TOKENS, weights
from tests.views.test_neuron_view import NUMBER_OF, TEXT, gpt


def hashes() -> dict[str, str]:
    """View → a hash of its page."""
    shown = {
        "head view": head_view(weights(), TOKENS),
        "model view": model_view(weights(), TOKENS),
        "neuron view": neuron_view(gpt(), NUMBER_OF, TEXT),
    }
    return {name: sha256(view.html().encode()).hexdigest() for name, view in shown.items()}


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes_in_another_process() -> None:
    code = "import json; from tests.views.test_same_bytes import hashes; print(json.dumps(hashes()))"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == hashes()
