"""This course: its notebooks, the words that are its own, and what belongs to it alone.

nb03_softmax, …           a notebook's exercises: what is asked, what is right, what goes wrong
views, scenes, maps       what the notebooks show
checkpoints, datasets     what they read, with the files in `data`
assembling                a student's answers as one module that has BERT and GPT in it
"""

from anatomy.engine.class_edition import class_edition
from anatomy.engine.course import Course, Notebook

_WHOLE = (
    Notebook("00-start-here", "Start here"),
    Notebook("01-embedding-lookup", "From text to vectors"),
    Notebook("02-attention-scores", "Attention scores"),
    Notebook("03-softmax", "Softmax and weighted values"),
    Notebook("04-heads", "Heads"),
    Notebook("05-encoder-layer", "The encoder layer"),
    Notebook("06-positional-encodings", "Positional encodings"),
    Notebook("07-encoder", "The encoder with real weights"),
    Notebook("08-classification-head", "Classification heads"),
    Notebook("09-causal-mask", "The causal mask: a model that writes"),
    Notebook("10-encoder-decoder", "Encoder and decoder: reading one, writing another"),
    Notebook("11-bertviz", "BertViz: what heads look at"),
    Notebook("12-pretraining", "Pretraining: text as its own teacher"),
    Notebook("13-family-tree", "The family tree"),
    Notebook("14-since-gpt-2", "Since GPT-2: the models of today"),
)

_edition = class_edition()


def _beside(notebook: Notebook) -> dict[str, str]:
    from anatomy.course.maps import drawings_beside

    return drawings_beside(notebook)


COURSE = Course(
    __name__,
    tuple(book for book in _WHOLE if _edition is None or book.slug in _edition.notebooks),
    axes={
        "B": "batch",
        "T": "queries",
        "S": "keys",
        "D": "width",
        "H": "heads",
        "K": "head width",
        "V": "vocabulary",
        "F": "feed-forward width",
        "N": "number of items",
    },
    parameter_words=frozenset({
        "attention", "bias", "blocks", "classifier", "cross_attention", "decoder_layers", "embeddings", "encoder",
        "encoder_layers", "feed_forward", "heads", "k", "layer_norm", "layer_norm_1", "layer_norm_2", "layer_norm_3",
        "layers", "linear", "linear_1", "linear_2", "linear_down", "linear_gate", "linear_up", "lora_A", "lora_B",
        "output_linear", "position_embeddings", "q", "rms_norm", "rms_norm_1", "rms_norm_2", "token_embeddings", "v",
        "weight",
    }),
    config_sizes=(
        "hidden_size", "num_attention_heads", "intermediate_size", "num_hidden_layers", "max_position_embeddings",
        "vocab_size", "num_labels", "hidden_size // num_attention_heads",
    ),
    beside=_beside,
    shown=frozenset({"assembling", "checkpoints", "data", "datasets", "exploring", "memory", "scenes", "views"}),
)  # fmt: skip
"""The whole course; in the edition for a class, as far as it has come."""
