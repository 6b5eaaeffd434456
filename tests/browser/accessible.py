"""A notebook with one of each thing that the course displays, and what axe-core finds wrong with it."""

from __future__ import annotations

import json
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import Page

from anatomy.engine.cards import Card, ungraded
from anatomy.engine.judging.verdict import Diagnosis, Example, MatrixPair, PropertyResult, Verdict
from anatomy.engine.notebook_files.notebooks import METADATA

LONG = (
    "attention_weights(torch.tensor([[0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]]), dim=-1)"
)
MATRIX = [[(row - column) / 9 for column in range(16)] for row in range(6)]
WRONG = Verdict(
    "softmax", "wrong",
    (PropertyResult("shape", 1, True), PropertyResult("values", 4, False, "off by up to 0.82")),
    (Diagnosis("You divide by the sum over the *whole* tensor, not along `dim`.", "The rows sum to 0.14 and 0.86."),),
    MatrixPair(MATRIX, [row[::-1] for row in MATRIX], "sentence 1 of 2", "query", "key"),
    example=Example(LONG, "tensor([[0.25, 0.75]])", "tensor([[0.125, 0.375]])"),
    printed="torch.Size([2, 3, 5]) " * 9,
)  # fmt: skip
RIGHT = Verdict("softmax", "right", (PropertyResult("values", 5, True),), when_right="It works along any axis.")
NOT_ATTEMPTED = Verdict("softmax", "not attempted", (PropertyResult("values", 5, False),),
                        (Diagnosis("Not attempted yet: `softmax` still raises NotImplementedError."),))  # fmt: skip
NOTED = {
    "softmax": {"status": "right", "points": 7, "first_right": "2026-01-02", "attempts": 3, "seconds": 400},
    "attention_weights": {"status": "wrong", "points": 2, "attempts": 2, "seconds": 90, "said": "You sum along `dim`."},
}
"""What the progress file says, for the cards that show it."""


def everything() -> NotebookNode:
    """One of each, in a notebook that has been run. ``ANATOMY_HOME`` must hold a progress file with `NOTED`."""
    import torch
    from transformers import BertConfig, BertModel

    from anatomy import hunt
    from anatomy.course import COURSE
    from anatomy.course.views import (
        ProgressBar,
        family_table,
        family_tree,
        head_view,
        model_view,
        neuron_view,
        number_tables,
    )
    from anatomy.doctor import machine_card
    from anatomy.engine.checking import remote
    from anatomy.engine.checking.progress import ProgressCard
    from anatomy.engine.hunting.bugs import bugs_of
    from tests.assembling.test_card import PART, WHOLE
    from tests.views.test_pictures import pictures

    torch.manual_seed(0)
    tokens = ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]"]
    weights = tuple(torch.randn(1, 4, 7, 7).mul(2).softmax(-1) for _ in range(2))
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
    bert = BertModel(BertConfig(vocab_size=7, **sizes)).eval()
    numbers = {token: number for number, token in enumerate(tokens)}
    bug = bugs_of(COURSE, COURSE.notebook("03-softmax"))[0]
    shown = {
        "right": Card(RIGHT), "wrong": Card(WRONG), "not attempted": Card(NOT_ATTEMPTED),
        "ungraded": {"text/html": ungraded("softmax", "Its cell ran longer than a minute.")},
        "progress": ProgressCard(COURSE), "progress of one notebook": ProgressCard(COURSE, "03-softmax"),
        "hunt": hunt("03-softmax"), "hunt answered": hunt("03-softmax", bug=bug.id, line=1, says="a"),
        "not checked": remote._unavailable("The judge does not answer."),
        "in the open": remote._small_card("Your key travels in the open.", remote.open_way("http://judge")),
        "assembled": WHOLE, "assembled in part": PART, "machine": machine_card(), "bar": ProgressBar(3)._bundle(),
        "head view": head_view(weights, tokens, sentence_b_start=4), "model view": model_view(weights, tokens),
        "neuron view": neuron_view(bert, numbers, tokens),
        "tree": family_tree(), "table": family_table(),
        "numbers": number_tables({"x": torch.arange(6).view(2, 3)}, tokens[:2], 3), **pictures(),
    }  # fmt: skip
    return new_notebook(cells=[_cell(name, item) for name, item in shown.items()], metadata=METADATA)


def _cell(name: str, item: Any) -> NotebookNode:
    return new_code_cell(name, outputs=[new_output("display_data", _bundle(item))], execution_count=1)


def _bundle(item: Any) -> dict[str, str]:
    if isinstance(item, dict):
        return item
    if hasattr(item, "_repr_mimebundle_"):
        return item._repr_mimebundle_()
    return {"text/html": item.html() if hasattr(item, "html") else item._repr_html_(), "text/plain": repr(item)}


def violations(page: Page, part: str = "html") -> list[str]:
    """What axe-core finds in this part of the page, frames included, a line each. WCAG 2.2 AA and best practice.

    Landmarks and the first heading are asked of whole pages only: a frame in a notebook is none.
    """
    for frame in page.frames:
        frame.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        """async part => {
            const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
            const whole = {enabled: part === 'html'};
            const rules = {'landmark-one-main': whole, 'page-has-heading-one': whole, region: whole};
            const found = await axe.run({include: [[part]]}, {resultTypes: ['violations'], runOnly: tags, rules});
            return found.violations.flatMap(rule => rule.nodes.map(node => [
                rule.id, node.html.slice(0, 200), [...node.any, ...node.all, ...node.none].map(one => one.message),
            ]));
        }""",
        part,
    )
    return [json.dumps(one) for one in found]
