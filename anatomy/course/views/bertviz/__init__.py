"""BertViz's views as frames that always draw: no network, several on a page, saved notebooks, exported pages.

`frame.py` is what all views share: the libraries, the frame, its fallback. `parts.py` checks what is drawn, `still.py`
draws it without scripts. Each view has a module and a script of its own: `head`, `model`, `neuron`; the last reads
queries and keys of a model while it runs (`recorded.py`).
"""

from anatomy.course.views.bertviz.frame import FramedView
from anatomy.course.views.bertviz.head import head_view
from anatomy.course.views.bertviz.model import model_view
from anatomy.course.views.bertviz.neuron import neuron_view
from anatomy.course.views.bertviz.recorded import LayerAttention, record_attention

__all__ = ["FramedView", "LayerAttention", "head_view", "model_view", "neuron_view", "record_attention"]
