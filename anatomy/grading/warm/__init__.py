"""Warm kernels: a process that has imported everything makes a ready Jupyter kernel of a copy of itself.

parent ── one process, in the sandbox: has imported torch, transformers, matplotlib; knows nothing of submissions
  └─ supervisor ── one for each kernel: a room of its own, signals, limits, the end of everything
       └─ kernel ── an ordinary IPython kernel, ready about a tenth of a second after it was asked for

`manager` is Jupyter's side, `service` starts and ends the parent, `inside` is what runs in the sandbox.
"""
