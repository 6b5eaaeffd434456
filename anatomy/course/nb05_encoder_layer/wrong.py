"""Wrong answers to the exercises of 05-encoder-layer."""

from __future__ import annotations

from anatomy.course.nb05_encoder_layer.right import (
    FeedForward,
    LayerNorm,
    PostNormEncoderLayer,
    TransformerEncoderLayer,
    count_layer_parameters,
    gelu,
    layer_flops,
    quiz_encoder_layer,
)
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A mistake is two or three lines: its name and sentence, what it breaks, what it replaces by what.

NUMBERS = ("values", "gradients")


def in_every_class(wrong: MistakesIn, takes: str, breaks: tuple[str, ...]) -> None:
    """What goes wrong at the start of any class; `takes` are its constructor's arguments."""
    wrong("init_misspelled", f"Your class can't be made with `{takes}`: its constructor is called `__init__`, with two underscores on each side, and takes `self` and `{takes}`.",
          breaks=breaks, old="def __init__(", new="def _init_(")
    wrong("no_super", "`super().__init__()` comes first in `__init__`: before it PyTorch can't keep track of layers and parameters.",
          breaks=breaks, old="super().__init__()\n", new="pass\n")

EPS_TOO = (*NUMBERS, "eps")
ALL = ("parameters", *EPS_TOO)
BUILT_OTHERWISE = (*NUMBERS, "parameters")
DROPOUT_TOO = ("dropout", *EPS_TOO)
def in_both_layers(wrong: MistakesIn, heard: str, fed: str, last: str) -> None:
    """What goes wrong in pre-norm and post-norm alike.

    `heard` and `fed` are what attention and the feed-forward network get, and `last` is what is returned.
    """
    attended, norm = f"self.attention({heard}, mask)", "LayerNorm(config.hidden_size, config.layer_norm_eps)"
    dropped, p = f"self.dropout({attended})", "config.hidden_dropout_prob"
    wrong("norms_shared", "Your two norms are one and the same module under two names. Make two: each has its own weight and bias.",
          breaks=ALL, old=f"self.layer_norm_2 = {norm}", new="self.layer_norm_2 = self.layer_norm_1")
    wrong("mask_ignored", "The mask is not handed on: call `self.attention(…, mask)`. Otherwise the tokens look at padding.",
          breaks="mask", old=f"{heard}, mask)", new=f"{heard})")
    wrong("no_mask", "`forward` takes no mask. Give it a second parameter, `mask=None`, and hand it on to attention.",
          breaks="mask", old=(", mask: Tensor | None = None", f"{heard}, mask)"), new=("", f"{heard})"))
    wrong("mask_turned_round", "You hand on the mask with True and False in each other's place (`~mask`). Attention takes True where a query *may* look: hand it on as it is.",
          breaks="mask", old=f"{heard}, mask)", new=f"{heard}, mask if mask is None else ~mask)")
    wrong("mask_as_numbers", "You make numbers of the mask. Attention *adds* numbers to the scores, so 1 and 0 hide nothing: hand the mask on as it is, True and False.",
          breaks="mask", old=f"{heard}, mask)", new=f"{heard}, mask if mask is None else mask.to(x.dtype))")
    wrong("library_eps", "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them `config.layer_norm_eps`.",
          breaks="eps", old=f" {norm}", new=" nn.LayerNorm(config.hidden_size)", times=2)
    wrong("own_eps", "Your norms use an eps that is not the config's. Hand them `config.layer_norm_eps`.",
          breaks="eps", old=f" {norm}", new=" LayerNorm(config.hidden_size, 1e-12)", times=2)
    for one, two in (("1", "2"), ("2", "1")):
        wrong(f"eps_of_norm_{one}", f"`layer_norm_{one}` uses an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand it `config.layer_norm_eps`, as you do with `layer_norm_{two}`.",
              breaks="eps", old=f"self.layer_norm_{one} = {norm}", new=f"self.layer_norm_{one} = nn.LayerNorm(config.hidden_size)")
    wrong("attention_not_dropped", "What attention returns is not dropped in training mode. The feed-forward network brings its own dropout; attention needs the layer's.",
          breaks="dropout", old=dropped, new=attended)
    wrong("attention_dropped_twice", "What attention returns is dropped twice, so more than a share p is lost. Once is enough.",
          breaks="dropout", old=dropped, new=f"self.dropout({dropped})")
    wrong("attention_dropped_unscaled", "Of what attention returns you zero a share p and leave the rest as it was. What remains is divided by 1 − p, as `nn.Dropout` does.",
          breaks="dropout", old=dropped, new=f"{attended} * (torch.rand_like(x) >= self.dropout.p * self.training)")
    wrong("attention_dropped_by_tokens", "Of what attention returns you drop whole tokens. Dropout decides for each number by itself.",
          breaks="dropout", old=dropped, new=f"{attended} * self.dropout(torch.ones_like(x[..., :1]))")
    wrong("dropout_always", "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` made in `__init__` knows the mode by itself (one made in `forward` does not).",
          breaks=(*NUMBERS, "dropout"), old=dropped, new=f"F.dropout({attended}, self.dropout.p)")
    wrong("feed_forward_dropped_twice", "What the feed-forward network returns is dropped twice: the module does so itself already.",
          breaks="dropout", old=f"self.feed_forward({fed})", new=f"self.dropout(self.feed_forward({fed}))")
    wrong("sum_dropped", "You drop numbers of the sum after attention, before or after a norm, so the skip connection is cut at random places. Only what attention returns is dropped, before it is added.",
          breaks="dropout", old="x + self.dropout(", new="self.dropout(x + ")
    wrong("result_dropped", "You drop numbers of what the layer returns. Only what the two parts return is dropped, before it is added.",
          breaks="dropout", old=f"return {last}", new=f"return self.dropout({last})")
    wrong("attention_dropped_inside", "You drop before attention's last layer: what goes into attention, or its weights. Dropout acts on what comes out of it, before the sum.",
          breaks="dropout", old=dropped, new=f"self.attention(self.dropout({heard}), mask)")
    for name, number in (("a_tenth", "0.1"), ("a_fifth", "0.2"), ("a_half", "0.5")):
        wrong(f"dropout_of_{name}", f"Your dropout after attention uses a p of its own, {number}"
              f"{' (`nn.Dropout()` takes it when it is not told)' if name == 'a_half' else ''}. Take `{p}`.",
              breaks="dropout", old=f"Dropout({p})", new=f"Dropout({number})")
    wrong("other_p", "Your dropout after attention uses `config.attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`.",
          breaks="dropout", old=f"Dropout({p})", new="Dropout(config.attention_probs_dropout_prob)")
    wrong("keeps_p", "You keep a share p of what attention returns instead of dropping it: `nn.Dropout` takes the probability of becoming zero.",
          breaks="dropout", old=f"Dropout({p})", new=f"Dropout(1 - {p})")


@MISTAKES.of(gelu)
def in_gelu(wrong):
    wrong("relu", "This is ReLU: it cuts off everything below zero. GELU is x·Φ(x), smooth, and slightly negative between about −3 and 0.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x.clamp(min=0.0)")
    wrong("tanh_approximation", "You wrote the tanh approximation, which differs from GELU by up to 0.0005. It saves time on some machines, and GPT-2 was trained with it; here the exact one is wanted, with `torch.erf`.",
          breaks=NUMBERS,
          old="torch.erf(x / math.sqrt(2.0))", new="torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))")
    wrong("sigmoid_approximation", "x·σ(1.702·x) is the fast approximation of GELU; it is off by up to 0.02. Here the exact one is wanted, with `torch.erf`.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x * torch.sigmoid(1.702 * x)")
    wrong("silu", "x·σ(x) is SiLU, also called Swish. It looks alike; GELU weighs x with the normal distribution's Φ(x), which takes `torch.erf`.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="x * torch.sigmoid(x)")
    wrong("erf_of_x", "Your erf gets x; it should get x/√2 (and `2**1/2` is 1: write `2**0.5`). The error function belongs to a normal distribution of variance ½, and the √2 brings it to variance 1.",
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
    wrong("elu", "This is ELU: x above zero, eˣ − 1 below it. GELU is x·Φ(x), which takes `torch.erf`.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="torch.where(x > 0, x, torch.expm1(x.clamp(max=0.0)))")
    wrong("leaky_relu", "This is leaky ReLU: negative numbers times 0.01. GELU is x·Φ(x), which takes `torch.erf`.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="torch.where(x > 0, x, 0.01 * x)")
    wrong("softplus", "This is softplus, ln(1 + eˣ): smooth as well, but never negative, and 0.69 at zero. GELU is x·Φ(x).",
          breaks=NUMBERS,
          old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="torch.log1p(torch.exp(-x.abs())) + x.clamp(min=0.0)")
    wrong("erf_of_a_quarter", "Your erf gets x/4; it should get x/√2 (`x / 2**1/2` is read as x/2/2: write `2**0.5` or `math.sqrt(2.0)`).",
          breaks=NUMBERS, old="x / math.sqrt(2.0)", new="x / 2.0**1 / 2.0")
    wrong("root_outside", "You divide the result of erf by √2. Divide x, before erf gets it: erf(x/√2).",
          breaks=NUMBERS, old="erf(x / math.sqrt(2.0))", new="erf(x) / math.sqrt(2.0)")
    wrong("root_of_the_sum", "You divide 1 + erf(x) by √2. The √2 belongs inside the erf, below x: 1 + erf(x/√2).",
          breaks=NUMBERS, old="(1.0 + torch.erf(x / math.sqrt(2.0)))", new="(1.0 + torch.erf(x)) / math.sqrt(2.0)")
    wrong("no_brackets", "The brackets around 1 + erf(…) are missing: x·½ is multiplied with the 1 only, and erf is added by itself.",
          breaks=NUMBERS, old="(1.0 + torch.erf(x / math.sqrt(2.0)))", new="1.0 + torch.erf(x / math.sqrt(2.0))")
    wrong("half_in_the_brackets", "½ belongs to all of 1 + erf(…). In yours it multiplies erf only.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch", new="x * (1.0 + 0.5 * torch")
    wrong("half_of_the_one", "½ belongs to all of 1 + erf(…). In yours it multiplies the 1 only.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch", new="x * (0.5 + torch")
    wrong("erfc", "`torch.erfc` is 1 − erf. With 1 + erf the weight grows with x; yours falls.",
          breaks=NUMBERS, old="torch.erf(", new="torch.erfc(")
    wrong("erfinv", "`torch.erfinv` is the inverse of the error function. Φ takes `torch.erf`.",
          breaks=NUMBERS, old="torch.erf(", new="torch.erfinv(")
    wrong("tanh_for_erf", "You take tanh where erf belongs. The two look alike, but Φ, the normal distribution's share below x, takes `torch.erf`.",
          breaks=NUMBERS, old="torch.erf(", new="torch.tanh(")
    wrong("tanh_without_the_cube", "This is the tanh approximation without its term 0.044715·x³. The exact GELU is wanted, with `torch.erf`.",
          breaks=NUMBERS, old="torch.erf(x / math.sqrt(2.0))", new="torch.tanh(math.sqrt(2.0 / math.pi) * x)")
    wrong("cut_at_zero", "Right above zero; but negative numbers do not become 0. GELU dips below zero there, to −0.17, and fades out slowly: x·Φ(x) on both sides.",
          breaks=NUMBERS, old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="(0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))).clamp(min=0.0)")
    for number in ("1.4", "1.41", "1.414", "1.42"):
        wrong(f"root_rounded_to_{number}", f"You take √2 as {number}. That is not exact enough here: `math.sqrt(2.0)`, or `2**0.5`.",
              breaks=NUMBERS, old="math.sqrt(2.0)", new=number)
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of x.",
          breaks=("shape", *NUMBERS), old="0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", new="(0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))).squeeze()")
    wrong("detached", "The probability is cut off from x (`detach`, `torch.no_grad` or `.data`), so the gradient is only Φ(x); the part x·φ(x), which comes from the probability, is missing.",
          breaks="gradients", old="x / math", new="x.detach() / math")
    wrong("in_place", "You change `x` in place (an assignment like `x *= …` writes into the caller's numbers). Make a new tensor.",
          breaks="gradients", old="return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))",
          new="x *= 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))\n    return x")


@MISTAKES.of(LayerNorm)
def in_LayerNorm(wrong):
    NOT_ALONE = ("shape", *EPS_TOO)
    FROZEN = ("parameters", "gradients")
    wrong("unbiased", "You divide the squares by D − 1 (`var` and `std` of PyTorch do so unless told otherwise). Layer norm uses the biased variance, divided by D: `correction=0`. Here D = {D}, so your values are too small by √({D}/({D} − 1)).",
          breaks=EPS_TOO, old="correction=0, ", new="")
    wrong("unbiased_std_plus_eps", "You divide by `x.std(…) + eps`. Two things differ from layer norm: `std` divides by D − 1 unless told otherwise, and eps belongs to the variance, under the root.",
          breaks=EPS_TOO, old=("variance = x.var(dim=-1, correction=0,", "torch.sqrt(variance + self.eps)"),
          new=("std = x.std(dim=-1,", "(std + self.eps)"))
    wrong("eps_outside", "Your eps stands outside the root. It is added to the variance, under the root: √(variance + eps). With a tiny variance that is a different number.",
          breaks="eps", old="torch.sqrt(variance + self.eps)", new="(variance.sqrt() + self.eps)")
    wrong("no_eps", "eps has no effect. A token whose numbers are all equal has variance 0, and 0/0 is nan: add eps to the variance, under the root.",
          breaks="eps", old="variance + self.eps", new="variance")
    for number in ("1e-5", "1e-6", "1e-8", "1e-12"):
        wrong(f"eps_of_{number}", f"You use an eps of your own, {number}; take the one that is handed to the constructor.",
              breaks="eps", old="+ self.eps", new=f"+ {number}")
    wrong("eps_added_to_the_result", "Your eps is added after the division. It is added to the variance, under the root (brackets: `torch.sqrt(variance + eps)`).",
          breaks="eps", old="(x - mean) / torch.sqrt(variance + self.eps)", new="((x - mean) / torch.sqrt(variance) + self.eps)")
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
    wrong("no_keepdim", "Without `keepdim=True` mean and variance have shape (B, T), and PyTorch lines up their last axis, T, with the last axis of x, D. Keep the axis, as size 1, so that each token meets its own.",
          breaks=NOT_ALONE, old=(", keepdim=True", "# (..., 1)"), new=("", "# (...)"), times=2)
    wrong("mean_without_keepdim", "Your mean lacks `keepdim=True` (the variance is fine): it has shape (B, T), and PyTorch lines up its last axis, T, with the last axis of x, D. Keep the axis, as size 1.",
          breaks=NOT_ALONE, old="mean(dim=-1, keepdim=True)", new="mean(dim=-1)")
    wrong("variance_without_keepdim", "Your variance lacks `keepdim=True` (the mean is fine): it has shape (B, T), and PyTorch lines up its last axis, T, with the last axis of x, D. Keep the axis, as size 1.",
          breaks=NOT_ALONE, old="correction=0, keepdim=True", new="correction=0")
    wrong("over_axes_1_and_2", "Your mean and variance run over axes 1 and 2, so a sentence has one of each. Each token has its own: reduce over the last axis only, `dim=-1`.",
          breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=(1, 2)", "# (B, 1, 1)"), times=2)
    wrong("over_axes_0_and_1", "This is batch norm: your mean and variance run over axes 0 and 1, all tokens of all sentences. Layer norm computes one pair per token, over the last axis.",
          breaks=NOT_ALONE, old=("dim=-1", "# (..., 1)"), new=("dim=(0, 1)", "# (1, 1, D)"), times=2)
    wrong("mean_over_everything", "Your variance is each token's own, but there is one mean for the whole tensor: `mean(dim=-1, keepdim=True)`.",
          breaks=NOT_ALONE, old="mean(dim=-1, keepdim=True)  # (..., 1)", new="mean()")
    wrong("variance_over_everything", "Your mean is each token's own, but there is one variance for the whole tensor: take it over the last axis, too, with `keepdim=True`.",
          breaks=NOT_ALONE, old="var(dim=-1, correction=0, keepdim=True)  # (..., 1)", new="var(correction=0)")
    wrong("mean_over_tokens", "Your mean runs over the tokens of a sentence, your variance over the numbers of one token. Both belong over the last axis, `dim=-1`.",
          breaks=NOT_ALONE, old="mean(dim=-1", new="mean(dim=-2")
    wrong("variance_over_tokens", "Your variance runs over the tokens of a sentence, your mean over the numbers of one token. Both belong over the last axis, `dim=-1`.",
          breaks=NOT_ALONE, old="var(dim=-1", new="var(dim=-2")
    wrong("var_mean_swapped", "Mean and variance have changed places: you subtract the variance and take the root of the mean. (`torch.var_mean` returns the variance first.)",
          breaks=EPS_TOO, old=("mean = x", "variance = x"), new=("variance = x", "mean = x"))
    wrong("squares_not_divided", "You add up the squares but do not divide by D: the variance is the *mean* of the squared distances from the mean. Here D = {D}, so your values are too small by √{D}.",
          breaks=EPS_TOO, old="x.var(dim=-1, correction=0, keepdim=True)", new="((x - mean) ** 2).sum(dim=-1, keepdim=True)")
    wrong("mean_distance", "You divide by the mean distance from the mean, |x − mean|. The variance takes the squares of the distances, and the divisor is its root.",
          breaks=EPS_TOO,
          old=("x.var(dim=-1, correction=0, keepdim=True)", "torch.sqrt(variance + self.eps)"),
          new=("(x - mean).abs().mean(dim=-1, keepdim=True)", "(variance + self.eps)"))
    wrong("squares_not_centered", "You take the mean of the squares of x for the variance; the mean is subtracted before squaring, there too.",
          breaks=EPS_TOO, old="x.var(dim=-1, correction=0,", new="x.pow(2).mean(dim=-1,")
    wrong("root_of_the_std", "You take the root of the standard deviation. `std` has its root already; take `var` below the root.",
          breaks=EPS_TOO, old="x.var(", new="x.std(")
    wrong("brackets", "The brackets around x − mean are missing: only the mean is divided, and x stays as large as it was.",
          breaks=EPS_TOO, old="(x - mean)", new="x - mean")
    wrong("min_max", "You bring the smallest number to 0 and the largest to 1. Layer norm subtracts the mean and divides by the standard deviation.",
          breaks=EPS_TOO,
          old=("x.mean(dim=-1, keepdim=True)", "x.var(dim=-1, correction=0, keepdim=True)", "torch.sqrt(variance + self.eps)"),
          new=("x.amin(dim=-1, keepdim=True)", "x.amax(dim=-1, keepdim=True)", "(variance - mean + self.eps)"))
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
    wrong("weight_unused", "`weight` exists but is not applied: multiply the normalized numbers by it, before `bias` is added.",
          breaks=EPS_TOO, old=" * self.weight", new="")
    wrong("bias_subtracted", "You subtract `bias`. It is added, at the end.",
          breaks=EPS_TOO, old="+ self.bias", new="- self.bias")
    wrong("weight_plus_bias", "You multiply by the sum of weight and bias. The normalized numbers are multiplied by `weight`; `bias` is added to that.",
          breaks=EPS_TOO, old="self.weight + self.bias", new="(self.weight + self.bias)")
    wrong("weight_added", "You add `weight`, too. The normalized numbers are multiplied by it; only `bias` is added.",
          breaks=EPS_TOO, old="* self.weight", new="+ self.weight")
    wrong("bias_scaled_too", "Your weight also multiplies the bias. The order is: normalize, times `weight`, then plus `bias`.",
          breaks=EPS_TOO,
          old=("(x - mean)", "* self.weight + self.bias"), new=("((x - mean)", "+ self.bias) * self.weight"))
    wrong("swapped", "`weight` and `bias` have changed places: the numbers are multiplied by `weight` and shifted by `bias`.",
          breaks=EPS_TOO, old="* self.weight + self.bias", new="* self.bias + self.weight")
    wrong("scales_before", "`weight` and `bias` are applied before the normalization, which undoes most of them. They come last, so that the layer can choose its scale.",
          breaks=EPS_TOO,
          old=("mean = x", " * self.weight + self.bias"), new=("x = x * self.weight + self.bias\n        mean = x", ""))
    for one, two in (("gamma", "beta"), ("gain", "bias"), ("scale", "shift"), ("w", "b"), ("g", "b"), ("alpha", "beta"), ("a_2", "b_2")):
        wrong(f"called_{one}_and_{two}", f"Your two parameters are called `{one}` and `{two}`. They are to be called `weight` and `bias`: trained weights will be copied in by these names.",
              breaks=ALL, old=("self.weight", "self.bias"), new=(f"self.{one}", f"self.{two}"), times=2)
    wrong("plain_tensors", "`weight` and `bias` are no parameters, so PyTorch does not know that they are to be learned: wrap the tensors in `nn.Parameter` (a buffer is not learned either).",
          breaks=("values", "parameters", "gradients", "eps"),
          old=("nn.Parameter(torch.ones(dim))", "nn.Parameter(torch.zeros(dim))"), new=("torch.ones(dim)", "torch.zeros(dim)"))
    wrong("weight_a_plain_tensor", "`weight` is no parameter, so PyTorch does not know that it is to be learned: wrap the tensor in `nn.Parameter`, as you do with `bias`.",
          breaks=ALL, old="nn.Parameter(torch.ones(dim))", new="torch.ones(dim)")
    wrong("bias_a_plain_tensor", "`bias` is no parameter, so PyTorch does not know that it is to be learned: wrap the tensor in `nn.Parameter`, as you do with `weight`.",
          breaks=ALL, old="nn.Parameter(torch.zeros(dim))", new="torch.zeros(dim)")
    wrong("nothing_learned", "There is no `weight` and no `bias`. Layer norm ends with a scale and a shift that are learned, one number per column each.",
          breaks=ALL,
          old=("self.weight = nn.Parameter(torch.ones(dim))", "self.bias = nn.Parameter(torch.zeros(dim))", " * self.weight + self.bias"),
          new=("self.dim = dim", "", ""))
    wrong("no_bias", "There is no `bias`. After the multiplication by `weight` a learned number per column is added.",
          breaks=ALL, old=("self.bias = nn.Parameter(torch.zeros(dim))", " + self.bias"), new=("", ""))
    wrong("no_weight", "There is no `weight`. The normalized numbers are multiplied by a learned number per column before `bias` is added.",
          breaks=ALL, old=("self.weight = nn.Parameter(torch.ones(dim))", " * self.weight"), new=("", ""))
    wrong("not_to_be_learned", "`requires_grad=False` keeps PyTorch from learning `weight` and `bias`. A plain `nn.Parameter(…)` is learned.",
          breaks=FROZEN, old=("torch.ones(dim)", "torch.zeros(dim)"),
          new=("torch.ones(dim), requires_grad=False", "torch.zeros(dim), requires_grad=False"))
    wrong("weight_not_to_be_learned", "`requires_grad=False` keeps PyTorch from learning `weight`. A plain `nn.Parameter(…)` is learned.",
          breaks=FROZEN, old="torch.ones(dim)", new="torch.ones(dim), requires_grad=False")
    wrong("bias_not_to_be_learned", "`requires_grad=False` keeps PyTorch from learning `bias`. A plain `nn.Parameter(…)` is learned.",
          breaks=FROZEN, old="torch.zeros(dim)", new="torch.zeros(dim), requires_grad=False")
    wrong("random_start", "Your `weight` and `bias` do not start as asked: in each the numbers differ (are they drawn at random?). A new layer norm is to change nothing beyond the norm: `weight` starts at 1, `bias` at 0.",
          breaks="parameters", old=("ones(dim)", "zeros(dim)"), new=("randn(dim)", "randn(dim)"))
    wrong("random_weight", "The numbers of your `weight` differ at the start (are they drawn at random?). A new layer norm is to change nothing beyond the norm: `weight` starts at 1.",
          breaks="parameters", old="ones(dim)", new="rand(dim)")
    wrong("random_bias", "The numbers of your `bias` differ at the start (are they drawn at random?). A new layer norm is to change nothing beyond the norm: `bias` starts at 0.",
          breaks="parameters", old="zeros(dim)", new="randn(dim)")
    wrong("zero_start", "Your `weight` starts at 0, so a new layer returns nothing but zeros, whatever comes in. It starts at 1, `bias` at 0.",
          breaks="parameters", old="ones(dim)", new="zeros(dim)")
    wrong("bias_of_one", "Your `bias` starts at 1. It starts at 0, so that a new layer changes nothing beyond the norm.",
          breaks="parameters", old="zeros(dim)", new="ones(dim)")
    wrong("starts_swapped", "The starts have changed places: `weight` starts at 1, `bias` at 0. With yours a new layer returns 1 everywhere, whatever comes in.",
          breaks="parameters", old=("ones(dim)", "zeros(dim)"), new=("zeros(dim)", "ones(dim)"))
    wrong("single_numbers", "One `weight` and one `bias` for all columns: each of the D columns has its own, so both have shape (D,).",
          breaks=("values", "parameters", "gradients", "eps"), old=("ones(dim)", "zeros(dim)"), new=("ones(1)", "zeros(1)"))
    wrong("row_parameters", "`weight` and `bias` have two axes, (1, D). Their shape is (D,): trained weights of this shape will be copied in.",
          breaks=("shape", *ALL), old=("ones(dim)", "zeros(dim)"), new=("ones(1, dim)", "zeros(1, dim)"))
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of x.",
          breaks=("shape", *NUMBERS), old="(x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias",
          new="((x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias).squeeze()")
    wrong("mean_detached", "The mean is cut off from x (`detach`, `torch.no_grad` or `.data`). It depends on x, and the gradient has to know it.",
          breaks="gradients", old="x.mean(", new="x.detach().mean(")
    wrong("variance_detached", "The variance is cut off from x (`detach`, `torch.no_grad` or `.data`). It depends on x, and the gradient has to know it.",
          breaks="gradients", old="x.var(", new="x.detach().var(")
    wrong("no_gradient_through_statistics", "Mean and variance are cut off from x (`detach`, `torch.no_grad` or `.data`). They depend on x, and the gradient has to know it.",
          breaks="gradients", old=("x.mean(", "x.var("), new=("x.detach().mean(", "x.detach().var("))
    wrong("in_place", "You change `x` in place. In a layer the skip connection still needs the x from before the norm; make a new tensor.",
          breaks="gradients", old="return (x - mean)", new="x -= mean\n        return x")
    in_every_class(wrong, "dim, eps", ("shape", "parameters", *EPS_TOO))


@MISTAKES.of(FeedForward)
def in_FeedForward(wrong):
    STOPS = ("shape", "dropout", *BUILT_OTHERWISE)
    wrong("relu", "You use ReLU between the two layers, as the 2017 paper did; here it is GELU, as in BERT.",
          breaks=NUMBERS, old="self.gelu(", new="F.relu(")
    wrong("tanh_gelu", "Your GELU is the tanh approximation; the exact one is wanted: your `gelu`, or `nn.GELU()` without `approximate`.",
          breaks=NUMBERS, old="self.gelu = gelu", new='self.gelu = nn.GELU(approximate="tanh")')
    wrong("no_activation", "No GELU acts between the two layers (one whose result is not used does nothing). Two linear layers in a row are one linear layer, however wide the middle is.",
          breaks=NUMBERS, old="self.gelu(self.linear_1(x))", new="self.linear_1(x)")
    for name, call in (("softmax", "softmax(dim=-1)"), ("sigmoid", "sigmoid()"), ("tanh", "tanh()")):
        wrong(name, f"You put {name} between the two layers. Here it is GELU, as in BERT.",
              breaks=NUMBERS, old="self.gelu(self.linear_1(x))", new=f"self.linear_1(x).{call}")
    wrong("gelu_after_both", "Your GELU comes after `linear_2`. It belongs between the two layers: without it there they are one linear layer.",
          breaks=NUMBERS, old=("self.gelu(self.linear_1(x))", "self.linear_2(hidden)"),
          new=("self.linear_1(x)", "self.gelu(self.linear_2(hidden))"))
    wrong("gelu_twice", "There is a second GELU after `linear_2`. What is added to the tokens must be free to be negative: one GELU, between the layers.",
          breaks=NUMBERS, old="self.linear_2(hidden)", new="self.gelu(self.linear_2(hidden))")
    wrong("gelu_of_gelu", "GELU is applied twice between the layers. Once is right.",
          breaks=NUMBERS, old="self.gelu(self.linear_1(x))", new="self.gelu(self.gelu(self.linear_1(x)))")
    wrong("gelu_first", "Your GELU comes before `linear_1`; it belongs between the two layers.",
          breaks=NUMBERS, old="self.gelu(self.linear_1(x))", new="self.linear_1(self.gelu(x))")
    wrong("skip_inside", "You add x at the end. The skip connection belongs to the layer around this module, which will add it again.",
          breaks=(*NUMBERS, "dropout"), old="return self", new="return x + self")
    wrong("norm_inside", "You normalize x first. The norm belongs to the layer around this module; x goes straight into `linear_1`.",
          breaks=NUMBERS, old="self.linear_1(x)", new="self.linear_1(F.layer_norm(x, x.shape[-1:]))")
    wrong("norm_at_the_end", "You normalize what `linear_2` returns. The norm belongs to the layer around this module.",
          breaks=NUMBERS, old="self.linear_2(hidden)", new="F.layer_norm(self.linear_2(hidden), x.shape[-1:])")
    wrong("linear_1_twice", "`linear_1` is called twice, `linear_2` never: it is `linear_2` that brings the F numbers back to D.",
          breaks=STOPS, old="self.linear_2(hidden)", new="self.linear_1(hidden)")
    wrong("linear_2_twice", "`linear_2` is called twice, `linear_1` never: it is `linear_1` that takes the D numbers of x.",
          breaks=STOPS, old="self.linear_1(x)", new="self.linear_2(x)")
    wrong("linear_2_first", "`linear_2` is called before `linear_1`. First `linear_1`, D to F, then GELU, then `linear_2`, F to D.",
          breaks=STOPS, old=("self.linear_1(x)", "self.linear_2(hidden)"), new=("self.linear_2(x)", "self.linear_1(hidden)"))
    wrong("not_narrowed", "`linear_2` has no effect on what you return: after the GELU it brings the F numbers back to D.",
          breaks=("shape", *NUMBERS), old="self.dropout(self.linear_2(hidden))", new="self.dropout(hidden)")
    wrong("half_done", "You return what comes after the GELU. `linear_2` and the dropout are still to come: they bring the F numbers back to D.",
          breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(self.linear_2(hidden))", new="hidden")
    wrong("skip_inside_the_dropout", "You add x, before the dropout. The skip connection belongs to the layer around this module, which will add it again.",
          breaks=NUMBERS, old="self.dropout(self.linear_2(hidden))", new="self.dropout(x + self.linear_2(hidden))")
    wrong("no_dropout", "In training mode nothing is dropped. `self.dropout` has to be called in `forward`, on what `linear_2` returns.",
          breaks="dropout", old="self.dropout(self.linear_2(hidden))", new="self.linear_2(hidden)")
    wrong("dropout_always", "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` made in `__init__` knows the mode by itself (one made in `forward` does not).",
          breaks=(*NUMBERS, "dropout"),
          old="self.dropout(self.linear_2(hidden))", new="F.dropout(self.linear_2(hidden), self.dropout.p)")
    wrong("dropout_in_the_middle", "You drop too early: x, or the F numbers in the middle. Here dropout acts on the result, after `linear_2`: a share p of the D numbers that come out is zero.",
          breaks="dropout", old="self.dropout(self.linear_2(hidden))", new="self.linear_2(self.dropout(hidden))")
    wrong("dropout_twice", "You drop twice: at the end, and before `linear_2` (x, or the F numbers in the middle). BERT's layer does so once, at the end.",
          breaks="dropout", old="(hidden)", new="(self.dropout(hidden))")
    wrong("dropout_twice_at_the_end", "You drop the result twice, so more than a share p is lost. Once is enough.",
          breaks="dropout", old="return self.dropout(self.linear_2(hidden))", new="return self.dropout(self.dropout(self.linear_2(hidden)))")
    wrong("dropout_in_eval_mode_only", "Your dropout acts in eval mode and rests in training mode; it is the other way round.",
          breaks=(*NUMBERS, "dropout"),
          old="self.dropout(self.linear_2(hidden))", new="F.dropout(self.linear_2(hidden), self.dropout.p, not self.training)")
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
    wrong("dropout_of_columns", "You drop whole columns: one decision for all tokens of a sentence. Dropout decides for each number by itself.",
          breaks="dropout", old="return self.dropout(self.linear_2(hidden))",
          new="y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[..., :1, :])) if y.dim() > 1 else self.dropout(y)")
    wrong("dropout_of_a_batch", "You drop the same numbers in every sentence of the batch. Dropout decides for each number by itself.",
          breaks="dropout", old="return self.dropout(self.linear_2(hidden))",
          new="y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[0])) if y.dim() > 2 else self.dropout(y)")
    wrong("dropout_times_1_minus_p", "What remains is multiplied by 1 − p; it is divided by it, so that the mean stays the same.",
          breaks="dropout", old="return self.dropout(self.linear_2(hidden))",
          new="y, p = self.linear_2(hidden), self.dropout.p\n        return y * (torch.rand_like(y) >= p) * (1 - p) if self.training else y")
    wrong("dropout_of_tokens", "You drop whole tokens: one decision for all D numbers. Dropout decides for each number by itself.",
          breaks="dropout", old="return self.dropout(self.linear_2(hidden))",
          new="y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[..., :1]))")
    wrong("four_times_as_wide", "You make the middle 4·D wide. That is BERT's habit; the contract says `config.intermediate_size`, here {F} for D = {D}.",
          breaks=("values", "parameters", "gradients"), old=(", config.intermediate_size)", "(config.intermediate_size"),
          new=(", 4 * config.hidden_size)", "(4 * config.hidden_size"))
    wrong("dropout_1d", "`nn.Dropout1d` drops whole tokens, and takes two or three axes only. `nn.Dropout` decides for each number by itself.",
          breaks=STOPS, old="nn.Dropout(", new="nn.Dropout1d(")
    for one, two in (("1", "2"), ("2", "1")):
        out = {"1": "intermediate", "2": "hidden"}[one]
        wrong(f"no_bias_in_linear_{one}", f"`linear_{one}` has no bias, `linear_{two}` has one. Both have one in BERT, and its weights bring numbers for them.",
              breaks=BUILT_OTHERWISE, old=f", config.{out}_size)", new=f", config.{out}_size, bias=False)")
    wrong("no_bias", "Your linear layers have no bias; both have one in BERT, and its weights bring numbers for them.",
          breaks=("values", "parameters", "gradients"),
          old=("intermediate_size)", "hidden_size)"), new=("intermediate_size, bias=False)", "hidden_size, bias=False)"))
    for one, two in (("fc1", "fc2"), ("linear1", "linear2"), ("lin1", "lin2"), ("w_1", "w_2"), ("c_fc", "c_proj"), ("linear_in", "linear_out"), ("dense_1", "dense_2"), ("intermediate", "output"), ("up", "down")):
        wrong(f"called_{one}_and_{two}", f"Your two layers are called `{one}` and `{two}`. They are to be called `linear_1` and `linear_2`: weights will be copied in by these names.",
              breaks=BUILT_OTHERWISE, old=("self.linear_1", "self.linear_2"), new=(f"self.{one}", f"self.{two}"), times=2)
    wrong("one_layer", "There is one linear layer, D to D. The network has two: D to F, then F back to D.",
          breaks=("values", "parameters", "gradients"),
          old=("config.intermediate_size)\n        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)",
               "# (..., F)\n        return self.dropout(self.linear_2(hidden))"),
          new=("config.hidden_size)", "# (..., D)\n        return self.dropout(hidden)"))
    wrong("linear_2_stays_wide", "Your `linear_2` goes from F to F. It brings the F numbers back to D, so that the result can be added to x.",
          breaks=("shape", *BUILT_OTHERWISE), old="(config.intermediate_size, config.hidden_size)", new="(config.intermediate_size, config.intermediate_size)")
    wrong("linear_1_swapped", "The sizes of `linear_1` are swapped: it takes D numbers and gives F, and `linear_2` brings F back to D. (`nn.Linear(inputs, outputs)`.)",
          breaks=STOPS, old="(config.hidden_size, config.intermediate_size)", new="(config.intermediate_size, config.hidden_size)")
    wrong("linear_2_swapped", "The sizes of `linear_2` are swapped: it takes F numbers and gives D. (`nn.Linear(inputs, outputs)`.)",
          breaks=STOPS, old="(config.intermediate_size, config.hidden_size)", new="(config.hidden_size, config.intermediate_size)")
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of x.",
          breaks=("shape", *NUMBERS), old="self.dropout(self.linear_2(hidden))", new="self.dropout(self.linear_2(hidden)).squeeze()")
    in_every_class(wrong, "config", STOPS)
    wrong("called_without_x", "`forward` takes `self` and `x`.",
          breaks=STOPS, old="forward(self, x: Tensor)", new="forward(self)")
    wrong("gelu_not_made", "`nn.GELU` is a class. `nn.GELU()`, with brackets, makes the module that takes a tensor.",
          breaks=STOPS, old="self.gelu = gelu", new="self.gelu = nn.GELU")


# ---- both layers ----


@MISTAKES.of(TransformerEncoderLayer)
def in_TransformerEncoderLayer(wrong):
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
    wrong("norms_swapped", "Your norms have changed places: `layer_norm_1` belongs to attention, `layer_norm_2` to the feed-forward network.",
          breaks=EPS_TOO, old=("layer_norm_1(x)", "layer_norm_2(x)"), new=("layer_norm_2(x)", "layer_norm_1(x)"))
    wrong("parallel", "Both parts get the tokens as they came. Here they work one after the other: the feed-forward network gets what attention has already added to. (A few later models do it your way, in parallel.)",
          breaks=EPS_TOO, old=("x = x + self", "return x +"), new=("attended = self", "return x + attended +"))
    wrong("halved", "You halve each sum, as if x and what a part returns were to be averaged. The skip connection adds: x + attention(x).",
          breaks=EPS_TOO, old=("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "return x + self.feed_forward(self.layer_norm_2(x))"),
          new=("x = (x + self.dropout(self.attention(self.layer_norm_1(x), mask))) / 2", "return (x + self.feed_forward(self.layer_norm_2(x))) / 2"))
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
    wrong("first_skip_from_the_norm", "In the first half what you add to is the *normalized* x. The skip connection carries x as it came: x + attention(norm(x)).",
          breaks=EPS_TOO, old="x = x +", new="x = self.layer_norm_1(x) +")
    wrong("second_skip_from_the_norm", "In the second half what you add to is the *normalized* x. The skip connection carries the sum after attention as it is: x + feed_forward(norm(x)).",
          breaks=EPS_TOO, old="return x +", new="return self.layer_norm_2(x) +")
    wrong("second_skip_twice", "In the second half x is added twice. Once is right: x + feed_forward(norm(x)).",
          breaks=EPS_TOO, old="return x + self", new="return x + x + self")
    wrong("norm_on_the_skip_only", "The parts get x as it came, and the skip connections carry the normalized x. It is the other way round: x + attention(norm(x)).",
          breaks=EPS_TOO, old=("x = x + ", "self.layer_norm_1(x), mask", "return x + ", "(self.layer_norm_2(x))"),
          new=("x = self.layer_norm_1(x) + ", "x, mask", "return self.layer_norm_2(x) + ", "(x)"))
    wrong("first_half_post_norm", "Your first half is post-norm: its norm comes after the addition. In both halves the norm comes first: x + attention(norm(x)).",
          breaks=EPS_TOO, old="x + self.dropout(self.attention(self.layer_norm_1(x), mask))", new="self.layer_norm_1(x + self.dropout(self.attention(x, mask)))")
    wrong("second_half_post_norm", "Your second half is post-norm: its norm comes after the addition. In both halves the norm comes first: x + feed_forward(norm(x)).",
          breaks=EPS_TOO, old="x + self.feed_forward(self.layer_norm_2(x))", new="self.layer_norm_2(x + self.feed_forward(x))")
    wrong("first_norm_of_the_branch", "In the first half you normalize what attention returns, before adding it. The norm comes before attention: x + attention(norm(x)).",
          breaks=EPS_TOO, old="self.dropout(self.attention(self.layer_norm_1(x), mask))", new="self.layer_norm_1(self.dropout(self.attention(x, mask)))")
    wrong("second_norm_of_the_branch", "In the second half you normalize what the feed-forward network returns, before adding it. The norm comes before it: x + feed_forward(norm(x)).",
          breaks=EPS_TOO, old="self.feed_forward(self.layer_norm_2(x))", new="self.layer_norm_2(self.feed_forward(x))")
    wrong("norms_before_and_after", "You normalize what goes into each part, and the sums as well. Pre-norm does the first only.",
          breaks=EPS_TOO, old=("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "x + self.feed_forward(self.layer_norm_2(x))"),
          new=("x = self.layer_norm_1(x + self.dropout(self.attention(self.layer_norm_1(x), mask)))", "self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))"))
    wrong("no_attention", "Attention has no effect on what you return: the first half, x + attention(norm(x)), is missing, or its result is not used.",
          breaks=DROPOUT_TOO, old="x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", new="")
    wrong("no_feed_forward", "The feed-forward network has no effect on what you return: the second half, x + feed_forward(norm(x)), is missing, or its result is not used.",
          breaks=DROPOUT_TOO, old="x + self.feed_forward(self.layer_norm_2(x))", new="x")
    wrong("chained", "Attention's result goes straight into the feed-forward network, and there is one sum at the end. Each part has its own: x = x + attention(norm(x)), then x + feed_forward(norm(x)).",
          breaks=DROPOUT_TOO, old=("x = x +", "return x + self", "layer_norm_2(x)"), new=("h =", "return x + self", "layer_norm_2(h)"))
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of x.",
          breaks=("shape", *NUMBERS), old="return x + self.feed_forward(self.layer_norm_2(x))", new="return (x + self.feed_forward(self.layer_norm_2(x))).squeeze()")
    wrong("one_skip", "Attention's result goes straight into the feed-forward network, and there is one sum at the end, one dropout before it. Each part has its own: x = x + dropout(attention(norm(x))), then x + feed_forward(norm(x)).",
          breaks=DROPOUT_TOO, old=("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "self.feed_forward(self.layer_norm_2(x))"),
          new=("h = self.attention(self.layer_norm_1(x), mask)", "self.dropout(self.feed_forward(self.layer_norm_2(h)))"))
    wrong("concatenated", "You put x and what attention returns side by side, so a token becomes 2·D wide. A skip connection *adds*: x + attention(…).",
          breaks=("shape", "parameters", "mask", *DROPOUT_TOO), old="x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))",
          new="x = torch.cat([x, self.dropout(self.attention(self.layer_norm_1(x), mask))], dim=-1)")
    wrong("mask_without_default", "`forward` demands a mask, and is called without one where nothing is padded: `mask=None`.",
          breaks=("shape", "parameters", "mask", *DROPOUT_TOO), old="mask: Tensor | None = None", new="mask: Tensor | None")
    in_every_class(wrong, "config", ("shape", "parameters", "mask", *DROPOUT_TOO))
    in_both_layers(wrong, heard="self.layer_norm_1(x)", fed="self.layer_norm_2(x)", last="x + self.feed_forward(self.layer_norm_2(x))")


@MISTAKES.of(PostNormEncoderLayer)
def in_PostNormEncoderLayer(wrong):
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
    wrong("input_added_twice", "The layer's input enters twice: once in each sum. The second sum adds what the first norm returned to what the feed-forward network makes of it, and nothing more.",
          breaks=EPS_TOO, old=("x = self", "x + self.feed_forward(x)"), new=("h = self", "x + h + self.feed_forward(h)"))
    wrong("feed_forward_of_the_input", "The feed-forward network gets the layer's input. It gets what `layer_norm_1` returned, the same numbers that its result is added to.",
          breaks=EPS_TOO, old=("x = self", "x + self.feed_forward(x)"), new=("h = self", "h + self.feed_forward(x)"))
    wrong("parallel", "Both parts get the tokens as they came, and there is one sum with one norm. Here they work one after the other: norm(x + attention(x)) comes first, and the rest starts from there.",
          breaks=EPS_TOO, old="x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))\n        return self.layer_norm_2(x +",
          new="attended = self.dropout(self.attention(x, mask))\n        return self.layer_norm_2(x + attended +")
    wrong("multiplied", "You multiply where a sum is wanted: the skip connection is x + attention(x).",
          breaks=DROPOUT_TOO, old="x + self", new="x * self", times=2)
    wrong("first_half_pre_norm", "Your first half is pre-norm: its norm comes before attention. In both halves the sum is normalized: norm(x + attention(x)).",
          breaks=EPS_TOO, old="self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", new="x + self.dropout(self.attention(self.layer_norm_1(x), mask))")
    wrong("second_half_pre_norm", "Your second half is pre-norm: its norm comes before the feed-forward network. In both halves the sum is normalized: norm(x + feed_forward(x)).",
          breaks=EPS_TOO, old="self.layer_norm_2(x + self.feed_forward(x))", new="x + self.feed_forward(self.layer_norm_2(x))")
    wrong("first_norm_inside_the_sum", "In the first half you normalize what attention returns and add x afterwards. The sum is normalized: norm(x + attention(x)).",
          breaks=EPS_TOO, old="self.layer_norm_1(x + ", new="x + self.layer_norm_1(")
    wrong("second_norm_inside_the_sum", "In the second half you normalize what the feed-forward network returns and add x afterwards. The sum is normalized: norm(x + feed_forward(x)).",
          breaks=EPS_TOO, old="self.layer_norm_2(x + ", new="x + self.layer_norm_2(")
    wrong("norm_on_the_skip_only", "Your norms get x alone, and what the parts return is added to that. The *sum* is normalized: norm(x + attention(x)). Look at the brackets.",
          breaks=EPS_TOO,
          old=("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"),
          new=("self.layer_norm_1(x) + self.dropout(self.attention(x, mask))", "self.layer_norm_2(x) + self.feed_forward(x)"))
    wrong("feed_forward_before_the_norm", "The feed-forward network gets the sum before `layer_norm_1`; only the skip connection starts behind that norm. Both start from what the norm returned.",
          breaks=EPS_TOO, old=("x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "feed_forward(x)"),
          new=("h = x + self.dropout(self.attention(x, mask))\n        x = self.layer_norm_1(h)", "feed_forward(h)"))
    wrong("second_skip_twice", "In the second half x is added twice. Once is right: norm(x + feed_forward(x)).",
          breaks=EPS_TOO, old="layer_norm_2(x + self", new="layer_norm_2(x + x + self")
    wrong("no_attention", "Attention has no effect on what you return: the first half, norm(x + attention(x)), is missing, or its result is not used.",
          breaks=DROPOUT_TOO, old="x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", new="")
    wrong("no_feed_forward", "The second half has no effect on what you return: norm(x + feed_forward(x)) is missing, or its result is not used.",
          breaks=DROPOUT_TOO, old="self.layer_norm_2(x + self.feed_forward(x))", new="x")
    wrong("chained", "Attention's result goes straight into the feed-forward network, without a sum and a norm between: norm(x + attention(x)) comes first, and the rest starts from there.",
          breaks=DROPOUT_TOO, old=("x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "feed_forward(x)"),
          new=("h = self.dropout(self.attention(x, mask))", "feed_forward(h)"))
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of x.",
          breaks=NUMBERS, old="return self.layer_norm_2(x + self.feed_forward(x))", new="return (self.layer_norm_2(x + self.feed_forward(x))).squeeze()")
    wrong("concatenated", "You put x and what attention returns side by side, so a token becomes 2·D wide. A skip connection *adds*: x + attention(…).",
          breaks=("parameters", "mask", *DROPOUT_TOO), old="x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))",
          new="x = self.layer_norm_1(torch.cat([x, self.dropout(self.attention(x, mask))], dim=-1))")
    wrong("mask_without_default", "`forward` demands a mask, and is called without one where nothing is padded: `mask=None`.",
          breaks=("parameters", "mask", *DROPOUT_TOO), old="mask: Tensor | None = None", new="mask: Tensor | None")
    in_every_class(wrong, "config", ("parameters", "mask", *DROPOUT_TOO))
    in_both_layers(wrong, heard="x", fed="x", last="self.layer_norm_2(x + self.feed_forward(x))")


@MISTAKES.of(count_layer_parameters)
def in_count_layer_parameters(wrong):
    COUNTS = ("BERT base", "any sizes")
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
    wrong("one_norm", "2·D numbers are missing, half of what the norms have: there are two norms in a layer, and each has a weight *and* a bias of D numbers, 4·D in all.",
          breaks=COUNTS, old="(width + width)  # a weight and a bias each", new="width")
    wrong("one_attention_bias", "3·D numbers are missing: each of attention's four linear layers has a bias of D numbers. (In `4 * D * D + D` brackets are missing: it counts one bias.)",
          breaks=COUNTS, old="4 * (width * width + width)", new="4 * width * width + width")
    wrong("one_bias_missing", "D numbers are missing: one vector of D. Is it one of attention's four biases, the bias of `linear_2`, or a norm's weight or bias?",
          breaks=COUNTS, old="inner * width + width", new="inner * width")
    wrong("no_linear_1_bias", "F numbers are missing, as many as the bias of `linear_1` has: one for each of its F outputs.",
          breaks=COUNTS, old="width * inner + inner", new="width * inner")
    wrong("norms_like_linear_layers", "You count each norm like a linear layer, D² + D. It has no matrix: a weight and a bias of D numbers each.",
          breaks=COUNTS, old="2 * (width + width)", new="2 * (width * width + width)")
    wrong("norms_of_squares", "You count D² for a norm's weight, without a bias. It has no matrix: a weight and a bias of D numbers each.",
          breaks=COUNTS, old="2 * (width + width)", new="2 * (width * width)")
    wrong("four_norms", "4·D numbers too many, as many as two more norms have. There are two in a layer, in pre-norm and in post-norm.",
          breaks=COUNTS, old="2 * (width + width)", new="4 * (width + width)")
    wrong("heads_of_64", "You take a head to be 64 wide, as in BERT base. In general it is D/H wide, and all heads together are D wide.",
          breaks="any sizes", old="4 * (width * width + width)",
          new="3 * (width * 64 * config.num_attention_heads + 64 * config.num_attention_heads) + (64 * config.num_attention_heads * width + width)")
    wrong("number_of_bert_base", "You return BERT base's number whatever the config says. Compute it from `config.hidden_size` and `config.intermediate_size`.",
          breaks=COUNTS, old="attention + feed_forward + norms", new="7_087_872")
    wrong("text", "You return a text. A whole number is asked for: the next cell computes with it, and puts the commas in.",
          breaks=COUNTS, old="attention + feed_forward + norms", new='f"{attention + feed_forward + norms:,}"')
    wrong("numpy_float32", "You return a number of NumPy's with 24 binary digits: from 16,777,216 on it skips whole numbers. Count with plain ones.",
          breaks=COUNTS, old="return attention + feed_forward + norms", new="return np.float32(attention + feed_forward + norms)")
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
    wrong("inner_biases_twice", "A bias has one number per *output*: `linear_1` has F of them, `linear_2` has D. Yours are not F + D in all.",
          breaks=COUNTS, old="inner * width + width", new="inner * width + inner")
    wrong("three_layers", "Attention has four linear layers, with one bias each: q, k, v and output_linear. You count two.",
          breaks=COUNTS, old="4 * (width * width + width)", new="2 * (width * width + width)")
    wrong("five_layers", "You count five linear layers of D×D. Attention has four: q, k, v and output_linear. (BERT's pooler stands behind the last layer.)",
          breaks=COUNTS, old="4 * (width * width + width)", new="5 * (width * width + width)")
    wrong("times_heads", "You multiply attention by the number of heads. Each head is only D/H wide, so all heads together have one matrix of D×D for q, one for k, one for v.",
          breaks=COUNTS, old="4 * (width", new="config.num_attention_heads * 4 * (width")
    wrong("one_head", "You count one head's q, k and v, D×K each. There are H such heads.",
          breaks=COUNTS, old="attention = 4 * (width * width + width)",
          new="head = width // config.num_attention_heads\n    attention = 3 * (width * head + head) + (width * width + width)")
    wrong("all_layers", "You count all layers of the model. One layer is asked for.",
          breaks=COUNTS,
          old="attention + feed_forward + norms", new="config.num_hidden_layers * (attention + feed_forward + norms)")
    wrong("three_norms", "2·D numbers too many, as many as a third norm has. There are two in a layer. (BERT has one more norm after its embeddings, but that is no part of a layer.)",
          breaks=COUNTS, old="2 * (width + width)", new="3 * (width + width)")


@MISTAKES.of(layer_flops)
def in_layer_flops(wrong):
    COUNTED = ("projections", "attention", "feed_forward")
    ENTRIES = ("entries", *COUNTED)
    wrong("multiplications_only", "You count the multiplications. By this exercise's convention each comes with an addition, so a product of (n, m) with (m, k) counts 2·n·m·k: twice your numbers.",
          breaks=COUNTED, old="* 2 * seq_len", new="* seq_len", times=3)
    wrong("scores_only", "Your `attention` is half of it. Two products belong to it, queries with keys for the scores and weights with values for the mixtures, and a product of (n, m) with (m, k) counts 2·n·m·k.",
          breaks="attention", old="2 * 2 * seq_len * seq_len", new="2 * seq_len * seq_len")
    wrong("half_of_the_projections", "Your `projections` are half of it. Four products belong to them, q, k, v and output_linear, and a product of (n, m) with (m, k) counts 2·n·m·k.",
          breaks="projections", old="4 * 2 * seq_len", new="4 * seq_len")
    wrong("a_quarter_of_attention", "Your `attention` is a quarter of it: two products belong to it, scores and mixtures, and each counts 2·n·m·k, a multiplication and an addition for each term.",
          breaks="attention", old="2 * 2 * seq_len * seq_len", new="seq_len * seq_len")
    wrong("a_quarter_of_feed_forward", "Your `feed_forward` is a quarter of it: two products belong to it, and each counts 2·n·m·k, a multiplication and an addition for each term.",
          breaks="feed_forward", old="2 * 2 * seq_len * width", new="seq_len * width")
    wrong("mixtures_of_one_head", "Of scores and mixtures you count one for all heads and the other for one head, K numbers wide. H·K = D in both.",
          breaks="attention", old="2 * 2 * seq_len * seq_len * width", new="2 * seq_len * seq_len * (width + width // config.num_attention_heads)")
    wrong("keys_of_the_longest_sentence", "You let the tokens look at `config.max_position_embeddings` keys. The sentence has T tokens, and each looks at those T.",
          breaks="attention", old="seq_len * seq_len * width", new="seq_len * config.max_position_embeddings * width")
    wrong("attention_of_one_token", "The scores are a table of T×T. A factor T is missing: you count one query, or one key.",
          breaks="attention", old="seq_len * seq_len", new="seq_len")
    wrong("attention_without_the_width", "Each score is a dot product of K numbers, in all heads together D. The factor D is missing.",
          breaks="attention", old="seq_len * seq_len * width", new="seq_len * seq_len")
    wrong("heads_for_the_width", "Each score is a dot product of K numbers, so in all H heads together H·K = D. You count H where D belongs.",
          breaks="attention", old="seq_len * seq_len * width", new="seq_len * seq_len * config.num_attention_heads")
    wrong("attention_squares_the_width", "Your attention grows with T²·D². Scores are a table of T×T, each entry a dot product over D numbers in all heads together: T²·D.",
          breaks="attention", old="seq_len * seq_len * width", new="seq_len * seq_len * width * width")
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
    wrong("one_feed_forward_matrix", "Your `feed_forward` is half of it. Two products belong to it, by `linear_1`, D to F, and by `linear_2`, F to D; and a product of (n, m) with (m, k) counts 2·n·m·k.",
          breaks="feed_forward", old="2 * 2 * seq_len * width", new="2 * seq_len * width")
    wrong("four_times_as_wide", "You take the middle of the feed-forward network as 4·D; it is `config.intermediate_size`.",
          breaks="feed_forward", old="config.intermediate_size", new="4 * config.hidden_size")
    wrong("projections_of_one_token", "The four linear layers around attention work on every token: T times what you count.",
          breaks="projections", old="seq_len * width * width", new="width * width")
    wrong("feed_forward_of_one_token", "The feed-forward network works on every token: T times what you count.",
          breaks="feed_forward", old="seq_len * width * inner", new="width * inner")
    wrong("entries_swapped", "The numbers of `projections` and `attention` have changed places. The linear layers q, k, v and output_linear are the projections; scores and mixtures are attention.",
          breaks=("projections", "attention"), old=('"projections": 4', '"attention": 2'), new=('"attention": 4', '"projections": 2'))
    wrong("total_too", "There is a fourth entry, the total. The dict has three: whoever adds them up counts everything twice.",
          breaks="entries", old=("return {", "}"), new=("flops = {", "}\n    flops[\"total\"] = sum(flops.values())\n    return flops"))
    wrong("hyphen", "The key is `feed_forward`, with an underscore, as in the table: `feed-forward` is another one.",
          breaks=("entries", "feed_forward"), old='"feed_forward": 2', new='"feed-forward": 2')
    for key in ("ffn", "feedforward", "ff"):
        wrong(f"called_{key}", f"You call an entry `{key}`. Its name is `feed_forward`, as in the table.",
              breaks=("entries", "feed_forward"), old='"feed_forward": 2', new=f'"{key}": 2')
    wrong("singular", "The key is `projections`, in the plural, as in the table: `projection` is another one.",
          breaks=("entries", "projections"), old='"projections": 4', new='"projection": 4')
    wrong("one_token", "The linear layers work on every token: T times what you count.",
          breaks=("projections", "feed_forward"),
          old=("seq_len * width * width", "seq_len * width * inner"), new=("width * width", "width * inner"))
    wrong("with_biases", "You count the additions of the biases as well. Only matrix products are counted here.",
          breaks=("projections", "feed_forward"), old=("seq_len * width * width", "seq_len * width * inner"),
          new=("seq_len * width * width + 4 * seq_len * width", "seq_len * width * inner + seq_len * (inner + width)"))
    wrong("with_biases_twice", "You count the biases as well, like one more row of each matrix. Only matrix products are counted here.",
          breaks=("projections", "feed_forward"), old=("seq_len * width * width", "2 * 2 * seq_len * width * inner"),
          new=("seq_len * (width * width + width)", "2 * seq_len * (2 * width * inner + inner + width)"))
    wrong("all_layers", "You count all layers of the model. One layer is asked for.",
          breaks=COUNTED, old="* 2 * seq_len", new="* 2 * config.num_hidden_layers * seq_len", times=3)
    wrong("both_ways", "You count forward and backward (three times the forward pass). Only the forward pass is asked for.",
          breaks=COUNTED, old="* 2 * seq_len", new="* 2 * 3 * seq_len", times=3)
    wrong("tuple", "You return three numbers without names. A dict is asked for, with the keys projections, attention and feed_forward.",
          breaks=ENTRIES, old=("return {", "}"), new=("flops = {", "}\n    return tuple(flops.values())"))
    wrong("sum", "You return one number, the sum. A dict is asked for, with the keys projections, attention and feed_forward: what grows how is the point.",
          breaks=ENTRIES, old=("return {", "}"), new=("flops = {", "}\n    return sum(flops.values())"))


@MISTAKES.of_quiz("quiz_encoder_layer", quiz_encoder_layer)
def in_quiz_encoder_layer(wrong):
    wrong("moves information between tokens", "feed-forward network",
                 "It works on every token by itself: change one token, and only that token's result changes. Attention is where tokens meet.")
    wrong("moves information between tokens", "layer norm",
                 "It looks at the numbers of one token and at nothing else. Attention is where tokens meet.")
    wrong("mean and variance over", "one column of the batch",
                 "That is batch norm. Layer norm takes the D numbers of one token, whoever else is in the batch.")
    wrong("mean and variance over", "the whole sentence",
                 "Then one odd token would change all others, and padding would count. Layer norm takes the D numbers of one token.")
    wrong("norms in BERT", "before attention",
                 "That is pre-norm, as in GPT-2. BERT keeps the arrangement of 2017: the norm comes after each addition.")
    wrong("norms in BERT", "before and after",
                 "Some later models do that. BERT normalizes once per part, after the addition.")
    wrong("one more norm at the end", "post-norm",
                 "Its layers end in a norm already. In pre-norm the sum is handed on as it is, and grows: a stack needs one norm at its end.")
    wrong("one more norm at the end", "both",
                 "Post-norm layers end in a norm already; only a stack of pre-norm layers needs one more.")
    wrong("one more norm at the end", "neither",
                 "In pre-norm nothing ever normalizes the sum itself, and it grows from layer to layer: a stack needs one norm at its end.")
    wrong("most work for 20 tokens", "projections",
                 "They come second: 8·T·D² against 4·T·D·F, which is 16·T·D² in BERT.")
    wrong("most work for 20 tokens", "scores and mixtures",
                 "They grow with T², but from a small start: with BERT base they catch up with the feed-forward network at T = 3072.")
