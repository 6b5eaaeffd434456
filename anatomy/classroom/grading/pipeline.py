"""The steps of autograding, as ``nbgrader_config.py`` lists them for nbgrader, and doing a worker's part of them.

`nbgrader autograde` does all steps in one process. `anatomy grade` has workers do them, except those that go to the
gradebook: workers have none, and `anatomy.classroom.grading.gradebook` does what these do.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties, OverwriteCells, OverwriteKernelspec, SaveAutoGrades
from traitlets.config import Config, Configurable
from traitlets.utils.importstring import import_item

from anatomy.engine.errors import UserError

GRADEBOOK_STEPS = (OverwriteKernelspec, OverwriteCells, SaveAutoGrades, AssignLatePenalties)
"""The steps that go to the gradebook. The first two restore from it what `Repair` has restored already."""
KERNELS = "ForkedKernelManager"
"""The settings of kernels, which `RunAndObserve` starts."""


class BadPipeline(UserError):
    """``nbgrader_config.py`` says something of the steps that workers can't go by."""


def configured_steps(config: Config) -> list[type]:
    """The classes of all steps, in their order."""
    autograde = Autograde(config=config)
    named = [*autograde.sanitize_preprocessors, *autograde.autograde_preprocessors]
    return [import_item(step) if isinstance(step, str) else step for step in named]


def worker_pipeline(config: Config) -> dict[str, Any]:
    """A worker's part of the steps, and their settings, as JSON has it.

    Raises
    ------
    BadPipeline
        When it can't be said in JSON.
    """
    steps = [step for step in configured_steps(config) if not issubclass(step, GRADEBOOK_STEPS)]
    sections = {base.__name__ for step in steps for base in step.__mro__ if issubclass(base, Configurable)} | {KERNELS}
    settings = {name: config[name] for name in sorted(sections) if name in config}
    for name, section in settings.items():
        try:
            json.dumps(section)
        except TypeError as error:
            raise BadPipeline(f"nbgrader_config.py: the settings of c.{name} can't be sent to workers ({error}). "
                              "Write texts, numbers, lists and dicts.") from None  # fmt: skip
    return {"steps": [f"{step.__module__}.{step.__qualname__}" for step in steps], "settings": settings}


def run_steps(
    pipeline: Mapping[str, Any], book: NotebookNode, resources: ResourcesDict, log: logging.Logger
) -> tuple[NotebookNode, ResourcesDict]:
    """Do what `worker_pipeline` says."""
    config = Config(pipeline["settings"])
    for name in pipeline["steps"]:
        book, resources = import_item(name)(config=config, log=log)(book, resources)
    return book, resources
