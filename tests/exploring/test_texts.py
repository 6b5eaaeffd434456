"""Texts that a model can read become ids and names, and others a sentence that says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from anatomy.course.checkpoints import CheckpointError, load_embeddings
from anatomy.course.exploring.explorer import LONGEST, Explorer
from anatomy.course.exploring.parts import NotExplorable
from anatomy.course.exploring.words import words_of
from tests.exploring.models import CLASSES, LETTERS, SYMBOLS, TEXT, explorer_of, model_of, text_of

KINDS = list(CLASSES)


def test_characters_are_numbered_in_the_order_of_the_list() -> None:
    for given in ("abc", ["a", "b", "c"], ("a", "b", "c"), {"c": 2, "a": 0, "b": 1}):
        words = words_of(given)
        assert words.ids("cab") == [2, 0, 1]
        assert words.names([2, 0]) == ["c", "a"] and words.text([2, 0]) == "ca"
        assert words.vocabulary == ["a", "b", "c"]


def test_symbols_of_several_characters_are_never_read_from_a_text() -> None:
    words = words_of(SYMBOLS)
    assert words.text([1, *words.ids("may 3"), 2]) == "may 3"
    with pytest.raises(NotExplorable, match="⟨"):
        words.ids("⟨end⟩")


def test_the_pieces_of_a_tokenizer_have_its_special_tokens() -> None:
    try:
        tokenizer = load_embeddings().tokenizer
    except CheckpointError:
        pytest.skip("no tokenizer on this machine")
    words = words_of(tokenizer)
    ids = words.ids("time flies")
    assert words.names(ids) == ["[CLS]", "time", "flies", "[SEP]"]
    assert words.text(ids) == "time flies"
    assert words.vocabulary is None


@pytest.mark.parametrize("text", ["Zeit", "time ☂", "tïme"])
def test_a_character_that_the_model_does_not_know_is_named(text: str) -> None:
    unknown = next(character for character in text if character not in LETTERS)
    with pytest.raises(NotExplorable, match=f"does not know the character {unknown!r}"):
        explorer_of("decoder").state(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_is_too_long_is_refused_and_the_longest_is_not(kind: str) -> None:
    explorer = explorer_of(kind)
    most = 40 if kind in ("encoder", "decoder") else LONGEST
    written = "1" if kind == "encoder-decoder" else None
    assert len(explorer.state("a" * most, written).header["stacks"][0]["tokens"]) == most
    with pytest.raises(NotExplorable, match=f"{most + 1} tokens; at most {most}"):
        explorer.state("a" * (most + 1), written)


def test_what_is_written_may_be_too_long_as_well() -> None:
    with pytest.raises(NotExplorable):
        explorer_of("encoder-decoder").state("may 3", "1" * (LONGEST + 1))


@pytest.mark.parametrize("kind", KINDS)
def test_one_token_is_enough(kind: str) -> None:
    assert explorer_of(kind).state("a", "" if kind == "encoder-decoder" else None).header["stacks"][-1]["tokens"][-1]


@pytest.mark.parametrize("words", [None, 7, [], "", [1, 2], object()])
def test_words_that_say_nothing_are_refused(words: Any) -> None:
    with pytest.raises(NotExplorable, match="tokens"):
        Explorer(model_of("decoder"), words)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_in_training_is_shown_in_eval_mode_and_stays_in_training(kind: str) -> None:
    explorer = explorer_of(kind)
    model = explorer.parts.model
    plain = explorer.state(*text_of(kind))
    model.train()
    next(iter(model.children())).eval()  # a mixture must come back as it was
    modes = [module.training for module in model.modules()]
    assert explorer.state(*text_of(kind)).buffer == plain.buffer
    assert [module.training for module in model.modules()] == modes
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_model_in_double_precision_can_be_shown() -> None:
    explorer = explorer_of("decoder")
    explorer.parts.model.double()
    assert explorer.state(TEXT).array("decoder.0.self.weights").dtype == "float32"
