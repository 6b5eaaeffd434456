"""Every picture draws, is the same twice, carries words, and refuses what it cannot draw with a remedy."""

from __future__ import annotations

import io

import matplotlib
import pytest
import torch
from IPython.utils.capture import capture_output
from PIL import Image

from anatomy.course import views
from anatomy.course.views.words import number
from tests.shells import fresh_shell

TOKENS = ["time", "flies", "like", "an", "arrow"]

SHIFTED = {"input": ["⟨start⟩", *"87"], "target": [*"87", "⟨end⟩"]}
FATES = {"input": ["", "kept", "lost"]}
CHANCES = {("time",): 0.6, ("fruit",): 0.4, ("time", "flies"): 0.4, ("fruit", "flies"): 0.9}


def scores(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def pictures() -> dict[str, views.Picture]:
    weights = scores(5, 5).softmax(-1)
    widths = [4, 16, 64]
    return {
        "heat_map": views.heat_map(weights, TOKENS, TOKENS, "weights"),
        "heat_map signed": views.heat_map(scores(5, 7), TOKENS),
        "heat_map large": views.heat_map(scores(64, 80), row_axis="position", column_axis="dimension"),
        "heat_map infinite": views.heat_map(torch.tensor([[0.0, float("-inf")], [float("nan"), 1.0]])),
        "heat_map masks": views.heat_map(torch.ones(4, 4).tril().bool()),
        "heat_maps": views.heat_maps([weights, weights / 2], ["expected", "yours"], TOKENS, TOKENS),
        "attention_flow": views.attention_flow(weights, TOKENS, title="head 3"),
        "attention_flow focus": views.attention_flow(weights[:, :3], TOKENS, TOKENS[:3], focus=1),
        "head_grid": views.head_grid(scores(1, 6, 5, 5).softmax(-1), TOKENS, "layer 0"),
        "line_chart": views.line_chart(
            widths,
            {"unscaled": widths, "scaled": [1, 1, 1]},
            x_label="width",
            y_label="variance",
            log_x=True,
            log_y=True,
        ),
        "line_charts": views.line_charts(
            [{"a": [1, 2, 3]}, {"a": [3, 2, 1], "b": [1, 1, 1]}],
            widths,
            ["up", "down"],
            x_label="width",
            y_labels=["one", "two"],
        ),
        "line_chart band": views.line_chart(
            widths,
            {"measured": [1.2, 0.9, 1.0]},
            x_label="samples",
            y_label="variance",
            band=("±2 standard errors", [0.4, 0.7, 0.9], [1.6, 1.3, 1.1]),
        ),
        "bar_chart": views.bar_chart({"loop": 3.2, "fused": 1.1}, value_label="milliseconds"),
        "bar_chart groups": views.bar_chart(
            {"T = 1": [0.5, 0.5], "T = 2": [0.6, 0.4]}, value_label="weight", groups=TOKENS[:2]
        ),
        "projection": views.projection(scores(12, 8), [f"word{i}" for i in range(12)]),
        "projection groups": views.projection(scores(5, 8), TOKENS, groups=["noun", "verb", "verb", "article", "noun"]),
        "one_hot_product": views.one_hot_product(torch.tensor([1, 3, 1]), scores(5, 4), TOKENS),
        "token_strip": views.token_strip(["[CLS]", "un", "##able"] * 6, range(18)),
        "merge_steps": views.merge_steps("low", [list("low"), ["lo", "w"], ["low"]]),
        "merge_steps numbered": views.merge_steps("low", [list("low"), ["lo", "w"], ["low"]], numbers=[0, 3, 12]),
        "head_split": views.head_split(3, 4, TOKENS),
        "sequence_rows": views.sequence_rows(
            SHIFTED, "shifted", arrows=[("input", "target", 0), ("target", "input", 1)]
        ),
        "histogram": views.histogram(
            range(4),
            [0.4, 0.3, 0.2, 0.1],
            "counts",
            expected=("a formula", [0.4, 0.3, 0.2, 0.1]),
            x_label="length",
            y_label="share",
        ),
        "sequence_rows in groups": views.sequence_rows(SHIFTED, "told apart", groups=FATES),
        "mask_grids": views.mask_grids({"full": torch.ones(5, 5), "causal": torch.ones(5, 5).tril().bool()}),
        "mask_grids reasons": views.mask_grids({f"mask {n}": torch.eye(9) * 2 for n in range(7)}, reasons=["a", "b"]),
        "image_grid": views.image_grid(scores(3, 3, 8, 12).sigmoid(), ["one", "two", "three"], "noise"),
        "image_grid patches": views.image_grid(scores(1, 3, 8, 8).sigmoid(), ["noise"], patch=4),
        "decoder_block": views.decoder_block(TOKENS, width=12, num_heads=3, vocabulary=55),
        "search_tree": views.search_tree(
            CHANCES, "two ways", lit={"greedy": ("time", "flies"), "best": ("fruit", "flies")}
        ),
    }


@pytest.fixture(scope="module")
def drawn() -> dict[str, tuple[views.Picture, bytes]]:
    """Each picture and its PNG, which is drawn whenever it is asked for."""
    return {name: (picture, picture.png()) for name, picture in pictures().items()}


@pytest.mark.slow
def test_each_picture_has_words_and_a_modest_size(drawn: dict[str, tuple[views.Picture, bytes]]) -> None:
    for name, (picture, png) in drawn.items():
        assert len(picture.alt) > 30, name
        image = Image.open(io.BytesIO(png))
        assert 250 < image.width <= 1700 and image.height <= 1300, (name, image.size)
        assert len(png) < 80_000, name
        corners = image.convert("RGB")
        assert corners.getpixel((0, 0)) == (255, 255, 255), name  # readable on a dark page


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes(drawn: dict[str, tuple[views.Picture, bytes]]) -> None:
    for name, again in pictures().items():
        picture, png = drawn[name]
        assert again.png() == png, name
        assert again.alt == picture.alt, name


def test_drawing_leaves_matplotlib_settings_alone() -> None:
    before = dict(matplotlib.rcParams)
    views.bar_chart({"a": 1.0}, value_label="one").png()
    assert dict(matplotlib.rcParams) == before


def test_own_alt_text_wins() -> None:
    assert views.heat_map(scores(2, 3), alt="my words").alt == "my words"


def test_the_words_of_masks_and_images_have_all_that_is_drawn() -> None:
    masks = views.mask_grids({"two": torch.tensor([[1, 0], [2, 1]])}, reasons=["window", "global"])
    assert (
        "3 of 4 pairs allowed, 2 because of window, 1 because of global: query 0 sees 0; query 1 sees 0, 1" in masks.alt
    )
    images = views.image_grid(torch.zeros(2, 3, 4, 4), ["a circle", "a square"], "two", patch=2)
    assert images.alt == "2 images “two”, cut into patches of 2 by 2 pixels: a circle; a square."
    assert views.image_grid(torch.zeros(1, 3, 4, 4), ["a circle"]).alt == "1 image: a circle."


def test_images_keep_their_colors() -> None:
    many = torch.rand(1, 3, 40, 40, generator=torch.Generator().manual_seed(0))
    drawn = Image.open(io.BytesIO(views.image_grid(many, ["noise"]).png())).convert("RGB")
    assert len(drawn.getcolors(1_000_000)) > 1600


@pytest.mark.parametrize(("heads", "queries", "keys"), [(4, 11, 23), (2, 24, 24), (12, 10, 10), (3, 23, 4)])
def test_labels_of_heads_do_not_overlap(heads: int, queries: int, keys: int) -> None:
    """Each has the height of its letters to itself, in rows and in columns."""
    grid = views.head_grid(scores(heads, queries, keys).softmax(-1), ["a"] * queries, key_tokens=["a"] * keys)
    grid.draw_without_rendering()
    points = grid.axes[0].get_yticklabels()[0].get_fontsize()
    letter = 0.85 * points * grid.dpi / 72  # pixels: a line has room above its letters
    for ax in grid.axes[:heads]:
        box = ax.get_window_extent()
        assert box.height / queries > letter and box.width / keys > letter
    assert points >= 6


def test_generated_words_say_where_each_row_is_largest() -> None:
    picture = views.heat_map([[0.1, 0.9], [0.8, 0.2]], ["a", "b"], ["c", "d"])
    assert "a: d (0.9); b: c (0.8)" in picture.alt


def test_words_of_zeros_and_ones_name_all_that_is_marked() -> None:
    masks = torch.tensor([[True, False, True, True], [False] * 4, [True] * 4, [False, True, False, False]])
    picture = views.heat_map(masks, ["a", "b", "c", "d"], ["time", "flies", "like", "arrows"])
    assert "a: time, like, arrows (1); b: all alike (0); c: all alike (1); d: flies (1)" in picture.alt


def test_a_line_that_ends_early_ends_at_its_last_number() -> None:
    lines = {"all": [3, 2, 1, 0], "early": [3, 1, 2, float("nan")]}
    words = views.line_chart(range(4), lines, x_label="x", y_label="y").alt
    assert "all goes from 3 to 0; early goes from 3 to 2 at 2, where it ends (lowest 1 at 1)." in words


@pytest.mark.parametrize(
    "value, said", [(4194.304, "4194"), (999.7, "1000"), (-1234.4, "−1234"), (0.12345, "0.123"), (12345.6, "1.2e+04")]
)
def test_a_number_is_said_in_digits_as_long_as_they_are_few(value: float, said: str) -> None:
    assert number(value) == said


def test_show_gives_an_image_with_alt_text_and_the_text_itself() -> None:
    with fresh_shell() as shell, capture_output() as captured:
        shell.run_cell("from anatomy.course import views\nviews.heat_map([[1.0, 2.0]], alt='one \"row\"')")
    data = captured.outputs[-1].data
    assert set(data) == {"text/html", "text/plain"}
    assert data["text/plain"] == 'one "row"'
    assert 'alt="one &quot;row&quot;"' in data["text/html"]
    assert 'src="data:image/png;base64,' in data["text/html"]


def test_show_takes_a_pyplot_figure_and_shows_it_once() -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots()
    ax.plot([1, 2, 3])
    with pytest.raises(ValueError, match="alt"):
        views.show(fig)
    with capture_output() as captured:
        views.show(fig, alt="a rising line")
    assert "a rising line" in captured.stdout
    assert not plt.get_fignums()


def test_projection_keeps_distances_in_a_plane() -> None:
    plane = scores(9, 2) @ scores(2, 7)
    points, shares = views.project_2d(plane)
    assert points.shape == (9, 2) and sum(shares) == pytest.approx(1.0)
    torch.testing.assert_close(torch.cdist(points, points), torch.cdist(plane, plane), atol=1e-3, rtol=1e-3)
    assert (points[points.abs().argmax(0), torch.arange(2)] > 0).all()


@pytest.mark.parametrize(
    ("draw", "remedy"),
    [
        (lambda: views.heat_map(scores(2, 3), ["a"]), "one label per entry"),
        (lambda: views.heat_map(scores(2, 3, 4)), r"Pick one item first"),
        (lambda: views.heat_map(torch.zeros(0, 3)), "empty"),
        (lambda: views.attention_flow(scores(2, 2), ["a", "b"]), "after the softmax"),
        (lambda: views.attention_flow(torch.eye(2), ["a", "b"], focus=2), "queries 0 to 1"),
        (lambda: views.head_grid(scores(2, 6, 5, 5), TOKENS), "one sentence"),
        (lambda: views.line_chart([1, 2], {"a": [1]}, x_label="x", y_label="y"), "1 values for 2 positions"),
        (lambda: views.line_chart([1, 2], {"a": [0, 1]}, x_label="x", y_label="y", log_y=True), "above zero"),
        (lambda: views.line_chart([1, 2], {}, x_label="x", y_label="y"), "at least one line"),
        (lambda: views.bar_chart({}, value_label="x"), "nothing to draw"),
        (lambda: views.projection(scores(1, 4), ["a"]), "at least 2 vectors"),
        (lambda: views.one_hot_product([9], scores(5, 4)), "rows 0 to 4"),
        (lambda: views.one_hot_product([0], scores(500, 4)), "toy vocabulary"),
        (lambda: views.merge_steps("low", [list("low"), ["lo"]]), "step 1 spells"),
        (lambda: views.merge_steps("low", [list("low"), ["lo", "w"]], numbers=[3]), "1 numbers for 2 steps"),
        (lambda: views.head_split(12, 64, TOKENS), "at most"),
        (lambda: views.mask_grids({}), "nothing to draw"),
        (lambda: views.mask_grids({"mask": torch.full((2, 2), 2)}, reasons=["one"]), "holds the number 2"),
        (lambda: views.image_grid(scores(2, 1, 4, 4), ["a", "b"]), "3 channels"),
        (lambda: views.image_grid(scores(2, 3, 4, 4), ["a"]), "one label per entry"),
        (lambda: views.decoder_block(TOKENS, width=12, num_heads=5, vocabulary=9), "heads divide the width"),
        (lambda: views.decoder_block(["a"], width=12, num_heads=3, vocabulary=9), "tokens 2 to 6"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(draw, remedy: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=remedy):
        draw()


def test_the_words_of_sequences_and_trees_have_all_that_is_drawn() -> None:
    rows = views.sequence_rows({**SHIFTED, "source": ["a", " ", "b"]}, arrows=[("target", "input", 1)])
    assert "input: ⟨start⟩ 8 7; target: 8 7 ⟨end⟩; source: a ␣ b." in rows.alt
    assert "Arrows from each place of “target” to the place +1 of “input”." in rows.alt
    tree = views.search_tree(CHANCES, lit={"best": ("fruit", "flies")})
    assert "time flies: 0.6 × 0.4 = 0.24; fruit flies: 0.4 × 0.9 = 0.36 (best)" in tree.alt


def test_the_words_of_a_histogram_have_what_was_expected_beside_what_came() -> None:
    labels = {"x_label": "length", "y_label": "share"}
    picture = views.histogram([0, 1], [0.75, 0.25], "spans", expected=("Poisson", [0.7, 0.3]), **labels)
    assert picture.alt == "Histogram “spans”: share, by length, in brackets Poisson: 0: 0.75 (0.7), 1: 0.25 (0.3)."
    assert views.histogram([0, 1], [3, 1], **labels).alt == "Histogram: share, by length: 0: 3, 1: 1."
    with pytest.raises(ValueError, match="measured"):
        views.histogram([0, 1], [3], **labels)
    with pytest.raises(ValueError, match="Poisson"):
        views.histogram([0, 1], [3, 1], expected=("Poisson", [1]), **labels)


def test_sequence_rows_tell_groups_apart() -> None:
    rows = views.sequence_rows(SHIFTED, groups=FATES)
    assert "input: ⟨start⟩ 8 (kept) 7 (lost); target: 8 7 ⟨end⟩." in rows.alt
    assert [text.get_text() for text in rows.legends[0].get_texts()] == ["kept", "lost"]
    turned = views.sequence_rows(SHIFTED, groups=FATES, kinds=["lost", "found", "kept"])
    assert [text.get_text() for text in turned.legends[0].get_texts()] == ["lost", "kept"]
    with pytest.raises(ValueError, match="groups of 'input'"):
        views.sequence_rows(SHIFTED, groups={"input": ["kept"]})
    with pytest.raises(ValueError, match="groups of 'source'"):
        views.sequence_rows(SHIFTED, groups={"source": ["kept"]})


def test_sequences_and_trees_refuse_what_they_cannot_draw() -> None:
    with pytest.raises(ValueError, match="33"):
        views.sequence_rows({"long": "x" * 33})
    with pytest.raises(ValueError, match="source"):
        views.sequence_rows(SHIFTED, arrows=[("source", "target", 0)])
    with pytest.raises(ValueError, match="nothing"):
        views.search_tree({})
    with pytest.raises(ValueError, match="time"):
        views.search_tree({("time", "flies"): 0.4})
    with pytest.raises(ValueError, match="rots"):
        views.search_tree(CHANCES, lit={"worst": ("fruit", "rots")})
