"""BertViz's views as frames that always draw: no network, several on a page, saved notebooks, exported pages.

`frame.py` is the part that all views share: the libraries, the frame, its fallback. Each view has a module of its own:
`head.py` now; the model view and the neuron view get theirs beside it (`model.py`, `neuron.py`).
"""

from anatomy.views.bertviz.frame import FramedView
from anatomy.views.bertviz.head import head_view

__all__ = ["FramedView", "head_view"]
