"""The explorer's changes, comparison, guided reading, terms and cache in a browser: by keyboard, and axe finds nothing.

The states are those of the page's made-up model (page/tests/made_up.js); this test answers what the page asks its host.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from anatomy import course

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]

PAGE = Path(course.__file__).parent / "exploring" / "page"
SOURCES = Path(__file__).parents[2] / "tools" / "explorer"
ADDRESS = "http://localhost/explorer/"
PROGRAM = """
const { madeUp } = await import(process.argv[1] + "/tests/made_up.js");
const { pack } = await import(process.argv[1] + "/src/state.js");
const made = (options) => {
  const { header, buffer } = madeUp({ words: true, ...options });
  return Buffer.from(pack({ type: "state", header, buffer })).toString("base64");
};
const states = {};
for (const kind of ["decoder", "encoder", "encoder-decoder"]) states[kind] = made({ kind });
states.changed = made({ wrong: "scaled", changes: ["no-scale"] });
console.log(JSON.stringify(states));
"""
CHANGE = {
    "id": "no-scale", "label": "without ÷ √K", "question": "What does dividing by √K do to the weights?", "of": None,
    "exercise": {"name": "scaled_scores", "number": "2.3", "notebook": "02-attention-scores"},
}  # fmt: skip


@pytest.fixture(scope="module")
def states() -> dict[str, bytes]:
    """Packed messages: one of each kind, and the decoder without √K."""
    command = ["node", "--input-type=module", "--eval", PROGRAM, SOURCES.as_uri()]
    made = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {name: base64.b64decode(text) for name, text in made.items()}


@pytest.fixture
def window(chromium: Browser, states: dict[str, bytes], request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with a host, 700 pixels wide. Parametrized indirectly: the kind of model, and whether it is dark."""
    kind, dark = getattr(request, "param", ("decoder", False))
    state = base64.b64encode(zlib.compress(states[kind])).decode()
    filled = (PAGE / "page.html").read_text(encoding="utf-8")
    for name, text in {
        "TITLE": "Explorer", "STYLE": (PAGE / "explorer.css").read_text(encoding="utf-8"), "KEY": "key",
        "HOST": "server", "NOTICES": "", "SCRIPT": (PAGE / "explorer.js").read_text(encoding="utf-8"),
        "STATES": f'<script type="text/plain" class="state">{state}</script>',
    }.items():  # fmt: skip
        filled = filled.replace("{{" + name + "}}", text)

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(body=filled, content_type="text/html")
            return
        asked: dict[str, Any] = json.loads(route.request.post_data or "")
        if asked["type"] == "hello":
            route.fulfill(json={"type": "welcome", "changes": [CHANGE]})
        elif asked["changes"] == ["no-scale"]:
            route.fulfill(body=numbered(states["changed"], asked["number"]), content_type="application/octet-stream")
        else:
            route.fulfill(json={"type": "problem", "number": asked["number"], "message": "Write other words."})

    view = chromium.new_page(
        viewport={"width": 700, "height": 900},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    problems: list[str] = []
    view.on("pageerror", lambda error: problems.append(str(error)))
    view.route("**/*", answer)
    view.goto(ADDRESS)
    expect(view.get_by_role("button", name="Guided reading")).to_be_visible()
    yield view
    view.close()
    assert not problems


def numbered(packed: bytes, number: int) -> bytes:
    """A packed message with the number of the question that it answers."""
    length = int.from_bytes(packed[:4], "little")
    message = {**json.loads(packed[4 : 4 + length]), "number": number}
    text = json.dumps(message).encode()
    start = (4 + len(text) + 7) // 8 * 8
    return len(text).to_bytes(4, "little") + text.ljust(start - 4, b"\0") + packed[(4 + length + 7) // 8 * 8 :]


def focused(view: Page) -> str:
    """What has the focus, by its words."""
    return str(view.evaluate("document.activeElement.textContent"))


def test_a_change_is_made_and_taken_back_by_keyboard(window: Page) -> None:
    change = window.get_by_role("button", name="without ÷ √K What does")
    change.focus()
    window.keyboard.press("Enter")
    expect(window.locator("#changes .status")).to_have_text("Shown: without ÷ √K.")
    expect(change).to_have_attribute("aria-pressed", "true")
    assert focused(window).startswith("without ÷ √K")
    expect(window.locator("#difference")).to_contain_text("They begin to differ at “Scaled” (attention, layer 0)")
    expect(window.locator("#difference figure:visible")).to_have_count(3)
    window.locator("#difference canvas").first.focus()
    window.keyboard.press("ArrowRight")
    expect(window.locator("#difference .value")).to_contain_text("beside, difference")
    window.get_by_role("button", name="Take back: without ÷ √K").focus()
    window.keyboard.press("Enter")
    expect(window.locator("#changes .status")).to_have_text("Shown: as the model is.")
    assert focused(window) == "What if …?"


def test_what_the_host_refuses_is_said(window: Page) -> None:
    window.locator("#changes").get_by_role("button", name="Swap").click()
    expect(window.locator("#changes .status")).to_have_text("Write other words.")
    expect(window.locator("#difference")).to_be_hidden()


def test_the_reading_goes_on_and_back_and_closes_by_keyboard(window: Page) -> None:
    window.get_by_role("button", name="Guided reading").focus()
    window.keyboard.press("Enter")
    card = window.locator(".tour-card")
    expect(card.get_by_role("heading")).to_be_focused()
    for _ in range(8):
        window.keyboard.press("ArrowRight")
    expect(card.get_by_role("heading")).to_have_text("Attention weights")
    expect(window.locator("#step h2")).to_contain_text("Softmax")
    card.get_by_role("button", name="softmax").focus()
    window.keyboard.press("Enter")
    note = window.get_by_role("tooltip").filter(has_text="positive weights that sum to 1")
    expect(note).to_be_visible()
    window.keyboard.press("Escape")
    expect(note).to_be_hidden()
    expect(card).to_be_visible()
    window.keyboard.press("ArrowLeft")
    expect(card.get_by_role("heading")).to_have_text("The mask")
    window.keyboard.press("Escape")
    expect(card).to_have_count(0)
    assert focused(window) == "Guided reading"


def test_each_action_is_said_once_and_in_one_place(window: Page) -> None:
    expect(window.locator("[role=status], [aria-live=polite]")).to_have_count(1)
    said = window.locator("#explorer > [role=status]")
    expect(said).to_contain_text("Type a sentence")
    window.evaluate("""() => {
        window.touched = [];
        const note = (records) => records.forEach(({ target }) => {
            const around = target.nodeType === 1 ? target : target.parentElement;
            const live = around?.closest("[role=status], output, [aria-live]");
            if (live && live.ariaLive !== "off") window.touched.push(live.textContent);
        });
        new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
    }""")
    window.get_by_role("slider", name="Temperature").focus()
    for _ in range(10):
        window.keyboard.press("ArrowLeft")
    expect(said).to_contain_text(re.compile(r"^Temperature 0\.50: .+ \d"))
    window.get_by_role("button", name="Layer 1").click()
    expect(said).to_contain_text(re.compile("^Layer 1: .+ looks most at "))
    window.get_by_role("button", name="Residual after feed-forward").click()
    expect(said).to_contain_text("Residual after feed-forward: ")
    window.get_by_role("button", name="without ÷ √K What does").click()
    expect(said).to_contain_text("of layer 1, ")
    assert len(window.evaluate("window.touched")) <= 5  # the run may say that it goes on


def test_escape_closes_the_reading_and_stops_playing_from_anywhere(window: Page) -> None:
    guide = window.get_by_role("button", name="Guided reading", exact=True)
    expect(guide).to_have_attribute("aria-expanded", "false")
    guide.click()
    expect(guide).to_have_attribute("aria-expanded", "true")
    window.get_by_role("button", name="Play attention").click()
    playing = window.locator("#layer button.play")
    expect(playing).to_have_attribute("aria-pressed", "true")
    window.locator(".tokens").first.focus()
    window.keyboard.press("Escape")
    expect(window.locator(".tour-card")).to_have_count(0)
    expect(playing).to_have_attribute("aria-pressed", "false")
    expect(guide).to_be_focused()


def test_the_slider_of_the_cache_keeps_the_focus(window: Page) -> None:
    window.get_by_role("slider", name="Token").focus()
    window.keyboard.press("Home")
    expect(window.locator("#cache")).to_contain_text("“time” is the first token: there is nothing to keep yet")
    window.keyboard.press("ArrowRight")
    expect(window.locator("#cache")).to_contain_text("After “flies” has been added")
    expect(window.get_by_role("slider", name="Token")).to_be_focused()


@pytest.mark.parametrize(
    "window",
    [("decoder", False), ("decoder", True), ("encoder", True), ("encoder-decoder", False)],
    indirect=True,
    ids=lambda of: f"{of[0]}-{'dark' if of[1] else 'light'}",
)
def test_axe_finds_nothing_and_nothing_is_cut_off(window: Page) -> None:
    window.get_by_role("button", name="without ÷ √K What does").click()
    window.get_by_role("button", name="Guided reading").click()
    for summary in window.locator("details > summary:visible").all():
        summary.click()
    found = Axe().run(window)
    assert not found.violations_count, found.generate_report()
    assert window.evaluate("document.documentElement.scrollWidth") <= 700
