"""Wrong answers to the exercises of 07-encoder."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.encoder import padding_mask, quiz_encoder
from anatomy.reference.encoder_layer import PostNormEncoderLayer, TransformerEncoderLayer
from anatomy.reference.positional_encodings import Embeddings

# ---------------------------------------------------------------------------------------------- padding_mask


@misconception(
    "The sign is the wrong way round: you push the real tokens down and leave the padding. What is added must be 0 where the attention mask is 1, and very negative where it is 0.",
    breaks=("values", "large scores"),
)
def padding_mask__real_tokens_pushed_down(attention_mask):
    return attention_mask[:, None, None, :] * -1e9


@misconception(
    "You push the real tokens up instead of the padding down. On paper the softmax is the same; but a float32 has seven digits, and next to 1e9 the scores themselves are rounded away. Add 0 to real tokens and something very negative to padding.",
    breaks=("values", "large scores"),
)
def padding_mask__real_tokens_pushed_up(attention_mask):
    return attention_mask[:, None, None, :] * 1e9


@misconception(
    "You push the padding up: a large positive number added to a score draws nearly all the attention there. It has to be very negative.",
    breaks=("values", "large scores"),
)
def padding_mask__padding_pushed_up(attention_mask):
    return (1.0 - attention_mask[:, None, None, :]) * 1e9


@misconception(
    "Your boolean mask is True at the padding. PyTorch's attention reads True as “may be looked at”. (`masked_fill` and `key_padding_mask` read it the other way, which is how this happens.)",
    breaks=("values", "large scores"),
)
def padding_mask__true_at_padding(attention_mask):
    return (attention_mask == 0)[:, None, None, :]


@misconception(
    "Your mask shifts scores by 1 only (real tokens up, or padding down, which is the same to a softmax): padding keeps about a third of its attention. Make the mask boolean, or put a very negative number where there is a 0.",
    breaks=("values", "large scores"),
)
def padding_mask__ones_added(attention_mask):
    return attention_mask[:, None, None, :].float()


@misconception(
    "Your mask holds whole numbers, and attention can't tell whether a 1 means “keep” or “add one”. Make it boolean (`.bool()`), or a float tensor of what is to be added.",
    breaks=("shape", "values", "large scores"),
)
def padding_mask__whole_numbers(attention_mask):
    return attention_mask[:, None, None, :]


@misconception(
    "You mask the queries: in your (B, 1, S, 1) the padding lies along the rows. What must be hidden are the keys, the columns: (B, 1, 1, S). What a padding token itself looks at harms nobody.",
    breaks=("shape", "values", "large scores"),
)
def padding_mask__queries(attention_mask):
    return attention_mask.bool()[:, None, :, None]


@misconception(
    "You mask the queries as well as the keys, (B, 1, S, S). Hiding keys is enough, and there need not be as many queries as keys. (A row in which nothing may be looked at has no softmax: by hand it becomes NaN.)",
    breaks=("shape", "values", "large scores"),
)
def padding_mask__queries_and_keys(attention_mask):
    keep = attention_mask.bool()
    return keep[:, None, :, None] & keep[:, None, None, :]


@misconception(
    "You repeat the mask for S queries, (B, 1, S, S). There need not be as many queries as keys: leave that axis at 1, and it fits any number.",
    breaks=("shape", "values", "large scores"),
)
def padding_mask__square(attention_mask):
    return attention_mask.bool()[:, None, None, :].expand(-1, 1, attention_mask.size(1), -1)


@misconception(
    "Your mask still has the shape (B, S). Shapes are matched from the right, so the batch would be taken for the queries: two axes of size 1 must go in between, (B, 1, 1, S).",
    breaks=("shape", "values", "large scores"),
)
def padding_mask__no_new_axes(attention_mask):
    return attention_mask.bool()


@misconception(
    "One axis is missing: your (B, 1, S) meets (B, H, T, S) from the right, and the batch is taken for the heads. It takes two: (B, 1, 1, S).",
    breaks=("shape", "values", "large scores"),
)
def padding_mask__one_new_axis(attention_mask):
    return attention_mask.bool()[:, None, :]


@misconception(
    "0 · (−∞) is not 0 but NaN: multiplying by −∞ spoils the real tokens. Use `masked_fill`, `torch.where`, a boolean mask, or a large finite number.",
    breaks=("values", "large scores"),
)
def padding_mask__zero_times_infinity(attention_mask):
    return (1.0 - attention_mask[:, None, None, :]) * float("-inf")


@misconception(
    "−100 is not negative enough: scores can differ by more than that, and then padding is looked at. Take −1e9, −∞, or a boolean mask.",
    breaks=("large scores",),
)
def padding_mask__minus_one_hundred(attention_mask):
    return (1.0 - attention_mask[:, None, None, :]) * -100.0


@misconception(
    "Every sentence gets the first one's mask. Sentences have different lengths: keep the batch axis.",
    breaks=("values", "large scores"),
)
def padding_mask__first_sentence(attention_mask):
    return attention_mask[0].bool()[None, None, None, :]


@misconception(
    "You count the ones and keep that many tokens from the left. Some tokenizers pad on the left: take each position's own 0 or 1.",
    breaks=("values",),
)
def padding_mask__counts_from_the_left(attention_mask):
    lengths = attention_mask.sum(dim=1, keepdim=True)
    return (torch.arange(attention_mask.size(1)) < lengths)[:, None, None, :]


# ---------------------------------------------------------------------------------------------- TransformerEncoder


@misconception(
    "Your layers are pre-norm: x + f(norm(x)). BERT is post-norm: norm(x + f(x)), the arrangement of 2017. All names and shapes are the same, so nothing complains, and every number is another. Stack `PostNormEncoderLayer`.",
    breaks=("values", "gradients", "padding"),
)
class TransformerEncoder__pre_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(TransformerEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "Your stack holds one layer {L} times: `[layer] * {L}` repeats the object, not its weights. Make a new layer for each place. (ALBERT shares its layers on purpose; BERT does not.)",
    breaks=("values", "parameters", "gradients", "padding"),
)
class TransformerEncoder__one_layer_repeated(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList([PostNormEncoderLayer(config)] * config.num_hidden_layers)

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "Your layers sit in a plain Python list, where PyTorch does not see their parameters: they would be neither trained nor saved nor loaded. Use `nn.ModuleList`.",
    breaks=("values", "parameters", "gradients", "padding"),
)
class TransformerEncoder__plain_list(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = [PostNormEncoderLayer(config).eval() for _ in range(config.num_hidden_layers)]

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "You built 12 layers whatever the config says. Twelve is BERT base; here `config.num_hidden_layers` is {L}.",
    breaks=("values", "parameters", "gradients", "padding"),
)
class TransformerEncoder__always_twelve(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(12))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "Your stack has one layer too few: {L} are wanted. (`range(1, n)` stops before n and starts after 0.)",
    breaks=("values", "parameters", "gradients", "padding"),
)
class TransformerEncoder__one_too_few(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(1, config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "Every layer gets the embeddings: only the last one has an effect. A layer's output is the next layer's input, so `x = layer(x, mask)`.",
    breaks=("values", "gradients", "padding"),
)
class TransformerEncoder__not_stacked(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            output = layer(x, mask)
        return output


@misconception(
    "You add a skip connection around each layer. They are inside the layers already (two in each): here it is `x = layer(x, mask)`.",
    breaks=("values", "gradients", "padding"),
)
class TransformerEncoder__extra_skip(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = x + layer(x, mask)
        return x


@misconception(
    "You add the embeddings again before every layer. They enter once, at the bottom; from there on each layer's input is the output of the one below.",
    breaks=("values", "gradients", "padding"),
)
class TransformerEncoder__embeddings_every_time(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        mask = None if attention_mask is None else padding_mask(attention_mask)
        start = self.embeddings(ids)
        x = torch.zeros_like(start)
        for layer in self.layers:
            x = layer(x + start, mask)
        return x


@misconception(
    "You put one more norm after the last layer. A pre-norm stack needs it; post-norm layers end with a norm of their own, and BERT has no weights for another.",
    breaks=("values", "parameters", "gradients", "padding"),
)
class TransformerEncoder__final_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return self.layer_norm(x)


@misconception(
    "The attention mask arrives and is never used, so real tokens look at padding. Make a mask of it with `padding_mask` and hand it to every layer.",
    breaks=("padding",),
)
class TransformerEncoder__mask_unused(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x = self.embeddings(ids)
        for layer in self.layers:
            x = layer(x)
        return x


@misconception(
    "Only the first layer gets the mask; from the second on, real tokens look at padding again. Every layer attends anew, so every layer needs it.",
    breaks=("padding",),
)
class TransformerEncoder__mask_in_first_layer_only(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        mask = None if attention_mask is None else padding_mask(attention_mask)
        x = self.embeddings(ids)
        for layer in self.layers:
            x, mask = layer(x, mask), None
        return x


@misconception(
    "You hand the tokenizer's mask, (B, T) of whole numbers, straight to the layers. They need what `padding_mask` makes of it.",
    breaks=("padding",),
)
class TransformerEncoder__raw_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x = self.embeddings(ids)
        for layer in self.layers:
            x = layer(x, attention_mask)
        return x


@misconception(
    "You make `padding_mask` of a mask that is one already, or of its opposite: here the padding is kept and the real tokens are hidden.",
    breaks=("padding",),
)
class TransformerEncoder__mask_turned_round(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(1 - attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "You set the padding's vectors to zero instead of masking it. A vector of zeros still makes a key (its bias) with a score, so it still gets attention. Only the mask keeps it out.",
    breaks=("padding",),
)
class TransformerEncoder__padding_set_to_zero(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x = self.embeddings(ids)
        for layer in self.layers:
            if attention_mask is not None:
                x = x * attention_mask[..., None]
            x = layer(x)
        return x


@misconception(
    "`attention_mask` must be optional: with `attention_mask=None` as its default all tokens are real, and the layers get no mask.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class TransformerEncoder__mask_required(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask):
        x, mask = self.embeddings(ids), padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "You make a mask even when there is none: with `attention_mask=None`, its default, the layers get `None`.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class TransformerEncoder__mask_of_none(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@misconception(
    "You return only the first token's vector, (B, D). An encoder returns one vector for every token, (B, T, D); picking [CLS] is the job of the head in notebook 08.",
    breaks=("shape", "values", "gradients", "padding"),
)
class TransformerEncoder__only_cls(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        x, mask = self.embeddings(ids), None if attention_mask is None else padding_mask(attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x[:, 0]


@misconception(
    "You return the hidden states of all layers. The contract asks for the last ones alone, (B, T, D); the others are collected by a helper in the next section.",
    breaks=("shape", "values", "gradients", "padding"),
)
class TransformerEncoder__all_states(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids, attention_mask=None):
        mask = None if attention_mask is None else padding_mask(attention_mask)
        states = [self.embeddings(ids)]
        for layer in self.layers:
            states.append(layer(states[-1], mask))
        return states


# ---------------------------------------------------------------------------------------------- load_bert_weights


def _load(encoder, state_dict):
    """The right way; the answers below depart from it in one thing."""
    depth = len(encoder.layers)
    if any(key.startswith(f"encoder.layer.{depth}.") for key in state_dict):
        raise ValueError("more layers than places")
    modules = {
        "embeddings.word_embeddings": encoder.embeddings.token_embeddings,
        "embeddings.position_embeddings": encoder.embeddings.position_embeddings,
        "embeddings.LayerNorm": encoder.embeddings.layer_norm,
    }
    for number, layer in enumerate(encoder.layers):
        modules |= {
            f"encoder.layer.{number}.attention.self.query": layer.attention.q,
            f"encoder.layer.{number}.attention.self.key": layer.attention.k,
            f"encoder.layer.{number}.attention.self.value": layer.attention.v,
            f"encoder.layer.{number}.attention.output.dense": layer.attention.output_linear,
            f"encoder.layer.{number}.attention.output.LayerNorm": layer.layer_norm_1,
            f"encoder.layer.{number}.intermediate.dense": layer.feed_forward.linear_1,
            f"encoder.layer.{number}.output.dense": layer.feed_forward.linear_2,
            f"encoder.layer.{number}.output.LayerNorm": layer.layer_norm_2,
        }
    with torch.no_grad():
        for name, module in modules.items():
            for part in dict(module.named_parameters()):
                getattr(module, part).copy_(state_dict[f"{name}.{part}"])
        encoder.embeddings.position_embeddings.weight += state_dict["embeddings.token_type_embeddings.weight"][0]


@misconception(
    "An incomplete dict is accepted. `strict=False` does that (so does an `except` that swallows the error): it skips every key that has no partner, on both sides, and what was skipped keeps its random start. Leave it strict, or look at the `missing_keys` and `unexpected_keys` that it returns.",
    breaks=("missing keys", "leftover layers"),
)
def load_bert_weights__strict_false(encoder, state_dict):
    swaps = {
        "encoder.layer.": "layers.", "attention.self.query": "attention.q", "attention.self.key": "attention.k",
        "attention.self.value": "attention.v", "attention.output.dense": "attention.output_linear",
        "attention.output.LayerNorm": "layer_norm_1", "intermediate.dense": "feed_forward.linear_1",
        "output.LayerNorm": "layer_norm_2", "output.dense": "feed_forward.linear_2",
        "word_embeddings": "token_embeddings", "LayerNorm": "layer_norm",
    }  # fmt: skip
    renamed = {}
    for key, value in state_dict.items():
        for theirs, mine in swaps.items():
            key = key.replace(theirs, mine)
        renamed[key] = value
    positions, types = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"
    renamed[positions] = renamed[positions] + renamed[types][0]
    encoder.load_state_dict(renamed, strict=False)


@misconception(
    "Almost nothing was loaded. BERT's names are not yours, and `strict=False` skips in silence what it can't place: only `embeddings.position_embeddings.weight` is called the same in both. Rename the keys first, and leave it strict.",
    breaks=("embeddings", "layers", "agreement", "missing keys", "leftover layers"),
)
def load_bert_weights__nothing_renamed(encoder, state_dict):
    encoder.load_state_dict(state_dict, strict=False)


@misconception(
    "The names are still BERT's, and strict loading refuses them, as it should. Translate each key into your encoder's name first; the message lists both kinds, missing and unexpected.",
    breaks=("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence"),
)
def load_bert_weights__names_not_translated(encoder, state_dict):
    encoder.load_state_dict(state_dict)


@misconception(
    "Nothing in `encoder` has changed. Was the renamed dict never loaded (`encoder.load_state_dict(...)`), or loaded into another encoder that you made yourself?",
    breaks=("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence"),
)
def load_bert_weights__nothing_loaded(encoder, state_dict):
    {name.replace("encoder.layer", "layers"): value for name, value in state_dict.items()}


@misconception(
    "A key that is missing from the dict is skipped, and that part of the encoder keeps its random start. Raise an error instead: index with `state_dict[key]`, or load strictly.",
    breaks=("missing keys",),
)
def load_bert_weights__skips_what_is_missing(encoder, state_dict):
    depth = len(encoder.layers)
    if any(key.startswith(f"encoder.layer.{depth}.") for key in state_dict):
        raise ValueError
    modules = {"embeddings.word_embeddings": encoder.embeddings.token_embeddings,
               "embeddings.LayerNorm": encoder.embeddings.layer_norm,
               "embeddings.position_embeddings": encoder.embeddings.position_embeddings}  # fmt: skip
    for number, layer in enumerate(encoder.layers):
        modules |= {
            f"encoder.layer.{number}.attention.self.query": layer.attention.q,
            f"encoder.layer.{number}.attention.self.key": layer.attention.k,
            f"encoder.layer.{number}.attention.self.value": layer.attention.v,
            f"encoder.layer.{number}.attention.output.dense": layer.attention.output_linear,
            f"encoder.layer.{number}.attention.output.LayerNorm": layer.layer_norm_1,
            f"encoder.layer.{number}.intermediate.dense": layer.feed_forward.linear_1,
            f"encoder.layer.{number}.output.dense": layer.feed_forward.linear_2,
            f"encoder.layer.{number}.output.LayerNorm": layer.layer_norm_2,
        }
    with torch.no_grad():
        for name, module in modules.items():
            for part in ("weight", "bias"):
                if f"{name}.{part}" in state_dict:
                    getattr(module, part).copy_(state_dict[f"{name}.{part}"])
        encoder.embeddings.position_embeddings.weight += state_dict["embeddings.token_type_embeddings.weight"][0]


@misconception(
    "A dict with more layers than the encoder is loaded without a word: half of a BERT is another model. Compare the number of layers, and raise an error when it differs.",
    breaks=("leftover layers",),
)
def load_bert_weights__leaves_layers_over(encoder, state_dict):
    depth = len(encoder.layers)
    deeper = tuple(f"encoder.layer.{number}." for number in range(depth, 50))
    _load(encoder, {key: value for key, value in state_dict.items() if not key.startswith(deeper)})


@misconception(
    "Token types are forgotten: BERT adds the vector of type 0 to every token of a single sentence. Your encoder has no table for it, so add `token_type_embeddings.weight[0]` to every row of the position table.",
    breaks=("embeddings", "agreement"),
)
def load_bert_weights__no_token_types(encoder, state_dict):
    types = "embeddings.token_type_embeddings.weight"
    _load(encoder, {**state_dict, types: torch.zeros_like(state_dict[types])})


@misconception(
    "You add the vector of token type 1, which marks the second sentence of a pair. A single sentence is type 0: row 0 of the table.",
    breaks=("embeddings", "agreement"),
)
def load_bert_weights__token_type_one(encoder, state_dict):
    types = "embeddings.token_type_embeddings.weight"
    _load(encoder, {**state_dict, types: state_dict[types].flip(0)})


@misconception(
    "You add the vectors of both token types. A token has one type, and in a single sentence that is type 0: row 0 of the table alone.",
    breaks=("embeddings", "agreement"),
)
def load_bert_weights__both_token_types(encoder, state_dict):
    types = "embeddings.token_type_embeddings.weight"
    _load(encoder, {**state_dict, types: state_dict[types].sum(dim=0, keepdim=True)})


@misconception(
    "You add the average of the token types. A single sentence is type 0: row 0 of the table.",
    breaks=("embeddings", "agreement"),
)
def load_bert_weights__mean_token_type(encoder, state_dict):
    types = "embeddings.token_type_embeddings.weight"
    _load(encoder, {**state_dict, types: state_dict[types].mean(dim=0, keepdim=True)})


@misconception(
    "The vector of token type 0 is added twice, to the tokens and to the positions. Each token has both, so once is enough.",
    breaks=("embeddings", "agreement"),
)
def load_bert_weights__token_type_twice(encoder, state_dict):
    types = "embeddings.token_type_embeddings.weight"
    _load(encoder, {**state_dict, types: 2 * state_dict[types]})


@misconception(
    "The attention weights are transposed. Both sides use `nn.Linear`, which keeps (outputs, inputs): copy them as they are. (GPT-2's Conv1D, in notebook 09, is the one to turn.) As they are square, no shape complained.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__attention_transposed(encoder, state_dict):
    def turn(key, value):
        return value.T if ".attention." in key and key.endswith("weight") and "LayerNorm" not in key else value

    _load(encoder, {key: turn(key, value) for key, value in state_dict.items()})


@misconception(
    "All linear weights are transposed: for the feed-forward layers the shapes then no longer fit. Both sides use `nn.Linear`, which keeps (outputs, inputs): copy them as they are.",
    breaks=("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence"),
)
def load_bert_weights__all_transposed(encoder, state_dict):
    def turn(key, value):
        return value.T if key.startswith("encoder.") and value.dim() == 2 else value

    _load(encoder, {key: turn(key, value) for key, value in state_dict.items()})


@misconception(
    "Query and key have changed places: BERT's `query` belongs into `q`, its `key` into `k`.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__q_and_k_swapped(encoder, state_dict):
    _load(encoder, state_dict)
    with torch.no_grad():
        for layer in encoder.layers:
            q, k = layer.attention.q, layer.attention.k
            for part in ("weight", "bias"):
                mine, other = getattr(q, part).clone(), getattr(k, part).clone()
                getattr(q, part).copy_(other)
                getattr(k, part).copy_(mine)


@misconception(
    "Key and value have changed places: BERT's `key` belongs into `k`, its `value` into `v`.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__k_and_v_swapped(encoder, state_dict):
    _load(encoder, state_dict)
    with torch.no_grad():
        for layer in encoder.layers:
            v, k = layer.attention.v, layer.attention.k
            for part in ("weight", "bias"):
                mine, other = getattr(v, part).clone(), getattr(k, part).clone()
                getattr(v, part).copy_(other)
                getattr(k, part).copy_(mine)


@misconception(
    "The two norms of a layer have changed places. `attention.output.LayerNorm` follows attention: it is `layer_norm_1`; `output.LayerNorm` follows the feed-forward part: `layer_norm_2`.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__norms_swapped(encoder, state_dict):
    _load(encoder, state_dict)
    with torch.no_grad():
        for layer in encoder.layers:
            first, second = layer.layer_norm_1, layer.layer_norm_2
            for part in ("weight", "bias"):
                mine, other = getattr(first, part).clone(), getattr(second, part).clone()
                getattr(first, part).copy_(other)
                getattr(second, part).copy_(mine)


@misconception(
    "Both norms of a layer get the weights of the first one. The second is `output.LayerNorm`, without `attention` before it.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__one_norm_for_both(encoder, state_dict):
    _load(encoder, state_dict)
    for layer in encoder.layers:
        layer.layer_norm_2.load_state_dict(layer.layer_norm_1.state_dict())


@misconception(
    "Every layer gets the weights of layer 0: the layer's number is missing from the key you look up.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__layer_0_everywhere(encoder, state_dict):
    _load(encoder, state_dict)
    for layer in encoder.layers[1:]:
        layer.load_state_dict(encoder.layers[0].state_dict())


@misconception(
    "The layers are in reverse order: BERT's layer 0 comes first, right after the embeddings.",
    breaks=("layers", "agreement"),
)
def load_bert_weights__layers_reversed(encoder, state_dict):
    _load(encoder, state_dict)
    states = [{key: value.clone() for key, value in layer.state_dict().items()} for layer in encoder.layers]
    for layer, state in zip(encoder.layers, reversed(states)):
        layer.load_state_dict(state)


@misconception(
    "Only the weights were copied; the biases keep their random start. Every linear layer and every norm has both.",
    breaks=("embeddings", "layers", "agreement"),
)
def load_bert_weights__no_biases(encoder, state_dict):
    before = {key: value.clone() for key, value in encoder.state_dict().items() if key.endswith("bias")}
    _load(encoder, state_dict)
    encoder.load_state_dict({**encoder.state_dict(), **before})


@misconception(
    "The norm after the embeddings is not loaded: `embeddings.LayerNorm` belongs into `embeddings.layer_norm`, weight and bias.",
    breaks=("embeddings", "agreement", "missing keys"),
)
def load_bert_weights__no_embedding_norm(encoder, state_dict):
    before = {key: value.clone() for key, value in encoder.embeddings.layer_norm.state_dict().items()}
    for part in ("weight", "bias"):
        state_dict = {f"embeddings.LayerNorm.{part}": before[part], **state_dict}
    _load(encoder, state_dict)
    encoder.embeddings.layer_norm.load_state_dict(before)


@misconception(
    "The layers' norms are not loaded: they keep their start. They have learned weights and biases too (`attention.output.LayerNorm`, `output.LayerNorm`).",
    breaks=("layers", "agreement"),
)
def load_bert_weights__no_layer_norms(encoder, state_dict):
    before = {key: value.clone() for key, value in encoder.state_dict().items() if ".layer_norm_" in key}
    _load(encoder, state_dict)
    encoder.load_state_dict({**encoder.state_dict(), **before})


@misconception(
    "`output_linear` is not loaded: in BERT it is called `attention.output.dense`.",
    breaks=("layers", "agreement", "missing keys"),
)
def load_bert_weights__no_output_linear(encoder, state_dict):
    before = {key: value.clone() for key, value in encoder.state_dict().items() if ".output_linear." in key}
    for key, value in before.items():
        number, part = key.split(".")[1], key.split(".")[-1]
        if f"encoder.layer.{number}.output.dense.weight" in state_dict:
            state_dict = {f"encoder.layer.{number}.attention.output.dense.{part}": value, **state_dict}
    _load(encoder, state_dict)
    encoder.load_state_dict({**encoder.state_dict(), **before})


@misconception(
    "Only the layers are loaded; the embeddings keep their random start. Tokens, positions, token type 0 and their norm come from the dict too.",
    breaks=("embeddings", "agreement", "missing keys"),
)
def load_bert_weights__no_embeddings(encoder, state_dict):
    before = {key: value.clone() for key, value in encoder.state_dict().items() if key.startswith("embeddings.")}
    for part in ("weight", "bias"):
        state_dict = {f"embeddings.LayerNorm.{part}": before[f"embeddings.layer_norm.{part}"], **state_dict}
    _load(encoder, state_dict)
    encoder.load_state_dict({**encoder.state_dict(), **before})


@misconception(
    "Encoder and dict now share memory: training the encoder would change the library's model as well. Copy the numbers (`copy_`, `load_state_dict`, `.clone()`), don't pass the tensors on.",
    breaks=("independence",),
)
def load_bert_weights__shared_memory(encoder, state_dict):
    _load(encoder, state_dict)
    encoder.embeddings.token_embeddings.weight.data = state_dict["embeddings.word_embeddings.weight"]


@misconception(
    "You change the dict that you were given: it holds the library model's own tensors. Work on new ones: `a + b` instead of `a += b`.",
    breaks=("independence",),
)
def load_bert_weights__dict_changed(encoder, state_dict):
    types = state_dict["embeddings.token_type_embeddings.weight"]
    _load(encoder, state_dict)
    state_dict["embeddings.position_embeddings.weight"] += types[0]


@misconception(
    "You take entries out of the dict that you were given (`pop`), and whoever called you no longer finds them. Work on a copy: `dict(state_dict)`.",
    breaks=("independence",),
)
def load_bert_weights__dict_emptied(encoder, state_dict):
    _load(encoder, state_dict)
    state_dict.pop("embeddings.token_type_embeddings.weight")


@misconception(
    "The weights are in, but they can't be trained any more: `requires_grad` is off. Notebook 08 trains this encoder further.",
    breaks=("independence",),
)
def load_bert_weights__frozen(encoder, state_dict):
    _load(encoder, state_dict)
    encoder.requires_grad_(False)


@misconception(
    "You pair parameters by their order in both models. The orders differ (BERT has a table of token types in between): copy by name.",
    breaks=("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence"),
)
def load_bert_weights__by_order(encoder, state_dict):
    with torch.no_grad():
        for parameter, value in zip(encoder.parameters(), state_dict.values()):
            parameter.copy_(value)


# ---------------------------------------------------------------------------------------------- masked_mean


@misconception(
    "Padding is averaged in: this is the mean over all {T} positions. Leave out those where the attention mask is 0, above and below the fraction line.",
    breaks=("values", "gradients"),
)
def masked_mean__with_padding(hidden, attention_mask):
    return hidden.mean(dim=1)


@misconception(
    "You leave the padding out of the sum but divide by all {T} positions. Divide by each sentence's number of real tokens.",
    breaks=("values", "gradients"),
)
def masked_mean__divides_by_length(hidden, attention_mask):
    return (hidden * attention_mask[..., None]).mean(dim=1)


@misconception(
    "That is the sum of the real tokens. For their mean, divide by how many there are in each sentence.",
    breaks=("values", "gradients"),
)
def masked_mean__sum(hidden, attention_mask):
    return (hidden * attention_mask[..., None]).sum(dim=1)


@misconception(
    "You divide by the number of real tokens in the whole batch. Each sentence has its own: sum the mask over dim 1 only.",
    breaks=("values", "gradients"),
)
def masked_mean__divides_by_batch_total(hidden, attention_mask):
    return (hidden * attention_mask[..., None]).sum(dim=1) / attention_mask.sum()


@misconception(
    "You take the mean of the padding: the mask is used the wrong way round. 1 stands for a real token.",
    breaks=("values", "gradients"),
)
def masked_mean__mean_of_padding(hidden, attention_mask):
    drop = 1 - attention_mask[..., None]
    return (hidden * drop).sum(dim=1) / drop.sum(dim=1)


@misconception(
    "You return the first token's vector ([CLS]). Here the mean of all real tokens is wanted.",
    breaks=("values", "gradients"),
)
def masked_mean__first_token(hidden, attention_mask):
    return hidden[:, 0]


@misconception(
    "You count the ones and average that many tokens from the left. Where padding stands on the left, or in between, those are not the real ones.",
    breaks=("values", "gradients"),
)
def masked_mean__counts_from_the_left(hidden, attention_mask):
    lengths = attention_mask.sum(dim=1).tolist()
    return torch.stack([sentence[:length].mean(dim=0) for sentence, length in zip(hidden, lengths)])


@misconception(
    "All sentences are averaged into one vector: indexing with the mask of the whole batch forgets which token belongs to which sentence. One row a sentence is wanted, (B, D).",
    breaks=("shape", "values", "gradients"),
)
def masked_mean__whole_batch(hidden, attention_mask):
    return hidden[attention_mask.bool()].mean(dim=0)


@misconception(
    "You average over the sentences (dim 0); the mean runs over the tokens of one sentence, dim 1.",
    breaks=("shape", "values", "gradients"),
)
def masked_mean__over_batch(hidden, attention_mask):
    keep = attention_mask[..., None].float()
    return (hidden * keep).sum(dim=0) / keep.sum(dim=0).clamp(min=1)


@misconception(
    "You average each token's D numbers (the last dim) and get one number a token. The mean runs over the tokens, and D numbers remain.",
    breaks=("shape", "values", "gradients"),
)
def masked_mean__over_width(hidden, attention_mask):
    return hidden.mean(dim=-1) * attention_mask


@misconception(
    "There is one axis too many: (B, 1, D). The summed axis should go: (B, D).",
    breaks=("shape", "values", "gradients"),
)
def masked_mean__keeps_the_axis(hidden, attention_mask):
    keep = attention_mask[..., None]
    return (hidden * keep).sum(dim=1, keepdim=True) / keep.sum(dim=1, keepdim=True)


@misconception(
    "You divide by the number of real entries, tokens times width: your mask was widened to (B, T, D) and then summed over both. Divide by the number of tokens.",
    breaks=("values", "gradients"),
)
def masked_mean__divides_by_entries(hidden, attention_mask):
    keep = attention_mask[..., None].expand_as(hidden)
    return (hidden * keep).sum(dim=1) / keep.sum(dim=(1, 2))[:, None]


@misconception(
    "You leave out [CLS] and [SEP] as well, or count two tokens too few. Every position whose mask is 1 counts.",
    breaks=("values", "gradients"),
)
def masked_mean__two_tokens_too_few(hidden, attention_mask):
    return (hidden * attention_mask[..., None]).sum(dim=1) / (attention_mask.sum(dim=1, keepdim=True) - 2)


@misconception(
    "You divide by the number of real tokens plus one. For a mean, divide by their number; to be safe from 0, use `clamp(min=1)`.",
    breaks=("values", "gradients"),
)
def masked_mean__one_too_many(hidden, attention_mask):
    return (hidden * attention_mask[..., None]).sum(dim=1) / (attention_mask.sum(dim=1, keepdim=True) + 1)


@misconception(
    "That is the largest value of each column among the real tokens (max pooling). The mean is wanted.",
    breaks=("values", "gradients"),
)
def masked_mean__max(hidden, attention_mask):
    return hidden.masked_fill(attention_mask[..., None] == 0, float("-inf")).amax(dim=1)


@misconception(
    "You zero the padding in `hidden` itself, and whoever called you still needs it. Make a new tensor: `hidden * keep`, not `hidden *= keep`.",
    breaks=("values", "gradients"),
)
def masked_mean__in_place(hidden, attention_mask):
    keep = attention_mask[..., None]
    hidden *= keep
    return hidden.sum(dim=1) / keep.sum(dim=1)


@misconception(
    "The numbers are right, but no gradient reaches `hidden`: something cut it off (`detach`, `.data`, `no_grad`). Sentence vectors are trained through this mean.",
    breaks=("gradients",),
)
def masked_mean__detached(hidden, attention_mask):
    keep = attention_mask[..., None]
    return (hidden.detach() * keep).sum(dim=1) / keep.sum(dim=1)


# ---------------------------------------------------------------------------------------------- flies_by_layer


@misconception(
    "Every sentence is read at the place where the first one has its “flies”. Find the place in each row of `ids`.",
    breaks=("values", "refusal"),
)
def flies_by_layer__place_of_the_first(model, sentences):
    ids, states = model(sentences)
    place = ids[0].tolist().index(model.tokenizer.convert_tokens_to_ids("flies"))
    return torch.stack([state[:, place] for state in states])


@misconception(
    "You read one token too early: the word before “flies”. Did you forget that [CLS] stands at place 0?",
    breaks=("values",),
)
def flies_by_layer__one_before(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")
    if not (found.sum(dim=1) == 1).all():
        raise ValueError
    return torch.stack([state[found.roll(-1, dims=1)] for state in states])


@misconception(
    "You read one token too late: the one after “flies”. The ids hold [CLS] already; nothing needs to be added to the place where you found it.",
    breaks=("values",),
)
def flies_by_layer__one_after(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")
    if not (found.sum(dim=1) == 1).all():
        raise ValueError
    return torch.stack([state[found.roll(1, dims=1)] for state in states])


@misconception(
    "The embeddings are missing: there are {L} hidden states, the first of them before any layer. Keep index 0.",
    breaks=("shape", "values"),
)
def flies_by_layer__without_layer_0(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")
    if not (found.sum(dim=1) == 1).all():
        raise ValueError
    return torch.stack([state[found] for state in states[1:]])


@misconception(
    "Only the last layer is there. Stack the vectors of all {L} hidden states.",
    breaks=("shape", "values"),
)
def flies_by_layer__last_layer(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")
    if not (found.sum(dim=1) == 1).all():
        raise ValueError
    return states[-1][found]


@misconception(
    "Sentences and layers have changed places: yours is (N, L + 1, D), asked is (L + 1, N, D), one (N, D) a layer.",
    breaks=("shape", "values"),
)
def flies_by_layer__sentences_first(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")
    if not (found.sum(dim=1) == 1).all():
        raise ValueError
    return torch.stack([state[found] for state in states], dim=1)


@misconception(
    "You return the vector of [CLS], place 0. Asked is the vector of “flies”.",
    breaks=("values", "refusal"),
)
def flies_by_layer__cls(model, sentences):
    _, states = model(sentences)
    return torch.stack([state[:, 0] for state in states])


@misconception(
    "You return the mean over all tokens. Asked is the vector of one token, “flies”.",
    breaks=("values", "refusal"),
)
def flies_by_layer__mean(model, sentences):
    _, states = model(sentences)
    return torch.stack([state.mean(dim=1) for state in states])


@misconception(
    "A sentence without “flies” passes, and you return its first token: `argmax` over a row of False is 0. Look whether there is a match before you use its place, and raise a ValueError if there is none.",
    breaks=("refusal",),
)
def flies_by_layer__argmax_of_nothing(model, sentences):
    ids, states = model(sentences)
    place = (ids == model.tokenizer.convert_tokens_to_ids("flies")).int().argmax(dim=1)
    return torch.stack([state[torch.arange(len(ids)), place] for state in states])


@misconception(
    "A sentence without “flies” is dropped in silence: there are fewer rows than sentences, and every row after it would carry another sentence's label. Raise a ValueError instead.",
    breaks=("refusal",),
)
def flies_by_layer__fewer_rows(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.convert_tokens_to_ids("flies")
    return torch.stack([state[found] for state in states])


@misconception(
    '10029 is the id of “flies” in BERT\'s vocabulary only. Ask the tokenizer that comes with the model: `model.tokenizer.convert_tokens_to_ids("flies")`.',
    breaks=("shape", "values", "refusal"),
)
def flies_by_layer__id_10029(model, sentences):
    ids, states = model(sentences)
    return torch.stack([state[ids == 10029] for state in states])


@misconception(
    "You count words in the text. Tokens are not words: a word may be several pieces (`swarm`, `##s`), and a period sticks to “flies.” when you split at spaces. Look for the id in `ids`.",
    breaks=("shape", "values"),
)
def flies_by_layer__counts_words(model, sentences):
    _, states = model(sentences)
    places = [sentence.lower().split().index("flies") + 1 for sentence in sentences]
    return torch.stack([state[torch.arange(len(sentences)), places] for state in states])


# ---------------------------------------------------------------------------------------------- nearest_centroid


@misconception(
    "You take the label of the single nearest vector (nearest neighbor). First average the vectors of each label, then compare with these means.",
    breaks=("values", "three classes"),
)
def nearest_centroid__nearest_neighbor(train, labels, test):
    return labels[torch.cdist(test, train).argmin(dim=1)]


@misconception(
    "You choose the farthest centroid: of distances the smallest is wanted, `argmin`.",
    breaks=("values", "three classes"),
)
def nearest_centroid__farthest(train, labels, test):
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return torch.cdist(test, centroids).argmax(dim=1)


@misconception(
    "You compare by dot product, which favors long centroids. Asked is the distance: the length of the difference.",
    breaks=("values", "three classes"),
)
def nearest_centroid__dot_product(train, labels, test):
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return (test @ centroids.T).argmax(dim=1)


@misconception(
    "You compare by cosine, the angle seen from the origin. Asked is the Euclidean distance.",
    breaks=("values", "three classes"),
)
def nearest_centroid__cosine(train, labels, test):
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return F.cosine_similarity(test[:, None], centroids[None], dim=-1).argmax(dim=1)


@misconception(
    "Your distance adds up absolute differences. Euclidean is: square the differences, add, (take the root).",
    breaks=("values", "three classes"),
)
def nearest_centroid__absolute_differences(train, labels, test):
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return (test[:, None] - centroids).abs().sum(dim=-1).argmin(dim=1)


@misconception(
    "Your centroids are sums, not means: a label with more examples lies farther out.",
    breaks=("values", "three classes"),
)
def nearest_centroid__sums(train, labels, test):
    centroids = torch.stack([train[labels == label].sum(dim=0) for label in range(int(labels.max()) + 1)])
    return torch.cdist(test, centroids).argmin(dim=1)


@misconception(
    "You divide every label's sum by the number of all vectors. Each mean has its own count.",
    breaks=("values", "three classes"),
)
def nearest_centroid__one_count_for_all(train, labels, test):
    centroids = torch.stack([train[labels == label].sum(dim=0) / len(train) for label in range(int(labels.max()) + 1)])
    return torch.cdist(test, centroids).argmin(dim=1)


@misconception(
    "The first example of each label stands for all of them. The centroid is the mean of all its examples.",
    breaks=("values", "three classes"),
)
def nearest_centroid__first_example(train, labels, test):
    firsts = torch.stack([train[labels == label][0] for label in range(int(labels.max()) + 1)])
    return torch.cdist(test, firsts).argmin(dim=1)


@misconception(
    "There are only ever two classes in your answer. The labels say how many there are: 0 … C − 1.",
    breaks=("three classes",),
)
def nearest_centroid__two_classes(train, labels, test):
    zero, one = train[labels == 0].mean(dim=0), train[labels == 1].mean(dim=0)
    return ((test - one).norm(dim=1) < (test - zero).norm(dim=1)).long()


@misconception(
    "You return the distances, one for each label. Asked is the label of the smallest: `argmin` over the labels' axis.",
    breaks=("shape", "values", "three classes"),
)
def nearest_centroid__distances(train, labels, test):
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return torch.cdist(test, centroids)


@misconception(
    "Your argmin runs over the vectors (dim 0): for each label, the vector closest to it. Asked is the other way round: for each vector, the closest label.",
    breaks=("shape", "values", "three classes"),
)
def nearest_centroid__argmin_over_vectors(train, labels, test):
    centroids = torch.stack([train[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return torch.cdist(test, centroids).argmin(dim=0)


# ---------------------------------------------------------------------------------------------- quiz_encoder

QUIZ = [
    wrong_option("quiz_encoder", quiz_encoder, "a padding mask hides", "queries",
                 "a padding token may look at whatever it likes, nobody reads the result; what matters is that nobody looks at it. A padding mask hides keys."),
    wrong_option("quiz_encoder", quiz_encoder, "a padding mask hides", "queries and keys",
                 "hiding keys is enough. Hiding the queries too leaves rows in which nothing may be looked at, and a softmax over nothing is NaN."),
    wrong_option("quiz_encoder", quiz_encoder, "BERT's weights in a pre-norm stack", "an error when loading",
                 "loading compares names and shapes, and both arrangements have the same: where a norm stands is not a weight. You saw other numbers and no error."),
    wrong_option("quiz_encoder", quiz_encoder, "BERT's weights in a pre-norm stack", "the same numbers",
                 "norm(x + f(x)) and x + f(norm(x)) are different functions; the weights were learned for the first."),
    wrong_option("quiz_encoder", quiz_encoder, "a key that strict=False skips", "raises an error",
                 "that is what strict=True makes of it. strict=False returns a list of what it skipped and goes on."),
    wrong_option("quiz_encoder", quiz_encoder, "a key that strict=False skips", "is set to zero",
                 "nothing is written there at all: the parameter keeps the random numbers it was made with."),
    wrong_option("quiz_encoder", quiz_encoder, "flies at depth 0 knows", "only the word",
                 "the position's vector has been added by then: two “flies” at different places differ already."),
    wrong_option("quiz_encoder", quiz_encoder, "flies at depth 0 knows", "the words around it",
                 "no attention has run yet, so nothing of the neighbors has arrived. That is why depth 0 can't tell noun from verb."),
]  # fmt: skip
