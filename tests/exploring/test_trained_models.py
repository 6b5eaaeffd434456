"""The models of `anatomy explore` are trained once, kept, and lend their weights to a student's classes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from anatomy.course.exploring import models
from anatomy.course.exploring.parts import NotExplorable

pytestmark = pytest.mark.slow

CLASSES = {"decoder": ("09_causal_mask", "GPT"), "encoder-decoder": ("10_encoder_decoder", "Transformer"),
           "modern": ("14_since_gpt_2", "Llama")}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, and trainings of two steps."""
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(models, "STEPS", dict.fromkeys(models.STEPS, 2))
    return tmp_path


def weights(shown: models.Shown) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in shown.explorer.parts.model.named_parameters()}


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def written(folder: Path, kind: str, more: str = "") -> Path:
    """A student's file: the course's classes, and what follows them."""
    module, name = CLASSES[kind]
    file = folder / "my_transformer.py"
    file.write_text(f"from anatomy.course.nb{module}.right import *\n\n\nclass {name}({name}):\n    pass\n\n\n{more}")
    return file


@pytest.mark.parametrize("kind", CLASSES)
def test_a_model_is_trained_once_and_kept(kind: str, folder: Path) -> None:
    steps: list[tuple[int, int]] = []
    first = weights(models.shown(kind, on_step=lambda done, total: steps.append((done, total))))
    assert steps == [(1, 2), (2, 2)]
    again = models.shown(kind, on_step=lambda done, total: steps.append((done, total)))
    assert len(steps) == 2 and equal(weights(again), first)
    assert not again.explorer.parts.model.training
    assert [path.name for path in (folder / "home" / "explorer").iterdir()] == [f"{kind}.safetensors"]


@pytest.mark.parametrize("kind", CLASSES)
def test_what_it_begins_with_and_its_examples_can_be_read(kind: str) -> None:
    shown = models.shown(kind)
    for text in (shown.text, *shown.examples):
        assert shown.explorer.state(text, "1" if kind == "encoder-decoder" else None).header["text"] == text


def test_damaged_weights_are_made_again(folder: Path) -> None:
    first = weights(models.shown("decoder"))
    path = folder / "home" / "explorer" / "decoder.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    assert equal(weights(models.shown("decoder")), first)


def test_a_students_classes_get_the_weights_of_the_courses(folder: Path) -> None:
    """Also where they are wrong: without a mask they would learn to copy."""
    more = "GPT.forward = lambda self, ids: self.lm_head(self.token_embeddings(ids))\n"
    theirs = weights(models.shown("decoder", written(folder, "decoder", more)))
    assert equal(theirs, weights(models.shown("decoder")))


def test_in_an_edition_without_the_courses_classes_the_students_learn_by_themselves(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_of_the_course", lambda kind: kind if kind == "encoder" else None)
    with pytest.raises(NotExplorable, match="right answers of notebook 09") as refused:
        models.shown("decoder")
    assert str(refused.value).endswith("\n    anatomy explore --model encoder"), "what it sends to is there"
    models.shown("decoder", written(folder, "decoder"))
    models.shown("decoder", written(folder, "decoder", "# another text\n"))
    kept = [path.name for path in (folder / "home" / "explorer").iterdir()]
    assert len(kept) == 2 and all(name.startswith("decoder-") for name in kept)


def test_classes_with_other_parameters_are_refused(folder: Path) -> None:
    more = "_made = GPT.__init__\ndef more(self, config):\n    _made(self, config)\n"
    more += "    self.extra = nn.Parameter(torch.zeros(3))\nGPT.__init__ = more\n"
    with pytest.raises(NotExplorable, match="such as extra"):
        models.shown("decoder", written(folder, "decoder", more))
