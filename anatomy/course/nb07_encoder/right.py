"""Right answers of 07-encoder: embeddings, a stack of layers, and the weights of a real BERT in it.

Sources: the encoder, Vaswani et al. 2017, §3.1; BERT's version of it, Devlin et al. 2019, §3.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig

from anatomy.course.nb05_encoder_layer.right import PostNormEncoderLayer
from anatomy.course.nb06_positional_encodings.right import Embeddings


def padding_mask(attention_mask: Tensor) -> Tensor:  # (B, S) -> (B, 1, 1, S)
    """Which keys may be looked at: True for real tokens, False for padding; broadcasts to (B, H, T, S).

    `attention_mask` is the tokenizer's: 1 for a real token, 0 for padding. Every sentence has a real token.
    """
    return attention_mask.bool()[:, None, None, :]


class TransformerEncoder(nn.Module):
    """Token ids in, one vector for each token out: `embeddings`, then the post-norm `layers` one after the other.

    Sizes come from `config`, the number of layers from `config.num_hidden_layers`. `attention_mask` (B, T) is 1 for
    real tokens and 0 for padding, which no token then attends to; None: all tokens are real. What comes out at
    padded positions has no meaning. There is no norm after the last layer: post-norm layers end with their own.
    Source: Vaswani et al. 2017, §3.1 and Figure 1, left; Devlin et al. 2019, §3.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # (B, T), (B, T) -> (B, T, D)
        mask = None if attention_mask is None else padding_mask(attention_mask)  # (B, 1, 1, T)
        x = self.embeddings(ids)  # (B, T, D)
        for layer in self.layers:
            x = layer(x, mask)
        return x


def load_bert_weights(encoder: Any, state_dict: dict[str, Tensor]) -> None:
    """Copy the weights of a Hugging Face `BertModel` into a post-norm encoder.

    `encoder` has `embeddings` and `layers` with the names of notebooks 05 and 06; `state_dict` is the library model's.
    The encoder knows no token types, so the vector of type 0 is added to every row of its position table: each token
    has exactly one position, and the sum that enters the norm is the same. The pooler is left out.

    Raises
    ------
    KeyError
        When the dict lacks an entry that the encoder needs.
    ValueError
        When the dict has a layer that the encoder has not.
    RuntimeError
        When a shape differs (from `load_state_dict`).
    """
    names = {
        "attention.q": "attention.self.query",
        "attention.k": "attention.self.key",
        "attention.v": "attention.self.value",
        "attention.output_linear": "attention.output.dense",
        "layer_norm_1": "attention.output.LayerNorm",
        "feed_forward.linear_1": "intermediate.dense",
        "feed_forward.linear_2": "output.dense",
        "layer_norm_2": "output.LayerNorm",
    }
    depth = len(encoder.layers)
    if any(key.startswith(f"encoder.layer.{depth}.") for key in state_dict):
        raise ValueError(f"the encoder has {depth} layers, the state dict has more")
    segment = state_dict["embeddings.token_type_embeddings.weight"][0]  # (D,)
    mine = {
        "embeddings.token_embeddings.weight": state_dict["embeddings.word_embeddings.weight"],  # (V, D)
        "embeddings.position_embeddings.weight": state_dict["embeddings.position_embeddings.weight"] + segment,
    }
    for part in ("weight", "bias"):
        mine[f"embeddings.layer_norm.{part}"] = state_dict[f"embeddings.LayerNorm.{part}"]
        for number in range(depth):
            for name, theirs in names.items():
                mine[f"layers.{number}.{name}.{part}"] = state_dict[f"encoder.layer.{number}.{theirs}.{part}"]
    encoder.load_state_dict(mine)  # strict: refuses when a name is missing or left over


def masked_mean(hidden: Tensor, attention_mask: Tensor) -> Tensor:  # (B, T, D), (B, T) -> (B, D)
    """The mean of each sentence's real tokens; `attention_mask` is 1 for these and 0 for padding.

    Source: Reimers and Gurevych 2019, §3 (mean pooling).
    """
    keep = attention_mask.unsqueeze(-1).to(hidden.dtype)  # (B, T, 1)
    return (hidden * keep).sum(dim=1) / keep.sum(dim=1)  # (B, D) / (B, 1)


def flies_by_layer(model: Any, sentences: list[str]) -> Tensor:  # N sentences -> (L + 1, N, D)
    """The vector of "flies" in each sentence, at the embeddings (index 0) and after each of L layers.

    `model(sentences)` gives token ids (N, T) and a list of L + 1 hidden states (N, T, D); `model.tokenizer` knows the
    id of "flies". Raises ValueError unless every sentence has exactly one "flies".
    """
    ids, hidden_states = model(sentences)  # (N, T), L + 1 times (N, T, D)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")  # (N, T)
    if not (found.sum(dim=1) == 1).all():
        raise ValueError("every sentence must have exactly one “flies”")
    return torch.stack([hidden[found] for hidden in hidden_states])


def nearest_centroid(train: Tensor, labels: Tensor, test: Tensor) -> Tensor:  # (N, D), (N,), (M, D) -> (M,)
    """For each vector of `test`, the label whose vectors in `train` have the nearest mean (Euclidean distance).

    `labels` are 0 … C − 1, and each occurs. Source: Tibshirani et al. 2002, §2 (nearest centroids, before shrinkage).
    """
    classes = range(int(labels.max()) + 1)
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in classes])  # (C, D)
    return torch.cdist(test, centroids).argmin(dim=1)  # (M, C) -> (M,)


quiz_encoder = {
    "a padding mask hides": "keys",
    "BERT's weights in a pre-norm stack": "other numbers, no error",
    "a key that strict=False skips": "keeps its random start",
    "flies at depth 0 knows": "word and position",
}
