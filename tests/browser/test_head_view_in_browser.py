"""The head view in Chromium with every outside request refused: in JupyterLab, in an exported page, untrusted."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.lab import SLOW, Lab
from tests.browser.views import check_nothing_is_clipped, executed, open_exported, save

LAYERS, HEADS, LENGTH = 2, 4, 7
SETUP = f"""\
import torch
from transformers import BertConfig, BertModel
from anatomy.course.views import head_view

torch.manual_seed(0)
config = BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers={LAYERS}, num_attention_heads={HEADS},
                    intermediate_size=32, initializer_range=1.0)
model = BertModel._from_config(config, attn_implementation="eager").eval()
tokens = ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]"]
with torch.no_grad():
    attentions = model(torch.arange({LENGTH})[None], output_attentions=True).attentions
"""
FIRST = "head_view(attentions, tokens)  # first"
SECOND = "head_view(attentions, tokens, layer=1, heads=[2], sentence_b_start=4)  # second"
CELLS = (SETUP, FIRST, SECOND)
ON = "heads => heads.flatMap((head, index) => head.getAttribute('aria-checked') === 'true' ? [index] : [])"
DRAWN = "lines => [...new Set(lines.filter(line => +line.getAttribute('stroke-opacity') > 0)" \
        ".map(line => +line.parentNode.parentNode.getAttribute('head-index')))]"  # fmt: skip

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def check_first_view(view: FrameLocator) -> None:
    """All lines of layer 0 are there; pointing at a token lights its own, another layer has others."""
    lines = view.locator("#attention line")
    expect(lines).to_have_count(HEADS * LENGTH * LENGTH, timeout=SLOW)
    expect(view.locator("#how")).to_contain_text("a line is as strong as its weight")
    expect(view.locator("#vis svg > g").last.locator("text")).to_have_text([str(head) for head in range(HEADS)])

    view.locator("#left text").nth(2).hover()
    lit = view.locator("#attention line[visibility='visible']")
    expect(lit).to_have_count(HEADS * LENGTH)
    assert set(lit.evaluate_all("lines => lines.map(line => line.getAttribute('left-token-index'))")) == {"2"}
    view.locator("#how").hover()
    expect(lit).to_have_count(0)

    strengths = "lines => lines.map(line => line.getAttribute('stroke-opacity'))"
    before = lines.evaluate_all(strengths)
    view.locator("#layer").select_option("1")
    assert lines.evaluate_all(strengths) != before
    expect(view.locator("#vis svg > g").last.locator("text")).to_have_count(HEADS)

    view.locator("#vis svg > g").last.locator("rect").nth(3).dblclick()
    seen = lines.evaluate_all("lines => lines.filter(line => +line.getAttribute('stroke-opacity') > 0).length")
    assert LENGTH <= seen <= LENGTH * LENGTH


def check_second_view(view: FrameLocator) -> None:
    """It opens as asked, and what was done in the first view did not reach it."""
    expect(view.locator("#attention line")).to_have_count(HEADS * LENGTH * LENGTH, timeout=SLOW)
    expect(view.locator("#layer")).to_have_value("1")
    seen = "lines => new Set(lines.filter(line => +line.getAttribute('stroke-opacity') > 0)" \
           ".map(line => line.parentNode.parentNode.getAttribute('head-index'))).size"  # fmt: skip
    assert view.locator("#attention line").evaluate_all(seen) == 1
    expect(view.locator("#attention line[visibility='visible']")).to_have_count(0)
    view.locator("#filter").select_option(label="Sentence A -> Sentence B")
    expect(view.locator("#attention line")).to_have_count(HEADS * 4 * 3)


def test_in_jupyterlab_and_after_it_was_saved(lab: Lab, tmp_path: Path) -> None:
    lab.open(save(tmp_path, "head-view", CELLS))
    lab.run("import torch")
    outputs = []
    for source, check in ((FIRST, check_first_view), (SECOND, check_second_view)):
        outputs.append(lab.run(source))
        view = outputs[-1].frame_locator("iframe")
        check(view)
        check_nothing_is_clipped(view)
    lab.cell(FIRST)
    expect(outputs[0].frame_locator("iframe").locator("#attention line")).to_have_count(HEADS * LENGTH * LENGTH)

    lab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    lab.page.reload()
    again = lab.page.locator(".jp-NotebookPanel:visible iframe").first.content_frame
    expect(again.locator("#attention line")).to_have_count(HEADS * LENGTH * LENGTH, timeout=SLOW)


def test_an_untrusted_notebook_shows_the_still_picture_and_says_so(lab: Lab, tmp_path: Path) -> None:
    lab.open(save(tmp_path, "not-trusted", executed(CELLS)))
    output = lab.cell(FIRST).locator(".jp-Cell-outputArea")
    expect(output).to_contain_text("The interactive view is not shown here")
    expect(output.locator("iframe")).to_have_count(0)
    output.locator("summary").click()
    picture = output.locator("img[alt^='Grid of 4 heat maps']")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 300")
    use, look = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", ("filter", "none")
    expect(picture).to_have_css(*look)
    lab.page.evaluate(use, "JupyterLab Dark")
    expect(picture).not_to_have_css(*look)  # though a notebook that is not trusted loses the style in its output
    lab.page.evaluate(use, "JupyterLab Light")
    tables = output.locator("table")  # drawn again after a change of theme
    expect(tables.nth(0).locator("tbody th")).to_have_count(LENGTH)  # which key each query looks at most
    expect(tables.nth(1).locator("tbody th")).to_have_count(HEADS)  # what each head does


def test_in_an_exported_page(page_without_network: Page, tmp_path: Path) -> None:
    open_exported(page_without_network, tmp_path, CELLS)
    frames = page_without_network.locator("iframe")
    expect(frames).to_have_count(2)
    for index, check in enumerate((check_first_view, check_second_view)):
        view = frames.nth(index).content_frame
        check(view)
        check_nothing_is_clipped(view)


def test_by_keyboard_alone(page_without_network: Page, tmp_path: Path) -> None:
    """From the choice of a layer to a token and to a head, which is switched off, on, and seen alone."""
    open_exported(page_without_network, tmp_path, CELLS[:2])
    view, press = page_without_network.locator("iframe").content_frame, page_without_network.keyboard.press
    lines, lit = view.locator("#attention line"), view.locator("#attention line[visibility='visible']")
    expect(lines).to_have_count(HEADS * LENGTH * LENGTH, timeout=SLOW)
    strengths = "lines => lines.map(line => line.getAttribute('stroke-opacity'))"
    before = lines.evaluate_all(strengths)

    view.locator("#layer").focus()
    press("ArrowDown")
    expect(view.locator("#layer")).to_have_value("1")
    assert lines.evaluate_all(strengths) != before

    for side, name in (("left", "queries"), ("right", "keys")):
        press("Tab")
        press("ArrowDown")
        press("ArrowDown")
        expect(view.get_by_role("listbox", name=name).get_by_role("option", name="flies")).to_be_focused()
        assert set(lit.evaluate_all(f"lines => lines.map(line => line.getAttribute('{side}-token-index'))")) == {"2"}

    heads = view.get_by_role("group", name="heads").get_by_role("checkbox")
    expect(heads).to_have_count(HEADS)
    press("Tab")
    expect(lit).to_have_count(0)
    press("ArrowRight")
    expect(view.get_by_role("checkbox", name="head 1")).to_be_focused()
    for key, on in (("Space", [0, 2, 3]), ("Space", [0, 1, 2, 3]), ("Enter", [1]), ("Enter", [0, 1, 2, 3])):
        press(key)
        expect(view.get_by_role("checkbox", checked=True)).to_have_count(len(on))
        assert heads.evaluate_all(ON) == on == lines.evaluate_all(DRAWN)
    heads.nth(3).dblclick()
    expect(view.get_by_role("checkbox", name="head 3", checked=True)).to_be_visible()
    assert heads.evaluate_all(ON) == [3], "what the mouse does is said, too"

    press("Shift+Tab")
    expect(view.get_by_role("option", name="flies").last).to_be_focused()  # where one was before
