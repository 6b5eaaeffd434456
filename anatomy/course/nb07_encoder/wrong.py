"""Wrong answers to the exercises of 07-encoder."""

from __future__ import annotations

import torch

from anatomy.course.families import axes_of_padding
from anatomy.course.nb07_encoder import right
from anatomy.engine.families import called_otherwise, class_beginnings, squeezed
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.


@MISTAKES.of(right.padding_mask)
def in_padding_mask(at):
    WEIGHTS = ("values", "large scores")
    SHAPES = ("shape", "values", "large scores")
    at("attention_mask.bool()", WEIGHTS,
       ("real_tokens_pushed_down", "(attention_mask * -1e9)", "Your mask is the wrong way round: you push the real tokens down and leave the padding. What is added must be 0 where the attention mask is 1, and very negative where it is 0."),
       ("real_tokens_pushed_up", "(attention_mask * 1e9)", "You push the real tokens up instead of the padding down. On paper the softmax is the same; but a float32 has seven digits, and next to 1e9 the scores themselves are rounded away. Add 0 to real tokens and something very negative to padding."),
       ("padding_pushed_up", "((1 - attention_mask) * 1e9)", "You push the padding up: a large positive number added to a score draws nearly all the attention there. It must be very negative."),
       ("true_at_padding", "(attention_mask == 0)", "Your mask is the wrong way round: it hides the real tokens and keeps the padding. In a boolean mask True means “may be looked at”; what is added is 0 there. (`masked_fill` and `key_padding_mask` read True the other way.)"),
       ("ones_added", "attention_mask.float()", "Your mask shifts scores by 1 only (real tokens up, or padding down, which is the same to a softmax): padding keeps about a third of its attention. Make the mask boolean, or put a very negative number where there is a 0."),
       ("whole_numbers", "attention_mask", "Your mask is of whole numbers, and attention can't tell whether they mean “keep” or “add”. Make it boolean, with True for real tokens (`attention_mask.bool()`), or a float32 tensor of numbers to add.", SHAPES),
       ("zero_times_infinity", '((1 - attention_mask) * float("-inf"))', "All weights become NaN: there is NaN in your mask (0 · (−∞) is not 0 but NaN), or +∞. Use `masked_fill`, `torch.where`, a boolean mask, or a number such as −1e9."),
       ("minus_one_hundred", "((1 - attention_mask) * -100.0)", "A gap of 100 between real tokens and padding is not enough: scores can differ by more, and then padding is looked at. Add −1e9 or −∞ at padding, or make the mask boolean.", "large scores"),
       ("first_sentence", "attention_mask[:1].bool()", "Your mask has one row for all sentences, (1, 1, 1, S). Sentences have different lengths: keep the batch axis, (B, 1, 1, S).", SHAPES),
       ("counts_from_the_left", "(torch.arange(attention_mask.size(1)) < attention_mask.sum(dim=1, keepdim=True))", "You count the ones and keep that many tokens from the left. Some tokenizers pad on the left: take each position's own 0 or 1.", "values"),
       ("mask_of_the_first_for_all", "attention_mask[:1].expand_as(attention_mask).bool()", "Every sentence gets the first one's mask. Sentences have different lengths."),
       ("hides_nothing", "torch.ones_like(attention_mask).bool()", "Your mask hides nothing: every key keeps its attention, padding too. What is added at padding must be very negative (−1e9; 1e-9 is nearly 0); a boolean mask must be False there."),
       ("hides_everything", "torch.zeros_like(attention_mask).bool()", "Your mask hides every key, the real tokens too. A boolean mask is True where the attention mask is 1; what is added is 0 there."),
       ("ones_added_to_padding", "(1.0 - attention_mask)", "Next to the real tokens, your mask raises padding by 1: it gets more attention, not less. Make the mask boolean (True for real tokens), or add 0 to real tokens and −1e9 to padding."),
       ("log_of_little", "torch.log(attention_mask + 1e-9)", "Padding lies about 21 below real tokens, as after the logarithm of 1e-9. That is not enough: scores can differ by more, and then padding is looked at. Take −1e9, −∞ (the logarithm of 0), or a boolean mask.", "large scores"),
       ("minus_ten", "((1 - attention_mask) * -10.0)", "A gap of 10 between real tokens and padding is not enough: padding keeps some of its attention. Add −1e9 or −∞ at padding, or make the mask boolean."),
       ("float64", "((1 - attention_mask).double() * -1e9)", "Your mask has another floating-point type than the scores, which are float32: adding it fails. Make it float32, or boolean.", SHAPES),
       ("last_key_only", "(attention_mask.bool() | (torch.arange(attention_mask.size(1)) < attention_mask.size(1) - 1))", "Only the last key is hidden or shown by your mask; it is as if the others were real. Take each position's own 0 or 1."),
       ("counts_from_the_right", "(torch.arange(attention_mask.size(1)) >= (1 - attention_mask).sum(dim=1, keepdim=True))", "You count the ones and keep that many tokens at the right end. Tokenizers mostly pad on the right: take each position's own 0 or 1."))
    at("[:, None, None, :]", SHAPES,
       ("queries_and_keys", "[:, None, None, :] & attention_mask.bool()[:, None, :, None]", "Your mask has a row for each of S queries, (B, 1, S, S). There need not be as many queries as keys, and hiding keys is enough: leave that axis at 1, (B, 1, 1, S). (Where queries are masked, too, whole rows are hidden: by hand they become NaN.)"),
       ("one_new_axis", "[:, None, :]", "One axis is missing: your (B, 1, S) meets (B, H, T, S) from the right, and the batch is taken for the heads. It needs two: (B, 1, 1, S)."),
       ("new_axes_in_front", "[None, None]", "Both new axes are in front, (1, 1, B, S): matched from the right, the batch would be taken for the queries. They go between B and S: (B, 1, 1, S)."),
       ("new_axes_behind", "[:, :, None, None]", "Both new axes are at the end, (B, S, 1, 1): matched from the right, the keys would be taken for the heads. They go between B and S: (B, 1, 1, S)."),
       ("one_new_axis_behind", "[:, :, None]", "Your (B, S, 1) has its new axis at the end, and one is missing. Two go between B and S: (B, 1, 1, S)."),
       ("three_axes_square", "[:, None, :].expand(-1, attention_mask.size(1), -1)", "Your mask is (B, S, S): it has a row for each of S queries, and the heads' axis is missing. Return (B, 1, 1, S), which fits any number of heads and queries."))
    for power in (50, 200, 300):
        at("attention_mask.bool()", "large scores", (f"minus_{power}", f"((1 - attention_mask) * -{power}.0)", f"A gap of {power} between real tokens and padding is not enough: scores can differ by more, and then padding is looked at. Add −1e9 or −∞ at padding, or make the mask boolean."))
    at("return attention_mask.bool()", "values", ("in_place", "attention_mask.masked_fill_(attention_mask == 0, -1_000_000_000)\n    return (attention_mask > 0)", "You write into the tokenizer's own mask, and the caller still needs it. Make a new tensor: `masked_fill` without the `_` at its end, `torch.where`, or a comparison."))
    NONE = "Where nothing is padding, you return `None`. Return a mask there, too: (B, 1, 1, S), all True (or all 0)."
    at("    return ", ("shape", "values"), ("none_without_padding", "    if attention_mask.all():\n        return None\n    return ", NONE))
    at("    return attention_mask.bool()", ("shape", "values"), ("none_without_padding_and_counted", "    if attention_mask.all():\n        return None\n    return (torch.arange(attention_mask.size(1)) < attention_mask.sum(dim=1, keepdim=True))", f"{NONE} And elsewhere you count the ones and keep that many tokens from the left: some tokenizers pad on the left."))
    squeezed(at, ("shape", "values", "large scores"), "is (B, 1, 1, S), also for B = 1")
    axes_of_padding(at, "S", SHAPES, rows=SHAPES)


@MISTAKES.of(right.TransformerEncoder)
def in_TransformerEncoder(at):
    NUMBERS = ("values", "gradients", "padding")
    LAYERS = ("values", "parameters", "gradients", "padding")
    UNCALLED = ("shape", "values", "parameters", "gradients")
    STACK = "nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))"
    at("        self.layers = nn.ModuleList(PostNormEncoderLayer(", NUMBERS, ("pre_norm", "        from anatomy.course.nb05_encoder_layer.right import TransformerEncoderLayer\n\n        self.layers = nn.ModuleList(TransformerEncoderLayer(", "Your layers are pre-norm: x + f(norm(x)). BERT is post-norm: norm(x + f(x)), the arrangement of 2017. All names and shapes are the same, so nothing complains, and every number is another. Stack `PostNormEncoderLayer`."))
    at(STACK, LAYERS,
       ("one_layer_repeated", "nn.ModuleList([PostNormEncoderLayer(config)] * config.num_hidden_layers)", "Your stack has the same layer {L} times. `[layer] * {L}` repeats the object, and so does a loop that appends one object: all places share its weights. Make a new layer each time. (ALBERT shares its layers on purpose; BERT does not.)"),
       ("plain_list", "[PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers)]", "PyTorch finds no layers in your module. Those in a plain list (or tuple, or dict), or made in `forward`, are neither trained nor saved nor loaded: make them in `__init__`, in an `nn.ModuleList`."))
    at("range(config.num_hidden_layers)", LAYERS,
       ("always_twelve", "range(12)", "You built 12 layers whatever the config says. Twelve is BERT base; here `config.num_hidden_layers` is {L}."),
       ("one_too_few", "range(1, config.num_hidden_layers)", "Your stack has one layer too few: it needs {L}. (`range(1, n)` stops before n and starts after 0.)"),
       ("one_too_many", "range(config.num_hidden_layers + 1)", "Your stack has one layer too many: it needs {L}, as `config.num_hidden_layers` says."),
       ("as_many_as_heads", "range(config.num_attention_heads)", "You make `config.num_attention_heads` layers. Their number is `config.num_hidden_layers`."))
    at(("x = layer(x, mask)", "return x"), NUMBERS, ("not_stacked", ("output = layer(x, mask)", "return output"), "Only the last layer has an effect, and it gets the embeddings. Each layer's output is the next layer's input: `x = layer(x, mask)`, for all of `self.layers`."))
    at(("        for layer in self.layers:\n", "x = layer(x, mask)", "return x"), NUMBERS, ("layers_summed", ("        output = 0\n        for layer in self.layers:\n", "output = output + layer(x, mask)", "return output"), "Every layer gets the embeddings, and you add up what they return. A layer's output is the next layer's input: `x = layer(x, mask)`."))
    at("x = layer(x, mask)", NUMBERS,
       ("extra_skip", "x = x + layer(x, mask)", "You add a skip connection around each layer. They are inside the layers already (two in each): here it is `x = layer(x, mask)`."),
       ("mask_in_first_layer_only", "x, mask = layer(x, mask), None", "Only the first layer gets the mask; from the second on, real tokens attend to padding again. Every layer computes attention again, so every layer needs it.", "padding"),
       ("padding_set_to_zero", "if attention_mask is not None:\n                x = x * attention_mask[..., None]\n            x = layer(x)", "You set the padding's vectors to zero instead of masking it. A vector of zeros still makes a key (its bias) with a score, so it still gets attention. Only the mask keeps it out.", "padding"),
       ("layers_twice", "x = layer(layer(x, mask), mask)", "Every layer is applied twice. Once each, one after the other."),
       ("no_layers", "layer(x, mask)", "No layer has an effect: you return the embeddings. Each layer's output is the next layer's input."),
       ("first_layer_repeated", "x = self.layers[0](x, mask)", "The first layer is applied {L} times; the others are never used. Go through all of `self.layers`."),
       ("no_mask_in_first_layer", "x = layer(x, None if layer is self.layers[0] else mask)", "The first layer gets no mask: there, real tokens attend to padding. Every layer computes attention, so every layer needs the mask.", "padding"),
       ("mask_in_last_layer_only", "x = layer(x, mask if layer is self.layers[-1] else None)", "Only the last layer gets the mask; before it, real tokens attend to padding. Every layer computes attention again, so every layer needs it.", "padding"))
    at(("x = self.embeddings(ids)  # (B, T, D)", "layer(x, mask)"), NUMBERS, ("embeddings_every_time", ("start = self.embeddings(ids)  # (B, T, D)\n        x = torch.zeros_like(start)", "layer(x + start, mask)"), "You add the embeddings again before every layer after the first. They enter once, at the bottom; from there on each layer's input is the output of the one below."))
    at(("        self.layers = ", "return x"), LAYERS,
       ("final_norm", ("        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)\n        self.layers = ", "return self.layer_norm(x)"), "Your encoder has a norm of its own, besides those of its parts. A pre-norm stack needs one at its end; post-norm layers end with theirs, and BERT has no weights for another."),
       ("extra_dropout", ("        self.dropout = nn.Dropout(0.1)\n        self.layers = ", "return self.dropout(x)"), "You add a dropout of your own, though the embeddings and the layers have theirs already: in training, results are other than they should be.", "values"))
    at("layer(x, mask)", "padding",
       ("mask_unused", "layer(x)", "Real tokens attend to padding, as if there were no attention mask: no layer is told of it. Make a mask of it with `padding_mask` and pass it to every layer."),
       ("raw_mask", "layer(x, attention_mask)", "Your layers get a mask in a form that attention doesn't take, such as the tokenizer's own, (B, T) of whole numbers. They need what `padding_mask` makes of it."))
    at("padding_mask(attention_mask)", "padding", ("mask_turned_round", "padding_mask(1 - attention_mask)", "Your mask is the wrong way round: the padding is kept and the real tokens are hidden. `padding_mask` takes the tokenizer's mask as it is, with 1 for real tokens."))
    at("attention_mask: Tensor | None = None", UNCALLED, ("mask_required", "attention_mask: Tensor", "`attention_mask` must be optional: with `attention_mask=None` as its default all tokens are real, and the layers get no mask."))
    at("None if attention_mask is None else ", UNCALLED, ("mask_of_none", "", "You use `attention_mask` even when there is none: where it is `None`, its default, the layers get `None`, too."))
    at("padding_mask(attention_mask)", "padding", ("no_mask_for_one_sentence", "padding_mask(attention_mask) if len(ids) > 1 else None", "For a single sentence you pass no mask to the layers, and its padding is looked at. One sentence can be padded, too: only `attention_mask` says so."))
    at("None if attention_mask is None", "padding",
       ("mask_if_the_first_has_padding", "None if attention_mask is None or attention_mask[0].all()", "Whether there is a mask at all depends on the first sentence alone in yours: if it has no padding, that of the others is not hidden. Look at all sentences, or always make the mask."),
       ("mask_if_the_last_has_padding", "None if attention_mask is None or attention_mask[-1].all()", "Whether there is a mask at all depends on the last sentence alone in yours: if it has no padding, that of the others is not hidden. Look at all sentences, or always make the mask."),
       ("mask_if_the_end_is_padding", "None if attention_mask is None or attention_mask[:, -1].all()", "Whether there is a mask at all depends on the last position alone in yours. Padding on the left is then not hidden. Look at all positions, or always make the mask."))
    at("return x", ("shape", *NUMBERS), ("only_cls", "return x[:, 0]", "You return only the first token's vector, (B, D). An encoder returns one vector for every token, (B, T, D); picking [CLS] is the job of the head in notebook 08."))
    at(("x = self.embeddings(ids)  # (B, T, D)", "x = layer(x, mask)", "return x"), ("shape", *NUMBERS), ("all_states", ("states = [self.embeddings(ids)]  # of (B, T, D)", "states.append(layer(states[-1], mask))", "return states"), "You return the hidden states of all layers. The contract asks for the last ones alone, (B, T, D); the others are collected by a helper in the next section."))
    LOOP = "for layer in self.layers:"
    at(LOOP, NUMBERS,
       ("only_first_layer", "for layer in self.layers[:1]:", "Only the first layer is applied: there are {L}, one after the other. (Is the `return` inside the loop?)"),
       ("all_but_the_last", "for layer in self.layers[:-1]:", "The last layer is made, but not applied. All {L} come one after the other."),
       ("all_but_the_first", "for layer in self.layers[1:]:", "The first layer is made, but not applied. All {L} come one after the other."),
       ("layers_reversed", "for layer in reversed(self.layers):", "Your layers run from the last to the first. The embeddings go into layer 0."))
    at("None if attention_mask is None else padding_mask(attention_mask)", ("values", "gradients"),
       ("guesses_the_mask", "padding_mask((ids != 0).long() if attention_mask is None else attention_mask)", "Without an attention mask you make one from the ids, with 0 as padding. `None` means that all tokens are real, whatever their ids: the layers get no mask."),
       ("mask_from_ids", "padding_mask((ids != 0).long())", "You make the mask from the ids, with 0 as padding, and `attention_mask` has no effect. It alone says what is padding.", NUMBERS),
       ("causal", "torch.ones(ids.size(1), ids.size(1)).tril().bool() & padding_mask(torch.ones_like(ids) if attention_mask is None else attention_mask)", "Your mask is causal: each token sees only itself and the ones before it. An encoder looks both ways; its mask hides padding, and nothing else.", NUMBERS),
       ("mask_kept", 'self.__dict__.setdefault("kept", padding_mask(attention_mask)) if attention_mask is not None else self.__dict__.get("kept")', "You keep the mask of an earlier call. Each call has its own sentences: make a mask at each call.", "padding"),
       ("all_hidden_without_a_mask", "padding_mask(torch.zeros_like(ids) if attention_mask is None else attention_mask)", "Without an attention mask you hide every token. `None` means that all are real: no mask, or one of ones."))
    at(("self.embeddings(ids)", "layer(x, mask)"), "padding", ("embeddings_of_zeros", ("self.embeddings(ids if attention_mask is None else ids * attention_mask)", "layer(x)"), "You set the ids at padding to something else and pass no mask to the layers: real tokens still attend to padding. Only the mask keeps padding out."))
    for called in ("norm", "final_norm", "ln_f"):
        at(("        self.layers = ", "return x"), LAYERS, (f"final_norm_called_{called}", (f"        self.{called} = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)\n        self.layers = ", f"return self.{called}(x)"), "Your encoder has a norm of its own, besides those of its parts. A pre-norm stack needs one at its end; post-norm layers end with theirs, and BERT has no weights for another."))
    called_otherwise(at, "layers", ("layer", "blocks", "encoder_layers", "encoder"), LAYERS, name="layers_called")
    called_otherwise(at, "embeddings", ("embedding", "embed"), LAYERS, name="embeddings_called")
    squeezed(at, ("shape", "values", "gradients", "padding"), "is (B, T, D), also for one sentence of one token")
    class_beginnings(at, ("gradients", "padding", "parameters", "shape", "values"), takes="config")


@MISTAKES.of(right.load_bert_weights)
def in_load_bert_weights(at):
    ALL = ("embeddings", "layers", "agreement", "missing keys", "leftover layers", "independence")
    IN_EMBEDDINGS = ("embeddings", "agreement")
    IN_LAYERS = ("layers", "agreement")
    LOAD = "encoder.load_state_dict(mine)  # strict: refuses when a name is missing or left over"
    NORM = '        mine[f"embeddings.layer_norm.{part}"] = state_dict[f"embeddings.LayerNorm.{part}"]\n'
    LAYER = 'mine[f"layers.{number}.{name}.{part}"] = state_dict[f"encoder.layer.{number}.{theirs}.{part}"]'

    STRICT_FALSE = "An incomplete dict is accepted, and so is one with more layers: a key without a partner is skipped, and that part of the encoder keeps its random start. (`strict=False` does that, and so does an `if key in …`, or an `except` that swallows the error.) Leave out what the encoder has no place for (pooler, token types), and load the rest strictly."
    SWAPS = {
        "encoder.layer.": "layers.", "attention.self.query": "attention.q", "attention.self.key": "attention.k",
        "attention.self.value": "attention.v", "attention.output.dense": "attention.output_linear",
        "attention.output.LayerNorm": "layer_norm_1", "intermediate.dense": "feed_forward.linear_1",
        "output.LayerNorm": "layer_norm_2", "output.dense": "feed_forward.linear_2",
        "word_embeddings": "token_embeddings", "LayerNorm": "layer_norm",
    }

    PLACES, SEGMENTS = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"

    def translated(key):
        for theirs, mine in SWAPS.items():
            key = key.replace(theirs, mine)
        return key

    @MISTAKES.mistake(STRICT_FALSE, breaks=("missing keys", "leftover layers"))
    def load_bert_weights__strict_false(encoder, state_dict):
        renamed = {translated(key): value for key, value in state_dict.items()}
        renamed[PLACES] = renamed[PLACES] + renamed[SEGMENTS][0]
        encoder.load_state_dict(renamed, strict=False)

    @MISTAKES.mistake(STRICT_FALSE, breaks=("missing keys", "leftover layers"))
    def load_bert_weights__strict_false_positions_too(encoder, state_dict):
        types = state_dict[SEGMENTS][0]
        renamed = {translated(key): value + types if key == PLACES else value for key, value in state_dict.items()}
        encoder.load_state_dict(renamed, strict=False)

    @MISTAKES.mistake(STRICT_FALSE, breaks=("missing keys", "leftover layers"))
    def load_bert_weights__strict_false_types_too(encoder, state_dict):
        types = state_dict[SEGMENTS][0] if SEGMENTS in state_dict else 0.0
        renamed = {translated(key): value + types if key == PLACES else value for key, value in state_dict.items()}
        encoder.load_state_dict(renamed, strict=False)

    @MISTAKES.mistake("`output.dense` is also the end of `attention.output.dense`. You replace the short name there, too, and `attention.feed_forward.linear_2` is left. Replace the long one first, or look up each whole name in a table.", breaks=ALL)
    def load_bert_weights__short_name_first(encoder, state_dict):
        names = {
            "encoder.layer.": "layers.", "attention.self.query": "attention.q", "attention.self.key": "attention.k",
            "attention.self.value": "attention.v", "output.dense": "feed_forward.linear_2",
            "attention.output.dense": "attention.output_linear", "intermediate.dense": "feed_forward.linear_1",
            "attention.output.LayerNorm": "layer_norm_1", "output.LayerNorm": "layer_norm_2",
            "word_embeddings": "token_embeddings", "LayerNorm": "layer_norm",
        }
        renamed = {}
        for key, value in state_dict.items():
            if not key.startswith("pooler."):
                for theirs, mine in names.items():
                    key = key.replace(theirs, mine)
                renamed[key] = value
        types = renamed.pop("embeddings.token_type_embeddings.weight")
        renamed["embeddings.position_embeddings.weight"] = renamed["embeddings.position_embeddings.weight"] + types[0]
        encoder.load_state_dict(renamed)

    @MISTAKES.mistake("Almost nothing was loaded. BERT's names are not yours: only `embeddings.position_embeddings.weight` is called the same in both, and the rest is skipped without a word (as `strict=False` does). Rename the keys first, and load strictly.", breaks=("embeddings", "layers", "agreement", "missing keys", "leftover layers"))
    def load_bert_weights__nothing_renamed(encoder, state_dict):
        encoder.load_state_dict(state_dict, strict=False)

    at("load_state_dict(mine)", ALL,
       ("names_not_translated", "load_state_dict(state_dict)", "The names are still BERT's, and strict loading refuses them, as it should. Translate each key into your encoder's name first; the message lists both kinds, missing and unexpected."),
       ("shared_memory", "load_state_dict(mine, assign=True)", "Encoder and dict now share memory: training the encoder would change the library's model, too. Copy the numbers (`copy_`, `.clone()`, `load_state_dict` without `assign=True`), don't pass the tensors on.", "independence"))

    @MISTAKES.mistake("Nothing in `encoder` has changed. Was the renamed dict never loaded (`encoder.load_state_dict(...)`), or loaded into another encoder that you made yourself?", breaks=ALL)
    def load_bert_weights__nothing_loaded(encoder, state_dict):
        {name.replace("encoder.layer", "layers"): value for name, value in state_dict.items()}

    at(('state_dict[f"embeddings.LayerNorm.{part}"]', 'state_dict[f"encoder.layer.{number}.{theirs}.{part}"]', LOAD), "missing keys", ("skips_what_is_missing", ('state_dict.get(f"embeddings.LayerNorm.{part}")', 'state_dict.get(f"encoder.layer.{number}.{theirs}.{part}")', "encoder.load_state_dict({name: value for name, value in mine.items() if value is not None}, strict=False)"), "A key that is missing from the dict is skipped, and that part of the encoder keeps its random start. Raise an error instead: index with `state_dict[key]`, or load strictly."))
    TOO_MANY = 'any(key.startswith(f"encoder.layer.{depth}.") for key in state_dict)'
    AS_TEXT = 'int(max(key.split(".")[2] for key in state_dict if key.startswith("encoder.layer.")))'
    at(TOO_MANY, "leftover layers",
       ("one_layer_over", 'any(key.startswith(f"encoder.layer.{depth + 1}.") for key in state_dict)', "A dict with exactly one layer more than the encoder is loaded without a word; with two more it is refused. Layers are numbered from 0: an encoder of n layers has 0 … n − 1, so layer n is one too many."),
       ("only_one_layer_over", 'len({key.split(".")[2] for key in state_dict if key.startswith("encoder.layer.")}) == depth + 1', "A dict with one layer more than the encoder is refused; with two more it is loaded without a word. Refuse any number of layers beyond the encoder's."),
       ("layers_counted_as_text", f"{AS_TEXT} >= depth", "A dict of twelve layers is too deep for ten or eleven, and is loaded without a word. From layer 10 on, a number has two digits: take the whole number from the name (`name.split(\".\")[2]`), and turn it into an `int` before you compare. As *text*, “9” comes after “11”."))
    at(TOO_MANY, ("layers", "leftover layers"), ("layers_matched_as_text", f"{AS_TEXT} + 1 != depth", "A dict of twelve layers is refused, though it fits. From layer 10 on, a number has two digits: take the whole number from the name (`name.split(\".\")[2]`), and turn it into an `int` before you compare. As *text*, “9” comes after “11”."))
    at('token_type_embeddings.weight"][0]', "missing keys", ("token_types_optional", 'token_type_embeddings.weight"][0] if "embeddings.token_type_embeddings.weight" in state_dict else 0.0', "A dict without token types is loaded without a word, though type 0 belongs to every token. Raise an error: `state_dict[…]` does so when an entry is missing, `get` and `in` don't."))
    at('    if any(key.startswith(f"encoder.layer.{depth}.") for key in state_dict):\n        raise ValueError(f"the encoder has {depth} layers, the state dict has more")\n', "leftover layers", ("leaves_layers_over", "", "A dict with more layers than the encoder raises no error in yours. Half of a BERT is another model: compare the two numbers of layers, and raise a `ValueError`."))
    at(" + segment", IN_EMBEDDINGS, ("no_token_types", "", "Token types are forgotten: BERT adds the vector of type 0 to every token of a single sentence. Your encoder has no table for it, so add `token_type_embeddings.weight[0]` to every row of the position table."))
    at(('    segment = state_dict["embeddings.token_type_embeddings.weight"][0]  # (D,)\n', " + segment"), (*IN_EMBEDDINGS, "missing keys"), ("no_token_types_at_all", ("", ""), "Token types are forgotten: BERT adds the vector of type 0 to every token of a single sentence. Your encoder has no table for it, so add `token_type_embeddings.weight[0]` to every row of the position table. (A dict without them is refused.)"))
    at('token_type_embeddings.weight"][0]', IN_EMBEDDINGS,
       ("token_type_one", 'token_type_embeddings.weight"][1]', "You add the vector of token type 1, which marks the second sentence of a pair. A single sentence is type 0: row 0 of the table."),
       ("both_token_types", 'token_type_embeddings.weight"].sum(dim=0)', "You add the vectors of both token types. A token has one type, and in a single sentence that is type 0: row 0 of the table alone."),
       ("mean_token_type", 'token_type_embeddings.weight"].mean(dim=0)', "You add the average of the token types. A single sentence is type 0: row 0 of the table."))
    POPS = "You take entries out of the dict that you were given (`pop`, `del`): the caller no longer finds them, and a dict without a pooler is refused. Work on a copy, `dict(state_dict)`, and skip what may be missing: `pop(name, None)`."
    POSITIONS = 'state_dict["embeddings.position_embeddings.weight"] + segment'
    TYPES = 'state_dict["embeddings.token_type_embeddings.weight"]'
    EVERY_ROW = "The vector of type 0 belongs to every token, so add row 0 of `token_type_embeddings.weight` to *every* row of the position table."
    for called, more, what in (
        ("type_on_position_0_only", "F.pad(segment[None], (0, 0, 0, len({table}) - 1))", "Type 0 is added to row 0 of the position table only."),
        ("types_on_two_positions", "F.pad({types}, (0, 0, 0, len({table}) - len({types})))", "The token types are added to the first rows of the position table only: type 0 to row 0, type 1 to row 1."),
    ):
        table = POSITIONS.removesuffix(" + segment")
        at(POSITIONS, IN_EMBEDDINGS, (called, f"{table} + {more.format(table=table, types=TYPES)}", f"{what} {EVERY_ROW}"))
    at((" + segment", NORM), IN_EMBEDDINGS, ("type_after_the_norm", ("", NORM.rstrip("\n") + ' + (segment if part == "bias" else 0)\n'), "You add type 0 to the norm's bias, so it comes after the norm. Type 0 is part of the sum that goes into the norm: add it to every row of the position table."))
    at('state_dict["embeddings.word_embeddings.weight"]', IN_EMBEDDINGS, ("token_type_twice", 'state_dict["embeddings.word_embeddings.weight"] + segment', "The vector of token type 0 is added twice; once is enough. (To the tokens as well as to the positions? A token has both. Or in the new dict and again after loading?)"))
    at(LAYER, ALL,
       ("attention_transposed", 'value = state_dict[f"encoder.layer.{number}.{theirs}.{part}"]\n                turn = name.startswith("attention") and part == "weight"\n                mine[f"layers.{number}.{name}.{part}"] = value.T if turn else value', "The attention weights are transposed. Both sides use `nn.Linear`, which keeps (outputs, inputs): copy them as they are. (GPT-2's Conv1D, in notebook 09, is the one to turn.) As they are square, no shape complained.", IN_LAYERS),
       ("all_transposed", 'value = state_dict[f"encoder.layer.{number}.{theirs}.{part}"]\n                mine[f"layers.{number}.{name}.{part}"] = value.T if value.dim() == 2 else value', "All linear weights are transposed: for the feed-forward layers the shapes then no longer fit. Both sides use `nn.Linear`, which keeps (outputs, inputs): copy them as they are."),
       ("no_layer_biases", 'if part == "weight":\n                    ' + LAYER, "The layers' biases are missing from the dict that you load, and strict loading refuses it. Every linear layer and every norm has a `weight` and a `bias`."))
    at(("self.query", "self.key"), IN_LAYERS, ("q_and_k_swapped", ("self.key", "self.query"), "Query and key are exchanged: BERT's `query` belongs into `q`, its `key` into `k`."))
    at(LOAD, ALL,
       ("key_biases_forgotten", 'encoder.load_state_dict({name: value for name, value in mine.items() if not name.endswith("k.bias")}, strict=False)', "The biases of `attention.k` are not BERT's. Hidden states don't show it (such a bias adds the same to all scores of a query), but every linear layer has a weight and a bias to copy.", "layers"),
       ("no_biases", 'encoder.load_state_dict({name: value for name, value in mine.items() if name.endswith("weight")}, strict=False)', "Only the weights were copied; the biases keep what they started with. Every linear layer and every norm has both.", ("embeddings", *IN_LAYERS)),
       ("frozen", "encoder.load_state_dict(mine)\n    encoder.requires_grad_(False)", "The weights are in, but they can't be trained any more: `requires_grad` is off. Notebook 08 trains this encoder further.", "independence"),
       ("pooler_left_in", 'mine.update({key: value for key, value in state_dict.items() if key.startswith("pooler")})\n    encoder.load_state_dict(mine)', "The pooler is in the dict that you load, and strict loading refuses it: your encoder has none. Leave `pooler.…` out."),
       ("token_types_left_in", 'mine["embeddings.token_type_embeddings.weight"] = state_dict["embeddings.token_type_embeddings.weight"]\n    encoder.load_state_dict(mine)', "The table of token types is in the dict that you load, and strict loading refuses it: your encoder has none. Add its row 0 to the positions and leave the table out."))
    at(("self.key", "self.value"), IN_LAYERS,
       ("k_and_v_swapped", ("self.value", "self.key"), "Key and value are exchanged: BERT's `key` belongs into `k`, its `value` into `v`."),
       ("query_everywhere", ("self.query", "self.query"), "`q`, `k` and `v` all get BERT's `query`. Its `key` belongs into `k`, its `value` into `v`.", (*IN_LAYERS, "missing keys")))
    at(('"attention.output.LayerNorm"', '"output.LayerNorm"'), IN_LAYERS, ("norms_swapped", ('"output.LayerNorm"', '"attention.output.LayerNorm"'), "The two norms of a layer are exchanged. `attention.output.LayerNorm` follows attention: it is `layer_norm_1`; `output.LayerNorm` follows the feed-forward part: `layer_norm_2`."))
    at('"output.LayerNorm"', (*IN_LAYERS, "missing keys"), ("one_norm_for_both", '"attention.output.LayerNorm"', "Both norms of a layer get the weights of the first one. The second is `output.LayerNorm`, without `attention` before it."))
    at('f"encoder.layer.{number}.{theirs}', (*IN_LAYERS, "missing keys"),
       ("layer_0_everywhere", 'f"encoder.layer.0.{theirs}', "Every layer gets the weights of layer 0: the key that you look up needs each layer's own number."),
       ("layers_sorted_as_text", 'f"encoder.layer.{sorted(range(depth), key=str)[number]}.{theirs}', "Your layers are in the order of their numbers as *text*: 0, 1, 10, 11, 2, … That shows from eleven layers on. Go by the number itself.", "layers"))
    at('f"layers.{number}.', IN_LAYERS, ("layers_reversed", 'f"layers.{depth - 1 - number}.', "The layers are in reverse order: BERT's layer 0 comes first, right after the embeddings."))
    at((NORM, LOAD), (*IN_EMBEDDINGS, "missing keys"),
       ("no_embedding_norm", ("", "encoder.load_state_dict(mine, strict=False)"), "The norm after the embeddings is not loaded: `embeddings.LayerNorm` belongs into `embeddings.layer_norm`, weight and bias."),
       ("no_embeddings", ("", 'encoder.load_state_dict({name: value for name, value in mine.items() if name.startswith("layers.")}, strict=False)'), "Only the layers are loaded; the embeddings keep their random start. Tokens, positions, token type 0 and their norm come from the dict too."))
    at(('        "layer_norm_1": "attention.output.LayerNorm",\n', '        "layer_norm_2": "output.LayerNorm",\n', LOAD), (*IN_LAYERS, "missing keys"), ("no_layer_norms", ("", "", "encoder.load_state_dict(mine, strict=False)"), "The layers' norms are not loaded: they keep their start. They have learned weights and biases too (`attention.output.LayerNorm`, `output.LayerNorm`)."))
    at(('        "attention.output_linear": "attention.output.dense",\n', LOAD), (*IN_LAYERS, "missing keys"), ("no_output_linear", ("", "encoder.load_state_dict(mine, strict=False)"), "`output_linear` is not loaded: in BERT it is called `attention.output.dense`."))
    at(("    mine = {\n", " + segment"), "independence", ("dict_changed", ('    state_dict["embeddings.position_embeddings.weight"] += segment\n    mine = {\n', ""), "You change the dict that you were given: its position table is no longer what it was, and the caller goes on with it. Put the sum into a dict of your own, as `a + b` (`a += b` writes into the library model's tensor)."))
    at('state_dict["embeddings.token_type_embeddings.weight"]', "independence", ("dict_emptied", 'state_dict.pop("embeddings.token_type_embeddings.weight")', "You take entries out of the dict that you were given (`pop`, `del`), and the caller no longer finds them. Work on a copy: `dict(state_dict)`."))

    @MISTAKES.mistake("You pair parameters by their order in both models. The orders differ (BERT has a table of token types in between): copy by name.", breaks=ALL)
    def load_bert_weights__by_order(encoder, state_dict):
        with torch.no_grad():
            for parameter, value in zip(encoder.parameters(), state_dict.values()):
                parameter.copy_(value)

    at('("weight", "bias")', ALL, ("no_biases_at_all", '("weight",)', "All biases are missing from the dict that you load, and strict loading refuses it. Every linear layer and every norm has a `weight` and a `bias`."))
    at(NORM, ALL, ("embedding_norm_forgotten", "", "The norm after the embeddings is missing from the dict that you load, and strict loading refuses it: `embeddings.LayerNorm` belongs into `embeddings.layer_norm`, weight and bias."))
    at(('        "layer_norm_1": "attention.output.LayerNorm",\n', '        "layer_norm_2": "output.LayerNorm",\n'), ALL, ("layer_norms_forgotten", ("", ""), "The layers' norms are missing from the dict that you load, and strict loading refuses it (`attention.output.LayerNorm`, `output.LayerNorm`)."))
    at('        "attention.output_linear": "attention.output.dense",\n', ALL, ("output_linear_forgotten", "", "`output_linear` is missing from the dict that you load, and strict loading refuses it: in BERT it is called `attention.output.dense`."))
    at(('"feed_forward.linear_1": "intermediate.dense"', '"feed_forward.linear_2": "output.dense"'), ALL, ("linears_swapped", ('"feed_forward.linear_1": "output.dense"', '"feed_forward.linear_2": "intermediate.dense"'), "`linear_1` and `linear_2` are exchanged: BERT's `intermediate.dense` widens, which is `linear_1`; its `output.dense` narrows, which is `linear_2`. Their shapes don't fit, and loading stops."))
    at(("self.query", "self.value"), IN_LAYERS, ("q_and_v_swapped", ("self.value", "self.query"), "Query and value are exchanged: BERT's `query` belongs into `q`, its `value` into `v`."))
    at('"attention.output.LayerNorm"', (*IN_LAYERS, "missing keys"), ("second_norm_for_both", '"output.LayerNorm"', "Both norms of a layer get the weights of the second one. The first is `attention.output.LayerNorm`."))
    AS_MANY = "You load as many layers as the dict has. Where it has fewer than the encoder, the others keep their random start, without a word: compare the two numbers, and raise an error when they differ."
    UNREAD = "encoder.load_state_dict(mine, strict=False)"
    at(('("weight", "bias")', LOAD), (*IN_EMBEDDINGS, "layers", "missing keys"), ("no_biases_read", ('("weight",)', UNREAD), "Only the weights were copied; the biases keep what they started with. Every linear layer and every norm has both."))
    at((LAYER, LOAD), (*IN_LAYERS, "missing keys"), ("no_layer_biases_read", ('if part == "weight":\n                    ' + LAYER, UNREAD), "The layers' biases were not copied: they keep their random start. Every linear layer and every norm has a `weight` and a `bias`."))
    at((NORM, LAYER, LOAD), (*IN_EMBEDDINGS, "layers", "missing keys"), ("no_norm_biases_read", ('        mine["embeddings.layer_norm.weight"] = state_dict["embeddings.LayerNorm.weight"]\n', 'if part == "weight" or "norm" not in name:\n                    ' + LAYER, UNREAD), "The biases of the norms are not loaded, in the embeddings and in the layers: each norm has a `weight` and a `bias`."))
    at((NORM, LOAD), (*IN_EMBEDDINGS, "missing keys"), ("no_embedding_norm_bias_read", ('        mine["embeddings.layer_norm.weight"] = state_dict["embeddings.LayerNorm.weight"]\n', UNREAD), "The bias of the norm after the embeddings is not loaded: `embeddings.LayerNorm.bias` belongs into `embeddings.layer_norm.bias`."))
    at(("for number in range(depth)", LOAD), (*IN_LAYERS, "missing keys"),
       ("only_layer_0", ("for number in range(1)", "encoder.load_state_dict(mine, strict=False)"), "Only layer 0 is loaded; the other layers keep their random start. Loop over all of `encoder.layers`."),
       ("all_but_the_last_layer", ("for number in range(depth - 1)", "encoder.load_state_dict(mine, strict=False)"), "The last layer is not loaded: it keeps its random start. Loop over all of `encoder.layers`."),
       ("as_many_layers_as_its_last", ('for number in range(1 + max(int(key.split(".")[2]) for key in state_dict if key.startswith("encoder.layer.")))', "encoder.load_state_dict(mine, strict=False)"), AS_MANY, "missing keys"),
       ("as_many_layers_as_the_dict", ('for number in range(len({key.split(".")[2] for key in state_dict if key.startswith("encoder.layer.")}))', "encoder.load_state_dict(mine, strict=False)"), AS_MANY, "missing keys"))
    at(('state_dict[f"encoder.layer.{number}.{theirs}.{part}"]', LOAD), "missing keys", ("skips_what_the_layers_miss", ('state_dict.get(f"encoder.layer.{number}.{theirs}.{part}")', "encoder.load_state_dict({name: value for name, value in mine.items() if value is not None}, strict=False)"), "A key that is missing from the dict is skipped where it belongs to a layer, and that part of the encoder keeps its random start. Raise an error instead: index with `state_dict[key]`, or load strictly."))
    at("    depth = len(encoder.layers)\n", "agreement", ("pooler_counted", '    depth = len(encoder.layers)\n    if "pooler.dense.weight" not in state_dict:\n        raise ValueError("entries are missing")\n', "A dict without `pooler.…` is refused, though a pooler may be missing: your encoder has none. Neither ask for its entries nor count them."))
    at("    depth = len(encoder.layers)\n", "agreement", ("pooler_required", '    depth = len(encoder.layers)\n    {**state_dict}.pop("pooler.dense.weight")\n', "A dict without `pooler.…` is refused, though a pooler may be missing: your encoder has none. Skip such names, or give `pop` a default, `pop(name, None)`."))
    at("    depth = len(encoder.layers)\n", ("agreement", "independence"),
       ("pooler_popped", '    depth = len(encoder.layers)\n    for key in [key for key in state_dict if key.startswith("pooler.")]:\n        del state_dict[key]\n', "You take entries out of the dict that you were given (`pop`, `del`), and the caller no longer finds them. Work on a copy: `dict(state_dict)`.", "independence"),
       ("pooler_popped_without_default", '    depth = len(encoder.layers)\n    state_dict.pop("pooler.dense.weight")\n    state_dict.pop("pooler.dense.bias")\n', POPS))
    at(LOAD, ALL, ("in_place_outside_no_grad", "encoder.load_state_dict(mine)\n    encoder.embeddings.position_embeddings.weight += segment", "You change a parameter in place (`+=`, `copy_`) while gradients are recorded, and PyTorch refuses that. Do it inside `with torch.no_grad():`, or put the sum into a new dict and load that with `load_state_dict`."))
    at(('state_dict[f"encoder.layer.{number}.{theirs}.{part}"]', LOAD), "missing keys", ("skips_missing_biases", ('state_dict[f"encoder.layer.{number}.{theirs}.weight"] if part == "weight" else state_dict.get(f"encoder.layer.{number}.{theirs}.bias")', "encoder.load_state_dict({name: value for name, value in mine.items() if value is not None}, strict=False)"), "A bias that is missing from the dict is skipped, and the encoder's own keeps its random start. Raise an error instead: index with `state_dict[key]`, or load strictly."))
    at('if any(key.startswith(f"encoder.layer.{depth}.") for key in state_dict)', ALL, ("refuses_everything", "if len(state_dict) != len(encoder.state_dict())", "Dicts that fit are refused, too: your test asks for more than it should. Refuse only missing entries and extra layers."))
    at('state_dict["embeddings.position_embeddings.weight"] + segment', IN_EMBEDDINGS, ("types_replace_positions", 'segment.expand_as(state_dict["embeddings.position_embeddings.weight"])', "The positions are not loaded: the token type's vector is in every row. Add the two."))


@MISTAKES.of(right.masked_mean)
def in_masked_mean(at):
    MEANS = ("values", "gradients")
    SHAPED = ("shape", "values", "gradients")
    MEAN = "(hidden * keep).sum(dim=1) / keep.sum(dim=1)  # (B, D) / (B, 1)"
    at(MEAN, SHAPED,
       ("with_padding", "hidden.mean(dim=1)", "Padding is averaged in: this is the mean over all {T} positions. Leave out those where the attention mask is 0, above and below the fraction line.", MEANS),
       ("first_token", "hidden[:, 0]", "You return the first token's vector ([CLS]). Return the mean of all real tokens.", MEANS),
       ("whole_batch", "hidden[attention_mask.bool()].mean(dim=0)", "All sentences are averaged into one vector. Return one row per sentence, (B, D). (Indexing with the mask of the whole batch, `hidden[mask]`, forgets which token belongs to which sentence.)"),
       ("shared_out_evenly", "hidden[attention_mask.bool()].view(len(hidden), -1, hidden.size(-1)).mean(dim=1)", "You share the real tokens out evenly over the sentences, as many to each. A sentence has its own number of them: multiply by the mask, and divide by each sentence's number."),
       ("over_batch", "(hidden * keep).sum(dim=0) / keep.sum(dim=0).clamp(min=1)  # (T, D) / (T, 1)", "You average over the sentences (dim 0); the mean runs over the tokens of one sentence, dim 1."),
       ("over_width", "hidden.mean(dim=-1) * attention_mask  # (B, T)", "You average each token's D numbers (the last dim) and get one number a token. The mean runs over the tokens, and D numbers remain."),
       ("keeps_the_axis", "(hidden * keep).sum(dim=1, keepdim=True) / keep.sum(dim=1, keepdim=True)  # (B, 1, D) / (B, 1, 1)", "There is one axis too many: (B, 1, D). The summed axis should go: (B, D)."),
       ("nan_at_padding", 'hidden.masked_fill(keep == 0, float("nan")).mean(dim=1)', "Every sentence with padding becomes NaN. (Did you put NaN in place of the padding? `mean` gives NaN where there is one; `nanmean` leaves them out.) Add up the real tokens, and divide by their number.", MEANS),
       ("softmax_of_the_mask", "(hidden * attention_mask.float().softmax(dim=1).unsqueeze(-1)).sum(dim=1)", "Your weights are a softmax of the mask. There a 0 is no weight of 0: padding still gets e⁰ = 1, where a real token gets e¹ = 2.7. Multiply by the mask itself, and divide by its sum.", MEANS),
       ("max", 'hidden.masked_fill(keep == 0, float("-inf")).amax(dim=1)', "That is the largest value of each column among the real tokens (max pooling). Return the mean.", MEANS),
       ("max_with_zeros", "(hidden * keep).amax(dim=1)", "You take the largest value of each column, with 0 at the padding (max pooling). Return the mean of the real tokens.", MEANS),
       ("sums_over_width", "(hidden * keep).sum(dim=2) / attention_mask.sum(dim=1, keepdim=True)  # (B, T) / (B, 1)", "You add up each token's D numbers, as `sum(dim=2)` does, and the tokens remain: (B, T). The sum runs over the tokens, dim 1, and D numbers remain."),
       ("first_sentence_only", "(hidden[:1] * keep[:1]).sum(dim=1) / keep[:1].sum(dim=1)", "Only the first sentence's mean comes back, (1, D); asked is one row for each, (B, D). (Is the `return` inside the loop?)"),
       ("last_position", "hidden[:, -1]", "You return the vector at the last position, which may be padding. Return the mean of all real tokens.", MEANS),
       ("normalized", "F.normalize((hidden * keep).sum(dim=1) / keep.sum(dim=1), dim=1)", "You scale each sentence's vector to length 1. Return the plain mean.", MEANS),
       ("list", "list((hidden * keep).sum(dim=1) / keep.sum(dim=1))", "Your numbers are in a Python list. Return one tensor, (B, D): `torch.stack(…)`.", "shape"))
    at("attention_mask.unsqueeze(-1)", MEANS, ("without_the_first", "(attention_mask * (torch.arange(attention_mask.size(1)) > 0)).unsqueeze(-1)", "Position 0 is left out of your mean: that is [CLS], where no padding comes before it. Every position whose mask is 1 counts."))
    NONZERO = "You count the numbers that are not 0 instead of the real tokens. A real token can have a 0 in its vector (a ReLU makes many): count with the attention mask."
    at("keep.sum(dim=1)  # (B, D) / (B, 1)", MEANS,
       ("divides_by_length", "keep.size(1)  # (B, D)", "You leave the padding out of the sum but divide by all {T} positions. Divide by each sentence's number of real tokens."),
       ("divides_by_batch_total", "keep.sum()  # (B, D)", "You divide by the number of real tokens in the whole batch. Each sentence has its own: sum the mask over dim 1 only."),
       ("counts_nonzero", "((hidden * keep) != 0).sum(dim=1)  # (B, D) / (B, D)", NONZERO),
       ("counts_nonzero_at_least_1", "((hidden * keep) != 0).sum(dim=1).clamp(min=1)  # (B, D) / (B, D)", NONZERO),
       ("divides_by_batch", "len(hidden)  # (B, D)", "You divide by the number of sentences, B. Divide by each sentence's number of real tokens."),
       ("divides_by_width", "hidden.size(-1)  # (B, D)", "You divide by the width, D. Divide by each sentence's number of real tokens."),
       ("divides_by_longest", "keep.sum(dim=1).max()  # (B, D)", "You divide every sentence by the length of the longest in the batch. Each has its own number of real tokens."))
    at(" / keep.sum(dim=1)  # (B, D) / (B, 1)", MEANS, ("sum", "  # (B, D)", "That is the sum of the real tokens. For their mean, divide by how many there are in each sentence."))
    at("attention_mask.unsqueeze", MEANS, ("mean_of_padding", "(1 - attention_mask).unsqueeze", "You take the mean of the padding: the mask is used the wrong way round. 1 stands for a real token."))
    at("keep = attention_mask.", MEANS, ("counts_from_the_left", "lengths = attention_mask.sum(dim=1, keepdim=True)  # (B, 1)\n    keep = (torch.arange(hidden.size(1)) < lengths).", "You count the ones and average that many tokens from the left. Where padding is on the left, or in between, those are not the real ones."))
    at(("to(hidden.dtype)  # (B, T, 1)", "keep.sum(dim=1)"), MEANS, ("divides_by_entries", ("expand_as(hidden)  # (B, T, D)", "keep.sum(dim=(1, 2))[:, None]"), "You divide by the number of real entries, tokens times width. Divide by the number of tokens. (A mask that was widened to (B, T, D) counts each token D times.)"))
    at("keep.sum(dim=1)", MEANS,
       ("two_tokens_too_few", "(keep.sum(dim=1) - 2)", "You count two tokens too few, as if [CLS] and [SEP] were none. Every position whose mask is 1 counts."),
       ("one_too_many", "(keep.sum(dim=1) + 1)", "You divide by the number of real tokens plus one. For a mean, divide by their number; to be safe from 0, use `clamp(min=1)`."),
       ("divides_by_root", "keep.sum(dim=1).sqrt()", "You divide by the root of the number of real tokens. For a mean, divide by their number."))
    at("(hidden * keep)", MEANS, ("padding_in_the_sum", "hidden", "You divide by the number of real tokens, but the padding is in your sum. Leave it out there, too: `hidden * keep`, with the mask as (B, T, 1)."))
    at(" / keep.sum(dim=1)", MEANS, ("rounded_down", " // keep.sum(dim=1)", "Your means are rounded down to whole numbers, as `//` does. Divide with `/`."))
    COUNTS = "Every position whose mask is 1 counts, [CLS] and [SEP], too"
    INNER = "hidden, attention_mask = hidden[:, 1:-1], attention_mask[:, 1:-1]\n    keep = "
    at("keep = ", MEANS, ("first_and_last_left_out", INNER, f"The first and the last position are left out of your mean. {COUNTS}."))
    for name, count, what in (("first_and_last_left_out_and_at_least_1", "keep.sum(dim=1).clamp(min=1)", ""), ("mean_of_what_is_inside", "keep.size(1)", ", and you divide by the number of all positions in between")):
        at(("keep = ", "keep.sum(dim=1)  # (B, D) / (B, 1)"), MEANS, (name, (INNER, count), f"The first and the last position are left out of your mean{what}. {COUNTS}" + (", and it is their number that you divide by." if what else ".")))
    at("    return (hidden * keep)", "gradients", ("in_place", "    hidden *= keep\n    return hidden", "You write into `hidden` itself, and the caller still needs it. Make a new tensor: `hidden * keep` instead of `hidden *= keep`, `masked_fill` instead of `masked_fill_`, no `hidden[…] = …`."))
    at("(hidden * keep)", "gradients", ("detached", "(hidden.detach() * keep)", "No gradient reaches `hidden`: something cut it off (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`). Sentence vectors are trained through this mean."))
    REAL = "torch.stack([vectors[real.bool()]{cut}.mean(dim=0) for vectors, real in zip(hidden, attention_mask)])"
    for called, cut, what in (
        ("without_cls_and_sep", "[1:-1]", "the first and the last real token of each sentence, [CLS] and [SEP]"),
        ("without_cls", "[1:]", "the first real token of each sentence, [CLS]"),
        ("without_sep", "[:-1]", "the last real token of each sentence, [SEP]"),
    ):
        at(MEAN, MEANS, (called, REAL.format(cut=cut), f"You leave out {what}. Every position whose mask is 1 counts."))
    squeezed(at, SHAPED, "is (B, D), also for B = 1")


@MISTAKES.of(right.flies_by_layer)
def in_flies_by_layer(at):
    CHECK = """\
    if not (found.sum(dim=1) == 1).all():
        raise ValueError("every sentence must have exactly one “flies”")
"""
    at((CHECK, "hidden[found]"), ("values", "refusal"),
       ("place_of_the_first", ("", "hidden[:, found[0].int().argmax()]"), "Every sentence is read at the position where the first one has its “flies”. Find the position in each row of `ids`."),
       ("cls", ("", "hidden[:, 0]"), "You return the vector of [CLS], position 0. Return the vector of “flies”. (Did you ask `encode` for the id? It puts [CLS] before the word.)"),
       ("mean", ("", "hidden.mean(dim=1)"), "You return the mean over all tokens. Return the vector of one token, “flies”."),
       ("argmax_of_nothing", ("", "hidden[torch.arange(len(ids)), found.int().argmax(dim=1)]"), "Nothing is refused: a sentence without “flies” gives the vector of its first token (`argmax` over a row of False is 0), and one with two that of the first “flies”. Count them in each row, and raise a ValueError unless it is 1.", "refusal"))
    at("hidden[found]", "values",
       ("one_before", "hidden[found.roll(-1, dims=1)]", "You read one token too early: the word before “flies”. Did you forget that [CLS] is at position 0?"),
       ("one_after", "hidden[found.roll(1, dims=1)]", "You read one token too late: the one after “flies”. The ids contain [CLS] already: add nothing to the position where you found it."))
    at("in hidden_states]", ("shape", "values"),
       ("without_layer_0", "in hidden_states[1:]]", "The embeddings are missing: there are L + 1 hidden states, the first of them before any layer. Keep index 0."),
       ("sentences_first", "in hidden_states], dim=1", "Sentences and layers are exchanged: yours is (N, L + 1, D). Return (L + 1, N, D), one (N, D) per layer."),
       ("layers_reversed", "in hidden_states[::-1]]", "The layers come in reverse order. Index 0 is the embeddings.", "values"),
       ("without_last_layer", "in hidden_states[:-1]]", "The last layer is missing: there are L + 1 hidden states, and you need them all."))
    at("torch.stack([hidden[found] for hidden in hidden_states])", ("shape", "values"),
       ("last_layer", "hidden_states[-1][found]", "Only the last layer is there. Stack the vectors of all L + 1 hidden states."),
       ("sentences_first_reshaped", "torch.stack([hidden[found] for hidden in hidden_states], dim=1).reshape(len(hidden_states), len(ids), -1)", "Your numbers are in the order of (N, L + 1, D), only cut into (L + 1, N, D), as `reshape` and `view` do. Move the axis instead: `transpose(0, 1)`.", "values"),
       ("list", "[hidden[found] for hidden in hidden_states]", "Your numbers are in a Python list of tensors. Return one tensor: `torch.stack(…)`.", "shape"),
       ("mean_over_layers", "torch.stack([hidden[found] for hidden in hidden_states]).mean(dim=0)", "You average over the layers. Return each layer's vector, (L + 1, N, D)."))
    at(CHECK, ("shape", "values"),
       ("fewer_rows", "", "Nothing is refused: a sentence without “flies” gives no row, one with two gives two, and every row after it would carry another sentence's label. Count them in each row of `ids`, and raise a ValueError unless it is 1.", "refusal"),
       ("parts_of_words", '    if any(sentence.lower().count("flies") != 1 for sentence in sentences):\n        raise ValueError("every sentence must have exactly one “flies”")\n', "Whatever contains the letters *flies* counts as a hit, *butterflies* too, so good sentences are refused. Compare whole tokens, or ids: count the id of `flies` in each row of `ids`."),
       ("capitals_are_others", '    if any(sentence.split(" ").count("flies") + sentence.count("flies.") != 1 for sentence in sentences):\n        raise ValueError("every sentence must have exactly one “flies”")\n', "You look for “flies” in the text as it is, and *Flies* at the beginning of a sentence is not found. The tokenizer makes all letters small: look for its id in `ids`."))
    at(('model.tokenizer.convert_tokens_to_ids("flies")', CHECK), ("shape", "values", "refusal"), ("id_10029", ("10029", ""), 'What you look for is in no row of `ids`: its id is not that of “flies” in this model\'s vocabulary (10029 is, in BERT\'s). Ask the tokenizer that comes with the model: `model.tokenizer.convert_tokens_to_ids("flies")`.'))
    at(('found = ids == model.tokenizer.convert_tokens_to_ids("flies")  # (N, T)', CHECK, "hidden[found]"), ("shape", "values"), ("counts_words", ('places = [sentence.lower().split().index("flies") + 1 for sentence in sentences]', "", "hidden[torch.arange(len(ids)), places]"), "You count words in the text. Tokens are not words: a word may be several pieces (`swarm`, `##s`), and a period sticks to “flies.” when you split at spaces. Look for the id in `ids`."))
    PICK = "hidden[found]"
    at(PICK, "values",
       ("place_of_the_first_in_all", "hidden[:, found[0].int().argmax()]", "Every sentence is read at the position where the first one has its “flies”. Find the position in each row of `ids`."),
       ("place_of_the_earliest_in_all", "hidden[:, found.any(dim=0).int().argmax()]", "Every sentence is read at one position, that of the earliest “flies” of all. Find the position in each row of `ids`."),
       ("all_pairs", "hidden[:, found.int().argmax(dim=1)]", "You take every sentence's position from *every* sentence, (L + 1, N, N, D), as `hidden[:, place]` does. Pair them up, `hidden[torch.arange(N), place]`, or index with the mask of all positions.", ("shape", "values")),
       ("last_token", "hidden[:, -1]", "You return the vector of the last token. Return the vector of “flies”."),
       ("sum_of_both", "hidden.sum(dim=1)", "You add up the vectors of all tokens. Return the vector of one token, “flies”."))
    at("torch.stack", ("shape", "values"), ("cat", "torch.cat", "The layers are one below the other, ((L + 1)·N, D): `torch.cat` joins along an existing axis. `torch.stack` makes a new one: (L + 1, N, D)."))
    at('convert_tokens_to_ids("flies")', ("values", "refusal"), ("sep", 'convert_tokens_to_ids("[SEP]")', "You return the vector of [SEP]. Return the vector of “flies”. (Did you ask `encode` for the id? It puts [SEP] after the word; `convert_tokens_to_ids` gives the id alone.)"))
    at(("(found.sum(dim=1) == 1)", "hidden[found]"), "refusal", ("none_passes", ("(found.sum(dim=1) <= 1)", "hidden[torch.arange(len(ids)), found.int().argmax(dim=1)]"), "A sentence without “flies” passes, and you return its first token. (`argmax` over a row of False is 0.) Raise a ValueError there, too: each row of `ids` must have exactly one."))
    at((CHECK, "hidden[found]"), "refusal", ("sum_unchecked", ("", "(hidden * found[..., None]).sum(dim=1)"), "Nothing is refused: a sentence without “flies” gives zeros, and one with two gives the sum of their vectors. Count them in each row, and raise a ValueError unless it is 1."))
    at('convert_tokens_to_ids("flies")', ("shape", "values", "refusal"), ("not_found", 'convert_tokens_to_ids("Flies")', "Sentences that have exactly one “flies” are refused: you look for something that is not in their `ids`. The vocabulary knows `flies`, in lower case; its id is `model.tokenizer.convert_tokens_to_ids(\"flies\")`."))
    at('model.tokenizer.convert_tokens_to_ids("flies")', ("shape", "values", "refusal"), ("id_of_another_vocabulary", "10029", "Sentences that have exactly one “flies” are refused. Do you look for an id that is not that of “flies” in the model's vocabulary, or compare by something other than `==`? Ask the model's own tokenizer, `model.tokenizer.convert_tokens_to_ids(\"flies\")`; the notebook's `tokenizer` is another one."))
    at(("(found.sum(dim=1) == 1)", PICK), "refusal", ("two_pass", ("(found.sum(dim=1) >= 1)", "hidden[torch.arange(len(ids)), found.int().argmax(dim=1)]"), "A sentence with two “flies” passes, and you return the first. (`index` and `argmax` find no other.) There must be exactly one: count them in each row, and raise a ValueError unless it is 1."))
    at("(found.sum(dim=1) == 1)", "refusal", ("two_give_two_rows", "(found.sum(dim=1) >= 1)", "A sentence with two “flies” passes and gives two rows: every row after it would carry another sentence's label. There must be exactly one: count them in each row, and raise a ValueError unless it is 1."))
    at("(found.sum(dim=1) == 1).all()", "refusal", ("counts_in_all", "found.sum() == len(ids)", "You compare the number of all “flies” with the number of sentences: one sentence without and one with two would pass. Count in each row."))
    LATER = "a word before may be several pieces, and a comma is a token of its own. Look for the id in `ids`."
    WORDS = {
        "word_places": ("", f"You use the word's number in the text. Tokens are not words: [CLS] comes first, {LATER}"),
        "word_places_after_cls": (" + 1", f"You count the words of the text. Tokens are not words: {LATER}"),
    }
    TWO = " Besides, a sentence with two “flies” is not refused."
    for called, (more, why) in WORDS.items():
        places = f'hidden[torch.arange(len(ids)), [sentence.lower().strip(".").split().index("flies"){more} for sentence in sentences]]'
        at(PICK, "values", (called, places, why))
        at((CHECK, PICK), ("values", "refusal"), (f"{called}_unchecked", ("", places), why + TWO))
    PIECES = "You count the words of the text. Positions count tokens: a word before “flies” may be cut into several pieces (`swarm`, `##s`), and then “flies” comes later. Look for the id in `ids`."
    for called, text in (("words_and_marks", 'sentence.lower().replace(",", " ,").replace(".", " .")'), ("bare_words", 'sentence.lower().replace(",", "").replace(".", "")')):
        places = f'hidden[torch.arange(len(ids)), [{text}.split().index("flies") + 1 for sentence in sentences]]'
        at(PICK, "values", (called, places, PIECES))
        at((CHECK, PICK), ("values", "refusal"), (f"{called}_unchecked", ("", places), PIECES + TWO))
    squeezed(at, ("shape", "values"), "is (L + 1, N, D), also for one sentence")


@MISTAKES.of(right.nearest_centroid)
def in_nearest_centroid(at):
    LABELS = ("values", "three classes")
    at("torch.cdist(test, centroids).argmin(dim=1)  # (M, C) -> (M,)", LABELS, ("nearest_neighbor", "labels[torch.cdist(test, train).argmin(dim=1)]  # (M, N) -> (M,)", "You take the label of the single nearest vector (nearest neighbor). First average the vectors of each label, then compare with these means."))
    at(".argmin(", LABELS, ("farthest", ".argmax(", "You choose the farthest centroid: take the smallest distance, `argmin`."))
    at("torch.cdist(test, centroids).argmin", LABELS,
       ("dot_product", "(test @ centroids.T).argmax", "You rank as the dot products x·c do, which favor long centroids. The squared distance is ‖x‖² − 2 x·c + ‖c‖²: the centroid's own squared length, ‖c‖², is missing."),
       ("cosine", "F.cosine_similarity(test[:, None], centroids, dim=-1).argmax", "You compare directions, seen from the origin (by cosine, or with centroids scaled to length 1). Take the Euclidean distance, between the vectors as they are."))
    at("torch.cdist(test, centroids)", LABELS,
       ("absolute_differences", "torch.cdist(test, centroids, p=1)", "Your distance adds up absolute differences. Euclidean is: square the differences, add, (take the root)."),
       ("signed_differences", "(test[:, None] - centroids).sum(dim=-1)", "Your distance adds up the differences with their signs, so that they cancel. Euclidean is: square the differences, add, (take the root)."),
       ("largest_difference", 'torch.cdist(test, centroids, p=float("inf"))', "Your distance is the largest single difference. Euclidean is: square all differences, add, (take the root)."))
    at("torch.cdist(test, centroids)", "values", ("search_from_a_number", "torch.cdist(test, centroids).clamp(max=1000.0)", "Your search begins with a number as the smallest distance, such as 1000: where all are larger, it finds none. Begin with `math.inf`, or take `argmin`."))
    at(".mean(dim=0)", LABELS,
       ("sums", ".sum(dim=0)", "Your centroids are sums, not means: a label with more examples lies farther out."),
       ("one_count_for_all", ".sum(dim=0) / len(train)", "You divide every label's sum by the number of all vectors. Each mean has its own count."),
       ("first_example", "[0]", "The first example of each label stands for all of them. The centroid is the mean of all its examples."),
       ("last_example", "[-1]", "The last example of each label stands for all of them. The centroid is the mean of all its examples. (Does your loop overwrite instead of adding?)"),
       ("divides_by_classes", ".sum(dim=0) / len(classes)", "You divide each label's sum by the number of labels. Each mean has its own count."),
       ("median", ".median(dim=0).values", "Your centroids are medians, not means."),
       ("counts_one_more", ".sum(dim=0) / ((labels == label).sum() + 1)", "Your centroids are pulled towards 0: each sum is divided by one more than the number of its vectors. (`scatter_reduce` counts the zeros that it starts from, unless told `include_self=False`.)"))
    at("    classes = range", LABELS, ("standardized", "    mean, std = train.mean(dim=0), train.std(dim=0)\n    train, test = (train - mean) / std, (test - mean) / std\n    classes = range", "You bring all columns to one spread before you compare. That changes which centroid is nearest: take the vectors as they are."))
    at("range(int(labels.max()) + 1)", "three classes", ("two_classes", "range(2)", "There are only ever two classes in your answer. The labels say how many there are: 0 … C − 1."))
    at(".argmin(dim=1)  # (M, C) -> (M,)", ("shape", *LABELS),
       ("distances", "  # (M, C)", "You return the distances, one for each label. Return the label of the smallest: `argmin` over the labels' axis."),
       ("argmin_over_vectors", ".argmin(dim=0)  # (M, C) -> (C,)", "Your argmin runs over the vectors (dim 0): for each label, the vector closest to it. Do it the other way round: for each vector, the closest label."))
    NEAREST = "torch.cdist(test, centroids).argmin(dim=1)  # (M, C) -> (M,)"
    at(NEAREST, LABELS,
       ("mean_of_distances", "torch.stack([torch.cdist(test, train[labels == label]).mean(dim=1) for label in classes], dim=1).argmin(dim=1)", "You average the distances to all vectors of a label. Take one distance, to their mean: average the vectors first."),
       ("three_neighbors", "labels[torch.cdist(test, train).topk(min(3, len(train)), largest=False).indices].mode(dim=1).values", "The three nearest vectors vote on the label (nearest neighbors). First average the vectors of each label, then compare with these means."),
       ("farthest_member", "torch.stack([torch.cdist(test, train[labels == label]).amax(dim=1) for label in classes], dim=1).argmin(dim=1)", "You measure the distance to the farthest vector of each label. Take the distance to their mean."),
       ("centroid_vectors", "centroids[torch.cdist(test, centroids).argmin(dim=1)]", "You return the nearest centroids themselves, (M, D). The exercise asks for their labels, (M,).", ("shape", *LABELS)))
    at("classes = range(int(labels.max()) + 1)", LABELS, ("order_of_appearance", "classes = list(dict.fromkeys(labels.tolist()))", "Your centroids are in the order in which labels first occur, and you return the index in that order. Return the label itself: centroid c belongs to label c."))
    at("labels.max()) + 1", LABELS, ("one_class_too_few", "labels.max())", "The last label has no centroid, so nothing ever gets it. Labels are 0 … C − 1: there are `labels.max() + 1`."))
    at(".argmin(dim=1)", ("shape", *LABELS),
       ("labels_from_one", ".argmin(dim=1) + 1", "Your labels are one too large: they are 0 … C − 1, and `argmin` gives just that.", LABELS),
       ("argmin_of_all", ".argmin()", "`argmin()` without an axis searches the whole table (M, C) and gives one number. Search each row: `argmin(dim=1)`, (M,)."),
       ("smallest_distances", ".min(dim=1).values", "You return the distance to the nearest centroid. Return its label: where the smallest is, `argmin`, not how large it is."),
       ("floats", ".argmin(dim=1).float()", "Your labels are floating-point numbers. Return whole numbers, as `argmin` gives them.", "shape"),
       ("list", ".argmin(dim=1).tolist()", "Your labels are in a Python list. Return a tensor, (M,).", "shape"),
       ("one_column_too_many", ".argmin(dim=1, keepdim=True)", "Your labels are in a column, (M, 1). Return (M,)."))
    at("torch.cdist(test", ("shape", *LABELS), ("labels_train", "torch.cdist(train", "You label the vectors of `train`. Label those of `test`; `train` only makes the centroids."))
    at("train[labels == label].mean", LABELS, ("always_0", "train.mean", "Every vector gets label 0. (Are all your centroids the same? Each label's own vectors are averaged: `train[labels == label]`.)"))
    squeezed(at, ("shape", "values"), "is (M,), also for M = 1")


@MISTAKES.of_quiz("quiz_encoder", right.quiz_encoder)
def in_quiz_encoder(wrong):
    wrong("a padding mask hides", "queries",
                 "a padding token may attend to anything, because its result is never used; what matters is that no token attends to padding. A padding mask hides keys.")
    wrong("a padding mask hides", "queries and keys",
                 "hiding keys is enough. Hiding the queries too leaves rows in which nothing may be looked at, and a softmax over nothing is NaN.")
    wrong("BERT's weights in a pre-norm stack", "an error when loading",
                 "loading compares names and shapes, and both arrangements have the same: where a norm is placed is not a weight. You saw other numbers and no error.")
    wrong("BERT's weights in a pre-norm stack", "the same numbers",
                 "norm(x + f(x)) and x + f(norm(x)) are different functions; the weights were learned for the first.")
    wrong("a key that strict=False skips", "raises an error",
                 "that is what strict=True makes of it. strict=False returns a list of what it skipped and goes on.")
    wrong("a key that strict=False skips", "is set to zero",
                 "nothing is written there at all: the parameter keeps the random numbers it was made with.")
    wrong("flies at depth 0 knows", "only the word",
                 "the position's vector has been added by then: two “flies” at different positions differ already.")
    wrong("flies at depth 0 knows", "the words around it",
                 "no attention has run yet, so nothing of the neighbors has arrived. That is why depth 0 can't tell noun from verb.")
