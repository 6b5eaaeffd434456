"""The error messages of torch and Python, in words for somebody who reads them for the first time."""

from __future__ import annotations

import builtins
import difflib
import math
import re
import sys
from collections.abc import Callable

import torch

from anatomy.engine.observing.observation import Raised
from anatomy.engine.observing.records import MESSAGE

Say = Callable[[re.Match[str]], str]

_FIT = "Write each shape behind its line as a comment: which axis must meet which?"
_EMPTY = "The one of size 0 holds nothing: is it a slice that ends where it begins, or begins behind the last entry?"
_TYPES = "Numbers of different types meet here: `.dtype` tells each one's."

_INSTEAD = {"max": "`.amax(dim)`, or `.max()` for all of them",
            "min": "`.amin(dim)`, or `.min()` for all of them",
            "sorted": "`.sort(dim)`"}  # fmt: skip
"""What compares numbers where Python's own function compares whole rows."""

_WITH_LINE: tuple[tuple[str, str | Say], ...] = (
    (r"Boolean value of Tensor with more than one value.*\n.*?(?<![\w.])(max|min|sorted)\(",
     lambda m: f"Python's own `{m[1]}` compares whole rows of a tensor. Take {_INSTEAD[m[1]]}."),
    (r"cannot access local variable '(\w+)'.*\n.*\bfor \1 in .*\b\1\b",
     lambda m: f"`{m[1]}` is what this loop sets, so behind `in` it has no value yet: how far does the loop run?"),
    (r"(invalid combination of arguments|unexpected keyword argument).*\n.*\b(np|numpy)\.(\w+)\(",
     lambda m: f"`{m[2]}.{m[3]}` is NumPy's, and it is handed a tensor. PyTorch has functions of its own for tensors: "
               f"they take `dim` and `keepdim`."),
    (r"transpose\(\) (takes|received).*\n.*\btranspose\(",
     "`transpose` takes the two axes that trade places, as `transpose(1, 2)`. `permute` takes a whole order of axes."),
    (r"(\w+)\(\) missing \d+ required positional arguments?: \"dim\".*\n.*\b\1\([^()]*\b(axes|dims|dimension)=",
     lambda m: f"`{m[1]}` has no argument `{m[2]}`: it is `dim`."),
    (r"'int' object is not iterable.*\n.*\bfor \w+ in ",
     "A loop runs over many things. `range(…)` of a number gives them."),
    (r"only one element tensors can be converted.*\n.*torch\.tensor\(",
     "`torch.tensor` takes plain numbers. `torch.stack` puts tensors together."),
)  # fmt: skip
"""Errors that the line says more about in which they happen: a message, the end of its line, and this line."""

_NOTHING = r"'NoneType' object|must be .* not NoneType|: 'NoneType' and|and 'NoneType'"

_SYMPTOMS: tuple[tuple[str, str | Say], ...] = (
    # ---- shapes that don't fit
    (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*dimension (\d+)",
     lambda m: f"Entry by entry, two tensors must agree on every axis, or one of them has size 1 there; on axis {m[3]} "
               f"one has {m[1]}, one {m[2]}. " + (_EMPTY if "0" in (m[1], m[2]) else _FIT)),
    (r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
     lambda m: f"In a matrix product the first one's last axis ({m[1]}) must be as long as the second one's "
               f"last but one ({m[2]}). {_FIT}"),
    (r"batch2 tensor to be: \[(.*?)\] but got: \[(.*?)\]",
     lambda m: f"Batch and inner axis of the second matrix must be ({m[1]}); they are ({m[2]}). {_FIT}"),
    (r"size mismatch for .* copying a param", "Which entry goes into which parameter? The two must have one shape."),
    (r"must have same reduction dim|inner dimensions|operands could not be broadcast|has size .* does not broadcast|"
     r"inconsistent tensor size|size mismatch", _FIT),
    (r"number of subscripts in the equation \((\d+)\) .* dimensions \((\d+)\)",
     lambda m: f"The equation names {m[1]} axes of a tensor that has {m[2]}."),
    (r"shape '\[.*-1.*\]' is invalid for input of size (\d+)",
     lambda m: f"The tensor has {m[1]} entries: these can't be shared out evenly along the axis of −1."),
    (r"invalid for input of size (\d+)", lambda m: f"The tensor has {m[1]} entries; the new shape has another number."),
    (r"view size is not compatible",
     "The entries are not in the memory order that `view` needs; `reshape` copies them if it must."),
    (r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
     lambda m: f"{m[2]} entries can't be spread over an axis of {m[1]}."),
    (r"Sizes of tensors must match except in dimension (\d+)",
     lambda m: f"What is put side by side along axis {m[1]} must agree on all other axes."),
    (r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)",
     lambda m: f"The tensor has {m[1]} axes, and its new order names {m[2]}."),
    (r"1D tensors expected, but got",
     "`torch.dot` takes two vectors. `@` multiplies matrices, with any axes in front."),
    (r"stack expects each tensor to be equal size", "All tensors of a stack must have the same shape."),
    # ---- indices
    (r"index (-?\d+) is out of bounds for dimension \d+ with size (\d+)",
     lambda m: "That axis has 1 entry, number 0." if m[2] == "1" else
               "That axis has no entry at all."
               if m[2] == "0" else f"That axis has {m[2]} entries, numbered from 0 to {int(m[2]) - 1}."),
    (r"index out of range in self",
     "An index is beyond the axis's last entry: of an embedding, an id beyond the table's last row."),
    (r"(list|string|tuple) index out of range", lambda m: f"The {m[1]} is shorter than that."),
    (r"Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (-?\d+)",
     lambda m: f"The tensor has {'one axis at most' if m[1] == '1' else m[1] + ' axes'} here, none of them is {m[2]}."),
    (r"tensors used as indices must be", "Indices are whole numbers (or a mask of True and False), and these are not."),
    (r"too many indices for tensor of dimension (\d+)", lambda m: f"The tensor has only {m[1]} axes here."),
    (r"shape of the mask \[(.*?)\] .* indexed tensor \[(.*?)\]",
     lambda m: f"A mask needs one entry for each entry of what it selects from; it has {m[1]}, and there are {m[2]}."),
    (r"Index is supposed to be a vector", "This function takes one axis of ids only."),
    (r"selected index k out of range", "You ask for more entries than the axis has."),
    # ---- number types and truth values
    (r"expected scalar type|same dtype", _TYPES),
    (r"boolean masks", "The mask holds numbers here, not True and False: `mask == 0` or `mask.bool()` makes it one."),
    (r"not implemented for '(Long|Int|Bool)'|floating point.*Got:? (Long|Int|Bool)",
     "This needs numbers with a fraction; yours are whole ones, or True and False."),
    (r"Boolean value of Tensor with more than one value", "An `if`, `and`, `or`, `not` needs a single truth value."),
    (r"only integer tensors of a single element can be converted to an index|"
     r"'(torch\.Size|list|tuple|Tensor)' object cannot be interpreted as an integer",
     "A single whole number is needed here, such as one size: `x.size(0)`."),
    (r"'float' object cannot be interpreted as an integer", "A whole number is needed here: `//` divides to one."),
    (r"object of type '(int|float)' has no len\(\)",
     "It is a number already: `len` counts what is in a list or tensor."),
    (r"only one element tensors can be converted|cannot be converted to Scalar",
     "A plain number is needed here, and the tensor holds several."),
    (r"must be Tensor, not (int|float)", "This function takes tensors only; `math` has one for plain numbers."),
    (r"must be Tensor, not (\w+)", lambda m: f"This function takes a tensor; it gets a `{m[1]}`."),
    # ---- gradients
    (r"leaf Variable that requires grad",
     "An input is changed in place while its gradient is needed: make a new tensor instead."),
    (r"modified by an in-?place",
     "Numbers that a gradient needs are overwritten in place, by `+=` or `/=` or a method with `_` at its end: make a "
     "new tensor instead."),
    (r"Can't call numpy\(\) on Tensor that requires grad", "NumPy knows no gradients: stay with tensors."),
    (r"grad can be implicitly created only for scalar outputs",
     "`backward` starts from a single number, such as a loss, and this tensor has several."),
    (r"argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor",
     "It takes a list or tuple of tensors, and this is one tensor."),
    (r"does not require grad and does not have a grad_fn", "What you call backward on depends on no parameter."),
    # ---- Python
    (r"before Module.__init__\(\) call", "`super().__init__()` must come first in `__init__`."),
    (_NOTHING,
     "Something is None here: what a function without `return` gives, or what may be missing, such as a layer's bias."),
    (r"missing the required \"forward\"", "There is no method called `forward` in it."),
    (r"(\w+)\(\) missing \d+ required positional arguments?: (.*)",
     lambda m: f"`{m[1]}` also takes {_in_code(m[2])}, which this call leaves out."),
    (r"(\w+)\(\) received an invalid combination of arguments - got \((.*?)\), but expected one of:(.*)",
     lambda m: _wrong_keyword(*m.groups()) if len(m.string) < MESSAGE else ""),  # else some may be cut off
    (r"missing \d+ required positional argument", "It is called with fewer values than it takes."),
    (r"takes \d+ positional arguments? but \d+ (was|were) given", "It is called with more values than it takes."),
    (r"unexpected keyword argument '(\w+)'", lambda m: _unknown_keyword(m[1])),
    (r": (?:module )?'([\w.]+)'(?: object)? has no attribute '(\w+)'", lambda m: _unknown_attribute(m[1], m[2])),
    (r"is not defined\. Did you mean", ""),  # the message itself says it
    (r"name '(\w+)' is not defined", lambda m: _unknown_name(m[1])),
    (r"cannot access local variable '(\w+)'", lambda m: f"On this way through it `{m[1]}` is read before it is set."),
    (r"(not enough|too many) values to unpack \(expected (\d+)",
     lambda m: f"There are {m[2]} names for it, and it has {'fewer' if m[1] == 'not enough' else 'more'} parts."),
    (r"maximum recursion depth", "It calls itself again and again."),
    (r"object is not callable|object is not subscriptable|is not iterable|unhashable type",
     "The value is of another kind than the line takes it for: print it."),
)  # fmt: skip


_IN_TORCH = {
    "axis": "dim", "axes": "dim", "dims": "dim", "dimension": "dim", "keep_dim": "keepdim", "keep_dims": "keepdim",
    "keepdims": "keepdim", "epsilon": "eps", "type": "dtype", "diag": "diagonal",
}  # fmt: skip
"""What people call an argument → what PyTorch calls it."""

_ALSO_TAKEN = {"axis", "keepdims"}
"""NumPy's names, which torch's own functions take without listing them."""


def _in_code(quoted: str) -> str:
    """Names in quotes, Python's or torch's, as a card marks them."""
    return re.sub(r"""(["'])(\w+)\1""", r"`\2`", quoted)


def _unknown_keyword(name: str) -> str:
    if name in _IN_TORCH:
        return f"It has no argument `{name}`. PyTorch's functions call it `{_IN_TORCH[name]}`."
    return "It has no argument of that name."


def _wrong_keyword(function: str, given: str, signatures: str) -> str:
    """What to say of a call that fits none of the signatures that torch lists; empty where its keywords do."""
    taken = set(re.findall(r"(\w+)(?=[,)]| = )", signatures))
    for name in re.findall(r"(\w+)=", given):
        if name in taken | _ALSO_TAKEN:
            continue
        usual = [_IN_TORCH[name]] if _IN_TORCH.get(name) in taken else difflib.get_close_matches(name, taken, 1, 0.75)
        return f"`{function}` has no argument `{name}`{f': it is `{usual[0]}`' if usual else ''}."
    return ""


def _unknown_attribute(owner: str, name: str) -> str:
    names = [one for one in dir(_OWNERS[owner]) if not one.endswith("_")] if owner in _OWNERS else []
    near = difflib.get_close_matches(name, names, 1, 0.75)
    if near:
        return f"There is no such name. Did you mean `{near[0]}`?"
    return "There is no such name: a typing slip" + ("?" if owner in _OWNERS else ", or is it never set?")


_OWNERS = {
    "Tensor": torch.Tensor, "torch": torch, "torch.nn": torch.nn, "torch.nn.functional": torch.nn.functional,
    "math": math, "str": str, "list": list, "dict": dict,
}  # fmt: skip
"""What an error may say that a name is missing in."""


_ABOVE = "If a cell above does that, run that cell first."

_IMPORTED = {"torch": "import torch", "Tensor": "from torch import Tensor", "nn": "from torch import nn",
             "F": "import torch.nn.functional as F"}  # fmt: skip
"""What people know PyTorch's parts as, and how they come to be known."""


def _unknown_name(name: str) -> str:
    if name in _IMPORTED:
        return f"`{_IMPORTED[name]}` comes before it is used. {_ABOVE}"
    if name in ("np", "numpy"):
        return "NumPy is not imported here. torch has the same functions for tensors."
    if name in sys.stdlib_module_names:
        return f"It is a module of Python's: `import {name}` comes before it is used. {_ABOVE}"
    if callable(getattr(torch, name, None)):
        return f"It is a function of torch: `torch.{name}(…)`."
    if callable(getattr(math, name, None)):
        return f"It is a function of math: `math.{name}(…)`, for plain numbers."
    near = difflib.get_close_matches(name, dir(builtins), 1, 0.75)
    if near:
        return f"Nothing of this name is there. Did you mean `{near[0]}`?"
    return "Nothing of this name is there: a typing slip, or is the line or cell that sets it not run yet?"


def advice(error: Raised) -> str:
    """What this error's message means. Empty if the message is not a known one."""
    message = f"{error.type}: {error.message}"
    for said, symptoms in ((f"{message}\n{error.code}", _WITH_LINE), (message, _SYMPTOMS)):
        for pattern, text in symptoms:
            if found := re.search(pattern, said, re.IGNORECASE | re.DOTALL):
                if pattern == _NOTHING and re.search(r"\bNone\b", error.code):
                    return ""  # the student's line itself says where it comes from
                return text if isinstance(text, str) else text(found)
    return ""
