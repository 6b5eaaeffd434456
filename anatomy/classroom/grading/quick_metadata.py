"""nbgrader's check of cells' metadata without checking its own schema for each cell, six times as much work."""

from __future__ import annotations

import json
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match
from nbgrader.nbgraderformat import common


def check_schema_once() -> None:
    """Have nbgrader check each of its schemas once in this process. What it says of metadata stays the same."""
    common.jsonschema = SimpleNamespace(validate=_validate)


def _validate(instance: Any, schema: dict[str, Any]) -> None:
    """As `jsonschema.validate`."""
    if error := best_match(_validator(json.dumps(schema)).iter_errors(instance)):
        raise error


@lru_cache(maxsize=8)
def _validator(schema: str) -> Any:
    """What validates by a schema, which is checked."""
    read = json.loads(schema)
    kind = jsonschema.validators.validator_for(read)
    kind.check_schema(read)
    return kind(read)
