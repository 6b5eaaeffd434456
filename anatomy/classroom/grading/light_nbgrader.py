"""nbgrader without its parts for JupyterLab's server, which `import nbgrader` loads with all that they need.

They bring every nbgrader command, Jupyter's server and requests. A run that finds nothing to do would spend a quarter
of its time on them.
"""

from __future__ import annotations

import importlib
import sys
from functools import partial
from types import ModuleType
from typing import Any

_SERVER = "nbgrader.server_extensions"
_PARTS = ("assignment_list", "course_list", "formgrader", "validate_assignment")
_LOAD = "load_jupyter_server_extension"


def import_light_nbgrader() -> None:
    """Import nbgrader; its server's parts are loaded when somebody asks for them. Does nothing when it is there."""
    if "nbgrader" in sys.modules:
        return
    stand_ins = {name: ModuleType(name) for name in (f"{_SERVER}.{part}" for part in _PARTS)}
    for name, module in stand_ins.items():
        setattr(module, _LOAD, partial(_load, name))
    sys.modules.update(stand_ins)
    try:
        importlib.import_module("nbgrader")
    finally:
        for name in stand_ins:
            del sys.modules[name]


def _load(name: str, app: Any) -> None:
    getattr(importlib.import_module(name), _LOAD)(app)
