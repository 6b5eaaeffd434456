"""A tree is copied whole, and without what others hang on it."""

from __future__ import annotations

import ast

from anatomy.engine.reading.syntax import copied

PROGRAM = "def f(x, *, y=[1, None]):\n    for a, b in x:\n        a.b[0] += {**y}[f'{b!r}'] if a < b <= 2 else yes\n"


def test_a_copy_is_the_same_program_at_the_same_places_in_nodes_of_its_own():
    tree = ast.parse(PROGRAM)
    copy = copied(tree)
    assert ast.dump(copy, include_attributes=True) == ast.dump(tree, include_attributes=True)
    assert not {id(node) for node in ast.walk(copy)} & {id(node) for node in ast.walk(tree)}


def test_what_a_traceback_hangs_on_the_nodes_that_all_programs_share_is_not_copied():
    tree = ast.parse(PROGRAM)
    read = tree.body[0].body[0].iter.ctx
    assert read is ast.parse("other").body[0].value.ctx
    read.parent = ast.parse("a whole module".replace(" ", "\n"))
    try:
        copy = copied(tree)
    finally:
        del read.parent
    assert not any(hasattr(node, "parent") for node in ast.walk(copy))
