"""One model with its words: from a text and changes to the state of a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from anatomy.course.exploring.changes import applied, choices
from anatomy.course.exploring.lines import Line, lines_of
from anatomy.course.exploring.packing import EXACT, Arrays, State
from anatomy.course.exploring.parts import NotExplorable, parts_of
from anatomy.course.exploring.recording import NotAsAgreed, NotCalled, Recording, record, still
from anatomy.course.exploring.steps import Step, embedding_steps, layer_steps, output_steps
from anatomy.course.exploring.words import Words, words_of

LIKELY = 50
"""How many of the most probable tokens a state has, where the vocabulary is too large to list."""
LONGEST = 64
"""The most tokens of a text: beyond, nobody can follow a picture."""
START, END = "⟨start⟩", "⟨end⟩"


class Explorer:
    """A model of the course and how it reads text.

    Parameters
    ----------
    model
        A `TransformerEncoder`, `GPT`, `Transformer` or `Llama`, or any model whose parts have these names.
    words
        Its tokenizer, or the list of its symbols in the order of their ids.
    start, end
        An encoder–decoder's symbols for the beginning and the end of what it writes.

    Raises
    ------
    NotExplorable
        When the model is none of these, or `words` says nothing about its tokens.
    """

    def __init__(self, model: Any, words: Any, *, start: str = START, end: str = END) -> None:
        self.parts = parts_of(model)
        self.words: Words = words_of(words)
        if not self.words.size_fits(self.parts.sizes["V"]):
            raise NotExplorable(
                f"The model knows {self.parts.sizes['V']} tokens, and these are the words of another model: pass the "
                "tokenizer or the list of symbols that it was trained with."
            )
        self.name = type(self.parts.model).__name__
        self.start, self.end = start, end
        self._lines: dict[str, Line] | None = None

    def choices(self) -> list[dict[str, Any]]:
        """What can be taken away, as the page's `welcome` lists it."""
        return [asdict(one) | {"exercise": _exercise(one.exercise)} for one in choices(self.parts)]

    def state(self, text: str, written: str | None = None, changes: list[str] | None = None) -> State:
        """The state of one run.

        `written` is what an encoder–decoder has written so far; None: it writes by itself first, always the most
        probable symbol. Raises NotExplorable when the model can't read the text, or knows no such change.
        """
        changes = list(changes or [])
        inputs = self._inputs(text, written, changes)
        found = self._recorded(inputs, changes)
        stacks, steps = self._stepped(found)
        if changes:
            steps = [[Step(**{**vars(step), "right": None}) for step in one] for one in steps]
        elif self._lines is None:
            self._lines = lines_of(self.parts.model, inputs, [step for one in steps for step in one])
        return self._packed(text, inputs, changes, stacks, steps)

    def _inputs(self, text: str, written: str | None, changes: list[str]) -> tuple[Tensor, ...]:
        ids = self.words.ids(text)
        most = LONGEST
        if self.parts.position_table is not None:
            most = min(most, self.parts.position_table.num_embeddings)
        if not ids:
            raise NotExplorable("There is nothing to read: type a text.")
        if len(ids) > most:
            raise NotExplorable(f"The text has {len(ids)} tokens; at most {most} can be shown.")
        source = torch.tensor([ids])
        if self.parts.kind != "encoder-decoder":
            return (source,)
        (start,) = self._special(self.start)
        so_far = self._written(source, start, changes) if written is None else self.words.ids(written)
        if len(so_far) >= LONGEST:
            raise NotExplorable(f"{len(so_far)} tokens are written; at most {LONGEST - 1} can be shown.")
        return source, torch.tensor([[start, *so_far]])

    def _recorded(self, inputs: tuple[Tensor, ...], changes: list[str]) -> Recording:
        before, after = applied(self.parts, changes)
        try:
            found = record(self.parts, *inputs, before=before, after=after)
        except (NotCalled, NotAsAgreed) as why:
            raise self._refused(why) from None
        found.changed = bool(changes)
        return found

    def _stepped(self, found: Recording) -> tuple[list[dict[str, list[int]]], list[list[Step]]]:
        """The steps of a run. What stops here is no mistake of the model's code, which has run to its end."""
        try:
            with torch.no_grad():
                return self._steps(found)
        except (NotCalled, NotAsAgreed) as why:
            raise self._refused(why) from None
        except (RuntimeError, IndexError, AttributeError, TypeError, ValueError) as why:
            raise self._refused(NotAsAgreed(str(why))) from why

    def _refused(self, why: NotCalled | NotAsAgreed) -> NotExplorable:
        if isinstance(why, NotCalled):
            return NotExplorable(
                f"{self.name} never calls its part `{why}`, so there is nothing to watch: call it, as in self.q(x)."
            )
        return NotExplorable(
            f"{self.name} runs, but not all of its parts give what their contracts say, so its steps can't be shown: "
            f"{why}. Check the answers that it is made of."
        )

    def _special(self, symbol: str) -> list[int]:
        number = getattr(self.words, "number", {})
        if symbol not in number:
            raise NotExplorable(f"The model has no symbol {symbol!r}: name its own by start= and end=.")
        return [number[symbol]]

    def _written(self, source: Tensor, start: int, changes: list[str]) -> list[int]:
        """What the model writes by itself, without its end."""
        (end,) = self._special(self.end)
        before, after = applied(self.parts, changes)
        written = [start]
        with still(self.parts.model), before, after:
            while len(written) < LONGEST // 2:
                logits = self.parts.model(source, torch.tensor([written]))  # (1, T, V)
                chosen = int(logits[0, -1].argmax())
                if chosen == end:
                    break
                written.append(chosen)
        return [number for number in written[1:] if len(self.words.names([number])[0]) == 1]

    def _steps(self, found: Recording) -> tuple[list[dict[str, list[int]]], list[list[Step]]]:
        """Which steps belong where, stack by stack, and the steps themselves, stack by stack."""
        where, all_steps = [], []
        memory = None
        for number, stack in enumerate(self.parts.stacks):
            steps = list(embedding_steps(found, number))
            bounds = [len(steps)]
            for layer in stack.layers:
                steps += layer_steps(found, layer, memory)
                bounds.append(len(steps))
            if number == len(self.parts.stacks) - 1:
                steps += output_steps(found)
            memory = found.gave(stack.layers[-1].module)
            where.append({"bounds": bounds})
            all_steps.append(steps)
        return where, all_steps

    def _packed(self, text: str, inputs: tuple[Tensor, ...], changes: list[str], where: Any, steps: Any) -> State:
        arrays, stacks = Arrays(), []
        logits = None
        for number, stack in enumerate(self.parts.stacks):
            entries = [self._entry(step, arrays) for step in steps[number]]
            bounds = where[number]["bounds"]
            tokens = self.words.names(inputs[number if len(inputs) > 1 else 0][0].tolist())
            layers = [
                {"steps": entries[bounds[one] : bounds[one + 1]],
                 "attentions": [{"name": attention.name, "causal": attention.causal,
                                 "keys": "encoder" if attention.name == "cross" else stack.name}
                                for attention in layer.attentions]}
                for one, layer in enumerate(stack.layers)
            ]  # fmt: skip
            stacks.append({"name": stack.name, "tokens": tokens, "embedding": entries[: bounds[0]], "layers": layers,
                           "output": entries[bounds[-1] :]})  # fmt: skip
            logits = next((step.array for step in steps[number] if step.kind == "logits"), logits)
        vocabulary = self.words.vocabulary if logits is not None else None
        header = {
            "format": 1, "kind": self.parts.kind,
            "model": {"name": self.name, "sizes": self.parts.sizes, "norm": self.parts.norm,
                      "activation": "SwiGLU" if self.parts.gated else "GELU", "positions": self.parts.positions},
            "text": text, "written": self.words.text(inputs[1][0].tolist()) if len(inputs) > 1 else None,
            "changes": changes, "stacks": stacks, "vocabulary": vocabulary, "likely": None, "rest": None,
            "arrays": arrays.index, "left_out": [],
        }  # fmt: skip
        if logits is not None and vocabulary is None:
            header |= self._likely(logits)
        return State(header, bytes(arrays.buffer))

    def _entry(self, step: Step, arrays: Arrays) -> dict[str, Any]:
        """A step as the header has it."""
        exact = step.kind in EXACT
        line = (self._lines or {}).get(step.id)
        large = step.kind in ("logits", "probabilities") and self.words.vocabulary is None
        return {
            "id": step.id, "kind": step.kind, "part": step.part, "title": step.title, "says": step.says,
            "formula": step.formula, "shapes": _shapes(step), "axes": list(step.axes),
            "array": None if large else arrays.add(step.id, step.array, exact),
            "right": None if step.right is None or large else arrays.add(f"{step.id}.right", step.right, exact),
            "exercise": _exercise(step.exercise),
            "code": {"of": line.of, "number": line.number, "line": line.text, "yours": line.yours} if line else None,
        }  # fmt: skip

    def _likely(self, logits: Tensor) -> dict[str, Any]:
        best = logits.topk(min(LIKELY, logits.shape[-1]), dim=-1)
        rest = logits.scatter(-1, best.indices, -torch.inf).logsumexp(dim=-1)
        rows = [
            [[number, name, round(value, 5)] for number, name, value in
             zip(ids, self.words.names(ids), values, strict=True)]
            for ids, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]  # fmt: skip
        return {"likely": rows, "rest": [round(value, 5) for value in rest.tolist()]}


SYMBOLS = {
    ("head", "query", "key"): "H, T, S", ("head", "token", "column"): "H, T, K", ("token", "column"): "T, D",
    ("token", "word"): "T, V", ("token", "token"): "T, T",
}  # fmt: skip


def _shapes(step: Step) -> str:
    names = SYMBOLS[step.axes]
    if step.kind in ("inner", "gate", "activated"):
        names = "T, F"
    if step.kind in ("key", "value", "turned_key"):
        names = "H, S, K"
    return f"({names}) = ({', '.join(map(str, step.array.shape))})"


def _exercise(name: str | None) -> dict[str, str] | None:
    """Where an exercise is; None for none, and for one that this edition does not have yet."""
    from anatomy.course import COURSE

    try:
        exercise = COURSE.exercise(name) if name else None
    except LookupError:
        exercise = None
    if exercise is None:
        return None
    return {"name": exercise.name, "number": exercise.number, "notebook": exercise.notebook.slug}
