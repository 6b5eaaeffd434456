"""Wrong answers to the exercises of 05-encoder-layer."""

from __future__ import annotations

from anatomy.misconceptions import mistakes_in, wrong_option
from anatomy.reference.encoder_layer import (
    FeedForward,
    LayerNorm,
    PostNormEncoderLayer,
    TransformerEncoderLayer,
    count_layer_parameters,
    gelu,
    layer_flops,
    quiz_encoder_layer,
)

# fmt: off
# A mistake is two or three lines: its name and sentence, what it breaks, what it replaces by what.

NUMBERS = ("values", "gradients")

# ---- gelu ----
wrong = mistakes_in(gelu)
wrong("relu", "This is ReLU: it cuts off everything below zero. GELU is x·Φ(x), smooth, and slightly negative between about −3 and 0.",
      breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x.clamp(min=0.0)")
wrong("tanh_approximation", "You wrote the tanh approximation, which differs from GELU by up to 0.0005. It saves time on some machines, and GPT-2 was trained with it; here the exact one is wanted, with `torch.erf`.",
      breaks=NUMBERS,
      old="torch.erf(x / math.sqrt(2.0))", new="torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))")
wrong("sigmoid_approximation", "x·σ(1.702·x) is the fast approximation of GELU; it is off by up to 0.02. Here the exact one is wanted, with `torch.erf`.",
      breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x * torch.sigmoid(1.702 * x)")
wrong("silu", "x·σ(x) is SiLU, also called Swish. It looks alike; GELU weighs x with the normal distribution's Φ(x), which takes `torch.erf`.",
      breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x * torch.sigmoid(x)")
wrong("erf_of_x", "Your erf gets x; it should get x/√2. The error function belongs to a normal distribution of variance ½, and the √2 brings it to variance 1.",
      breaks=NUMBERS, old="erf(x / math.sqrt(2.0))", new="erf(x)")
wrong("erf_of_half_x", "You divide by 2 inside the erf; √2 is wanted there.",
      breaks=NUMBERS, old="x / math.sqrt(2.0)", new="x / 2.0")
wrong("erf_of_x_times_root_2", "Inside the erf you multiply x by √2; divide by it instead.",
      breaks=NUMBERS, old="x / math", new="x * math")
wrong("no_half", "The factor ½ is missing: 1 + erf runs from 0 to 2, and a probability runs from 0 to 1. All your values are twice too large.",
      breaks=NUMBERS, old="0.5 * x", new="x")
wrong("half_too_often", "You take ½ twice: once for x and once for the probability. One ½ turns 1 + erf into Φ(x).",
      breaks=NUMBERS, old="* (1.0", new="* 0.5 * (1.0")
wrong("probability_only", "You return the probability Φ(x) itself; GELU is x times it.",
      breaks=NUMBERS, old="0.5 * x", new="0.5")
wrong("density", "You multiply x by the normal density, the bell curve. Φ is the area under that curve to the left of x, which grows from 0 to 1: it takes `torch.erf`.",
      breaks=NUMBERS,
      old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x * torch.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi)")
wrong("minus", "There is 1 − erf in yours, the probability of being *above* x: negative numbers pass and positive ones are held back. With 1 + erf it is the other way round.",
      breaks=NUMBERS, old="1.0 + torch", new="1.0 - torch")
wrong("brackets", "The 1 has to be inside the brackets: x·(1 + erf(…)), not x·erf(…) + 1.",
      breaks=NUMBERS, old="x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="(x * torch.erf(x / math.sqrt(2.0)) + 1.0)")
wrong("one_forgotten", "The 1 of 1 + erf is missing. Without it negative numbers come out positive: ½·x·erf(x/√2) is the same for x and −x.",
      breaks=NUMBERS, old="1.0 + torch", new="torch")
wrong("softplus", "This is softplus, ln(1 + eˣ): smooth as well, but never negative, and 0.69 at zero. GELU is x·Φ(x).",
      breaks=NUMBERS,
      old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="torch.log1p(torch.exp(-x.abs())) + x.clamp(min=0.0)")
wrong("detached", "The probability is cut off from x (`detach`, `torch.no_grad` or `.data`), so the gradient is only Φ(x); the part x·φ(x), which comes from the probability, is missing.",
      breaks="gradients", old="x / math", new="x.detach() / math")
wrong("in_place", "You change `x` in place (an assignment like `x *= …` writes into the caller's numbers). Make a new tensor.",
      breaks=NUMBERS, old="return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))",
      new="x *= 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))\n    return x")

# ---- LayerNorm ----
EPS_TOO = (*NUMBERS, "eps")
NOT_ALONE = ("shape", *EPS_TOO)
ALL = ("parameters", *NOT_ALONE)
wrong = mistakes_in(LayerNorm)
wrong("unbiased", "You divide the squares by D − 1 (`var` and `std` of PyTorch do so unless told otherwise). Layer norm uses the biased variance, divided by D: `correction=0`. Here D = {D}, so your values are too small by √({D}/({D} − 1)).",
      breaks=EPS_TOO, old="correction=0, ", new="")
wrong("unbiased_std_plus_eps", "You divide by `x.std(…) + eps`. Two things differ from layer norm: `std` divides by D − 1 unless told otherwise, and eps belongs to the variance, under the root.",
      breaks=EPS_TOO, old=("variance = x.var(dim=-1, correction=0,", "torch.sqrt(variance + self.eps)"),
      new=("std = x.std(dim=-1,", "(std + self.eps)"))
wrong("eps_outside", "Your eps stands outside the root. It is added to the variance, under the root: √(variance + eps). With a tiny variance that is a different number.",
      breaks="eps", old="torch.sqrt(variance + self.eps)", new="(variance.sqrt() + self.eps)")
wrong("no_eps", "eps is not used. A token whose numbers are all equal has variance 0, and 0/0 is nan: add eps to the variance, under the root.",
      breaks="eps", old="variance + self.eps", new="variance")
wrong("eps_fixed", "You use an eps of your own, 1e-5; take the one that is handed to the constructor. BERT's is 1e-12.",
      breaks="eps", old="+ self.eps", new="+ 1e-5")
wrong("eps_squared", "You add eps², as if eps belonged to the standard deviation. It is added to the variance as it is.",
      breaks="eps", old="+ self.eps", new="+ self.eps**2")
wrong("eps_subtracted", "eps is subtracted from the variance. It is added, so that the root never gets zero or less.",
      breaks="eps", old="+ self.eps", new="- self.eps")
wrong("divides_by_variance", "You divide by the variance; its root, the standard deviation, is what brings the spread to 1.",
      breaks=EPS_TOO, old="torch.sqrt(", new="(")
wrong("multiplies", "You multiply by the standard deviation. Divide by it: tokens with a wide spread are to become narrower.",
      breaks=EPS_TOO, old="/ torch", new="* torch")
wrong("over_tokens", "Your mean and variance run over the tokens of a sentence (the axis before the last). Layer norm looks at one token at a time: its own D numbers, the last axis.",
      breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=-2", "# (..., 1, D)"), times=2)
wrong("over_axis_1", "Your mean and variance run over axis 1, the tokens of a sentence; the D numbers of one token are wanted, the last axis, `dim=-1`.",
      breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=1", "# (B, 1, D)"), times=2)
wrong("batch_norm", "This is batch norm: mean and variance run over all tokens of all sentences, one pair per column. Layer norm computes one pair per token, over its own D numbers.",
      breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=tuple(range(x.dim() - 1))", "# (..., D)"), times=2)
wrong("over_batch", "Your mean and variance run over the batch (axis 0): tokens of different sentences get mixed. Layer norm looks at one token at a time, the last axis.",
      breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=0", "# (1, T, D)"), times=2)
wrong("over_everything", "You take one mean and one variance over the whole tensor, so tokens and sentences get mixed. Each token has its own: reduce over the last axis only, with `keepdim=True`.",
      breaks=NOT_ALONE,
      old=("mean(dim=-1, keepdim=True)  # (..., 1)", "var(dim=-1, correction=0, keepdim=True)  # (..., 1)"),
      new=("mean()", "var(correction=0)"))
wrong("over_sentence", "You take one mean and one variance per sentence, over its tokens and columns. Each token has its own: reduce over the last axis only.",
      breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=tuple(range(x.dim()))[-2:]", "# (..., 1, 1)"), times=2)
wrong("only_three_axes", "`dim=2` is the last axis only when x has three axes. The contract says any leading axes: `dim=-1` is always the last.",
      breaks="shape", old=("dim=-1", "# (..., 1)"), new=("dim=2", "# (B, T, 1)"), times=2)
wrong("no_keepdim", "Without `keepdim=True` the mean has shape (B, T), and PyTorch lines up its last axis, T, with the last axis of x, D. Keep the axis, as size 1, so that each token meets its own mean.",
      breaks=NOT_ALONE, old=(", keepdim=True", "# (..., 1)"), new=("", "# (...)"), times=2)
wrong("mean_not_subtracted", "The mean is not subtracted (that is RMS norm's idea, with another denominator). Layer norm first moves each token's numbers to mean 0.",
      breaks=EPS_TOO, old="(x - mean)", new="x")
wrong("rms", "This is RMS norm: no mean is subtracted, and the root of the mean square is the divisor. It serves well in many newer models; layer norm subtracts the mean first.",
      breaks=EPS_TOO, old=("variance = x.var(dim=-1, correction=0,", "(x - mean) / torch.sqrt(variance"),
      new=("mean_square = x.pow(2).mean(dim=-1,", "x / torch.sqrt(mean_square"))
wrong("variance_not_divided", "You subtract the mean but don't divide: each token keeps its own spread. Divide by √(variance + eps).",
      breaks=EPS_TOO, old=" / torch.sqrt(variance + self.eps)", new="")
wrong("weight_and_bias_unused", "`weight` and `bias` exist but are not applied: multiply the normalized numbers by `weight`, then add `bias`.",
      breaks=EPS_TOO, old=" * self.weight + self.bias", new="")
wrong("bias_unused", "`bias` exists but is not added at the end.",
      breaks=EPS_TOO, old=" + self.bias", new="")
wrong("bias_scaled_too", "Your weight also multiplies the bias. The order is: normalize, times `weight`, then plus `bias`.",
      breaks=EPS_TOO,
      old=("(x - mean)", "* self.weight + self.bias"), new=("((x - mean)", "+ self.bias) * self.weight"))
wrong("swapped", "`weight` and `bias` have changed places: the numbers are multiplied by `weight` and shifted by `bias`.",
      breaks=EPS_TOO, old="* self.weight + self.bias", new="* self.bias + self.weight")
wrong("scales_before", "`weight` and `bias` are applied before the normalization, which undoes most of them. They come last, so that the layer can choose its scale.",
      breaks=EPS_TOO,
      old=("mean = x", " * self.weight + self.bias"), new=("x = x * self.weight + self.bias\n        mean = x", ""))
wrong("other_names", "The two parameters are to be called `weight` and `bias` (the 2016 paper says gain and bias, some code gamma and beta): trained weights will be copied in by these names.",
      breaks=ALL, old=("self.weight", "self.bias"), new=("self.gamma", "self.beta"), times=2)
wrong("plain_tensors", "`weight` and `bias` are plain tensors, so PyTorch does not know that they are to be learned: wrap them in `nn.Parameter`.",
      breaks=ALL,
      old=("nn.Parameter(torch.ones(dim))", "nn.Parameter(torch.zeros(dim))"), new=("torch.ones(dim)", "torch.zeros(dim)"))
wrong("random_start", "Your `weight` and `bias` start at random. A new layer norm is to change nothing beyond the norm: `weight` starts at 1, `bias` at 0.",
      breaks="parameters", old=("ones(dim)", "zeros(dim)"), new=("randn(dim)", "randn(dim)"))
wrong("zero_start", "Your `weight` starts at 0, so a new layer returns nothing but zeros, whatever comes in. It starts at 1, `bias` at 0.",
      breaks="parameters", old="ones(dim)", new="zeros(dim)")
wrong("single_numbers", "One `weight` and one `bias` for all columns: each of the D columns has its own, so both have shape (D,).",
      breaks=ALL, old=("ones(dim)", "zeros(dim)"), new=("ones(1)", "zeros(1)"))
wrong("no_gradient_through_statistics", "Mean and variance are cut off from x (`detach`, `torch.no_grad` or `.data`). They depend on x, and the gradient has to know it.",
      breaks=("gradients", "eps"), old=("x.mean(", "x.var("), new=("x.detach().mean(", "x.detach().var("))
wrong("in_place", "You change `x` in place. In a layer the skip connection still needs the x from before the norm; make a new tensor.",
      breaks=NOT_ALONE, old="return (x - mean)", new="x -= mean\n        return x")

# ---- FeedForward ----
BUILT_OTHERWISE = (*NUMBERS, "parameters", "dropout")
wrong = mistakes_in(FeedForward)
wrong("relu", "You use ReLU between the two layers, as the 2017 paper did; here it is GELU, as in BERT.",
      breaks=NUMBERS, old="self.gelu(", new="F.relu(")
wrong("tanh_gelu", "Your GELU is the tanh approximation; the exact one is wanted: your `gelu`, or `nn.GELU()` without `approximate`.",
      breaks=NUMBERS, old="self.gelu = gelu", new='self.gelu = nn.GELU(approximate="tanh")')
wrong("no_activation", "There is no GELU between the two layers. Two linear layers in a row are one linear layer, however wide the middle is.",
      breaks=NUMBERS, old="self.gelu(self.linear_1(x))", new="self.linear_1(x)")
wrong("gelu_after_both", "Your GELU comes after `linear_2`. It belongs between the two layers: without it there they are one linear layer.",
      breaks=NUMBERS, old=("self.gelu(self.linear_1(x))", "self.linear_2(hidden)"),
      new=("self.linear_1(x)", "self.gelu(self.linear_2(hidden))"))
wrong("gelu_twice", "There is a second GELU after `linear_2`. What is added to the tokens must be free to be negative: one GELU, between the layers.",
      breaks=NUMBERS, old="self.linear_2(hidden)", new="self.gelu(self.linear_2(hidden))")
wrong("gelu_first", "Your GELU comes before `linear_1`; it belongs between the two layers.",
      breaks=NUMBERS, old="self.gelu(self.linear_1(x))", new="self.linear_1(self.gelu(x))")
wrong("skip_inside", "You add x at the end. The skip connection belongs to the layer around this module, which will add it again.",
      breaks=(*NUMBERS, "dropout"), old="return self", new="return x + self")
wrong("no_dropout", "In training mode nothing is dropped. `self.dropout` has to be called in `forward`, on what `linear_2` returns.",
      breaks="dropout", old="self.dropout(self.linear_2(hidden))", new="self.linear_2(hidden)")
wrong("dropout_always", "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` module knows the mode by itself.",
      breaks=(*NUMBERS, "dropout"),
      old="self.dropout(self.linear_2(hidden))", new="F.dropout(self.linear_2(hidden), self.dropout.p)")
wrong("dropout_in_the_middle", "You drop too early: x, or the F numbers in the middle. Here dropout acts on the result, after `linear_2`: a share p of the D numbers that come out is zero.",
      breaks="dropout", old="self.dropout(self.linear_2(hidden))", new="self.linear_2(self.dropout(hidden))")
wrong("dropout_twice", "You drop twice, in the middle and at the end. BERT's layer does so once, at the end.",
      breaks="dropout", old="(hidden)", new="(self.dropout(hidden))")
wrong("dropout_of_a_tenth", "Your dropout uses a p of its own, 0.1. Take `config.hidden_dropout_prob`.",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(0.1)")
wrong("dropout_of_a_half", "Your dropout takes half of the numbers, which is what `nn.Dropout()` does when it is not told p. Hand it `config.hidden_dropout_prob`.",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout()")
wrong("dropout_of_attention", "You use `config.attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`.",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(config.attention_probs_dropout_prob)")
wrong("keeps_p", "You keep a share p instead of dropping it: `nn.Dropout` takes the probability of becoming zero.",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(1 - config.hidden_dropout_prob)")
wrong("dropout_unscaled", "You zero a share p and leave the rest as it was, so in training the results are too small by 1 − p on average. What remains is divided by 1 − p.",
      breaks="dropout", old="return self.dropout(self.linear_2(hidden))",
      new="y = self.linear_2(hidden)\n        return y * (torch.rand_like(y) >= self.dropout.p) if self.training else y")
wrong("dropout_of_tokens", "You drop whole tokens: one decision for all D numbers. Dropout decides for each number by itself.",
      breaks="dropout", old="return self.dropout(self.linear_2(hidden))",
      new="y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[..., :1]))")
wrong("four_times_as_wide", "You make the middle 4·D wide. That is BERT's habit; the contract says `config.intermediate_size`, here {F} for D = {D}.",
      breaks=BUILT_OTHERWISE, old=(", config.intermediate_size)", "(config.intermediate_size"),
      new=(", 4 * config.hidden_size)", "(4 * config.hidden_size"))
wrong("no_bias", "Your linear layers have no bias; both have one in BERT, and its weights bring numbers for them.",
      breaks=BUILT_OTHERWISE,
      old=("intermediate_size)", "hidden_size)"), new=("intermediate_size, bias=False)", "hidden_size, bias=False)"))
wrong("other_names", "The two layers are to be called `linear_1` and `linear_2`: weights will be copied in by these names.",
      breaks=BUILT_OTHERWISE, old=("self.linear_1", "self.linear_2"), new=("self.fc1", "self.fc2"), times=2)
wrong("one_layer", "There is one linear layer, D to D. The network has two: D to F, then F back to D.",
      breaks=BUILT_OTHERWISE,
      old=("config.intermediate_size)\n        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)",
           "# (..., F)\n        return self.dropout(self.linear_2(hidden))"),
      new=("config.hidden_size)", "# (..., D)\n        return self.dropout(hidden)"))
wrong("swapped_sizes", "The sizes are swapped: `linear_1` takes D numbers and gives F, `linear_2` brings F back to D.",
      breaks=("shape", *BUILT_OTHERWISE),
      old=("(config.hidden_size, config.intermediate_size)", "(config.intermediate_size, config.hidden_size)"),
      new=("(config.intermediate_size, config.hidden_size)", "(config.hidden_size, config.intermediate_size)"))

# ---- TransformerEncoderLayer ----
DROPOUT_TOO = ("dropout", *EPS_TOO)
SHARED = ("parameters", "mask", *DROPOUT_TOO)
wrong = mistakes_in(TransformerEncoderLayer)
wrong("no_skip", "Both skip connections are missing. Each part *adds* to the tokens: x + attention(…), then x + feed_forward(…). Without the sum a token would have to pass through every part unharmed.",
      breaks=DROPOUT_TOO, old="x + self", new="self", times=2)
wrong("no_skip_around_attention", "The skip connection around attention is missing: x + attention(norm(x)), so that a token keeps itself and adds what it heard.",
      breaks=EPS_TOO, old="x = x + self", new="x = self")
wrong("no_skip_around_feed_forward", "The skip connection around the feed-forward network is missing: its result is to be added to what went into its norm.",
      breaks=DROPOUT_TOO, old="return x + self", new="return self")
wrong("post_norm", "Your norms come after the additions: that is post-norm, the arrangement of 2017 and of BERT, and the next exercise. Here the norm comes first: x + attention(norm(x)).",
      breaks=EPS_TOO,
      old=("x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "x + self.feed_forward(self.layer_norm_2(x))"),
      new=("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"))
wrong("skip_from_the_norm", "What you add to is the *normalized* x. The skip connection carries x as it came: x + attention(norm(x)), not norm(x) + attention(norm(x)).",
      breaks=EPS_TOO,
      old=("x = x +", "return x +"), new=("x = self.layer_norm_1(x) +", "return self.layer_norm_2(x) +"))
wrong("norm_of_the_branch", "You normalize what attention and feed-forward return, before adding it. In pre-norm the norm comes before them: x + attention(norm(x)).",
      breaks=EPS_TOO,
      old=("self.dropout(self.attention(self.layer_norm_1(x), mask))", "self.feed_forward(self.layer_norm_2(x))"),
      new=("self.layer_norm_1(self.dropout(self.attention(x, mask)))", "self.layer_norm_2(self.feed_forward(x))"))
wrong("no_norms", "The two norms exist but are not called: each part gets the normalized tokens, attention(layer_norm_1(x)) and feed_forward(layer_norm_2(x)).",
      breaks=EPS_TOO, old=("self.layer_norm_1(x)", "self.layer_norm_2(x)"), new=("x", "x"))
wrong("second_norm_forgotten", "`layer_norm_2` is never called: the feed-forward network gets normalized tokens too, feed_forward(layer_norm_2(x)).",
      breaks=EPS_TOO, old="self.layer_norm_2(x)", new="x")
wrong("first_norm_forgotten", "`layer_norm_1` is never called: attention gets normalized tokens, attention(layer_norm_1(x)).",
      breaks=EPS_TOO, old="self.layer_norm_1(x)", new="x")
wrong("one_norm_twice", "You use `layer_norm_1` in both places. Each part has a norm of its own, with its own weight and bias; `layer_norm_2` learns nothing in yours.",
      breaks=EPS_TOO, old="self.layer_norm_2(x)", new="self.layer_norm_1(x)")
wrong("norms_shared", "Your two norms are one and the same module under two names. Make two: each has its own weight and bias.",
      breaks=SHARED, old="self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)",
      new="self.layer_norm_2 = self.layer_norm_1")
wrong("norms_swapped", "Your norms have changed places: `layer_norm_1` belongs to attention, `layer_norm_2` to the feed-forward network.",
      breaks=EPS_TOO, old=("layer_norm_1(x)", "layer_norm_2(x)"), new=("layer_norm_2(x)", "layer_norm_1(x)"))
wrong("parallel", "Both parts get the tokens as they came. Here they work one after the other: the feed-forward network gets what attention has already added to. (A few later models do it your way, in parallel.)",
      breaks=EPS_TOO, old=("x = x + self", "return x +"), new=("attended = self", "return x + attended +"))
wrong("attention_lost", "The second sum starts from the layer's input again, so what attention added is lost on the way (only the feed-forward network has seen it). Add to the sum after attention.",
      breaks=DROPOUT_TOO, old=("x = x +", "layer_norm_2(x)"), new=("h = x +", "layer_norm_2(h)"))
wrong("second_norm_of_the_input", "The second norm gets what the first norm returned instead of the sum after attention.",
      breaks=EPS_TOO, old=("x = x + self.dropout(self.attention(self.layer_norm_1(x)", "layer_norm_2(x)"),
      new=("h = self.layer_norm_1(x)\n        x = x + self.dropout(self.attention(h", "layer_norm_2(h)"))
wrong("input_added_twice", "The layer's input enters twice: once in each sum. The second sum adds to the first one's result only.",
      breaks=EPS_TOO, old=("x = x +", "return x + self.feed_forward(self.layer_norm_2(x))"),
      new=("h = x +", "return x + h + self.feed_forward(self.layer_norm_2(h))"))
wrong("normalized_at_the_end", "You normalize the result as well. A pre-norm layer hands its sum on as it is; one norm at the very end of the whole stack takes care of it.",
      breaks=EPS_TOO, old="x + self.feed_forward(self.layer_norm_2(x))",
      new="self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))")
wrong("feed_forward_first", "The order is reversed: attention comes first, then the feed-forward network.",
      breaks=EPS_TOO,
      old=("self.dropout(self.attention(self.layer_norm_1(x), mask))", "self.feed_forward(self.layer_norm_2(x))"),
      new=("self.feed_forward(self.layer_norm_2(x))", "self.dropout(self.attention(self.layer_norm_1(x), mask))"))
wrong("multiplied", "You multiply where a sum is wanted: the skip connection is x + attention(…).",
      breaks=DROPOUT_TOO, old="x + self", new="x * self", times=2)
wrong("mask_ignored", "The mask is not handed on: call `self.attention(…, mask)`. Otherwise the tokens look at padding.",
      breaks="mask", old="(x), mask)", new="(x))")
wrong("no_mask", "`forward` takes no mask. Give it a second parameter, `mask=None`, and hand it on to attention.",
      breaks="mask", old=(", mask: Tensor | None = None", "(x), mask)"), new=("", "(x))"))
wrong("library_eps", "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them `config.layer_norm_eps`.",
      breaks="eps",
      old=" LayerNorm(config.hidden_size, config.layer_norm_eps)", new=" nn.LayerNorm(config.hidden_size)", times=2)
wrong("attention_not_dropped", "What attention returns is not dropped in training mode. The feed-forward network brings its own dropout; attention needs the layer's.",
      breaks="dropout",
      old="self.dropout(self.attention(self.layer_norm_1(x), mask))", new="self.attention(self.layer_norm_1(x), mask)")
wrong("feed_forward_dropped_twice", "What the feed-forward network returns is dropped twice: the module does so itself already.",
      breaks="dropout",
      old="self.feed_forward(self.layer_norm_2(x))", new="self.dropout(self.feed_forward(self.layer_norm_2(x)))")
wrong("sum_dropped", "You drop numbers of the sum, so the skip connection is cut at random places. Drop what attention returns, before it is added.",
      breaks="dropout", old="x + self.dropout(", new="self.dropout(x + ")
wrong("norm_dropped", "You drop what goes into attention. Dropout acts on what comes out of it, before the sum.",
      breaks="dropout", old="self.dropout(self.attention(self.layer_norm_1(x), mask))",
      new="self.attention(self.dropout(self.layer_norm_1(x)), mask)")
wrong("other_p", "What attention returns is dropped with another p than `config.hidden_dropout_prob`. (The config has a second one, `attention_probs_dropout_prob`, for attention weights; and `nn.Dropout()` without an argument takes ½.)",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(config.attention_probs_dropout_prob)")
wrong("dropout_of_a_tenth", "Your dropout after attention uses a p of its own, 0.1. Take `config.hidden_dropout_prob`.",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(0.1)")

# ---- PostNormEncoderLayer ----
wrong = mistakes_in(PostNormEncoderLayer)
wrong("pre_norm", "Your norms come before attention and feed-forward: that is pre-norm, the exercise before. Post-norm adds first and normalizes the sum: norm(x + attention(x)).",
      breaks=EPS_TOO,
      old=("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"),
      new=("x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "x + self.feed_forward(self.layer_norm_2(x))"))
wrong("no_skip", "Both skip connections are missing. What is normalized is the *sum*: norm(x + attention(x)), then norm(x + feed_forward(x)).",
      breaks=DROPOUT_TOO, old="x + self", new="self", times=2)
wrong("no_skip_around_attention", "The skip connection around attention is missing: norm(x + attention(x)).",
      breaks=EPS_TOO, old="x + self.dropout", new="self.dropout")
wrong("no_skip_around_feed_forward", "The skip connection around the feed-forward network is missing: norm(x + feed_forward(x)).",
      breaks=DROPOUT_TOO, old="x + self.feed_forward", new="self.feed_forward")
wrong("norm_inside_the_sum", "You normalize what attention returns and add x afterwards. Post-norm normalizes the sum: norm(x + attention(x)), not x + norm(attention(x)).",
      breaks=EPS_TOO,
      old=("self.layer_norm_1(x + ", "self.layer_norm_2(x + "), new=("x + self.layer_norm_1(", "x + self.layer_norm_2("))
wrong("no_norms", "The two norms exist but are not called: each sum goes through its norm.",
      breaks=EPS_TOO,
      old=("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"),
      new=("x + self.dropout(self.attention(x, mask))", "x + self.feed_forward(x)"))
wrong("first_norm_forgotten", "There is one norm at the end; the sum after attention goes through a norm as well, `layer_norm_1`.",
      breaks=EPS_TOO,
      old="self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", new="x + self.dropout(self.attention(x, mask))")
wrong("second_norm_forgotten", "The last sum is not normalized: `layer_norm_2` comes at the very end.",
      breaks=EPS_TOO, old="self.layer_norm_2(x + self.feed_forward(x))", new="x + self.feed_forward(x)")
wrong("one_norm_twice", "You use `layer_norm_1` in both places. Each sum has a norm of its own, with its own weight and bias.",
      breaks=EPS_TOO, old="layer_norm_2(x", new="layer_norm_1(x")
wrong("norms_shared", "Your two norms are one and the same module under two names. Make two: each has its own weight and bias.",
      breaks=SHARED, old="self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)",
      new="self.layer_norm_2 = self.layer_norm_1")
wrong("norms_swapped", "Your norms have changed places: `layer_norm_1` comes after attention, `layer_norm_2` after the feed-forward network.",
      breaks=EPS_TOO, old=("layer_norm_1(x", "layer_norm_2(x"), new=("layer_norm_2(x", "layer_norm_1(x"))
wrong("second_skip_from_the_input", "The second sum adds the layer's input. It adds what comes out of the first norm, the same numbers that the feed-forward network gets.",
      breaks=DROPOUT_TOO, old=("x = self", "feed_forward(x)"), new=("h = self", "feed_forward(h)"))
wrong("second_skip_around_the_norm", "The feed-forward network gets normalized tokens, but the second skip connection starts before that norm. In post-norm everything goes through the norm: norm first, then both ways from its result.",
      breaks=EPS_TOO, old=("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "feed_forward(x)"),
      new=("x + self.dropout(self.attention(x, mask))", "feed_forward(self.layer_norm_1(x))"))
wrong("norms_before_and_after", "You normalize before attention and feed-forward and after them. Post-norm does it only after each sum.",
      breaks=EPS_TOO, old=("attention(x, mask)", "feed_forward(x)"),
      new=("attention(self.layer_norm_1(x), mask)", "feed_forward(self.layer_norm_2(x))"))
wrong("feed_forward_first", "The order is reversed: attention comes first, then the feed-forward network.",
      breaks=EPS_TOO,
      old=("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"),
      new=("self.layer_norm_2(x + self.feed_forward(x))", "self.layer_norm_1(x + self.dropout(self.attention(x, mask)))"))
wrong("mask_ignored", "The mask is not handed on: call `self.attention(x, mask)`. Otherwise the tokens look at padding.",
      breaks="mask", old="(x, mask)", new="(x)")
wrong("no_mask", "`forward` takes no mask. Give it a second parameter, `mask=None`, and hand it on to attention.",
      breaks="mask", old=(", mask: Tensor | None = None", "(x, mask)"), new=("", "(x)"))
wrong("library_eps", "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them `config.layer_norm_eps`.",
      breaks="eps",
      old=" LayerNorm(config.hidden_size, config.layer_norm_eps)", new=" nn.LayerNorm(config.hidden_size)", times=2)
wrong("attention_not_dropped", "What attention returns is not dropped in training mode. The feed-forward network brings its own dropout; attention needs the layer's.",
      breaks="dropout", old="self.dropout(self.attention(x, mask))", new="self.attention(x, mask)")
wrong("feed_forward_dropped_twice", "What the feed-forward network returns is dropped twice: the module does so itself already.",
      breaks="dropout", old="self.feed_forward(x)", new="self.dropout(self.feed_forward(x))")
wrong("sum_dropped", "You drop numbers of the sum, before or after its norm, so the skip connection is cut at random places. Drop what attention returns, before it is added.",
      breaks="dropout", old="x + self.dropout(", new="self.dropout(x + ")
wrong("other_p", "What attention returns is dropped with another p than `config.hidden_dropout_prob`. (The config has a second one, `attention_probs_dropout_prob`, for attention weights; and `nn.Dropout()` without an argument takes ½.)",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(config.attention_probs_dropout_prob)")
wrong("dropout_of_a_tenth", "Your dropout after attention uses a p of its own, 0.1. Take `config.hidden_dropout_prob`.",
      breaks="dropout", old="Dropout(config.hidden_dropout_prob)", new="Dropout(0.1)")
wrong("input_added_twice", "The layer's input enters twice: once in each sum. The second sum adds what the first norm returned to what the feed-forward network makes of it, and nothing more.",
      breaks=EPS_TOO, old=("x = self", "x + self.feed_forward(x)"), new=("h = self", "x + h + self.feed_forward(h)"))

# ---- count_layer_parameters ----
COUNTS = ("BERT base", "any sizes")
wrong = mistakes_in(count_layer_parameters)
wrong("only_matrices", "You count the matrices only. Every linear layer also has a bias, one number per output, and each norm has a weight and a bias of D numbers.",
      breaks=COUNTS, old=("width * width + width", "(width * inner + inner) + (inner * width + width)", " + norms"),
      new=("width * width", "width * inner + inner * width", ""))
wrong("no_biases", "The biases of the linear layers are missing: D in each of attention's four layers, F in `linear_1`, D in `linear_2`.",
      breaks=COUNTS, old=("width * width + width", "(width * inner + inner) + (inner * width + width)"),
      new=("width * width", "width * inner + inner * width"))
wrong("no_feed_forward_biases", "The biases of the feed-forward network are missing: F in `linear_1` and D in `linear_2`.",
      breaks=COUNTS, old="(width * inner + inner) + (inner * width + width)", new="width * inner + inner * width")
wrong("no_norms_or_no_attention_biases", "4·D numbers are missing, as many as the two norms have (each a weight and a bias of D), and as many as attention has biases (D in each of its four layers). Which of the two did you leave out?",
      breaks=COUNTS, old=" + norms", new="")
wrong("one_norm", "You count 2·D for the norms. There are two of them in a layer, and each has a weight *and* a bias of D numbers: 4·D.",
      breaks=COUNTS, old="(width + width)  # a weight and a bias each", new="width")
wrong("no_output_layer", "Attention has four linear layers: q, k, v and output_linear. You count three.",
      breaks=COUNTS,
      old="4 * (width * width + width)  # q, k, v and output_linear", new="3 * (width * width + width)  # q, k and v")
wrong("four_times_as_wide", "You take the middle of the feed-forward network as 4·D. It is so in BERT base; in general it is `config.intermediate_size`.",
      breaks="any sizes", old="config.intermediate_size", new="4 * config.hidden_size")
wrong("roughly_twelve", "12·D² is the rule of thumb for F = 4·D. The exact count has biases and norms in it, and F as the config says.",
      breaks=COUNTS, old="attention + feed_forward + norms", new="12 * width * width")
wrong("one_feed_forward_matrix", "The feed-forward network has two matrices, D to F and F to D. You count one.",
      breaks=COUNTS, old="(inner * width + width)", new="width")
wrong("wrong_feed_forward_biases", "A bias has one number per *output*: `linear_1` has F of them, `linear_2` has D. Yours are not F + D in all.",
      breaks=COUNTS, old="width * inner + inner", new="width * inner + width")
wrong("times_heads", "You multiply attention by the number of heads. Each head is only D/H wide, so all heads together have one matrix of D×D for q, one for k, one for v.",
      breaks=COUNTS, old="4 * (width", new="config.num_attention_heads * 4 * (width")
wrong("one_head", "You count one head's q, k and v, D×K each. There are H such heads.",
      breaks=COUNTS, old="attention = 4 * (width * width + width)",
      new="head = width // config.num_attention_heads\n    attention = 3 * (width * head + head) + (width * width + width)")
wrong("all_layers", "You count all layers of the model. One layer is asked for.",
      breaks=COUNTS,
      old="attention + feed_forward + norms", new="config.num_hidden_layers * (attention + feed_forward + norms)")
wrong("three_norms", "There are two norms in a layer; you count three. (BERT has one more norm after its embeddings, but that is no part of a layer.)",
      breaks=COUNTS, old="2 * (width + width)", new="3 * (width + width)")

# ---- layer_flops ----
ENTRIES = ("projections", "attention", "feed_forward")
wrong = mistakes_in(layer_flops)
wrong("multiplications_only", "You count the multiplications. By this exercise's convention each comes with an addition, so a product of (n, m) with (m, k) counts 2·n·m·k: twice your numbers.",
      breaks=ENTRIES, old="* 2 * seq_len", new="* seq_len", times=3)
wrong("scores_only", "Attention multiplies twice: queries with keys for the scores, then weights with values for the mixtures. You count one of the two.",
      breaks="attention", old="2 * 2 * seq_len * seq_len", new="2 * seq_len * seq_len")
wrong("one_head", "You count the scores and mixtures of one head, K numbers wide. There are H heads, and H·K = D.",
      breaks="attention",
      old="seq_len * seq_len * width", new="seq_len * seq_len * (width // config.num_attention_heads)")
wrong("times_heads", "You count D numbers for each of the H heads. A head is K = D/H wide, so all of them together are D wide.",
      breaks="attention", old="seq_len * seq_len * width", new="seq_len * seq_len * width * config.num_attention_heads")
wrong("attention_linear_in_t", "Your attention grows with T·D². Scores are a table of T×T, each entry a dot product over D numbers in all heads together: it grows with T²·D.",
      breaks="attention", old="seq_len * seq_len * width", new="seq_len * width * width")
wrong("attention_with_projections", "Your `attention` contains the projections too. They have an entry of their own; here only scores and mixtures count.",
      breaks="attention",
      old="2 * 2 * seq_len * seq_len * width", new="4 * 2 * seq_len * width * width + 2 * 2 * seq_len * seq_len * width")
wrong("causal_half", "You count half of the table, as if each token looked only at those before it. In an encoder everyone looks at everyone: T×T.",
      breaks="attention", old="2 * 2 * seq_len * seq_len", new="2 * seq_len * (seq_len + 1)")
wrong("three_projections", "Four linear layers belong to the projections: q, k, v and output_linear. You count three.",
      breaks="projections", old="4 * 2", new="3 * 2")
wrong("one_projection", "You count one projection of four: q, k, v and output_linear.",
      breaks="projections", old="4 * 2", new="2")
wrong("one_feed_forward_matrix", "The feed-forward network multiplies twice: by `linear_1`, D to F, and by `linear_2`, F to D.",
      breaks="feed_forward", old="2 * 2 * seq_len * width", new="2 * seq_len * width")
wrong("four_times_as_wide", "You take the middle of the feed-forward network as 4·D; it is `config.intermediate_size`.",
      breaks="feed_forward", old="config.intermediate_size", new="4 * config.hidden_size")
wrong("one_token", "The linear layers work on every token: T times what you count.",
      breaks=("projections", "feed_forward"),
      old=("seq_len * width * width", "seq_len * width * inner"), new=("width * width", "width * inner"))
wrong("with_biases", "You count the additions of the biases as well. Only matrix products are counted here.",
      breaks=("projections", "feed_forward"), old=("seq_len * width * width", "seq_len * width * inner"),
      new=("seq_len * width * width + 4 * seq_len * width", "seq_len * width * inner + seq_len * (inner + width)"))
wrong("all_layers", "You count all layers of the model. One layer is asked for.",
      breaks=ENTRIES, old="* 2 * seq_len", new="* 2 * config.num_hidden_layers * seq_len", times=3)
wrong("both_ways", "You count forward and backward (three times the forward pass). Only the forward pass is asked for.",
      breaks=ENTRIES, old="* 2 * seq_len", new="* 2 * 3 * seq_len", times=3)
wrong("tuple", "You return three numbers without names. A dict is asked for, with the keys projections, attention and feed_forward.",
      breaks=ENTRIES, old=("return {", "}"), new=("flops = {", "}\n    return tuple(flops.values())"))
wrong("sum", "You return one number, the sum. A dict is asked for, with the keys projections, attention and feed_forward: what grows how is the point.",
      breaks=ENTRIES, old=("return {", "}"), new=("flops = {", "}\n    return sum(flops.values())"))

# ---- quiz_encoder_layer ----
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "moves information between tokens", "feed-forward network",
             "It works on every token by itself: change one token, and only that token's result changes. Attention is where tokens meet.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "moves information between tokens", "layer norm",
             "It looks at the numbers of one token and at nothing else. Attention is where tokens meet.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "mean and variance over", "one column of the batch",
             "That is batch norm. Layer norm takes the D numbers of one token, whoever else is in the batch.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "mean and variance over", "the whole sentence",
             "Then one odd token would change all others, and padding would count. Layer norm takes the D numbers of one token.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "norms in BERT", "before attention",
             "That is pre-norm, as in GPT-2. BERT keeps the arrangement of 2017: the norm comes after each addition.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "norms in BERT", "before and after",
             "Some later models do that. BERT normalizes once per part, after the addition.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "one more norm at the end", "post-norm",
             "Its layers end in a norm already. In pre-norm the sum is handed on as it is, and grows: a stack needs one norm at its end.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "one more norm at the end", "both",
             "Post-norm layers end in a norm already; only a stack of pre-norm layers needs one more.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "one more norm at the end", "neither",
             "In pre-norm nothing ever normalizes the sum itself, and it grows from layer to layer: a stack needs one norm at its end.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "most work for 20 tokens", "projections",
             "They come second: 8·T·D² against 4·T·D·F, which is 16·T·D² in BERT.")
wrong_option("quiz_encoder_layer", quiz_encoder_layer, "most work for 20 tokens", "scores and mixtures",
             "They grow with T², but from a small start: with BERT base they catch up with the feed-forward network at T = 3072.")
