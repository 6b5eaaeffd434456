"""The bar that fills while something trains."""

from __future__ import annotations

import pytest

from anatomy.course.views import ProgressBar


def test_it_counts_and_names_the_latest_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, bundle: dict[str, str], raw: bool) -> None:
            shown.append(bundle)

    def display(bundle: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(bundle)
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    bar = ProgressBar(2, "Fine-tuning <b>")
    bar(0.69)
    bar(0.1)
    assert [one["text/plain"] for one in shown] == [
        "Fine-tuning <b>: 0 of 2 steps",
        "Fine-tuning <b>: 1 of 2 steps, loss 0.690",
        "Fine-tuning <b>: 2 of 2 steps, loss 0.100",
    ]
    assert '<progress value="2" max="2"' in shown[-1]["text/html"]
    assert "<b>" not in shown[-1]["text/html"]


def test_outside_a_notebook_it_counts_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    bar = ProgressBar(1)
    bar()
    assert bar.words == "Training: 1 of 1 steps"


def test_a_bar_of_no_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        ProgressBar(0)
