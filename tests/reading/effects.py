"""Check an answer of which an edit does something that no notebook should suffer, and print what came of each.

python -m tests.reading.effects FOLDER STEP

It takes every STEP-th effect and prints a JSON object a line. A line is missing when this process did not survive.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
from pathlib import Path
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.engine.checking import judging_here

SETUP = """
import ctypes, os, signal, subprocess, sys, threading, time
import torch
from anatomy import check

class Box:
    value = "kept"

box, items, memory = Box(), ["kept"], torch.ones(2)
"""

ANSWER = """
def dot_product_scores(query, key):
    do_it = 0
    if do_it:
        effect()
    scores = torch.zeros(len(query), query.size(1), key.size(1))
    for d in range(1, query.size(-1)):
        scores = scores + query[:, :, d, None] * key[:, None, :, d]
    return scores
"""
"""The edit that mends it stands behind the one that makes `effect` happen: constants are tried from above."""

EFFECTS = {
    "lists that contain each other": "a = [1]; b = [a]; a.append(b); torch.tensor(a)",
    "a wrong address": "ctypes.string_at(0)",
    "abort": "os.abort()",
    "the end of the process": "os._exit(0)",
    "exit": "sys.exit()",
    "an interrupt raised": "raise KeyboardInterrupt",
    "an interrupt sent": "signal.raise_signal(signal.SIGINT)",
    "the notebook's own end": "os.kill(os.getppid(), signal.SIGKILL)",
    "one large list": "[0] * 10**10",
    "many small ones": "kept = []\n    while True: kept.append(bytearray(1 << 24))",
    "a loop in C": "sum(range(10**12))",
    "a number that takes hours": "10 ** 10**9",
    "a wait": "time.sleep(1000)",
    "a deadlock": "threading.Lock().acquire(); lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "a thread that never ends": "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "a file emptied": "open(FILE, 'w').close()",
    "a file removed": "os.remove(FILE)",
    "a file beside the notebook, from C": "torch.save(torch.ones(3), 'new.pt')",
    "a program": "subprocess.run(['touch', f'{FILE}.new'])",
    "a flood": "print('x' * 10**7); sys.stderr.write('x' * 10**7); os.write(1, b'flood' * 10**5)",
    "a question": "input('?')",
    "other objects": "box.value = 'lost'; items.clear(); memory.zero_(); globals()['box'] = None",
    "another seed": "torch.manual_seed(5); torch.rand(3)",
    "all files closed": "os.closerange(3, 4096)",
}  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1])
    os.environ["ANATOMY_HOME"] = str(folder / "home")
    work, file = folder / "work", folder / "kept.txt"
    work.mkdir()
    os.chdir(work)
    file.write_text("kept")
    shell = InteractiveShell.instance()
    shell.user_ns |= {"FILE": str(file), "happened": (happened := mmap.mmap(-1, 1))}  # shared with copies
    with mock.patch.multiple(judging_here, LEAST=20.0, MOST=20.0):  # on any machine
        for name, effect in list(EFFECTS.items())[:: int(sys.argv[2])]:
            happened[0] = 0
            shell.run_cell(SETUP)
            shell.run_cell(f"def effect():\n    happened[0] = 1\n    {effect}")
            shell.run_cell(ANSWER)
            before = shell.user_ns["torch"].get_rng_state().tolist()
            names = {key for key in shell.user_ns if not key.startswith("_")}
            with capture_output() as captured:
                shell.run_cell('check("dot_product_scores")')
            box, items, memory = (shell.user_ns[key] for key in ("box", "items", "memory"))
            seen = {
                "effect": name,
                "happened": happened[0] == 1,
                "card": captured.outputs[0].data.get("text/plain", "") if captured.outputs else "",
                "objects": [getattr(box, "value", None), items, memory.tolist()],
                "names": sorted(names ^ {key for key in shell.user_ns if not key.startswith("_")}),
                "same random numbers": before == shell.user_ns["torch"].get_rng_state().tolist(),
                "files": sorted(str(path.relative_to(folder)) for path in (*folder.glob("*"), *work.glob("*"))),
                "file": file.read_text() if file.exists() else None,
                "printed": (captured.stdout + captured.stderr)[:1000],
            }
            sys.__stdout__.write(json.dumps(seen) + "\n")
            sys.__stdout__.flush()


if __name__ == "__main__":
    main()
