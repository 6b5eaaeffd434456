"""Pictures for the notebooks. Each function returns a figure that carries its alt text and shows itself with it.

A new view goes into a module of its own and is named here; `style` has the colors and the figure that shows itself.
"""

from anatomy.course.views.addresses import number_tables
from anatomy.course.views.attention import attention_flow, head_grid
from anatomy.course.views.bars import bar_chart, histogram
from anatomy.course.views.bertviz import head_view, model_view, neuron_view, record_attention
from anatomy.course.views.bridge import cross_attention_table, decoder_layer
from anatomy.course.views.curves import line_chart, line_charts
from anatomy.course.views.decoder import decoder_block
from anatomy.course.views.family import family_table, family_tree
from anatomy.course.views.heatmap import heat_map, heat_maps
from anatomy.course.views.images import image_grid
from anatomy.course.views.masks import mask_grids
from anatomy.course.views.modern import two_blocks
from anatomy.course.views.one_hot import one_hot_product
from anatomy.course.views.pieces import head_split, merge_steps, token_strip
from anatomy.course.views.progress import ProgressBar
from anatomy.course.views.projection import project_2d, projection
from anatomy.course.views.sequences import search_tree, sequence_rows
from anatomy.course.views.style import Picture, figure, show, use_style

__all__ = [
    "Picture",
    "ProgressBar",
    "attention_flow",
    "bar_chart",
    "cross_attention_table",
    "decoder_block",
    "decoder_layer",
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
    "two_blocks",
    "use_style",
]
