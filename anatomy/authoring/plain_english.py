"""Plain English: what proselint finds in a text, and the words for which this course has better ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proselint.checks import __register__ as GENERAL
from proselint.config import Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check
from proselint.registry.checks.types import PreferredForms
from proselint.tools import LintFile

from anatomy.authoring.markdown import prose

WORDS = {
    r"(?:hold|holds|held|holding) (?:\w+ )?against": "compare with",
    r"anew": "again",
    r"all the same": "still",
    r"rightly": "correctly",
    r"spoil(?:s|ed|t|ing)?": "corrupt",
    r"(?:foretells?|foretold)": "predict",
    r"namely": "that is",
    r"so to speak": "nothing: leave it out",
    r"the more, the": "two clauses with a subject each",
    r"one and the same": "the same",
    r"who (?:is|are) to|what (?:is|are) to be": "a clause with its own subject: what X has to do",
    r"(?:hereby|herewith|therein|thereof|whereof|whence|thence)": "a plain word",
    r"(?:at|in|on|of) places? [X\d]+": "position",
    r"is there so that": "a sentence that begins with what it does",
    r"what for": "why",
    r"colour(?:s|ed|ing)?": "color",
    r"centred?": "center",
    r"labell(?:ed|ing)": "labeled",
    r"grey": "gray",
    r"neighbours?|neighbouring": "neighbor",
    r"behaviours?": "behavior",
    r"favou?rable|favour(?:s|ed|ite)?": "favor",
    r"(?:recogni|normali|initiali|organi|reali|summari|generali|regulari|optimi|visuali|standardi|minimi|maximi|memori)"
    r"(?:se|ses|sed|sing|sation)": "the American spelling, with z",
    r"analys(?:e|ed|ing)": "analyze",
    r"(?:modell|travell|cancell)(?:ed|ing)": "one l",
}
"""Pattern → what to write. Code and formulas are ``X`` when it is looked for."""
BROAD = (
    "archaism", "hedging", "industrial_language", "malapropisms", "mixed_metaphors", "mondegreens",
    "needless_variants", "nonwords", "oxymorons", "redundancy", "skunked_terms", "uncomparables",
)  # fmt: skip
"""What is taken from proselint: no typography, which is ours, and no taste."""
_OWN = "transformer-anatomy"
_TITLE = re.compile(r"(?<!\*)\*[A-Z][^*\n]{12,}\*")
"""A title in italics, as of a paper."""
_CONFIG = Config(max_errors=1000, checks=dict.fromkeys((_OWN, *BROAD), True))

CheckRegistry().register_many(
    (*GENERAL, Check(PreferredForms(WORDS), path=f"{_OWN}.words", message='"{1}": write {0}.'))
)


def complaints(text: str) -> Iterator[str]:
    """What to write otherwise in a Markdown text. Code, formulas, addresses and titles in italics are left out."""
    bare = _TITLE.sub("X", prose(text, code="X", formula="X", address="X", tag="X"))
    for result in LintFile("text", bare).lint(_CONFIG) if bare.strip() else ():
        yield result.check_result.message
