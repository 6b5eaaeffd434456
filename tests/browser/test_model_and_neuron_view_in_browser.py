"""Model view, neuron view and cross-attention in Chromium with every outside request refused, on a page together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.lab import SLOW, Lab
from tests.browser.views import check_nothing_is_clipped, executed, open_exported, save
from tests.plenty import one_in

LAYERS, HEADS, WIDTH = 2, 3, 8
TEXT, WRITTEN = "time flies", "eilt"
LENGTH, A = len(TEXT), 4  # the second sentence starts at token 4
SETUP = f"""\
import torch
from transformers import BertConfig, GPT2Config
from anatomy.course.nb09_causal_mask.right import GPT
from anatomy.course.nb10_encoder_decoder.right import Transformer
from anatomy.course.views import head_view, model_view, neuron_view, record_attention

torch.manual_seed(0)
text, written = {TEXT!r}, {WRITTEN!r}
number_of = {{symbol: number for number, symbol in enumerate(sorted(set(text + written)))}}
gpt = GPT(GPT2Config(vocab_size=20, n_positions=16, n_embd={HEADS * WIDTH}, n_layer={LAYERS}, n_head={HEADS},
                     bos_token_id=None, eos_token_id=None)).eval()
ids, target = (torch.tensor([[number_of[symbol] for symbol in some]]) for some in (text, written))
weights = [one.weights for one in record_attention(gpt, ids)]
translator = Transformer(BertConfig(vocab_size=20, hidden_size={HEADS * WIDTH}, num_hidden_layers={LAYERS},
                                    num_attention_heads={HEADS}, intermediate_size=32, pad_token_id=19)).eval()
recorded = record_attention(translator, ids, target)
own = [one.weights for one in recorded if one.name.startswith("encoder")]
cross = [one.weights for one in recorded if one.name.endswith("cross_attention")]
"""
MODEL = f"model_view(weights, list(text), sentence_b_start={A})  # model"
NEURON = "neuron_view(gpt, number_of, text, layer=1, head=1)  # neuron"
CROSS = "head_view(encoder_attention=own, cross_attention=cross, encoder_tokens=[*text], decoder_tokens=[*written])"
CELLS = (SETUP, MODEL, NEURON, CROSS)
SEEN = "lines => lines.filter(line => +line.parentNode.style.opacity !== 0).length"

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def check_model_view(view: FrameLocator) -> None:
    """Every head has its lines; a click opens a head, another one the next; another part keeps the head open."""
    expect(view.locator("#vis line")).to_have_count(LAYERS * HEADS * LENGTH * LENGTH, timeout=SLOW)
    expect(view.locator("#how")).to_contain_text("Click one to read its tokens")
    thumbnails = view.locator(".attn_background")
    expect(thumbnails).to_have_count(LAYERS * HEADS)

    opened, lines = view.locator("text.detail"), view.locator(".detail .attn-line-group line")
    for layer, head in ((0, 1), (1, 0)):
        view.locator(f"#attn_background_{layer}_{head} ~ rect").click()
        expect(opened).to_have_text(f"Layer {layer}, Head {head}")
        expect(lines).to_have_count(LENGTH * LENGTH)
    tokens = view.locator(".detail .token")
    expect(tokens).to_have_text([*"time␣flies"] * 2)
    tokens.nth(2).hover()
    assert lines.evaluate_all(SEEN) == LENGTH
    view.locator("#how").hover()

    view.locator("#filter").select_option(label="Sentence B -> Sentence A")
    expect(lines).to_have_count((LENGTH - A) * A)
    expect(tokens).to_have_text([*"␣flies", *"time"])
    expect(opened).to_have_text("Layer 1, Head 0")
    view.locator("#filter").select_option("0")
    expect(lines).to_have_count(LENGTH * LENGTH)
    view.locator("#attn_background_1_0 ~ rect").click(position={"x": 5, "y": 5})
    expect(opened).to_have_count(0)


def check_neuron_view(view: FrameLocator) -> None:
    """It opens with the neurons; a token shows its products and scores, no later ones; layer and head change them."""
    elements = view.locator("#expanded .element")
    expect(elements).to_have_count(3 * LENGTH * WIDTH, timeout=SLOW)
    expect(view.locator("#expanded")).to_have_attribute("visibility", "visible")
    expect(view.locator("#how")).to_contain_text(f"divided by √{WIDTH}")
    expect(view.locator("#layer")).to_have_value("1")
    expect(view.locator("#att_head")).to_have_value("1")

    token = view.locator("#expanded #leftText > g").nth(5)
    token.hover()
    scores = view.locator("#expanded .dotproduct")
    values = "squares => squares.map(square => square.dataset.value)"
    before = scores.evaluate_all(values)
    assert len(before) == LENGTH and all(value is not None for value in before)
    assert scores.evaluate_all("squares => squares.map(square => +square.style.opacity)") == [1] * 6 + [0] * 4
    assert view.locator("#expanded .qk-line-group path").evaluate_all(SEEN) == LENGTH
    vectors = [view.locator("#queries .element").evaluate_all(values)]
    for control, value in (("#layer", "0"), ("#att_head", "2")):
        view.locator(control).select_option(value)
        vectors.append(view.locator("#queries .element").evaluate_all(values))
    assert vectors[0] != vectors[1] != vectors[2]
    view.locator("#how").hover()
    token.hover()
    assert scores.evaluate_all(values) != before

    token.locator(".minus-sign + rect").click()
    lines = view.locator("#collapsed .attn-line-group line")
    expect(lines).to_have_count(LENGTH * LENGTH)
    expect(view.locator("#collapsed")).to_have_attribute("visibility", "visible")
    assert lines.evaluate_all(SEEN) == LENGTH
    view.locator("#collapsed #leftText > g").nth(5).locator(".plus-sign + rect").click()
    expect(view.locator("#expanded")).to_have_attribute("visibility", "visible")
    view.locator("#how").hover()
    token.focus()
    assert view.locator("#expanded .qk-line-group path").evaluate_all(SEEN) == LENGTH


def check_cross_attention(view: FrameLocator) -> None:
    """The encoder first; then what is written left, what was read right."""
    lines = view.locator("#attention line")
    expect(lines).to_have_count(HEADS * LENGTH * LENGTH, timeout=SLOW)
    view.locator("#filter").select_option(label="Cross")
    expect(lines).to_have_count(HEADS * len(WRITTEN) * LENGTH)
    expect(view.locator("#left text")).to_have_text([*WRITTEN])
    expect(view.locator("#right text")).to_have_text([*"time␣flies"])


CHECKS: list[tuple[str, Callable[[FrameLocator], None]]] = [
    (MODEL, check_model_view), (NEURON, check_neuron_view), (CROSS, check_cross_attention)
]  # fmt: skip


@pytest.mark.many  # the head view does the same there
def test_in_jupyterlab_and_after_it_was_saved(lab: Lab, tmp_path: Path) -> None:
    lab.open(save(tmp_path, "views", CELLS))
    lab.run("import torch")
    for source, check in CHECKS:
        view = lab.run(source).frame_locator("iframe")
        check(view)
        check_nothing_is_clipped(view)

    lab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    lab.page.reload()
    expect(lab.page.locator(".jp-NotebookPanel:visible iframe").first).to_be_attached(timeout=SLOW)
    for source, check in CHECKS:
        check(lab.cell(source).frame_locator("iframe"))


def test_an_untrusted_notebook_shows_the_still_pictures_and_says_so(lab: Lab, tmp_path: Path) -> None:
    lab.open(save(tmp_path, "views-not-trusted", executed(CELLS)))
    for source, pictures, rows in (
        (MODEL, 1, HEADS),
        (NEURON, 2, LENGTH),
        (CROSS, 2, 2 * HEADS + LENGTH + len(WRITTEN)),
    ):
        output = lab.cell(source).locator(".jp-Cell-outputArea")
        expect(output).to_contain_text("The interactive view is not shown here")
        expect(output.locator("iframe")).to_have_count(0)
        output.locator("summary").click()
        expect(output.locator("img[alt]")).to_have_count(pictures)
        expect(output.locator("img[alt]").last).to_be_visible()
        expect(output.locator("table th[scope=row], table tbody th")).to_have_count(rows)


@pytest.mark.parametrize("theme", one_in(2, ["light", "dark"], first=1))
def test_in_an_exported_page(page_without_network: Page, tmp_path: Path, theme: str) -> None:
    open_exported(page_without_network, tmp_path, CELLS, theme)
    frames = page_without_network.locator("iframe")
    expect(frames).to_have_count(len(CHECKS))
    for index, (_, check) in enumerate(CHECKS):
        view = frames.nth(index).content_frame
        check(view)
        check_nothing_is_clipped(view)


def test_the_model_view_by_keyboard_alone(page_without_network: Page, tmp_path: Path) -> None:
    """From the choice of a part to a head, which is opened, to one of its tokens, and back to close it."""
    open_exported(page_without_network, tmp_path, (SETUP, MODEL))
    view, press = page_without_network.locator("iframe").content_frame, page_without_network.keyboard.press
    expect(view.locator("#vis line")).to_have_count(LAYERS * HEADS * LENGTH * LENGTH, timeout=SLOW)
    view.locator("#filter").focus()
    for key, there in (("Tab", "layer 0, head 0"), ("ArrowRight", "layer 0, head 1"), ("ArrowDown", "layer 1, head 1")):
        press(key)
        expect(view.get_by_role("button", name=there)).to_be_focused()
    press("ArrowDown")
    expect(view.get_by_role("button", name="layer 1, head 1")).to_be_focused()  # there is none below

    opened = view.locator("text.detail")
    press("Enter")
    expect(opened).to_have_text("Layer 1, Head 1")
    expect(view.get_by_role("button", expanded=True)).to_have_accessible_name("layer 1, head 1")
    press("Tab")
    press("ArrowDown")
    expect(view.get_by_role("listbox", name="queries").get_by_role("option", selected=True)).to_have_text(TEXT[1])
    assert view.locator(".detail .attn-line-group line").evaluate_all(SEEN) == LENGTH
    press("Shift+Tab")
    press("Space")
    expect(opened).to_have_count(0)
    expect(view.get_by_role("button", expanded=True)).to_have_count(0)


def test_the_neuron_view_by_keyboard_alone(page_without_network: Page, tmp_path: Path) -> None:
    """From the choice of a head to a token; its neurons are folded away and unfolded, and it stays the chosen one."""
    open_exported(page_without_network, tmp_path, (SETUP, NEURON))
    view, press = page_without_network.locator("iframe").content_frame, page_without_network.keyboard.press
    expect(view.locator("#expanded .element")).to_have_count(3 * LENGTH * WIDTH, timeout=SLOW)
    view.locator("#att_head").focus()
    press("ArrowDown")
    expect(view.locator("#att_head")).to_have_value("2")
    press("Tab")
    press("ArrowDown")
    chosen = view.get_by_role("listbox", name="queries").get_by_role("option", selected=True)
    for form, lines in (("expanded", ".qk-line-group path"), ("collapsed", ".attn-line-group line")) * 2:
        expect(view.locator(f"#{form}")).to_have_attribute("visibility", "visible")
        expect(chosen).to_have_text(TEXT[1])
        expect(chosen).to_be_focused()
        assert view.locator(f"#{form} {lines}").evaluate_all(SEEN) == LENGTH
        press("Enter")
    press("ArrowDown")
    expect(chosen).to_have_text(TEXT[2])
