"""Whether the settings in a block of configuration belong to classes that have them."""

from __future__ import annotations

import contextlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from guide import ROOT
from traitlets.config import Config, Configurable
from traitlets.config.loader import LazyConfigValue


def unknown_settings(text: str) -> list[str]:
    """The settings of this block, ``Class.trait``, that no program of a class or a hub knows.

    The block is run as nbgrader and JupyterHub run it; a file of the repository that it loads first is, too.
    """
    config = Config()

    def load(name: str) -> None:
        inside = [ROOT.joinpath(*Path(name).parts[start:]) for start in range(1, len(Path(name).parts))]
        file = next(path for path in inside if path.is_file())
        run(file.read_text(encoding="utf-8"), str(file))

    def run(text: str, file: str) -> None:
        scope = {"c": config, "get_config": lambda: config, "load_subconfig": load, "__file__": file}
        exec(compile(text, file, "exec"), scope)

    run(text, "a guide")
    found = []
    for name, section in config.items():
        traits = {trait for kind in _classes().get(name, ()) for trait in kind.class_traits(config=True)}
        found += [f"{name}.{trait}" for trait in section if trait not in traits]
        for trait, value in section.items():
            if trait in traits and not isinstance(value, LazyConfigValue):
                _validate(name, trait, value)
    return found


def _validate(name: str, trait: str, value: Any) -> None:
    """A value of the wrong kind raises TraitError, as it would when the program starts."""
    for kind in _classes()[name]:
        if item := kind.class_traits(config=True).get(trait):
            item._validate(kind.__new__(kind), value)


@cache
def _classes() -> dict[str, list[type[Configurable]]]:
    """All configurable classes, by name, once everything that guides configure is imported."""
    from nbgrader.apps.nbgraderapp import NbGraderApp

    NbGraderApp().all_configurable_classes()
    for name in ("exports", "preprocessors", "course_kernels"):
        import_module(f"anatomy.classroom.grading.{name}")
    with contextlib.suppress(ImportError):
        import_module("jupyterhub.app")
    found: dict[str, list[type[Configurable]]] = {}
    todo: list[type] = [Configurable]
    while todo:
        kind = todo.pop()
        if kind.__name__ not in found or kind not in found[kind.__name__]:
            found.setdefault(kind.__name__, []).append(kind)
            todo += kind.__subclasses__()
    return found
