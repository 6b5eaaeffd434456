"""`explore` in JupyterLab, with every outside request refused: live while its kernel runs, still when it is saved."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import FrameLocator, expect

from anatomy.course.exploring.explorer import Explorer
from tests.browser.lab import SLOW, Lab
from tests.browser.views import save

SETUP = """\
import torch
from transformers import GPT2Config
from anatomy import explore
from anatomy.course.nb09_causal_mask.right import GPT

torch.manual_seed(0)
alphabet = list(" aefilmnorstwxy")
config = GPT2Config(vocab_size=len(alphabet), n_positions=32, n_embd=16, n_layer=2, n_head=4, resid_pdrop=0.0,
                    embd_pdrop=0.0, bos_token_id=None, eos_token_id=None)
model = GPT(config)
for parameter in model.parameters():
    parameter.data.mul_(0.5)  # so that several characters are probable
"""
SHOW = 'explore(model, "time fl", alphabet, also=["no-mask"])'
TYPED = "my time"

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    """The notebook's model, here."""
    names: dict[str, object] = {}
    exec(SETUP, names)
    return Explorer(names["model"], names["alphabet"])


def check_predictions(view: FrameLocator, explorer: Explorer, text: str, changes: list[str]) -> None:
    """The probabilities that the page draws are the model's, most probable first."""
    state = explorer.state(text, None, changes)
    probabilities = state.array("decoder.output.probabilities")[-1]
    best = probabilities.argsort()[::-1][:5]
    named = state.header["vocabulary"]
    expect(view.locator(".bar .p").first).to_have_text(f"{probabilities[best[0]]:.2f}")
    shown = view.locator(".bar .p").all_inner_texts()[:5]
    assert [float(one) for one in shown] == pytest.approx(probabilities[best].tolist(), abs=0.0051)
    words = view.locator(".bar .word").all_inner_texts()[:5]
    assert [word.replace("␣", " ") for word in words] == [named[number] for number in best]


def test_it_is_live_and_stays_when_it_is_saved(lab: Lab, tmp_path: Path, explorer: Explorer) -> None:
    lab.open(save(tmp_path, "explorer", (SETUP, SHOW)))
    lab.run("import torch")
    output = lab.run(SHOW)
    view = output.locator("iframe").content_frame
    check_predictions(view, explorer, "time fl", [])
    expect(output.get_by_text("Live: your notebook computes")).to_be_visible()

    sentence = view.get_by_role("textbox", name="Sentence")
    sentence.fill(TYPED)
    expect(view.locator(".head .status")).to_contain_text("Ran in")
    check_predictions(view, explorer, TYPED, [])
    sentence.fill("Time?")
    expect(view.locator(".head .status")).to_contain_text("The model does not know the characters '?' 'T'")

    view.get_by_role("button", name="without the causal mask").click()
    expect(view.locator(".changes .status")).to_have_text("Shown: without the causal mask.")
    check_predictions(view, explorer, TYPED, ["no-mask"])

    lab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    saved = nbformat.read(lab.folder / "explorer" / "explorer.ipynb", as_version=4)
    assert "text/html" in saved.cells[1].outputs[0].data
    lab.shut_down_kernels()
    lab.page.reload()
    again = lab.page.locator(".jp-NotebookPanel:visible iframe").first.content_frame
    expect(again.locator(".bar .p").first).to_be_visible(timeout=SLOW)
    check_predictions(again, explorer, "time fl", [])
    expect(lab.page.get_by_text("Recorded. Run the cell again to change something.")).to_be_visible()
    expect(lab.page.get_by_text("Error displaying widget")).to_have_count(0)
    again.get_by_role("button", name="without the causal mask").click()
    check_predictions(again, explorer, "time fl", ["no-mask"])
