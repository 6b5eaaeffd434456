"""The neuron view: where a score comes from, neuron by neuron of the query and the key."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.course.views.bertviz.frame import FramedView, framed
from anatomy.course.views.bertviz.parts import Part, labels, number, one_of, rounded, second_sentence, some_of
from anatomy.course.views.bertviz.recorded import LayerAttention, record_attention
from anatomy.course.views.heatmap import heat_map, heat_maps
from anatomy.course.views.words import number as said
from anatomy.engine.cards.markup import scrolling

MOST_NUMBERS = 300_000  # queries and keys of all heads and layers shown: about 1 MB in the saved notebook


def neuron_view(
    model: nn.Module,
    tokenizer: Any,
    sentence_a: Any,
    sentence_b: Any = None,
    *,
    layer: int | None = None,
    head: int | None = None,
    layers: Sequence[int] | None = None,
) -> FramedView:
    """BertViz's neuron view: point at a token and see its query times each token's key, neuron by neuron.

    The products' sum, divided by √K, is the score; its softmax the weight. Draws wherever the head view does. Below it,
    folded, are the queries, keys and weights of the head that it opens with, as still pictures and a table.

    Args:
        model: one stack in eval mode: BERT, RoBERTa, DistilBERT, GPT-2 … from the library, or a model of one's own
            with layers `q`, `k`, `v`, `output_linear` (see `record_attention`).
        tokenizer: the library's; or a dict from token to id, for a model that is called with ids (1, T).
        sentence_a, sentence_b: texts; with a dict sequences of its tokens, so texts if these are characters.
        layer, head: what to open with; None for the first.
        layers: the layers to show; None for all. A long sentence has room for a few only.

    Raises:
        ValueError: an empty sentence, an unknown token, an encoder–decoder, two sentences for a causal model, no such
            layer or head, too many numbers, or what `record_attention` refuses.

    Source: Vig 2019, A Multiscale Visualization of Attention in the Transformer Model, §3.3.
    """
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        raise ValueError(
            "The neuron view shows one stack: pass the encoder or the decoder alone, such as model.encoder"
        )
    inputs, tokens, start = _encoded(tokenizer, sentence_a, sentence_b)
    recorded = record_attention(model, **inputs) if isinstance(inputs, dict) else record_attention(model, inputs)
    if len({one.query.shape for one in recorded}) > 1 or recorded[0].weights.size(-1) != recorded[0].weights.size(-2):
        raise ValueError(
            "The neuron view shows one stack of layers that are alike, in which T tokens look at themselves"
        )
    shown = some_of(layers, len(recorded), "layers")
    if layer is not None and one_of(layer, len(recorded), "layer") not in shown:
        raise ValueError(f"layer={layer} is not among layers={shown}")
    first = shown.index(layer) if layer is not None else 0
    chosen = [recorded[index] for index in shown]
    if start is not None and chosen[0].causal:
        raise ValueError("A model that looks at earlier tokens only reads one text: pass both sentences as one")
    number_of = one_of(head, chosen[0].query.size(1), "head")
    if (size := 2 * len(chosen) * chosen[0].query.numel()) > MOST_NUMBERS:
        raise ValueError(f"{size:,} numbers are too many to draw: name some layers, such as layers=[0, 1]")

    weights = torch.cat([one.weights for one in chosen])  # (L, H, T, T)
    words = labels(tokens, weights.size(-1))
    part = Part(None, weights, words, words)
    opened = chosen[first]
    place = f"layer {shown[first]}, head {number_of}"
    still, alt = _still(opened, number_of, words, place)
    return framed(
        "neuron",
        [part.data(queries=_vectors(one.query for one in chosen), keys=_vectors(one.key for one in chosen))],
        controls=[("layer", "Layer"), ("att_head", "Head")],
        sentence_b_start=second_sentence(start, [part]),
        width=1044,
        height=round(190 + 26 * len(words)),
        words=f"Neuron view: {part.described()}, {number(opened.query.size(-1), 'neuron')} in each. {alt}",
        still=still,
        summary=f"{place.capitalize()} as still pictures and a table",
        layer=first,
        head=number_of,
        layers=shown,
        bidirectional=not opened.causal,
    )


def _vectors(layers: Any) -> list[Any]:  # L × (1, H, T, K)
    return [rounded(one[0], 3) for one in layers]


def _encoded(tokenizer: Any, sentence_a: Any, sentence_b: Any) -> tuple[Any, list[str], int | None]:
    """What the model is called with, the tokens, and where the second sentence starts."""
    if not sentence_a or (sentence_b is not None and not sentence_b):
        raise ValueError("An empty sentence has nothing to show")
    if isinstance(tokenizer, Mapping):
        tokens = [*sentence_a, *(sentence_b or ())]
        if unknown := [token for token in tokens if token not in tokenizer]:
            raise ValueError(f"{unknown[0]!r} is not in the vocabulary")
        ids = torch.tensor([[tokenizer[token] for token in tokens]])  # (1, T)
        return ids, tokens, len(sentence_a) if sentence_b else None
    if not isinstance(sentence_a, str) or not isinstance(sentence_b, str | None):
        raise ValueError("The view shows one sentence, or one pair: pass each as a text")
    encoded = tokenizer(sentence_a, sentence_b, return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    return dict(encoded), tokens, encoded.sequence_ids(0).index(1) if sentence_b else None


def _still(layer: LayerAttention, head: int, words: list[str], place: str) -> tuple[str, str]:
    """The view of one head without scripts, and in words."""
    query, key, weights = layer.query[0, head], layer.key[0, head], layer.weights[0, head]  # (T, K), (T, K), (T, T)
    vectors = heat_maps(
        [query, key],
        [f"Queries of {place}", f"Keys of {place}"],
        words,
        row_axis="token",
        column_axis="neuron",
        values=False,
    )
    map_of_weights = heat_map(weights, words, words, f"Weights of {place}", scale=(0.0, 1.0))
    rows = "\n".join(_row(t, query, key, weights, words) for t in range(len(words)))
    table = (
        '<table style="font-size:85%">\n'
        f"<caption>{place.capitalize()}: the key that each query looks at most. Its score is the sum of "
        f"{query.size(-1)} products, one per neuron, divided by √{query.size(-1)}</caption>\n"
        '<thead><tr><th scope="col">query</th><th scope="col">key</th><th scope="col">score</th>'
        '<th scope="col">weight</th><th scope="col">largest products</th></tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table>"
    )
    shown = scrolling(table, "Table: the key that each query looks at most")
    return f"{vectors.html()}\n{map_of_weights.html()}\n{shown}", map_of_weights.alt


def _row(t: int, query: Tensor, key: Tensor, weights: Tensor, words: list[str]) -> str:
    s = int(weights[t].argmax())
    products = query[t] * key[s]  # (K,)
    largest = torch.sort(products.abs(), descending=True, stable=True).indices[:3].tolist()
    terms = ", ".join(f"{said(float(products[i]))} (neuron {i})" for i in largest)
    cells = (f"{words[s]} ({s})", said(float(products.sum()) / products.numel() ** 0.5), f"{weights[t, s]:.2f}", terms)
    return (
        f'<tr><th scope="row">{html.escape(words[t])} ({t})</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        + "</tr>"
    )
