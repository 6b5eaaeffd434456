"""The models that `anatomy explore` and the website show.

The encoder has the course's real weights. The others are trained once, on the course's own texts, in about a minute
each; their weights are kept in the user's folder. The classes are the student's, from the file that `anatomy assemble`
writes, or the course's. A student's classes get the weights that the course's have learned, so that a mistake shows as
what it does to a model that works; where the course's are not in the edition, they learn by themselves.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from anatomy.course import COURSE
from anatomy.course.datasets import date_pairs, fables
from anatomy.course.exploring.explorer import END, START, Explorer
from anatomy.course.exploring.parts import NotExplorable
from anatomy.engine.checking.home import home
from anatomy.engine.course import NoSuchNotebook
from anatomy.engine.errors import NotHere

OnStep = Callable[[int, int], None]
CONTEXT, BATCH = 64, 16
STEPS = {"decoder": 1000, "modern": 1000, "encoder-decoder": 800}
NOTEBOOKS = {"encoder": "07", "decoder": "09", "encoder-decoder": "10", "modern": "14"}


@dataclass(frozen=True)
class Shown:
    """A model to explore, the text to begin with, and others to try."""

    explorer: Explorer
    text: str
    examples: tuple[str, ...]


def shown(kind: str, file: Path | None = None, on_step: OnStep = lambda done, total: None) -> Shown:
    """The model of one kind: "encoder", "decoder", "encoder-decoder" or "modern" (a Llama).

    `file` holds a student's classes, as `anatomy assemble` writes it; None: the course's. `on_step` hears how far a
    training is. Raises NotExplorable when the file can't be used, or the course's classes are not in this edition.
    """
    if kind not in NOTEBOOKS:
        raise NotExplorable(f"There is no model {kind!r}; choose {', '.join(NOTEBOOKS)}.")
    classes = _classes(kind, file)
    return {"encoder": _encoder, "decoder": _decoder, "encoder-decoder": _encoder_decoder, "modern": _modern}[kind](
        classes, on_step
    )


def _classes(kind: str, file: Path | None) -> Any:
    """A module with the classes."""
    if file is None:
        if (found := _of_the_course(kind)) is not None:
            return found
        raise NotExplorable(_not_here(kind))
    spec = importlib.util.spec_from_file_location("my_transformer", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise NotExplorable(f"{file} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_transformer"] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise NotExplorable(f"{file} stops with {type(error).__name__}: {error}") from error
    return module


def _not_here(kind: str) -> str:
    """Why the course has no such model in an edition for a class, and what can be watched there."""
    here = [f"anatomy explore --model {other}" for other in NOTEBOOKS if _of_the_course(other) is not None]
    commands = "".join(f"\n    {command}" for command in here)
    return (
        f"This model is made of the right answers of notebook {NOTEBOOKS[kind]}, which stay with your instructor until "
        "your class goes on. In a notebook, explore(model, text, tokenizer) shows a model of your own."
        f"{' From here you can watch:' if here else ''}{commands}"
    )


def _of_the_course(kind: str) -> Any:
    """The course's classes; None in an edition without them."""
    try:
        return import_module(COURSE.module(COURSE.find(NOTEBOOKS[kind]), "right"))
    except (NotHere, NoSuchNotebook, ImportError):
        return None


def _named(classes: Any, name: str) -> Any:
    if not hasattr(classes, name):
        raise NotExplorable(f"There is no `{name}` in {classes.__file__}: write it first, or leave --file out.")
    return getattr(classes, name)


def _encoder(classes: Any, on_step: OnStep) -> Shown:
    from anatomy.course.checkpoints import load_checkpoint

    checkpoint = load_checkpoint()
    encoder = _named(classes, "TransformerEncoder")(checkpoint.config)
    _named(classes, "load_bert_weights")(encoder, checkpoint.model.state_dict())
    text = "time flies like an arrow"
    return Shown(Explorer(encoder, checkpoint.tokenizer), text, (text, "fruit flies like a banana"))


def _decoder(classes: Any, on_step: OnStep) -> Shown:
    from transformers import GPT2Config

    text = fables()
    alphabet = sorted(set(text))
    config = GPT2Config(vocab_size=len(alphabet), n_positions=CONTEXT, n_embd=96, n_layer=3, n_head=4, resid_pdrop=0.0,
                        embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None)  # fmt: skip
    model = _trained("decoder", "GPT", classes, config, lambda model: _on_fables(model, text, alphabet, on_step))
    return Shown(Explorer(model, alphabet), "time flies like an ", ("time flies like an ", "Once upon a ", "The fox s"))


def _modern(classes: Any, on_step: OnStep) -> Shown:
    from transformers import LlamaConfig

    text = fables()
    alphabet = sorted(set(text))
    config = LlamaConfig(vocab_size=len(alphabet), hidden_size=96, num_attention_heads=4, num_key_value_heads=2,
                         intermediate_size=256, num_hidden_layers=3, tie_word_embeddings=True, bos_token_id=None,
                         eos_token_id=None)  # fmt: skip
    model = _trained("modern", "Llama", classes, config, lambda model: _on_fables(model, text, alphabet, on_step))
    return Shown(Explorer(model, alphabet), "time flies like an ", ("time flies like an ", "Once upon a ", "The fox s"))


def _encoder_decoder(classes: Any, on_step: OnStep) -> Shown:
    from transformers import BertConfig

    pairs = date_pairs("train", STEPS["encoder-decoder"] * 32, seed=1)
    symbols = ["⟨pad⟩", START, END, *sorted({symbol for pair in pairs for one in pair for symbol in one})]
    config = BertConfig(vocab_size=len(symbols), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, hidden_dropout_prob=0.0, pad_token_id=0)  # fmt: skip
    model = _trained(
        "encoder-decoder", "Transformer", classes, config, lambda model: _on_dates(model, pairs, symbols, on_step)
    )
    return Shown(
        Explorer(model, symbols), "Tue, 3 March 1987", ("Tue, 3 March 1987", "May 9th, '24", "the 21st of june, 1999")
    )


def _trained(kind: str, name: str, classes: Any, config: Any, train: Callable[[nn.Module], None]) -> nn.Module:
    """The model of this name in `classes`, with trained weights: those that are kept, or those of a training now."""
    from safetensors.torch import load_file, save_file

    course = _of_the_course(kind)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learner: nn.Module = _named(course or classes, name)(config)
    model: nn.Module = _named(classes, name)(config)
    path = home() / "explorer" / f"{kind}.safetensors"
    if course is None:  # another text of the file may learn something else
        digest = hashlib.sha256(Path(classes.__file__).read_bytes()).hexdigest()[:16]
        path = path.with_stem(f"{kind}-{digest}")
    weights = dict(learner.named_parameters())
    kept: dict[str, Tensor] = {}
    if path.is_file():
        with contextlib.suppress(Exception):  # damaged: trained again
            kept = load_file(path)
    if _shapes(kept) != _shapes(weights):
        with _few_threads(), torch.random.fork_rng():
            train(learner)
        kept = {parameter: value.detach().contiguous() for parameter, value in weights.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        save_file(kept, unfinished)
        unfinished.replace(path)
    own = dict(model.named_parameters())
    if _shapes(own) != _shapes(kept):
        other = sorted(_shapes(own).items() ^ _shapes(kept).items())
        raise NotExplorable(
            f"`{name}` has other parameters than its contract says, such as {other[0][0]}: check it first."
        )
    with torch.no_grad():
        for parameter, value in kept.items():
            own[parameter].copy_(value)
    return model.eval()


def _shapes(weights: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in weights.items()}


@contextlib.contextmanager
def _few_threads() -> Iterator[None]:
    """Small models train faster on two threads than on many."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(2, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _on_fables(model: nn.Module, text: str, alphabet: list[str], on_step: OnStep) -> None:
    """Trains a decoder on the fables, as notebook 09 does."""
    number = {symbol: index for index, symbol in enumerate(alphabet)}
    book = torch.tensor([number[symbol] for symbol in text])
    generator = torch.Generator().manual_seed(0)
    _small(model, 0.02)

    def loss() -> Tensor:
        starts = torch.randint(len(book) - CONTEXT, (BATCH,), generator=generator)
        pieces = book[starts[:, None] + torch.arange(CONTEXT + 1)]  # (B, T + 1)
        return F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())

    _fit(model, loss, STEPS["decoder"], 5e-3, on_step)


def _on_dates(model: nn.Module, pairs: list[tuple[str, str]], symbols: list[str], on_step: OnStep) -> None:
    """Trains an encoder–decoder to write dates in ISO form, as notebook 10 does."""
    number = {symbol: index for index, symbol in enumerate(symbols)}
    start, end = number[START], number[END]
    batches = iter(range(0, len(pairs), 32))
    _small(model, 64**-0.5, only="token_embeddings")

    def loss() -> Tensor:
        first = next(batches)
        rows = [([number[one] for one in read], [start, *(number[one] for one in written)])
                for read, written in pairs[first : first + 32]]  # fmt: skip
        source = nn.utils.rnn.pad_sequence([torch.tensor(read) for read, _ in rows], batch_first=True)
        fed = torch.tensor([written for _, written in rows])  # (B, T)
        target = torch.cat([fed[:, 1:], torch.full((len(rows), 1), end)], dim=1)
        return F.cross_entropy(model(source, fed).flatten(0, 1), target.flatten())

    _fit(model, loss, STEPS["encoder-decoder"], 4e-3, on_step)


def _small(model: nn.Module, deviation: float, only: str = "") -> None:
    torch.manual_seed(0)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2 and only in name:
            nn.init.normal_(parameter, std=deviation)


def _fit(model: nn.Module, loss: Callable[[], Tensor], steps: int, rate: float, on_step: OnStep) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 60, (steps - step) / (steps - 60))
    )
    model.train()
    for step in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        schedule.step()
        on_step(step + 1, steps)
