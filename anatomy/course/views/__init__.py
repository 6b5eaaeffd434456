"""Pictures for the notebooks. Each function returns a figure that carries its alt text and shows itself with it.

A new view goes into a module of its own and is named here; `style` has the colors and the figure that shows itself.
"""

from anatomy.views.addresses import number_tables
from anatomy.views.attention import attention_flow, head_grid
from anatomy.views.bars import bar_chart, histogram
from anatomy.views.bertviz import head_view, model_view, neuron_view, record_attention
from anatomy.views.curves import line_chart, line_charts
from anatomy.views.family import family_table, family_tree
from anatomy.views.heatmap import heat_map, heat_maps
from anatomy.views.images import image_grid
from anatomy.views.masks import mask_grids
from anatomy.views.one_hot import one_hot_product
from anatomy.views.pieces import head_split, merge_steps, token_strip
from anatomy.views.progress import ProgressBar
from anatomy.views.projection import project_2d, projection
from anatomy.views.sequences import search_tree, sequence_rows
from anatomy.views.style import Picture, figure, show, use_style

__all__ = [
    "Picture",
    "ProgressBar",
    "attention_flow",
    "bar_chart",
    "family_table",
    "family_tree",
    "figure",
    "head_grid",
    "head_split",
    "head_view",
    "heat_map",
    "heat_maps",
    "histogram",
    "image_grid",
    "line_chart",
    "line_charts",
    "mask_grids",
    "merge_steps",
    "model_view",
    "neuron_view",
    "number_tables",
    "one_hot_product",
    "project_2d",
    "projection",
    "record_attention",
    "search_tree",
    "sequence_rows",
    "show",
    "token_strip",
    "use_style",
]
