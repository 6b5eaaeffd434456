"""What all tables for spreadsheets have in common: nothing in them is taken for a formula, and they appear whole."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

FORMULAS = tuple("=+-@\t\r\n＝＋－＠")
"""What a formula may begin with: OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection."""


def no_formula(text: str) -> str:
    """Text that a spreadsheet will not take for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULAS) else text


def number(value: float | None) -> str:
    """Points as they are written; what is unknown is an empty field."""
    return "" if value is None else f"{value:g}"


def write_rows(rows: Iterable[Iterable[str]], path: Path) -> None:
    """Put a file of comma-separated values in its place, whole or not at all.

    Raises
    ------
    OSError
        When it can't be written.
    """
    fresh = path.with_name(path.name + ".tmp")
    with fresh.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    fresh.replace(path)
