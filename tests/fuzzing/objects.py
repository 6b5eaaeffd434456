"""Cells that bind an exercise's name to what no exercise foresees, as source texts."""

from __future__ import annotations

from hypothesis import strategies as st

PRELUDE = '''
import collections, dataclasses, decimal, enum, fractions, functools, math, operator, types
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

class Sly:
    """Fails at whatever is asked of it."""
    def _no(self, *_, **__): raise RuntimeError("no")
    __repr__ = __str__ = __eq__ = __len__ = __iter__ = __bool__ = __hash__ = __format__ = __getattr__ = _no
    __float__ = __int__ = __index__ = __contains__ = __getitem__ = __lt__ = __sub__ = __add__ = _no

class Liar:
    """Says that it is a tensor."""
    __class__ = Tensor

class LiarAsModule:
    __class__ = nn.Module

class LiarAsClass:
    __class__ = type

class LiarAsDict:
    __class__ = dict

class Endless(dict):
    def __getitem__(self, key): return self
    def items(self): return [("again", self)]

class SlyDict(dict):
    def items(self): raise KeyError("no")
    def __iter__(self): raise KeyError("no")

class SlyList(list):
    def __len__(self): return -1
    def __iter__(self): raise ValueError("no")

class Text(str):
    def __eq__(self, other): raise ValueError("no")
    def __len__(self): raise ValueError("no")
    def __str__(self): return 3
    __hash__ = str.__hash__

class Whole(int):
    def __int__(self): raise ValueError("no")
    def __eq__(self, other): return True
    def __repr__(self): raise ValueError("no")
    def __new__(cls, *_): return int.__new__(cls, 7)

class Broken(float):
    def __float__(self): raise ValueError("no")
    def __new__(cls, *_): raise ValueError("no")

class SlyKey:
    def __str__(self): raise ValueError("no")

class SlyError(Exception):
    def __str__(self): raise ValueError("no")

class OddError(Exception):
    def __str__(self): return 3

class SlyMeta(type):
    def __getattribute__(cls, name): raise RuntimeError(name)

class CallMeta(type):
    def __call__(cls, *_, **__): return 3

class SlyName(type):
    __name__ = property(lambda cls: 3)
    __module__ = property(lambda cls: 3)

class OwnTensor(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no")

class QuietTensor(Tensor):
    pass

Color = enum.Enum("Color", "red")
Number = enum.IntEnum("Number", "one")
Pair = collections.namedtuple("Pair", "a b")

@dataclasses.dataclass
class Record:
    x: object = 3

def itself(kind):
    held = kind()
    held.append(held) if kind is list else held.__setitem__("x", held)
    return held

def deep(levels, kind=list):
    value = 1.5
    for _ in range(levels):
        value = [value] if kind is list else {"x": value}
    return value

def module(**parts):
    built = nn.Module()
    for name, part in parts.items():
        setattr(built, name, part)
    return built

def raises(error):
    raise error

def with_notes(error):
    error.add_note("x" * 9999)
    return error
'''

VALUES = (
    "10**400", "-(10**400)", "10**5000", "2**63", "float('nan')", "float('inf')", "-0.0", "1e308", "5e-324", "True",
    "3 + 4j", "complex('nan+infj')", "decimal.Decimal('1e999999')", "fractions.Fraction(1, 3)", "Color.red",
    "Number.one", "Whole()", "float.__new__(Broken, 1)", "range(10**12)", "''", "'\\ud800'", "'\\x00'",
    "'x' * 100_000", "'<b>`*'", "'$tensor'", "b'\\xff'", "bytearray(3)", "memoryview(b'x')", "Text('x')",
    "'a\\u2028b'", "'{0.__class__}'", "'%s%n'", "[]", "()", "{}", "set()", "{1, 'x'}", "frozenset({1})",
    "itself(list)", "itself(dict)", "deep(50)", "deep(5000)", "deep(50, dict)", "deep(990)",
    "{3: 1, None: 2, (1, 2): 3}", "{SlyKey(): 1}", "{1: 1, '1': 2}", "{'$tensor': '0'}", "{'$float': 'x'}",
    "{'$other': 3}", "{'$numbers': torch.ones(2)}", "{'\\ud800': 1}", "Endless()", "SlyDict(a=1)", "SlyList([1])",
    "collections.OrderedDict(a=1)", "collections.deque([1])", "types.MappingProxyType({'a': 1})", "Pair(1, 2)",
    "collections.UserDict(a=1)", "iter([1])", "(x for x in [1])", "map(str, [1])", "zip([1], [2])",
    "[torch.ones(2)] * 3000", "list(range(3000))", "[[1, 2], [3]]", "{'a': torch.ones(2), 'b': [None]}", "[None]",
    "[torch.ones(2), 3]", "[float('nan')]", "[10**400, 1.5]", "[[10**400]]", "[1.5, 'x', None]", "torch.tensor(3)",
    "torch.tensor(float('nan'))", "torch.tensor([])", "torch.zeros(0, 3)", "torch.zeros(3, 0)", "torch.ones(1)",
    "torch.ones((1,) * 20)", "torch.ones((1,) * 64)", "torch.ones(3, dtype=torch.bool)",
    "torch.ones(2, dtype=torch.complex64)", "torch.tensor(1j)", "torch.ones(2, dtype=torch.complex32)",
    "torch.ones(2).half()", "torch.ones(2).bfloat16()", "torch.ones(2).to(torch.float8_e4m3fn)",
    "torch.ones(2).to(torch.float8_e5m2)", "torch.ones(2, dtype=torch.uint16)", "torch.ones(2, dtype=torch.uint64)",
    "torch.ones(2, dtype=torch.int8)", "torch.empty(2, dtype=torch.float4_e2m1fn_x2)",
    "torch.empty(2, device='meta')", "torch.eye(3).to_sparse()", "torch.eye(3).to_sparse_csr()",
    "torch.eye(4).to_sparse_bsr((2, 2))", "torch.eye(3).to_mkldnn()", "torch.sparse_coo_tensor(size=(10**6, 10**6))",
    "torch.ones(1).expand(10**9)", "torch.ones(2, 3, requires_grad=True)", "torch.ones(2, requires_grad=True) * 2",
    "torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)",
    "torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
    "torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)",
    "torch.ones(6).as_strided((3, 3), (1, 1))", "torch.ones(2, 3).T", "torch.ones(4, dtype=torch.complex64).conj()",
    "torch.ones(4, dtype=torch.complex64).conj().imag", "torch._neg_view(torch.ones(2))",
    "torch.ones(2).as_subclass(QuietTensor)", "torch.ones(2).as_subclass(OwnTensor)", "nn.Parameter(torch.ones(2))",
    "nn.UninitializedParameter()", "nn.Buffer(torch.ones(2))", "torch.full((3,), 1e38) * 1e38",
    "torch.full((2, 2), float('nan'))", "torch.full((3,), -1e30)", "torch.empty(0, 2**40)",
    "torch.ones(2, names=('a',))", "torch.ones(2).untyped_storage()", "torch.ones(2).share_memory_()",
    "torch.inference_mode(torch.ones)(2)", "np.float64(3)", "np.float16('nan')", "np.int64(3)", "np.longdouble(3)",
    "np.complex128(1j)", "np.bool_(True)", "np.array(3.5)", "np.ones(3)", "np.array([1, 'x', None], dtype=object)",
    "np.array(['x'])", "np.datetime64('2020')", "np.zeros(2, dtype=[('a', 'i4')])", "np.ma.masked", "np.void(b'x')",
    "np.ones((0, 3))", "np.array(None)", "np.str_('x')", "np.array([10**400])", "np.uint64(2**64 - 1)",
    "np.matrix([[1]])", "np.bytes_(b'x')", "np.longdouble('1e4000')", "np.ones(3, dtype=np.longdouble)",
    "nn.Linear(2, 3)", "nn.LazyLinear(3)", "nn.Linear(2, 0)", "nn.Linear(2, 3, device='meta')", "nn.Module()",
    "nn.Linear(2, 3, dtype=torch.complex64)", "module(a=nn.Parameter(torch.tensor(1.0)))",
    "torch.jit.script(nn.Linear(2, 3))", "None", "...", "NotImplemented", "object()", "object", "type", "int",
    "Tensor", "nn.Module", "print", "len", "torch", "torch.relu", "torch.ops.aten.relu",
    "torch.ops.aten.relu.default", "Tensor.relu", "str.upper", "operator.add", "functools.partial(print)",
    "functools.partial(torch.softmax, dim=0)", "functools.lru_cache(abs)", "staticmethod(abs)", "classmethod(abs)",
    "property(abs)", "np.add", "np.vectorize(abs)", "lambda: 3", "lambda *a: a", "[].append", "Sly()", "Sly",
    "Liar()", "LiarAsModule()", "LiarAsClass()", "LiarAsDict()", "Record()", "Record", "Exception('x')", "ValueError",
    "types.SimpleNamespace()", "types.ModuleType('x')", "torch.Generator()", "torch.Size([1, 2])", "torch.float32",
    "torch.device('cpu')", "torch.strided", "open('/dev/null')", "__import__('threading').Lock()",
    "SlyMeta('X', (), {})", "CallMeta('X', (), {})", "CallMeta('X', (nn.Module,), {})", "SlyName('X', (), {})",
    "types.FunctionType((lambda: 3).__code__, {})", "torch.jit.script(torch.relu) if False else torch.jit.annotate",
    "torch.compile", "torch.vmap(torch.sin)", "torch.autograd.Function", "__import__('weakref').proxy(Record)",
    "type('X', (), {'__signature__': 3, '__call__': lambda s, *a: 3})()",
    "type('X', (), {'__wrapped__': property(lambda s: s), '__call__': lambda s, *a: 3})()",
    "type('X', (nn.Module,), {'__slots__': ()})",
)  # fmt: skip
"""Expressions: what a name may be bound to, or an answer return."""

CHANGES = (
    "x * float('nan')", "x * float('inf')", "x / 0", "x.half()", "x.bfloat16()", "x.double()",
    "x.to(torch.complex64)", "x.to(torch.complex128) * 1j", "x.bool()", "x.long()", "x.to(torch.uint8)",
    "x.to(torch.uint64)", "x.to(torch.float8_e4m3fn)", "x.to_sparse()", "x[..., :0]", "x[:0]", "x[None]",
    "x.squeeze()", "x.flatten()", "x.sum()", "x.mT", "x.T", "x.tolist()", "x.numpy()", "x.detach().numpy()", "[x]",
    "(x, x)", "{'x': x}", "{'$other': x}", "str(x)", "repr(x)", "list(x)", "set(x)", "x.requires_grad_()",
    "nn.Parameter(x)", "x.to('meta')", "x.as_subclass(QuietTensor)", "x.as_subclass(OwnTensor)",
    "x.expand(3, *x.shape)", "-x", "x + 1", "x * 3", "x ** 2", "x.flip(0)", "x.flip(-1)", "x.roll(1, -1)",
    "x.fill_(0)", "x.fill_(1e38)", "x.fill_(-1e38)", "x.double() * 1e300", "x * 1e-40",
    "x.masked_fill(x > 0, float('-inf'))", "x.masked_fill(x > 0, float('nan'))", "x[0]", "x[-1]", "x[::2]", "x[::-1]",
    "x + x[:1]", "x[:-1] + [None]", "x[:-1] + [10**400]", "x[:-1] + [float('nan')]", "x * 2", "sorted(x)",
    "dict.fromkeys(x)", "{**x, 'more': 1}", "{key: None for key in x}", "{key: torch.tensor(0) for key in x}",
    "{str(key) * 2: value for key, value in x.items()}", "{key: [value] for key, value in x.items()}", "float(x)",
    "int(x)", "x * 10**400", "x // 0", "bool(x)", "not x", "type(x)", "iter(x)", "lambda: x", "Sly()",
    "x + '\\ud800'", "x.upper()", "x.encode()", "None", "10**400 if isinstance(x, int) else x", "1j * x", "x.conj()",
    "np.array(x, dtype=object)", "torch.tensor(x)", "torch.stack(tuple(x))", "torch.as_tensor(x).to(torch.complex64)",
)  # fmt: skip
"""Expressions in which `x` is what a right answer returns."""

ERRORS = (
    "ValueError()", "ValueError('x' * 10**6)", "ValueError('\\ud800')", "ValueError(Sly())", "ValueError('a\\nb')",
    "KeyError('x')", "SlyError()", "OddError()", "StopIteration(3)", "StopAsyncIteration()", "GeneratorExit()",
    "RecursionError()", "MemoryError()", "SystemExit(3)", "SystemExit(Sly())", "AssertionError(3)",
    "ExceptionGroup('x', [ValueError('y')])", "BaseExceptionGroup('x', [SystemExit(1)])", "BaseException()",
    "NotImplementedError()", "NotImplementedError('later')", "OSError(2, 'x', 'y')",
    "UnicodeDecodeError('utf8', b'x', 0, 1, 'r')", "SyntaxError('x', ('f', 10**9, 1, 'code'))",
    "TypeError('f() takes 1 positional argument but 3 were given')", "torch.OutOfMemoryError('x')", "RuntimeError()",
    "ArithmeticError()", "ImportError('x', name='y')", "Warning('x')", "with_notes(ValueError('x'))",
    "IndexError(10**400)", "TypeError(torch.ones(3))", "type('E' * 9999, (Exception,), {})()",
    "type('<b>', (Exception,), {})('<script>')", "type('\\ud800', (Exception,), {})('x')",
)  # fmt: skip

FUNCTIONS = (
    "def {name}(*args): return {value}", "def {name}(*args, **more):\n    print({value})\n    return {value}",
    "def {name}(*args):\n    for arg in args:\n        if isinstance(arg, Tensor): arg.zero_()\n    return {value}",
    "{name} = lambda *args: {value}", "async def {name}(*args): return {value}", "def {name}(*args): yield {value}",
    "async def {name}(*args): yield {value}", "def _inner(*args): return {value}\n{name} = functools.partial(_inner)",
    "@functools.lru_cache\ndef {name}(*args): return {value}", "@torch.no_grad()\ndef {name}(*args): return {value}",
    "@functools.cache\ndef {name}(*args): return {value}",
    "class _Answer:\n    def __call__(self, *args): return {value}\n{name} = _Answer()",
    "class {name}:\n    def __init__(self, *args): pass\n    def __call__(self, *args): return {value}",
    "class {name}:\n    def __new__(cls, *args): return {value}",
    "class {name}:\n    def __init_subclass__(cls): raise ValueError('no')\n"
    "    def __init__(self, *args): pass\n    def forward(self, *args): return {value}",
    "class {name}(metaclass=CallMeta):\n    def __call__(self, *args): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n"
    "    def forward(self, *args): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n"
    "    def __call__(self, *args): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args): pass\n    def forward(self, *args): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args):\n        super().__init__()\n"
    "        self.part = {value}\n    def forward(self, *args): return self.part",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n"
    "    def forward(self, *args): return 3\n    def parameters(self, *a, **k): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n"
    "    def forward(self, *args): return 3\n    def named_parameters(self, *a, **k): return [('x', {value})]",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n"
    "    def forward(self, *args): return self\n    def state_dict(self, *a, **k): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n"
    "    def forward(self, *args): return 3\n    def train(self, mode=True): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args): super().__init__()\n    forward = {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args):\n        super().__init__()\n"
    "        self.a = nn.Parameter(torch.tensor(1.0))\n        self.b = nn.Parameter(torch.zeros(0, 3))\n"
    "        self.c = nn.Parameter(torch.ones(2, dtype=torch.complex64))\n        self.d = self.a\n"
    "        self.e = nn.Parameter(torch.ones(3, dtype=torch.int8), requires_grad=False)\n"
    "        self.register_parameter('none', None)\n    def forward(self, *args): return {value}",
    "class {name}(nn.Module):\n    def __init__(self, *args):\n        super().__init__()\n"
    "        self.register_parameter('\\ud800', nn.Parameter(torch.ones(2)))\n"
    "        self.a = nn.LazyLinear(3)\n        self.b = nn.Linear(2, 2, device='meta')\n"
    "    def forward(self, *args): return {value}",
    "{name} = {value}", "{name}_ = {value}",
    "_calls = iter(range(10**9))\ndef {name}(*args): return {value} if next(_calls) % 2 else torch.zeros(2, 3)",
    "def _part(*args): return {value}\ndef {name}(*args): return torch.softmax(torch.ones(2), 0) + _part(*args)",
    "def {name}(*args, _kept=[]):\n    _kept.append({value})\n    return _kept",
    "def {name}(*args): return {value}\n{name}.__wrapped__ = {name}", "def {name}(x, /, *, y): return {value}",
    "def {name}(): return {value}",
    "import sys\ndef {name}(*args):\n    sys.stdout.write('\\ud800' * 9)\n    return {value}",
)  # fmt: skip
"""Cells: how an answer may be bound, and where it may go wrong."""

CHANGED = (
    "def {name}(*args):\n    x = right(*args)\n    return {change}",
    "class {name}(right):\n    def forward(self, *args):\n        x = super().forward(*args)\n"
    "        return {change}",
    "{name} = right\n{name} = {{}} if not isinstance(right, dict) else {{key: {change} for key, x in right.items()}}",
)  # fmt: skip
"""Cells whose answer does something to what a right one returns."""


def _bound(kinds: tuple[str, ...], **what: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda cell, **of: cell.replace("{name}", "NAME").format(**of), st.sampled_from(kinds), **what)


nested = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"({', '.join(items)},)"),
        st.lists(inner, max_size=2).map(lambda items: f"dict(enumerate(({''.join(f'{item}, ' for item in items)})))"),
        st.lists(inner, max_size=2).map(lambda items: f"dict(zip('ab', ({''.join(f'{item}, ' for item in items)})))"),
    ),
    max_leaves=4,
)
cells = st.one_of(
    _bound(FUNCTIONS, value=nested | st.sampled_from(VALUES)),
    _bound(FUNCTIONS, value=st.sampled_from(ERRORS).map("raises({})".format)),
    _bound(CHANGED, change=st.sampled_from(CHANGES)),
)
"""Sources of cells that bind ``NAME``; `right` is there, and the names of `PRELUDE`."""
