"""The program as a file: a first word, the imports, then a section for each notebook."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping

from anatomy.course.assembling.compose import Program
from anatomy.course.assembling.gather import Import, Piece
from anatomy.engine.course import Notebook

WIDTH = 120

_TITLE = '"""My Transformer: my own answers to the exercises of Transformer Anatomy.'
_ENCODER = """\
The encoder, with the weights of a real BERT:

    bert = transformers.AutoModel.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")
    encoder = TransformerEncoder(bert.config).eval()
    load_bert_weights(encoder, bert.state_dict())
    hidden = encoder(ids, attention_mask)  # (B, T) -> (B, T, D)"""
_DECODER = """\
The decoder, with the weights of GPT-2:

    gpt2 = transformers.GPT2LMHeadModel.from_pretrained("gpt2")
    gpt = GPT(gpt2.config).eval()
    load_gpt2_weights(gpt, gpt2.state_dict())
    logits = gpt(ids)  # (B, T) -> (B, T, V)"""
_MODERN = """\
The decoder of today, with a config of the library:

    llama = Llama(transformers.LlamaConfig()).eval()
    logits = llama(ids)  # (B, T) -> (B, T, V)"""


def lay_out(program: Program, remarks: Mapping[Piece, str], missing: Mapping[Notebook, list[str]]) -> str:
    """The file's text, unformatted.

    Parameters
    ----------
    remarks
        What to say above a piece.
    missing
        What to say of a notebook's exercises that are not in the file, in sentences. A notebook of which nothing is in
        the file has no section.
    """
    defined = {name for section in program.sections for piece in section.pieces for name in piece.binds}
    uses = [text for text, names in ((_ENCODER, {"TransformerEncoder", "load_bert_weights"}),
                                     (_DECODER, {"GPT", "load_gpt2_weights"}), (_MODERN, {"Llama"}))
            if names <= defined]  # fmt: skip
    last = "Put together from the notebooks by `anatomy assemble`."
    parts = ["\n\n".join([_TITLE, *uses, last]) + '\n"""', "from __future__ import annotations"]
    own = {one: name for one, name in program.imports.items() if not one.from_reference}
    course = {one: name for one, name in program.imports.items() if one.from_reference}
    parts += [imports] if (imports := import_lines(own)) else []
    parts += ["# The course's, where mine is still missing:\n" + import_lines(course)] if course else []
    text = "\n\n".join(parts)
    apart = "\n\n"  # as isort wants it after imports
    for section in program.sections:
        if not section.pieces:
            continue
        book = section.gathered.book
        text += f"{apart}# {'-' * (WIDTH - 2)}\n# {book.number:02d}  {book.title}\n# {'-' * (WIDTH - 2)}"
        text += "".join(f"\n\n{_comment(sentence)}" for sentence in missing.get(book, ()))
        before: Piece | None = None
        for piece in section.pieces:
            close = before is not None and not before.is_definition and not piece.is_definition
            remark = f"{_comment(remarks[piece])}\n" if piece in remarks else ""
            text += ("\n" if close else "\n\n\n") + remark + program.text(piece)
            before = piece
        apart = "\n\n\n"
    return text + "\n"


def import_lines(imports: Mapping[Import, str]) -> str:
    """Import statements, each module once, grouped and sorted as ruff and isort do."""
    plain: set[tuple[str, str]] = set()
    from_modules: dict[str, set[tuple[str, str]]] = {}
    for one, name in imports.items():
        if one.attribute:
            from_modules.setdefault(one.module, set()).add((one.attribute, name))
        else:
            plain.add((one.module, name))
    groups: dict[int, list[str]] = {}
    for module, name in sorted(plain):
        same = name == module.partition(".")[0]
        groups.setdefault(_group(module), []).append(f"import {module}" + ("" if same else f" as {name}"))
    for module, found in sorted(from_modules.items()):
        names = sorted(found, key=lambda item: (_import_order(item[0]), item))
        what = ", ".join(attribute + ("" if attribute == name else f" as {name}") for attribute, name in names)
        groups.setdefault(_group(module), []).append(f"from {module} import {what}")
    return "\n\n".join("\n".join(lines) for _, lines in sorted(groups.items()))


def formatted(text: str) -> tuple[str, bool]:
    """The text as ruff formats it, and whether it could."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--quiet", f"--line-length={WIDTH}", "-"]
    try:
        run = subprocess.run(command, input=text.encode(), capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return text, False
    return (run.stdout.decode().replace("\r\n", "\n"), True) if run.returncode == 0 and run.stdout else (text, False)


def _comment(sentence: str) -> str:
    wrapper = textwrap.TextWrapper(
        WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )
    return wrapper.fill(sentence)


def _group(module: str) -> int:
    root = module.partition(".")[0]
    return 0 if root in sys.stdlib_module_names else 2 if root == "anatomy" else 1


def _import_order(name: str) -> int:
    """Constants before classes before functions."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2


def listed(words: Iterable[str]) -> str:
    """``a, b and c``."""
    items = list(words)
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
