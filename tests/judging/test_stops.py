"""What is said of an error fits this error: the messages are those of the installed torch and Python."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import is_deliberate
from anatomy.engine.judging.stops import explain_error, explain_message
from anatomy.engine.judging.symptoms import advice
from anatomy.engine.observing.observation import CaseObservation, Raised

X = torch.zeros(2, 3, 4)
TABLE = nn.Embedding(5, 4)


class NoSuper(nn.Module):
    def __init__(self) -> None:
        self.layer = nn.Linear(2, 2)


def unpack() -> None:
    _a, _b, _c = X[0].shape


def unpack_as(values: object, names: object) -> None: ...


W = torch.ones(4, requires_grad=True)

MESSAGES: list[tuple[str, Callable[[], object], str]] = [
    ("float indices", lambda: X[torch.tensor([0.5])], "Indices are whole numbers"),
    ("beyond the end", lambda: X[:, 3], "3 entries, numbered from 0 to 2"),
    ("beyond the only one", lambda: X[:, :1][:, 1], "has 1 entry, number 0"),
    ("beyond the table", lambda: TABLE(torch.tensor([5])), "beyond the table's last row"),
    ("no such axis", lambda: X.sum(3), "has 3 axes here, none of them is 3"),
    ("mask of another length", lambda: X[torch.ones(5).bool()], "it has 5, and there are 2, 3, 4"),
    ("entry by entry", lambda: X + torch.zeros(5), "on axis 2 one has 4, one 5"),
    ("product", lambda: X[0] @ X[0], "last axis (4) must be as long as the second one's last but one (3)"),
    ("reshape", lambda: X.reshape(5, 5), "The tensor has 24 entries"),
    ("view", lambda: X.transpose(0, 1).view(-1), "`reshape` copies them"),
    ("order of axes", lambda: X.permute(0, 1, 2, 0), "has 3 axes, and its new order names 4"),
    ("dot of matrices", lambda: torch.dot(X, X), "`torch.dot` takes two vectors"),
    ("stack", lambda: torch.stack([X, X[0]]), "must have the same shape"),
    ("stack of one tensor", lambda: torch.stack(X), "this is one tensor"),  # type: ignore[arg-type]
    ("backward of many", lambda: (X * W).backward(), "`backward` starts from a single number"),
    ("number for a tensor", lambda: torch.sqrt(3), "`math` has one for plain numbers"),  # type: ignore[arg-type]
    ("truth of many", lambda: bool(X), "a single truth value"),
    ("number of many", lambda: math.cos(X), "the tensor holds several"),  # type: ignore[arg-type]
    ("mask of numbers", lambda: X.masked_fill(torch.ones(4).long(), 0), "The mask holds numbers"),
    ("whole numbers", lambda: torch.ones(2).long().softmax(-1), "needs numbers with a fraction"),
    ("too few names", unpack, "There are 3 names for it, and it has fewer parts"),
    ("no super", NoSuper, "`super().__init__()` must come first"),
    ("unknown name", lambda: querry, "a typing slip"),  # type: ignore[name-defined]  # noqa: F821
    ("name of Python's", lambda: Ture, "Did you mean `True`?"),  # type: ignore[name-defined]  # noqa: F821
    ("torch's name", lambda: exp(X), "`torch.exp(…)`"),  # type: ignore[name-defined]  # noqa: F821
    ("math's name", lambda: comb(4, 2), "`math.comb(…)`"),  # type: ignore[name-defined]  # noqa: F821
    ("a module", lambda: statistics.mean(X), "`import statistics` comes before"),  # type: ignore[name-defined]  # noqa: F821
    ("NumPy", lambda: np.exp(X), "NumPy is not imported"),  # type: ignore[name-defined]  # noqa: F821
    ("not imported", lambda: F.softmax(X), "If a cell above does that, run that cell first"),  # type: ignore[name-defined]  # noqa: F821
    ("keyword of a method", lambda: X.sum(axes=1), "`sum` has no argument `axes`: it is `dim`."),
    ("keyword with a slip", lambda: X.clamp(minn=1), "`clamp` has no argument `minn`: it is `min`."),
    ("keyword of a function", lambda: torch.cat([X], dims=1), "PyTorch's functions call it `dim`"),
    ("all sizes for one", lambda: range(X.shape), "such as one size"),  # type: ignore[call-overload]
    ("a tensor for a size", lambda: range(X), "such as one size"),  # type: ignore[call-overload]
    ("length of a number", lambda: len(3), "It is a number already"),  # type: ignore[arg-type]
    ("attribute with a slip", lambda: X.sotfmax(-1), "Did you mean `softmax`?"),  # type: ignore[attr-defined]
    ("no such attribute", lambda: X.exponential(), "There is no such name"),  # type: ignore[attr-defined]
    ("too few values", lambda: unpack_as(1), "`unpack_as` also takes `names`"),  # type: ignore[call-arg]
]


@pytest.mark.parametrize("run, words", [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES])
def test_advice_fits_the_message(run: Callable[[], object], words: str) -> None:
    with pytest.raises(Exception) as caught:
        run()
    assert words in advice(Raised(caught.type.__name__, str(caught.value)))


def test_what_is_not_known_is_not_explained() -> None:
    assert advice(Raised("RuntimeError", "something new")) == ""


def test_a_none_that_the_line_itself_holds_needs_no_explanation() -> None:
    nothing = "'NoneType' object has no attribute 'shape'"
    assert "Something is None here" in advice(Raised("AttributeError", nothing, 3, "return f(mask)"))
    assert advice(Raised("AttributeError", nothing, 3, "return f(None)")) == ""


@pytest.mark.parametrize(
    "code, words",
    [
        ("row = row - max(row)", "Python's own `max` compares whole rows of a tensor. Take `.amax(dim)`"),
        ("low = min(row)", "`.amin(dim)`"),
        ("for one in sorted(row):", "`.sort(dim)`"),
        ("if row.max(0) > 0:", "An `if`"),
    ],
)
def test_pythons_own_functions_are_told_from_a_condition(code: str, words: str) -> None:
    message = "Boolean value of Tensor with more than one value is ambiguous"
    assert words in advice(Raised("RuntimeError", message, 2, code))


@pytest.mark.parametrize(
    "message, code, words",
    [
        ("cannot access local variable 'i' where it is not associated with a value", "for i in range(i):",
         "`i` is what this loop sets"),
        ("cannot access local variable 'n' where it is not associated with a value", "for i in range(n, i):",
         "`n` is read before it is set"),
        ('sum() missing 1 required positional arguments: "dim"', "return x.sum(axes=1, keepdim=True)", "it is `dim`"),
        ("'int' object is not iterable", "for i in T:", "`range(…)` of a number"),
        ("only one element tensors can be converted to Python scalars", "return torch.tensor(out)", "`torch.stack`"),
        ("max() received an invalid combination of arguments - got (out=NoneType)", "m = np.max(x, axis=1)",
         "`np.max` is NumPy's"),
        ("transpose() takes 2 positional arguments but 3 were given", "key.transpose(0, 2, 1)", "`permute` takes a"),
    ],
)  # fmt: skip
def test_the_line_says_more_about_its_error(message: str, code: str, words: str) -> None:
    assert words in advice(Raised("TypeError", message, 2, code))


RETURNED, REFUSED = CaseObservation("returned", 1), CaseObservation("raised", error=Raised("ValueError", "7 is odd"))
CASE = Case({}, sizes={"D": 7})


def said(error: Raised, expected: CaseObservation = RETURNED) -> str:
    explained = explain_error(CaseObservation("raised", error=error), expected, CASE)
    return f"{explained.headline} {explained.detail}"


def test_a_part_is_named_with_who_called_it() -> None:
    inner = Raised("TypeError", "no", 3, "x.foo()", "softmax", "attention_weights", 4)
    assert "in line 3 of your `softmax`, `x.foo()`, called from line 4 of your `attention_weights`" in said(inner)


def test_a_crash_is_no_refusal_and_a_refusal_no_crash() -> None:
    crash, meant = (
        Raised("RuntimeError", "no", 2, "x.view(7)"),
        Raised("ValueError", "odd", 2, "raise ValueError('odd')"),
    )
    assert "A crash doesn't count as a refusal" in said(crash, REFUSED) and "D = 7" in said(crash, REFUSED)
    by_luck = said(Raised("ValueError", "no", 2, "int('x')"), REFUSED)
    assert "this one came by luck" in by_luck and "count as a refusal" not in by_luck
    looked_for = Raised("ValueError", "7 is not in list", 2, "place = row.index(7)")
    only_one = Raised("ValueError", "too many values to unpack (expected 1)", 2, "[place] = places")
    pair = Raised("ValueError", "not enough values to unpack (expected 2, got 1)", 2, "a, b = x.chunk(2)")
    on_purpose = [is_deliberate(CaseObservation("raised", error=error)) for error in (looked_for, only_one, pair)]
    assert on_purpose == [True, True, False]
    assert said(Raised("KeyError", "7", 2, "raise KeyError(7)"), REFUSED).startswith("It is refused with `KeyError`")
    assert said(meant).startswith("It refuses a good input")
    assert "must name 7 and 2" in explain_message(CaseObservation("raised", error=meant), ["7", "2"], CASE).headline


def test_an_input_that_should_be_refused_is_shown() -> None:
    case = Case({"x": torch.zeros(2, 3), "heads": [8], "word": "a"})
    explained = explain_error(RETURNED, REFUSED, case)
    assert explained.detail.endswith("Arguments: x of shape (2, 3), heads = [8], word = 'a'.")


def test_an_errors_reason_stands_in_the_headline() -> None:
    short = Raised("TypeError", "f() missing 1 argument", 3, "x = f()")
    explained = explain_error(CaseObservation("raised", error=short), RETURNED, CASE)
    assert explained.headline == "It stops with `TypeError` in your line 3, `x = f()`: f() missing 1 argument."
    assert "f() missing" not in explained.detail
    listed = Raised("RuntimeError", 'Error(s) in loading state_dict:\n\tMissing key(s): "a"\n\tmore')
    assert 'loading state_dict: Missing key(s): "a".' in said(listed)
    long = explain_error(CaseObservation("raised", error=Raised("KeyError", "word " * 60)), RETURNED, CASE)
    assert len(long.headline) < 160 and "word" not in long.headline and "word word" in long.detail
    assert long.claims == "It stops with `KeyError`"
    assert explain_error(CaseObservation("raised", error=Raised("KeyError")), RETURNED, CASE).headline.endswith("r`.")
