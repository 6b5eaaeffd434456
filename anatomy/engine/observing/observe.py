"""Observe: run an answer on an exercise's cases and write down, as plain data, what happened.

This is the only part of a check that runs student code. What it returns holds tensors, numbers, strings, lists and
dicts, nothing else; it never says whether anything is right.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.engine.exercise import SEEDS, Case, Exercise, seed_from
from anatomy.engine.observing.failures import describe, is_unwritten
from anatomy.engine.observing.library_calls import CallRecorder
from anatomy.engine.observing.limits import TIME_LIMIT, TooSlow, time_limit
from anatomy.engine.observing.observation import CaseObservation, Observation, Raised
from anatomy.engine.observing.plain_data import alike, fresh, is_float, kind_of, plain, same, tensors
from anatomy.engine.observing.printed import Printed
from anatomy.engine.observing.signatures import BadSignature, check_call, check_construction, check_module, explain_call
from anatomy.engine.observing.weights import by_contract_name, fill_parameters, has_lazy_parameters, shared_names

AFTER_ANOTHER = "after another input"
"""Stands behind a second result that another input in between has changed."""

BESIDE_ANOTHER = "beside another module"
"""Stands behind a second result that a module built in between has changed."""

OVERWRITTEN = "changed by a later call"
"""Stands behind what an earlier result has become, where later calls have changed it."""

MISSING = object()
"""Stands for an answer whose name was never defined."""


def observe(exercise: Exercise, answer: Any, seeds: tuple[int, ...] = SEEDS) -> Observation:
    """Run `answer` on the exercise's cases of these seeds."""
    seen: list[CaseObservation] = []
    cases = exercise.cases(seeds)
    kept: list[Any] = []
    for index in range(len(cases)):
        stop = seen and seen[-1].outcome == "too slow"
        here = seen[-1] if stop else observe_one(exercise, answer, cases, index, None if seen else kept)
        seen.append(replace(here, printed="") if seen else here)
    if kept and seen[0].outcome == "returned" and not seen[0].again:
        first, then = kept
        now = plain(first)
        seen[0].again = [] if alike(now, then) else [now, OVERWRITTEN]
    return Observation(exercise.name, seen)


def observe_one(
    exercise: Exercise, answer: Any, cases: list[Case], index: int, kept: list[Any] | None = None
) -> CaseObservation:
    """Run `answer` on one of these cases; a module also after an earlier input, and beside a module of another form.

    What the first call of the case returns itself, and as plain data, goes into `kept`.
    """
    here = observe_case(exercise, answer, cases[index], None if kept is None else partial(_look, kept=kept))
    if exercise.kind == "module":
        for before, when in _what_may_come_before(exercise, answer, cases[index], cases[:index]):
            if here.outcome == "returned" and not here.again:
                here = _once_more(exercise, answer, cases[index], here, before, when)
    return here


def _what_may_come_before(
    exercise: Exercise, answer: Any, case: Case, earlier: list[Case]
) -> Iterator[tuple[Callable[[_Subject], Any], str]]:
    """What can be done with a module before a case, as what it keeps may not fit then: it is to change nothing.

    Another module is built before the first case whose module is of another form than that of the first case.
    """
    plain_ones = [one for one in earlier if _could_come_before(one, case)]
    if plain_ones and _could_come_before(case, plain_ones[-1]):
        yield lambda subject: subject.run(fresh(plain_ones[-1].args)), AFTER_ANOTHER
    if earlier and all(_are_alike(one, earlier[0]) for one in earlier) and not _are_alike(case, earlier[0]):
        yield lambda subject: _Subject(exercise, answer, earlier[0]), BESIDE_ANOTHER


def _once_more(
    exercise: Exercise, answer: Any, case: Case, here: CaseObservation, before: Callable[[_Subject], Any], when: str
) -> CaseObservation:
    """What was seen in a case, and what a module gives when this has been done `before`, if that is something else.

    It is a list of two then, the second being `when`. A module that does not return then is too slow.
    """

    def look(exercise: Exercise, answer: Any, case: Case, printed: Printed) -> CaseObservation:
        subject = _Subject(exercise, answer, case)
        with torch.no_grad():
            before(subject)
            return CaseObservation("returned", _unlike(plain(subject.run(fresh(case.args))), here.value))

    then = observe_case(replace(exercise, describe=None), answer, case, look)
    if then.outcome == "too slow" and then.error:
        return replace(then, error=replace(then.error, message=f"{then.error.message} {when}"))
    again = list(then.value) if then.outcome == "returned" else [then.error_type]
    return replace(here, again=[*again, when]) if again else here


def _could_come_before(one: Case, other: Case) -> bool:
    """Whether two chosen cases are two inputs of one module, of different sizes."""
    return not (one.drawn or one.asks or one.once or other.once) and _are_alike(one, other) and one.sizes != other.sizes


def _are_alike(one: Case, other: Case) -> bool:
    """Whether the modules of two cases are built in the same way."""
    try:
        return bool(one.init) and bool(one.init == other.init)
    except RuntimeError:  # tensors
        return False


def glimpse_case(exercise: Exercise, answer: Any, case: Case) -> CaseObservation:
    """Only the value in one case and a module's parameters, or the error: no gradients, second run, training mode."""
    return observe_case(replace(exercise, properties={}, forbids=()), answer, case, _glimpse)


Look = Callable[[Exercise, Any, Case, Printed], CaseObservation]


def _glimpse(exercise: Exercise, answer: Any, case: Case, printed: Printed) -> CaseObservation:
    subject = _Subject(exercise, answer, case)
    with torch.no_grad():
        seen = CaseObservation("returned", plain(subject.run(fresh(case.args))))
    if isinstance(subject.target, nn.Module):
        _look_at_parameters(seen, subject.target)
    return seen


def observe_case(exercise: Exercise, answer: Any, case: Case, look: Look | None = None) -> CaseObservation:
    """What happens in one case; in the judge's words where the exercise is the judge's own (`Exercise.describe`)."""
    if answer is MISSING:
        return CaseObservation("not attempted")
    if exercise.kind == "quiz":
        return _try_case(exercise, answer, case, _look_at_quiz)
    look = look or (_glimpse if case.drawn else _look)
    return described(exercise, case, _try_case(exercise, answer, case, look))


def described(exercise: Exercise, case: Case, seen: CaseObservation) -> CaseObservation:
    """What was seen, with what `Exercise.describe` makes of its results; as it is where nothing is to be described."""
    if exercise.describe is None or seen.outcome != "returned":
        return seen
    value, train = (_in_words(exercise, case, raw) for raw in (seen.value, seen.train))
    again, train_again = (
        [words for raw in second if not alike(words := _in_words(exercise, case, raw), first)]
        for second, first in ((seen.again, value), (seen.train_again, train))
    )
    return replace(seen, value=value, again=again, train=train, train_again=train_again)


def _in_words(exercise: Exercise, case: Case, raw: Any) -> Any:
    """What is compared of raw results; whatever a kernel sent as such, judging goes on."""
    assert exercise.describe is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of results that are not what is described here
            return None if raw is None else plain(exercise.describe(raw, case))
    except Exception as error:
        return f"what came back does not have the form that the exercise needs ({type(error).__name__})"


def _try_case(exercise: Exercise, answer: Any, case: Case, look: Look) -> CaseObservation:
    printed = Printed()
    try:
        with time_limit(TIME_LIMIT), contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's would stand above the card, which says what is wrong
            seen = look(exercise, answer, case, printed)
    except TooSlow as error:
        seen = CaseObservation("too slow", error=describe(error, exercise.name, answer))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # student code may raise anything, SystemExit included
        unwritten = is_unwritten(error, exercise.name, answer)
        said = None if unwritten else describe(error, exercise.name, answer, exercise.course.package)
        seen = CaseObservation("not attempted" if unwritten else "raised", error=said)
    seen.printed = printed.text
    return seen


def _look_at_quiz(exercise: Exercise, answer: Any, case: Case, printed: Printed) -> CaseObservation:
    if not isinstance(answer, dict):
        message = f"the quiz's answers are a dict, question → option; this is {kind_of(answer)}"
        return CaseObservation("raised", error=Raised("TypeError", message))
    said = {str(key): str(value) for key, value in answer.items() if isinstance(value, str | int | float)}
    given = {key: value.strip().lower().replace("–", "-") for key, value in said.items()}  # as the text prints it
    given = {key: value for key, value in given.items() if value and value != "..."}
    return CaseObservation("returned", given) if given else CaseObservation("not attempted")


def _look(
    exercise: Exercise, answer: Any, case: Case, printed: Printed, kept: list[Any] | None = None
) -> CaseObservation:
    """All that is looked at in one case: value, side effects, repeatability, library calls, gradients, modes."""
    subject = _Subject(exercise, answer, case)
    args = fresh(case.args)
    recorder = CallRecorder()
    with torch.no_grad(), recorder if exercise.forbids else contextlib.nullcontext():
        value = plain(result := subject.run(args))
    printed.stop()
    if kept is not None:
        kept[:] = result, value
    seen = CaseObservation(
        "returned",
        value,
        calls=sorted(recorder.names & set(exercise.forbids)),
        changed=[name for name, before in case.args.items() if not same(plain(before), plain(args[name]))],
    )
    if not case.once:
        with torch.no_grad():
            seen.again = _unlike(plain(subject.run(fresh(case.args), noise_seed=1)), value)
    if isinstance(subject.target, nn.Module):
        _look_at_module(seen, subject, case)
    if "gradients" in exercise.properties:
        _look_at_gradients(seen, subject, case)
    return seen


def _look_at_module(seen: CaseObservation, subject: _Subject, case: Case) -> None:
    module = subject.target
    if not case.once:
        module.train()
        with torch.no_grad():
            train, again = (plain(subject.run(fresh(case.args), noise_seed)) for noise_seed in (0, 1))
        module.eval()
        seen.train, seen.train_again = train, _unlike(again, train)
    _look_at_parameters(seen, module)


def _unlike(again: Any, first: Any) -> list[Any]:
    """What a second run gave, if that is something else."""
    return [] if alike(again, first) else [again]


def _look_at_parameters(seen: CaseObservation, module: nn.Module) -> None:
    named = module.named_parameters(remove_duplicate=False)
    seen.parameters = {name: list(parameter.shape) for name, parameter in named}
    seen.shared = shared_names(module)


def _look_at_gradients(seen: CaseObservation, subject: _Subject, case: Case) -> None:
    """Gradients of a fixed random mixture of the results, with respect to float inputs and parameters."""
    args = fresh(case.args)
    leaves: dict[str, Tensor] = {name: value.requires_grad_() for name, value in args.items() if is_float(value)}
    if isinstance(subject.target, nn.Module):
        leaves |= by_contract_name(subject.target, subject.exercise.course.parameter_words)
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
        seen.gradient_error = describe(error, subject.exercise.name, subject.answer)
    else:
        seen.gradients = {name: _kept(plain(grad)) for name, grad in zip(leaves, found, strict=True)}


def _kept(gradient: Any) -> Tensor | None:
    """A gradient, unless it is described only: too large, or of unusual numbers."""
    return gradient if isinstance(gradient, Tensor) else None


class _Subject:
    """The student's object, ready to be run on one case as often as needed."""

    def __init__(self, exercise: Exercise, answer: Any, case: Case) -> None:
        self.exercise, self.answer, self.case, self._fits = exercise, answer, case, False
        self.target = answer
        if exercise.kind == "module":
            if not isinstance(answer, type):
                raise BadSignature(f"{exercise.name} must be a class; this is {kind_of(answer)}.")
            torch.default_generator.manual_seed(0)
            check_construction(answer, case.init)
            self.target = answer(*fresh(case.init))
            check_module(exercise.name, self.target)
            self.target.eval()
            if has_lazy_parameters(self.target):
                with torch.no_grad():
                    self.run(fresh(case.args))
            fill_parameters(self.target, exercise.course.parameter_words)
        elif not callable(answer):
            raise BadSignature(f"{exercise.name} must be a function; this is {kind_of(answer)}.")

    def run(self, args: Mapping[str, Any], noise_seed: int = 0) -> Any:
        """Call the object; `noise_seed` seeds the global generator, so that noise shows when it changes."""
        torch.default_generator.manual_seed(
            noise_seed
        )  # `torch.manual_seed` also writes a traceback for each kind of GPU
        if not self._fits and (self.exercise.kind == "function" or self.exercise.act is None):
            check_call(self.target, args)
            self._fits = True
        if self.exercise.act is not None:
            try:
                return self.exercise.act(self.target, replace(self.case, args=args))
            except TypeError as error:
                explain_call(self.target, error)
                raise
        return self.target(*args.values())


def _direction(index: int, leaf: Tensor) -> Tensor:
    """The fixed random weights by which the entries of one result enter the mixture."""
    generator = torch.Generator().manual_seed(seed_from("direction", index, tuple(leaf.shape)))
    return torch.randn(leaf.shape, generator=generator)
