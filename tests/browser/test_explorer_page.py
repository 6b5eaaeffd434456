"""The explorer's page in Chromium, without a network: it shows what its state holds, by pointer and by keyboard."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pypdf import PdfReader

from tests.plenty import one_in

PRINT = Path(__file__).parents[2] / "tools" / "explorer" / "tests" / "print_page.js"
MODELS: dict[str, dict[str, Any]] = {
    "decoder": {"kind": "decoder", "text": "time flies", "goesOn": True, "layers": 2},
    "encoder": {"kind": "encoder", "words": True, "tokens": 9, "layers": 2, "norm": "post"},
    "encoder-decoder": {"kind": "encoder-decoder", "tokens": 8, "layers": 2},
    "mistaken": {"kind": "decoder", "tokens": 6, "layers": 2, "wrong": "scaled"},
    "large": {"kind": "decoder", "words": True, "tokens": 64, "layers": 6, "heads": 12, "width": 96},
}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(shutil.which("node") is None, reason="node, which makes the states, is not installed"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Pages of made-up models, each with its tokens and its attention weights."""
    folder = tmp_path_factory.mktemp("explorer")
    command = ["node", str(PRINT), json.dumps(list(MODELS.values()))]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for name, one in zip(MODELS, printed, strict=True):
        one["file"] = folder / f"{name}.html"
        one["file"].write_text(one["page"], encoding="utf-8")
    return dict(zip(MODELS, printed, strict=True))


def opened(page: Page, made: dict[str, dict[str, Any]], name: str) -> list[str]:
    """Opens a page and waits for its picture; gives the list to which its errors will be added."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(made[name]["file"].as_uri())
    expect(page.locator(".step .matrix canvas").first).to_be_visible()
    return errors


def weight(one: dict[str, Any], layer: int, head: int, query: int, key: int) -> float:
    _, (_, queries, keys), data = one["weights"][layer]
    return data[(head * queries + query) * keys + key]


def test_the_guided_reading_rings_the_stack_it_speaks_of(
    page_without_network: Page, made: dict[str, dict[str, Any]]
) -> None:
    page = page_without_network
    opened(page, made, "encoder-decoder")
    page.get_by_role("button", name="Guided reading").click()
    while page.locator("#tour-title").inner_text() != "What has been written":
        page.get_by_role("button", name="Next", exact=True).click()
    page.wait_for_function(
        """() => {
            const [ring, tokens] = [".tour-ring", "[aria-label='Tokens of the decoder']"].map(
                name => document.querySelector(name).getBoundingClientRect());
            return Math.abs(ring.top + 6 - tokens.top) < 8 && ring.left <= tokens.left && ring.right >= tokens.right;
        }""",
        timeout=3000,
    )


def test_paper_is_light_and_keeps_the_bars(page_without_network: Page, made: dict[str, dict[str, Any]]) -> None:
    page = page_without_network
    page.emulate_media(color_scheme="dark", media="print")
    opened(page, made, "decoder")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(root).to_have_attribute("data-theme", "light")
    assert page.locator(".bar .track i").first.evaluate("bar => getComputedStyle(bar).printColorAdjust") == "exact"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(root).to_have_attribute("data-theme", "dark")


def test_paper_has_all_of_a_picture_that_scrolls_on_a_screen(
    page_without_network: Page, made: dict[str, dict[str, Any]]
) -> None:
    page = page_without_network
    page.set_viewport_size({"width": 1300, "height": 900})
    opened(page, made, "encoder")
    wide = page.locator(".board").evaluate("board => board.offsetWidth")
    tokens = page.locator("[aria-label^=Tokens] .token").all_inner_texts()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".board").evaluate("board => board.offsetWidth") < 718 < wide, "A4 without margins of 1 cm"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".board").evaluate("board => board.offsetWidth") == wide
    sheet = PdfReader(BytesIO(page.pdf(format="A4"))).pages[0].extract_text()
    names = r"\s*".join(re.escape(token) + r"\s*−?[\d.]+" for token in tokens)
    assert re.search(names, normalize("NFKC", sheet)), "each token's similarity, in the last column"


@pytest.mark.parametrize("name", MODELS)
def test_every_step_opens(page_without_network: Page, made: dict[str, dict[str, Any]], name: str) -> None:
    errors = opened(page_without_network, made, name)
    opens = """() => [...document.querySelectorAll('button.column')].flatMap((_, place) => {
        document.querySelectorAll('button.column')[place].click();
        return [...document.querySelectorAll('.card')].map((_, at) => {
            const card = document.querySelectorAll('.card')[at];
            card.click();
            const title = document.querySelector('.step h2 button') ?? document.querySelector('.step h2');
            return [card.querySelector('.what').textContent, title.textContent, card.getAttribute('aria-pressed')];
        });
    })"""
    found = page_without_network.evaluate(opens)
    assert len(found) > 10 * MODELS[name].get("layers", 3)
    assert [each for each in found if each[0] != each[1] or each[2] != "true"] == []
    assert errors == []


def test_the_number_that_is_read_is_the_states(page_without_network: Page, made: dict[str, dict[str, Any]]) -> None:
    """By arrow keys, from the chosen row."""
    page, one = page_without_network, made["decoder"]
    opened(page, made, "decoder")
    page.get_by_role("button", name="Layer 1").click()
    page.locator("button.head").nth(3).click()  # the mean is the first
    canvas = page.locator(".step .matrix canvas").first
    canvas.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp"):
        canvas.press(key)
    right = weight(one, 1, 2, len(one["tokens"]) - 2, 2)
    value = page.locator(".seen > .value")
    expect(value).to_contain_text(f"key “{one['tokens'][2]}”")
    assert float(value.locator("b").inner_text()) == pytest.approx(right, abs=0.005)
    assert f"= {right:.3f}" in page.locator(".how").inner_text()


def test_a_head_says_what_the_chosen_token_looks_at(page_without_network: Page, made: dict[str, Any]) -> None:
    page, one = page_without_network, made["decoder"]
    opened(page, made, "decoder")
    tokens = page.locator(".tokens")
    tokens.focus()
    tokens.press("Home")
    for _ in range(4):
        tokens.press("ArrowDown")
    row = [weight(one, 0, 1, 4, key) for key in range(len(one["tokens"]))]
    expect(page.locator("button.head").nth(2).locator(".weight")).to_have_text(f"{max(row):.2f}")


def test_a_file_that_knows_no_place_of_notebooks_has_no_link_to_their_json(
    page_without_network: Page, made: dict[str, Any]
) -> None:
    opened(page_without_network, made, "decoder")
    said = page_without_network.locator(".step", has_text=re.compile(r"Exercise \d+\.\d+"))
    for card in page_without_network.locator(".card").all():
        card.click()
        if said.count():
            break
    expect(said).to_be_visible()
    expect(page_without_network.locator("a[href$='.ipynb']")).to_have_count(0)


def test_a_wrong_step_stands_beside_the_right_one(page_without_network: Page, made: dict[str, Any]) -> None:
    page = page_without_network
    opened(page, made, "mistaken")
    expect(page.locator(".step h2")).to_have_text(re.compile("^Scaled"))
    expect(page.locator(".verdict")).to_contain_text("Not right. The first difference: head 0")
    expect(page.locator(".step .matrix:visible")).to_have_count(2)
    page.locator(".card", has_text="Scores").first.click()
    expect(page.locator(".verdict")).to_be_hidden()
    expect(page.locator(".step .matrix:visible")).to_have_count(1)


def test_a_drawn_token_is_written_where_its_run_is_recorded(page_without_network: Page, made: dict[str, Any]) -> None:
    """At temperature 0 the draw is the first word; one such run is recorded, the next is not, and the page says so."""
    page = page_without_network
    opened(page, made, "decoder")
    temperature = page.get_by_role("slider", name="Temperature")
    temperature.focus()
    temperature.press("Home")
    expect(page.locator(".bar .p").first).to_have_text("1.00")
    first = page.locator(".bar .word").first.inner_text()
    said, draw = page.locator(".predictions .value"), page.get_by_role("button", name="Draw the next token")
    draw.click()
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value("time flies" + first)
    expect(said).to_contain_text(f"Drawn: “{first}”, probability 1.00.")
    draw.click()
    expect(said).to_contain_text("run the cell")


@pytest.mark.many
def test_attention_is_played_and_stopped(page_without_network: Page, made: dict[str, Any]) -> None:
    page = page_without_network
    opened(page, made, "decoder")
    page.locator(".card", has_text="Mixed").first.click()
    page.get_by_role("button", name="Play attention").click()
    for title in ("Scores", "Scaled", "Masked"):
        expect(page.locator(".step h2")).to_have_text(re.compile(f"^{title}"))
    page.locator(".layer").get_by_role("button", name="Stop").click()
    title = page.locator(".step h2").text_content()
    page.wait_for_timeout(2000)
    assert page.locator(".step h2").text_content() == title


LOOKS = [(name, theme) for at, name in enumerate(MODELS) for theme in ("light", "dark")[:: 1 if at % 2 else -1]]
"""Each page in both themes; a plain run takes the first of them, which is not the same in all pages."""


@pytest.mark.parametrize("look", one_in(3, LOOKS), ids="-".join)
def test_both_themes_at_700_pixels(chromium: Browser, made: dict[str, Any], look: tuple[str, Any]) -> None:
    """Nothing is cut, text can be read, and a screen reader finds its way."""
    name, theme = look
    context = chromium.new_context(viewport={"width": 700, "height": 1000}, color_scheme=theme, reduced_motion="reduce")
    page = context.new_page()
    opened(page, made, name)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") == 700
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    small = """() => [...document.querySelectorAll('#explorer *')].filter(each => each.checkVisibility()
        && [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim())
        && parseFloat(getComputedStyle(each).fontSize) < 12).map(each => each.outerHTML.slice(0, 100))"""
    assert page.evaluate(small) == []
    context.close()


@pytest.mark.parametrize("name", MODELS)
def test_a_narrow_window_holds_the_page_and_no_heading_stands_on_another(
    chromium: Browser, made: dict[str, Any], name: str
) -> None:
    """The widths that phones leave for the website's frame, and that of a tablet; the picture scrolls by itself."""
    page = chromium.new_page(viewport={"width": 356, "height": 900})
    errors = opened(page, made, name)
    touching = """() => {
        const all = [...document.querySelectorAll('.marks .column')].map(mark => [mark.textContent, mark.getBoundingClientRect()]);
        return all.flatMap(([text, one], place) => all.slice(0, place)
            .filter(([, other]) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)
            .map(([other]) => `${other} ${text}`));
    }"""  # noqa: E501
    for width in (356, 446, 560, 700):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_role("button", name="Guided reading")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.wait_for_function(f"({touching})().length === 0", timeout=5000)
    page.set_viewport_size({"width": 356, "height": 900})
    picture = page.locator(".overview > .scroll")
    goes_on = picture.evaluate("picture => picture.scrollWidth > picture.clientWidth + 2")
    expect(picture).to_have_class("scroll goes-on" if goes_on else "scroll")
    assert errors == []
    page.close()
