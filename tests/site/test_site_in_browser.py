"""The website in Chromium, opened from its files: nothing comes from elsewhere, and all of it can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from anatomy.course import COURSE
from tests.browser.conftest import only_from

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]

START = "notebooks/00-start-here/00-start-here.html"
SOFTMAX = "notebooks/03-softmax/03-softmax.html"
HEADS = "notebooks/04-heads/04-heads.html"
ENCODER_LAYER = "notebooks/05-encoder-layer/05-encoder-layer.html"


@pytest.fixture
def page(chromium: Browser, site: Path) -> Iterator[Page]:
    """A page that gets nothing but the site's files, and asks for nothing else; no script on it fails."""
    errors: list[str] = []
    with only_from(chromium, site.as_uri()) as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
    assert errors == []


def opened(page: Page, site: Path, name: str, anchor: str = "") -> Page:
    page.goto((site / name).as_uri() + anchor)
    return page


def test_the_front_page_leads_to_the_notebooks_by_its_map_and_by_its_table(page: Page, site: Path) -> None:
    opened(page, site, "index.html")
    assert page.locator("#the-notebooks tbody tr").count() == len(COURSE.notebooks)
    linked = {link.get_attribute("href") for link in page.locator(".course-map a").all()}
    assert linked == {link.get_attribute("href") for link in page.locator("#the-notebooks tbody a").all()}
    expect(page.locator(".course-map .badge").first).to_be_visible()
    page.locator(".course-map a", has_text="Softmax").click()
    assert unquote(page.url) == (site / SOFTMAX).as_uri()


def test_solutions_are_folded_hints_too_and_checks_are_not(page: Page, site: Path) -> None:
    opened(page, site, SOFTMAX)
    solution = page.get_by_text("exponentials / exponentials.sum").first
    hint = page.locator("details", has_text="Subtract a maximum, take the exponential")
    expect(solution).to_be_hidden()
    assert hint.evaluate("hint => !hint.open")
    expect(page.get_by_text('check("softmax")')).to_be_visible()
    expect(page.get_by_text("Right: 7 of 7 points.")).to_be_visible()
    page.get_by_text("Show the solution").first.click()
    expect(solution).to_be_visible()
    expect(page.get_by_text("Hide the solution").first).to_be_visible()


def test_formulas_are_drawn_and_no_source_of_one_is_left(page: Page, site: Path) -> None:
    opened(page, site, SOFTMAX)
    fraction = page.locator(".formula math mfrac").first
    over, under = (fraction.locator(f"> :nth-child({place})").bounding_box() for place in (1, 2))
    assert over and under and over["y"] + over["height"] <= under["y"]
    for name in (SOFTMAX, "notebooks/12-pretraining/12-pretraining.html", "assets/glossary.html"):
        prose = opened(page, site, name).evaluate(
            """() => { const body = document.querySelector("article").cloneNode(true);
                       body.querySelectorAll("pre, code, math, iframe").forEach(part => part.remove());
                       return body.textContent; }"""
        )
        assert "$" not in prose and "\\" not in prose, name


def test_search_finds_softmax_and_shows_where(page: Page, site: Path) -> None:
    opened(page, site, "search.html", "?q=stable softmax")
    found = page.locator("#search-results ul.search > li").first
    expect(found.locator("a").first).to_have_text("03 · Softmax and weighted values")
    expect(found.locator(".excerpt mark", has_text="stable")).to_be_visible()
    section = found.locator("a.section-found")
    expect(section).to_have_text("Exercise 3.1 · softmax")
    section.click()
    expect(page.get_by_role("heading", name="Exercise 3.1")).to_be_in_viewport()
    assert unquote(page.url).startswith((site / SOFTMAX).as_uri() + "#")
    assert "\\\\frac" not in (site / "_static/sections.js").read_text(encoding="utf-8")
    assert (site / "_static/sections.js").stat().st_size < 75_000 * len(COURSE.notebooks)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("causal mask", "09 · The causal mask: a model that writes"),
        ("heads", "04 · Heads"),
        ("scaled dot product", "03 · Softmax and weighted values"),
    ],
)
def test_a_page_with_the_words_in_its_title_is_found_first(page: Page, site: Path, query: str, title: str) -> None:
    opened(page, site, "search.html", f"?q={query}")
    expect(page.locator("#search-results ul.search > li").first.locator("a").first).to_have_text(title)


def test_the_map_s_drawing_is_not_searched(page: Page, site: Path) -> None:
    opened(page, site, "search.html", "?q=noun verb swipe")
    expect(page.locator("#search-results")).to_contain_text("No page has all of these words.")


def test_a_term_that_is_found_is_linked_in_the_glossary(page: Page, site: Path) -> None:
    opened(page, site, "search.html", "?q=attention rollout")
    page.locator("#search-results a.section-found", has_text="attention rollout").click()
    assert page.url.endswith("assets/glossary.html#term-attention-rollout")
    page.locator("p:target a").first.click()
    expect(page.locator("dfn:target")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("kv", "term-key-value-cache"),
        ("KV cache", "term-key-value-cache"),
        ("residual connection", "term-skip-connection"),
        ("softmax", "term-softmax"),
    ],
)
def test_a_term_is_found_by_each_of_its_names(page: Page, site: Path, query: str, address: str) -> None:
    opened(page, site, "search.html", f"?q={query}")
    found = page.locator("#search-results ul.search > li", has_text="Glossary")
    expect(found.locator("a.section-found")).to_have_attribute("href", f"assets/glossary.html#{address}")
    assert not found.locator(".excerpt").inner_text().endswith("#")


def test_names_and_shapes_in_tables_stay_whole_and_long_lines_of_code_go_on(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 1300, "height": 800})
    broken = "names => names.filter(name => name.getClientRects().length > 1).map(name => name.textContent)"
    for name in (SOFTMAX, ENCODER_LAYER):
        opened(page, site, name)
        assert page.locator("table code .pre").evaluate_all(broken) == []
        cut = "blocks => blocks.filter(block => block.scrollWidth > block.clientWidth).length"
        assert page.locator(".cell_input pre:visible").evaluate_all(cut) == 0
    assert page.locator("td", has_text="(B,\u00a0T,\u00a0D)").count()


def test_a_deeply_nested_line_goes_on_to_the_right_of_its_start_and_a_command_scrolls(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    line = opened(page, site, SOFTMAX).locator('.cell_input pre .line[style="--indent:4"]').first
    start, on = line.evaluate(
        "line => [parseFloat(getComputedStyle(line).paddingLeft), -parseFloat(getComputedStyle(line).textIndent)]"
    )
    assert (
        start
        == on
        > 1.9
        * page.locator(".line:not([style])").first.evaluate("line => parseFloat(getComputedStyle(line).paddingLeft)")
    )
    command = opened(page, site, "docs/install.html").locator(".highlight-console pre", has_text="git clone").first
    assert command.locator(".line").first.evaluate("line => getComputedStyle(line).whiteSpace") == "pre"
    expect(command).to_have_class("goes-on")
    command.evaluate("command => command.scrollLeft = 9999")
    expect(command).not_to_have_class("goes-on")


def test_paper_is_light_and_nothing_on_it_is_folded_or_cut(page: Page, site: Path) -> None:
    page.emulate_media(color_scheme="dark", media="print")
    opened(page, site, START)
    folds = page.locator(".bd-article details:not(.jupyterlab)")
    assert folds.evaluate_all("folds => folds.filter(fold => fold.open).length") == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert folds.evaluate_all("folds => folds.every(fold => fold.open)")
    expect(page.locator("details.jupyterlab").first).to_be_hidden()
    code = page.locator(".bd-article .cell pre")
    assert code.evaluate_all("parts => parts.every(part => getComputedStyle(part).breakInside === 'auto')")
    assert code.evaluate_all("parts => parts.every(part => part.scrollWidth <= part.clientWidth)")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert folds.evaluate_all("folds => folds.filter(fold => fold.open).length") == 0


def test_words_about_a_folded_result_open_with_it(page: Page, site: Path) -> None:
    words = opened(page, site, ENCODER_LAYER).get_by_text("With attention alone, two layers are enough").first
    expect(words).to_be_hidden()
    page.get_by_text("Show the result").first.click()
    expect(words).to_be_visible()
    page.goto("about:blank")
    opened(page, site, ENCODER_LAYER, "#term-skip-connection")
    expect(page.locator("dfn:target")).to_be_in_viewport()


def test_the_list_of_sections_marks_the_one_that_is_read(page: Page, site: Path) -> None:
    """Also after a leap, and the mark is in sight in a list that is longer than the window."""
    page.set_viewport_size({"width": 1300, "height": 700})
    opened(page, site, SOFTMAX)
    marked = page.locator(".bd-sidebar-secondary a[aria-current]")
    for name in ("All heads of a model", "The exponential overflows"):
        page.get_by_role("heading", name=name).evaluate("heading => heading.scrollIntoView()")
        expect(marked).to_have_count(1)
        expect(marked).to_contain_text(name)
        expect(marked).to_be_in_viewport()


def test_what_is_to_be_guessed_opens(page: Page, site: Path) -> None:
    opened(page, site, SOFTMAX)
    picture = page.locator(".cell:has(> details.hide) .cell_output img").first
    expect(picture).to_be_hidden()
    page.get_by_text("Show the result").first.click()
    expect(picture).to_be_visible()


def test_on_a_phone_map_and_views_keep_their_size_and_scroll(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    frame = opened(page, site, SOFTMAX).locator(".map-frame")
    assert frame.evaluate("frame => frame.scrollWidth > 1.8 * frame.clientWidth && frame.scrollLeft > 0")
    edge, lit = frame.bounding_box(), frame.locator(".lit .label").first.bounding_box()
    assert edge and lit and edge["x"] <= lit["x"] and lit["x"] + lit["width"] <= edge["x"] + edge["width"]
    page.locator(".map-hint a").click()
    assert page.url.endswith("/assets/map.html")
    view = opened(page, site, "notebooks/11-bertviz/11-bertviz.html").locator('iframe[title^="Model view"]').first
    assert view.evaluate("view => view.clientWidth") > 600
    assert view.content_frame.locator("#how").evaluate("how => how.clientWidth") <= 390


def test_on_a_phone_only_what_goes_on_fades(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, site, START)
    three = page.locator('p:has(> img[src$="three-types.svg"])')
    expect(three).to_have_class("goes-on")
    assert three.locator("img").evaluate("picture => picture.clientWidth") > 700
    frame, here = (page.locator(name).bounding_box() for name in (".map-frame", ".map-frame .here"))
    assert frame and here and frame["x"] <= here["x"] and here["x"] + here["width"] <= frame["x"] + frame["width"]
    opened(page, site, "notebooks/10-encoder-decoder/10-encoder-decoder.html")
    fades = "parts => parts.map(part => part.classList.contains('goes-on'))"
    assert page.locator(".output:has(> iframe)").evaluate_all(fades) == [False]
    expect(page.locator(".cell_output pre.goes-on").first).to_be_attached()


def test_a_search_that_finds_nothing_says_what_to_do(page: Page, site: Path) -> None:
    opened(page, site, "search.html", "?q=zzqx")
    expect(page.locator("#search-results")).to_contain_text("No page has all of these words. Try fewer words")


def test_next_stands_once_on_a_page(page: Page, site: Path) -> None:
    opened(page, site, SOFTMAX)
    assert page.locator("a.right-next").count() == page.locator("a.left-prev").count() == 1


def test_the_map_of_a_notebook_leads_to_another(page: Page, site: Path) -> None:
    opened(page, site, SOFTMAX).locator(".course-map a", has_text="Classification head").click()
    assert page.url.endswith("/08-classification-head.html")


def test_a_view_draws_its_lines(page: Page, site: Path) -> None:
    view = opened(page, site, HEADS).frame_locator("iframe").first
    expect(view.locator("svg line").first).to_be_attached()
    assert view.locator("svg line").count() > 40


@pytest.mark.parametrize("name", ["index.html", START, "assets/map.html"])
def test_the_dark_theme_is_legible(page: Page, site: Path, name: str) -> None:
    """As WCAG has it for text: 4.5 to 1, large text 3 to 1; in cards as in the theme's own parts."""
    page.emulate_media(color_scheme="dark")
    opened(page, site, name)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.add_style_tag(content="* { transition: none !important }")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 18, 18)"
    found = Axe().run(page, context=".bd-main", options={"runOnly": ["color-contrast"]}).response
    assert [node["html"] for violation in found["violations"] for node in violation["nodes"]] == []


def test_the_picture_of_the_three_types_is_dark_without_a_sheet_behind_it(page: Page, site: Path) -> None:
    page.emulate_media(color_scheme="dark")
    picture = opened(page, site, START).locator('.bd-article img[src$="three-types.svg"]')
    drawn = "picture => [getComputedStyle(picture).filter, getComputedStyle(picture).backgroundColor]"
    assert picture.evaluate(drawn) == ["none", "rgba(0, 0, 0, 0)"]


def test_on_a_phone_the_list_of_sections_closes_after_a_choice(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, site, SOFTMAX).locator(".secondary-toggle").last.click()
    chosen = page.locator('dialog[open] a[href^="#"]', has_text="From scores to shares")
    chosen.click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.get_by_role("heading", name="From scores to shares")).to_be_in_viewport()


def test_pictures_turn_dark_as_they_do_in_jupyterlab(page: Page, site: Path) -> None:
    page.emulate_media(color_scheme="dark")
    opened(page, site, SOFTMAX)
    picture = page.locator(".cell_output img").first
    picture.evaluate("picture => picture.classList.add('anatomy-themed')")
    assert "invert" in picture.evaluate("picture => getComputedStyle(picture).filter")


def test_no_page_is_wider_than_a_narrow_window(chromium: Browser, site: Path, everything: bool) -> None:
    """Without scripts: what they add has its place, and drawing every view of the course takes half a minute.

    A plain run looks at every second page.
    """
    context = chromium.new_context(java_script_enabled=False, offline=True, viewport={"width": 360, "height": 800})
    page = context.new_page()
    files = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    for file in files[:: 1 if everything else 2]:
        page.goto(file.as_uri(), wait_until="load")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, file.name
    page.set_viewport_size({"width": 800, "height": 800})
    for name in ("index.html", SOFTMAX, "assets/family-tree.html", "docs/instructor-guide.html"):
        opened(page, site, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 800, name
    context.close()


def test_recorded_runs_are_drawn_and_a_change_is_compared(page: Page, site: Path) -> None:
    opened(page, site, "explore.html")
    view = page.frame_locator("iframe.explorer")
    expect(view.locator(".step .matrix canvas").first).to_be_visible()
    gpt = page.get_by_role("link", name="A GPT that has read some fables")
    gpt.click()
    expect(gpt).to_have_attribute("aria-current", "")
    expect(page.locator("a[target=explorer][aria-current]")).to_have_count(1)
    bar = view.locator(".bar .p").first
    expect(bar).to_be_visible()
    before = bar.inner_text()
    view.get_by_role("button", name="without the causal mask").click()
    expect(bar).not_to_have_text(before)
    linked = view.locator(".step a").first.evaluate("link => link.href")
    assert linked in {(site / f"notebooks/{book.slug}/{book.slug}.html").as_uri() for book in COURSE.notebooks}


def test_each_model_of_the_explorer_has_an_address(page: Page, site: Path) -> None:
    opened(page, site, "explore.html", "#gpt")
    expect(page.frame_locator("iframe.explorer").locator("h1")).to_have_text("GPT")
    expect(page.locator("a[target=explorer][aria-current]")).to_have_attribute("id", "gpt")
    page.get_by_role("link", name="A Llama").click()
    assert page.url.endswith("explore.html#llama")
    alone = page.get_by_role("link", name="on a page of its own")
    expect(alone).to_have_attribute("href", "explore/14-since-gpt-2.html")
    page.emulate_media(media="print")
    expect(page.locator("iframe.explorer")).to_be_hidden()  # the ends of pages would cut its rows


def test_the_explorer_takes_the_site_s_colors_where_it_may_not_read_them(page: Page, site: Path) -> None:
    """As it may not in a page that is opened as a file."""
    page.emulate_media(color_scheme="light")
    opened(page, site, "explore.html")
    root = page.frame_locator("iframe.explorer").locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_role("link", name="A GPT that has read some fables").click()
    expect(page.frame_locator("iframe.explorer").locator("h1")).to_have_text("GPT")
    expect(root).to_have_attribute("data-theme", "dark")


def test_the_explorer_fits_a_phone(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    links = opened(page, site, "explore.html").locator("a[target=explorer]")
    view = page.frame_locator("iframe.explorer")
    for link in links.all():
        link.click()
        expect(view.locator(".step .matrix canvas").first).to_be_visible()
        fits = "root => root.scrollWidth <= root.clientWidth && root.scrollHeight <= root.clientHeight + 2"
        page.wait_for_function("() => document.querySelector('iframe.explorer').clientHeight > 1500")
        assert view.locator("html").evaluate(fits), link.inner_text()
