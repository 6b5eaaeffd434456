"""Observe: run an answer on an exercise's cases and write down, as plain data, what happened.

This is the only part of a check that runs student code. What it returns holds tensors, numbers, strings, lists and
dicts, nothing else; it never says whether anything is right.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.exercises.spec import SEEDS, Case, Exercise, seed_from
from anatomy.observing.library_calls import CallRecorder
from anatomy.observing.observation import CaseObservation, Observation, Raised
from anatomy.observing.plain_data import fresh, is_float, kind_of, plain, same, tensors
from anatomy.observing.records import MESSAGE

TIME_LIMIT = 10.0
"""Seconds that an answer may take on one case."""

MISSING = object()
"""Stands for an answer whose name was never defined."""


class TooSlow(BaseException):
    """The answer did not return within `TIME_LIMIT`. Not an `Exception`, so that ``except Exception`` lets it pass."""


class BadSignature(TypeError):
    """The answer does not take the arguments that the exercise hands over."""


def observe(exercise: Exercise, answer: Any, seeds: tuple[int, ...] = SEEDS) -> Observation:
    """Run `answer` on the exercise's cases of these seeds."""
    seen: list[CaseObservation] = []
    for case in exercise.cases(seeds):
        stop = seen and seen[-1].outcome == "too slow"
        seen.append(seen[-1] if stop else observe_case(exercise, answer, case))
    return Observation(exercise.name, seen)


def glimpse_case(exercise: Exercise, answer: Any, case: Case) -> CaseObservation:
    """Only the value in one case, or the error: no gradients, no second run, no training mode."""
    return observe_case(replace(exercise, properties={}, forbids=()), answer, case, _glimpse)


def _glimpse(exercise: Exercise, answer: Any, case: Case) -> CaseObservation:
    with torch.no_grad():
        return CaseObservation("returned", plain(_Subject(exercise, answer, case).run(fresh(case.args))))


def observe_case(
    exercise: Exercise, answer: Any, case: Case, look: Callable[[Exercise, Any, Case], CaseObservation] | None = None
) -> CaseObservation:
    """What happens in one case."""
    if answer is MISSING:
        return CaseObservation("not attempted")
    if exercise.kind == "quiz":
        return _observe_quiz(answer)
    try:
        with _time_limit(TIME_LIMIT), contextlib.redirect_stdout(_Silence()):
            return (look or _look)(exercise, answer, case)
    except TooSlow:
        return CaseObservation("too slow", error=Raised("TooSlow", f"over {TIME_LIMIT:.0f} s"))
    except NotImplementedError as error:
        return CaseObservation("not attempted") if _is_stub(error) else _raised(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # student code may raise anything, SystemExit included
        return _raised(error)


def _raised(error: BaseException) -> CaseObservation:
    return CaseObservation("raised", error=_describe(error))


def _observe_quiz(answer: Any) -> CaseObservation:
    if not isinstance(answer, dict):
        message = f"the quiz's answers are a dict, question → option; this is {kind_of(answer)}"
        return CaseObservation("raised", error=Raised("TypeError", message))
    said = {str(key): str(value) for key, value in answer.items() if isinstance(value, str | int | float)}
    given = {key: value.strip().lower() for key, value in said.items()}
    given = {key: value for key, value in given.items() if value and value != "..."}
    return CaseObservation("returned", given) if given else CaseObservation("not attempted")


def _look(exercise: Exercise, answer: Any, case: Case) -> CaseObservation:
    """All that is looked at in one case: value, side effects, repeatability, library calls, gradients, modes."""
    subject = _Subject(exercise, answer, case)
    args = fresh(case.args)
    recorder = CallRecorder()
    with torch.no_grad(), recorder if exercise.forbids else contextlib.nullcontext():
        value = plain(subject.run(args))
    seen = CaseObservation(
        "returned",
        value,
        calls=sorted(recorder.names & set(exercise.forbids)),
        changed=[name for name, before in case.args.items() if not same(plain(before), plain(args[name]))],
    )
    with torch.no_grad():
        seen.repeatable = same(value, plain(subject.run(fresh(case.args), noise_seed=1)))
    if isinstance(subject.target, nn.Module):
        _look_at_module(seen, subject, case)
    if "gradients" in exercise.properties:
        _look_at_gradients(seen, subject, case)
    return seen


def _look_at_module(seen: CaseObservation, subject: _Subject, case: Case) -> None:
    named = dict(subject.target.named_parameters(remove_duplicate=False))
    owners: dict[int, list[str]] = {}
    for name, parameter in named.items():
        owners.setdefault(id(parameter), []).append(name)
    subject.target.train()
    with torch.no_grad():
        train, again = (plain(subject.run(fresh(case.args), noise_seed)) for noise_seed in (0, 1))
    subject.target.eval()
    seen.parameters = {name: list(parameter.shape) for name, parameter in named.items()}
    seen.shared = [names for names in owners.values() if len(names) > 1]
    seen.train, seen.train_repeatable = train, same(train, again)


def _look_at_gradients(seen: CaseObservation, subject: _Subject, case: Case) -> None:
    """Gradients of a fixed random mixture of the results, with respect to float inputs and parameters."""
    args = fresh(case.args)
    leaves: dict[str, Tensor] = {name: value.requires_grad_() for name, value in args.items() if is_float(value)}
    if isinstance(subject.target, nn.Module):
        leaves |= dict(subject.target.named_parameters())
    seen.gradients = dict.fromkeys(leaves)
    try:
        with torch.enable_grad():
            outputs = [leaf for leaf in tensors(subject.run(args)) if is_float(leaf)]
            seen.linked = any(leaf.requires_grad for leaf in outputs)
            if not seen.linked:
                return
            terms = [(leaf * _direction(index, leaf)).sum().float() for index, leaf in enumerate(outputs)]
            mixture = torch.stack(terms).sum()
            found = torch.autograd.grad(mixture, list(leaves.values()), allow_unused=True)
    except NotImplementedError:
        raise
    except Exception as error:
        seen.gradient_error = _describe(error)
    else:
        seen.gradients = {name: plain(grad) for name, grad in zip(leaves, found, strict=True)}


class _Subject:
    """The student's object, ready to be run on one case as often as needed."""

    def __init__(self, exercise: Exercise, answer: Any, case: Case) -> None:
        self.exercise, self.case, self._fits = exercise, case, False
        self.target = answer
        if exercise.kind == "module":
            if not isinstance(answer, type):
                raise BadSignature(f"{exercise.name} is to be a class; this is {kind_of(answer)}.")
            torch.default_generator.manual_seed(0)
            self.target = answer(*fresh(case.init))
            if isinstance(self.target, nn.Module):
                fill_parameters(self.target)
                self.target.eval()
        elif not callable(answer):
            raise BadSignature(f"{exercise.name} is to be a function; this is {kind_of(answer)}.")

    def run(self, args: Mapping[str, Any], noise_seed: int = 0) -> Any:
        """Call the object; `noise_seed` seeds the global generator, so that noise shows when it changes."""
        torch.default_generator.manual_seed(
            noise_seed
        )  # `torch.manual_seed` also writes a traceback for each kind of GPU
        if not self._fits and (self.exercise.kind == "function" or self.exercise.run is None):
            _check_signature(self.target, args)
            self._fits = True
        if self.exercise.run is not None:
            return self.exercise.run(self.target, replace(self.case, args=args))
        return self.target(*args.values())


def fill_parameters(module: nn.Module, seed: int = 0) -> None:
    """Draw every parameter from (seed, its name, its shape): the same name always has the same values.

    Matrices keep their outputs at the inputs' scale; biases and norms get real variance.
    """
    with torch.no_grad():
        for name, parameter in module.named_parameters(remove_duplicate=False):
            generator = torch.Generator().manual_seed(seed_from(seed, name, tuple(parameter.shape)))
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(noise / parameter.shape[-1] ** 0.5)
            else:
                parameter.copy_(0.3 * noise + (1.0 if name.endswith("weight") else 0.0))


def _direction(index: int, leaf: Tensor) -> Tensor:
    """The fixed random weights by which the entries of one result enter the mixture."""
    generator = torch.Generator().manual_seed(seed_from("direction", index, tuple(leaf.shape)))
    return torch.randn(leaf.shape, generator=generator)


# ---------------------------------------------------------------------------------------------- errors and limits


class _Silence(io.TextIOBase):
    """Takes what an answer prints while it is being checked, many times over, and keeps none of it."""

    def write(self, text: str) -> int:
        return len(text)


def _check_signature(target: Any, args: Mapping[str, Any]) -> None:
    """Say plainly when the answer can't take the exercise's arguments; a built-in without a signature may try."""
    function: Callable[..., Any] = target.forward if isinstance(target, nn.Module) else target
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args.values())
    except TypeError:
        wanted, takes = ", ".join(args), ", ".join(signature.parameters)
        raise BadSignature(f"It is called with ({wanted}), but yours takes ({takes}).") from None


def _is_stub(error: NotImplementedError) -> bool:
    """Whether somebody left this for later. Libraries raise it, too: torch for tensors without values, for one."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return type(error) is NotImplementedError and (not error.args or _is_cell(last.filename))


def _describe(error: BaseException) -> Raised:
    """Type, message and the line of the student's own code (the last one in a notebook cell) that raised."""
    described = Raised(type(error).__name__, str(error)[:MESSAGE])
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_cell(frame.filename)]
    if own:
        described.line, described.within = own[-1].lineno or 0, own[-1].name
        described.code = (own[-1].line or "").strip()[:200]
    return described


def _is_cell(filename: str) -> bool:
    return "ipykernel_" in filename or filename.startswith(("<ipython-input", "<student"))


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in the main thread after that many seconds. Elsewhere there is no limit."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TooSlow

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # rings again, for code that swallows the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
