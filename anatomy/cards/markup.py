"""The marks in a sentence, `code`, **strong** and *emphasized*, as HTML."""

from __future__ import annotations

import re
from html import escape


def prose(text: str) -> str:
    """Escaped text with its marks set; what stands in code is left as it is."""
    parts = re.split(r"`([^`]+)`", escape(text))
    for index, part in enumerate(parts):
        if index % 2:
            parts[index] = f"<code>{part}</code>"
        else:
            strong = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
            parts[index] = re.sub(r"(?<![\w*])\*(\w[^*]*)\*(?![\w*])", r"<em>\1</em>", strong)
    return "".join(parts)
