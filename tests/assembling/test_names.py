"""Which names a statement binds and reads, and when; and other names in their place."""

from __future__ import annotations

import ast

import pytest

from anatomy.course.assembling.names import renamed, uses


def kinds(source: str) -> dict[str, set[str]]:
    """Name → how it is used."""
    found: dict[str, set[str]] = {}
    for use in uses(ast.parse(source).body[0]):
        found.setdefault(use.name, set()).add("binds" if use.binds else "late" if use.late else "early")
    return found


NESTED = """\
def f():
    def g():
        nonlocal n
        n += 1
    n = 0
    try:
        g()
    except E as e:
        return e"""


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(x: T = D) -> R:\n    y = g(x)\n    return y + C", {
            "f": {"binds"}, "T": {"late"}, "D": {"early"}, "R": {"late"}, "g": {"late"}, "C": {"late"}}),
        ("@wrap(A)\ndef f():\n    pass", {"f": {"binds"}, "wrap": {"early"}, "A": {"early"}}),
        ("class C(Base, metaclass=M):\n    n = K\n    m = n\n    def f(self):\n        return n, super(C, self)", {
            "C": {"binds", "late"}, "Base": {"early"}, "M": {"early"}, "K": {"early"}, "n": {"late"},
            "super": {"late"}}),
        ("a, (b, *c) = f(a)", {"a": {"binds", "early"}, "b": {"binds"}, "c": {"binds"}, "f": {"early"}}),
        ("total += more", {"total": {"binds", "early"}, "more": {"early"}}),
        ("f = lambda x, n=N: x + n + late", {"f": {"binds"}, "N": {"early"}, "late": {"late"}}),
        ("pairs = [x * y for x in xs for y in ys(x) if x > z]", {
            "pairs": {"binds"}, "xs": {"early"}, "ys": {"early"}, "z": {"early"}}),
        ("def f():\n    global seen\n    seen = [i for i in range(9)]\n    import os\n    return os", {
            "f": {"binds"}, "seen": {"late"}, "range": {"late"}}),
        (NESTED, {
            "f": {"binds"}, "E": {"late"}}),
        ("Model.forward = fast", {"Model": {"early"}, "fast": {"early"}}),
        ("if FAST:\n    from a import f\nelse:\n    def f(): pass", {"FAST": {"early"}, "f": {"binds"}}),
    ],
)  # fmt: skip
def test_what_a_statement_binds_and_reads(source, wanted):
    assert kinds(source) == wanted


def test_a_new_name_stands_in_all_its_places_and_nowhere_else():
    text = '''\
# attention is noted here
@logged(attention)
def attention(x, other=attention):  # attention
    """Not attention in words."""
    self.attention = lambda attention: attention  # a local one
    größe, attend = "attention", attention(x); return größe
'''
    wanted = '''\
# attention is noted here
@logged(attention_09)
def attention_09(x, other=attention_09):  # attention
    """Not attention in words."""
    self.attention = lambda attention: attention  # a local one
    größe, attend = "attention", attention_09(x); return größe
'''
    assert renamed(text, lambda number, use: "attention_09" if use.name == "attention" else use.name) == wanted


def test_a_class_is_renamed_with_its_own_mentions():
    text = "class Head(Base):\n    def __init__(self):\n        super(Head, self).__init__()"
    new = renamed(text, lambda number, use: {"Head": "Head09", "Base": "Base05"}.get(use.name, use.name))
    assert new == "class Head09(Base05):\n    def __init__(self):\n        super(Head09, self).__init__()"
