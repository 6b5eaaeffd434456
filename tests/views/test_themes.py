"""Colors of pictures and cards can be read in light and dark themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from anatomy.course import views
from anatomy.course.views import style
from anatomy.course.views.curves import DASHES
from anatomy.course.views.family import COLORS as BRANCHES
from anatomy.engine.cards.markup import COLORS as SIGN_COLORS
from anatomy.engine.cards.markup import chip

Color = tuple[float, ...]
DARK_GROUND = "#111111"  # JupyterLab's


def channels(code: str) -> Color:
    return tuple(int(code[place : place + 2], 16) / 255 for place in (1, 3, 5))


def contrast(one: Color, other: Color) -> float:
    def luminance(color: Color) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def in_the_dark(color: Color) -> Color:
    """What a browser makes of a color by the filter of the dark theme, by the numbers of the CSS standard."""
    share = re.fullmatch(r"invert\(([\d.]+)\) hue-rotate\(180deg\)", style.DARK)
    assert share is not None
    turned = [float(share[1]) + c * (1 - 2 * float(share[1])) for c in color]
    matrix = ((-0.574, 1.43, 0.144), (0.426, 0.43, 0.144), (0.426, 1.43, -0.856))
    return tuple(min(1.0, max(0.0, sum(a * b for a, b in zip(row, turned, strict=True)))) for row in matrix)


@pytest.mark.parametrize("code", [style.INK, style.MUTED, *style.COLORS, *BRANCHES.values()])
def test_colors_of_pictures_stand_out_on_both_grounds(code):
    assert contrast(channels(code), channels("#ffffff")) >= 4.5
    assert contrast(in_the_dark(channels(code)), channels(DARK_GROUND)) >= 4.5


@pytest.mark.parametrize("colors", style.PALE.values(), ids=lambda colors: colors.name)
def test_numbers_stand_out_on_their_cells_in_both_themes(colors):
    black = (0.0, 0.0, 0.0)
    for cell in colors(torch.linspace(0, 1, 501).numpy())[:, :3]:
        assert contrast(black, cell) >= 4.5
        assert contrast(in_the_dark(black), in_the_dark(cell)) >= 4.5


@pytest.mark.parametrize("colors", style.PALE.values(), ids=lambda colors: colors.name)
def test_small_numbers_show_in_a_dark_theme(colors):
    zero = 0.5 if "diverging" in colors.name else 0.0
    small, larger = (in_the_dark(colors(zero + (1 - zero) * value)[:3]) for value in (0.01, 0.2))
    assert contrast(small, larger) > 1.25


def test_cells_with_numbers_are_pale_and_the_numbers_black():
    values = torch.linspace(-1, 1, 64).view(8, 8)
    numbers, colors = (views.heat_map(values, values=written).axes[0] for written in (True, False))
    assert {text.get_color() for text in numbers.texts} == {"black"} and not colors.texts
    assert numbers.collections[0].get_cmap().name == "anatomy-diverging-pale"
    assert colors.collections[0].get_cmap().name == "anatomy-diverging"


def test_lines_of_one_chart_differ_by_dash_as_well_as_by_color():
    assert len(set(DASHES)) == len(set(style.COLORS)) == len(DASHES) == len(style.COLORS)


@pytest.mark.parametrize(("count", "marker"), [(7, "o"), (64, "o"), (65, "None")])
def test_few_measurements_are_marked(count, marker):
    picture = views.line_chart(range(count), {"loss": [1.0] * count}, x_label="step", y_label="nats")
    assert picture.axes[0].lines[0].get_marker() == marker


def test_what_is_counted_has_no_halves_on_its_axis():
    counted, measured = (
        views.line_chart(x, {"loss": [1.0, 2.0, 3.0]}, x_label="epoch", y_label="nats").axes[0].get_xticks()
        for x in ([0, 1, 2], [0.0, 0.5, 1.0])
    )
    assert all(place == round(place) for place in counted) and any(place != round(place) for place in measured)


def test_white_becomes_the_dark_ground():
    assert in_the_dark((1.0, 1.0, 1.0)) == pytest.approx(channels(DARK_GROUND), abs=0.005)


@pytest.mark.parametrize("kind", SIGN_COLORS)
def test_signs_carry_their_own_ground(kind):
    found = re.search(r"color:#fff;background-color:(#\w{6})", chip(kind))
    assert found is not None
    assert contrast((1.0, 1.0, 1.0), channels(found[1])) >= 4.5


def test_pictures_and_tree_follow_the_theme_and_scroll():
    plain = views.heat_map(torch.eye(3))
    for page in (plain.html(), views.family_tree()._repr_mimebundle_()["text/html"]):
        assert style.THEMES in page and "anatomy-themed" in page and "overflow-x:auto" in page
    plain.true_colors = True
    assert "anatomy-themed" not in plain.html()


def test_jupyterlab_gives_untrusted_notebooks_the_same_dark_form():
    extension = Path(__file__).parents[2] / "tools/jupyterlab/data/labextensions/transformer-anatomy/extension.js"
    [rule] = re.findall(
        r'const DARK = "body\[data-jp-theme-light=false\] .anatomy-themed\{filter:(.*)\}"', extension.read_text("utf-8")
    )
    assert rule == style.DARK


def test_a_cross_is_written_where_there_is_no_number():
    picture = views.heat_map(torch.tensor([[float("nan"), 0.5], [0.25, float("-inf")]]))
    assert [text.get_text() for text in picture.axes[0].texts] == ["×", "0.50", "0.25", "−∞"]


def test_whole_numbers_get_a_block_each():
    picture = views.heat_map(torch.tensor([[0.0, 1.0], [2.0, 0.0]]))
    assert list(picture.axes[1].get_yticks()) == [0, 1, 2]


@pytest.mark.parametrize(("size", "written"), [(5, 50), (10, 0)])
def test_numbers_are_written_only_where_they_can_be_read(size, written):
    picture = views.heat_maps([torch.rand(size, size)] * 2)
    assert sum(len(ax.texts) for ax in picture.axes[:2]) == written
