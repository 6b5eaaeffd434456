"""Wrong answers to the exercises of 05-encoder-layer."""

from __future__ import annotations

from anatomy.course.families import divided_by_root, eps_of_norms, layer_dropout, other_chances
from anatomy.course.nb05_encoder_layer import right
from anatomy.course.nb05_encoder_layer.asked import ALONE
from anatomy.engine.families import class_beginnings, squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

NUMBERS = ("values", "gradients")
EPS_TOO = (*NUMBERS, "eps")
ALL = ("parameters", *EPS_TOO)
BUILT_OTHERWISE = (*NUMBERS, "parameters")
DROPOUT_TOO = ("dropout", *EPS_TOO)


HALVES = {
    "pre": ("x + self.dropout(self.attention({}x{}, mask))", "x + self.feed_forward({}x{})"),
    "post": ("{}x + self.dropout(self.attention(x, mask)){}", "{}x + self.feed_forward(x){}"),
}
FORMULAS = {
    "pre": ("x + attention(norm(x))", "x + feed_forward(norm(x))"),
    "post": ("norm(x + attention(x))", "norm(x + feed_forward(x))"),
}
NORM_1, NORM_2 = ("self.layer_norm_1(", ")"), ("self.layer_norm_2(", ")")


def in_both_layers(at: MistakesIn, mine: str, other: str, built: tuple[str, ...]) -> None:
    """What goes wrong in pre-norm and post-norm alike: `mine` is the right one of "pre" and "post".

    `built` are the properties of a layer that can't be built.
    """
    (half_1, half_2), (formula_1, formula_2) = HALVES[mine], FORMULAS[mine]
    other_1, other_2 = HALVES[other]
    first, last = half_1.format(*NORM_1), half_2.format(*NORM_2)
    heard, fed = ("self.layer_norm_1(x)", "self.layer_norm_2(x)") if mine == "pre" else ("x", "x")
    attended, norm = f"self.attention({heard}, mask)", "LayerNorm(config.hidden_size, config.layer_norm_eps)"
    dropped, p = f"self.dropout({attended})", "config.hidden_dropout_prob"
    at("x + self", DROPOUT_TOO,
       ("no_skip", "self", f"Both skip connections are missing. Each part's result is *added*: {formula_1}, then {formula_2}. Without the sum a token would have to pass through every part unharmed."),
       ("multiplied", "x * self", f"You multiply where a sum is needed: the skip connection is {formula_1}."), times=2)
    at("x + self.dropout", EPS_TOO, ("no_skip_around_attention", "self.dropout", f"The skip connection around attention is missing: {formula_1}, so that a token keeps itself and adds what it heard."))
    at("x + self.feed_forward", DROPOUT_TOO,
       ("no_skip_around_feed_forward", "self.feed_forward", f"The skip connection around the feed-forward network is missing: {formula_2}."),
       ("second_skip_twice", "x + x + self.feed_forward", f"In the second half x is added twice. Once is right: {formula_2}.", EPS_TOO))
    at((first, last), EPS_TOO,
       ("no_norms", (half_1.format("", ""), half_2.format("", "")), f"The two norms have no effect (they are not called, or their results not used). Each half has one: {formula_1}, then {formula_2}."),
       ("norms_without_weights", tuple(half.format("F.layer_norm(", f", x.shape[-1:], eps=self.layer_norm_{number}.eps)") for number, half in ((1, half_1), (2, half_2))), "You normalize, but the learned numbers of `layer_norm_1` and `layer_norm_2` have no effect. Call the two modules: each multiplies by its `weight` and adds its `bias`."),
       ("norms_swapped", (half_1.format(*NORM_2), half_2.format(*NORM_1)), "Your norms are exchanged: `layer_norm_1` belongs to attention, `layer_norm_2` to the feed-forward network."),
       ("norms_before_and_after", ("self.layer_norm_1(x + self.dropout(self.attention(self.layer_norm_1(x), mask)))", "self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))"), f"You normalize what goes into each part, and the sums as well. Once is enough: {formula_1}."),
       ("norm_on_the_skip_only", ("self.layer_norm_1(x) + self.dropout(self.attention(x, mask))", "self.layer_norm_2(x) + self.feed_forward(x)"), f"Your norms act on the skip connections only: norm(x) + attention(x). It should be {formula_1}, and the same with the feed-forward network."),
       ("feed_forward_first", (last, first), "The order is reversed: attention comes first, then the feed-forward network."))
    at(first, EPS_TOO,
       ("first_norm_forgotten", half_1.format("", ""), f"`layer_norm_1` has no effect (it is not called, or its result not used). The first half is {formula_1}."),
       (f"first_half_{other}_norm", other_1.format(*NORM_1), f"Your first half is {other}-norm: {FORMULAS[other][0]}. In both halves {mine}-norm is needed: {formula_1}."))
    at(last, EPS_TOO,
       ("second_norm_forgotten", half_2.format("", ""), f"`layer_norm_2` has no effect (it is not called, or its result not used). The second half is {formula_2}."),
       ("one_norm_twice", half_2.format(*NORM_1), "You use `layer_norm_1` in both places. Each half has a norm of its own, with its own weight and bias; `layer_norm_2` learns nothing in yours."),
       (f"second_half_{other}_norm", other_2.format(*NORM_2), f"Your second half is {other}-norm: {FORMULAS[other][1]}. In both halves {mine}-norm is needed: {formula_2}."),
       ("no_feed_forward", "x", f"The feed-forward network has no effect on what you return: the second half, {formula_2}, is missing, or its result is not used.", DROPOUT_TOO))
    at((f"x = {first}", "x + self.feed_forward"), EPS_TOO, ("parallel", (f"attended = {dropped}", "x + attended + self.feed_forward"), f"Both parts start from the layer's input. Here they work one after the other: {formula_1} comes first, and the feed-forward network gets that. (A few later models do it your way, in parallel.)"))
    at(("x = ", f"x + self.feed_forward({fed})"), EPS_TOO, ("input_added_twice", ("h = ", f"x + h + self.feed_forward({fed.replace('x', 'h')})"), "The layer's input enters twice: once in each sum. The second sum adds to the first half's result only."))
    at(f"x = {first}", DROPOUT_TOO, ("no_attention", "", f"Attention has no effect on what you return: the first half, {formula_1}, is missing, or its result is not used."))
    at(f"x + {dropped}", built, ("concatenated", f"torch.cat([x, {dropped}], dim=-1)", "You put x and what attention returns side by side, so a token becomes 2·D wide. A skip connection *adds*: x + attention(…)."))
    at((f"x = {first}", f"self.feed_forward({fed})"), DROPOUT_TOO, ("chained", (f"h = {dropped}", f"self.feed_forward({fed.replace('x', 'h')})"), f"Attention's result goes into the feed-forward network without x, and there is one sum, at the end. Each part has its own: {formula_1}, then {formula_2}."))
    at("mask: Tensor | None = None", built, ("mask_without_default", "mask: Tensor | None", "`forward` demands a mask, and is called without one where nothing is padded: `mask=None`."))
    class_beginnings(at, built, takes="config")
    at(f"self.layer_norm_2 = {norm}", ALL, ("norms_shared", "self.layer_norm_2 = self.layer_norm_1", "Your two norms share one weight and one bias (as one module under two names does). Make two norms, each with its own."))
    at(f"{heard}, mask)", "mask",
       ("mask_ignored", f"{heard})", "Your mask hides nothing, so tokens attend to padding. Pass it on: `self.attention(…, mask)`."),
       ("mask_turned_round", f"{heard}, mask if mask is None else ~mask)", "Your mask hides what it should show, and shows the padding (`~mask` does that, and −∞ where it is True). Attention takes True where a query *may* look: pass it on unchanged."),
       ("padding_zeroed", f"{heard} if mask is None else {heard} * mask[:, 0, 0, :, None])", "With a mask, what padding holds makes no difference in yours, but a sentence does not come out as it does alone. (Padding set to zeros still gets weight, for example.) Pass the mask on to attention, and change nothing else by it."),
       ("mask_as_numbers", f"{heard}, mask if mask is None else mask.to(x.dtype))", "Your mask acts as numbers that are *added* to the scores, and 1 and 0 hide nothing (`mask.to(x.dtype)` does that). Pass the mask on unchanged, True and False."))
    at(f"return {last}", "mask", ("padded_results_alike", f"return ({last}) * (1 if mask is None else mask[:, 0, 0, :, None])", "With a mask, a padded token's result does not depend on what it holds. (Do you set it to 0, or the token?) The mask only tells attention where tokens may look: change no token and no result by it."))
    causal = "torch.ones(x.size(1), x.size(1)).bool().tril()"
    at(f"{heard}, mask)", ("mask", *EPS_TOO), ("causal_without_a_mask", f"{heard}, {causal} if mask is None else mask)", "Without a mask, your tokens attend to themselves and to earlier tokens only (a causal mask, as `tril` makes it). In an encoder each token may look at all tokens: pass `None` on to attention as it is."))
    at(f"{heard}, mask)", EPS_TOO, ("causal", f"{heard}, {causal} if mask is None else mask & {causal})", "Your tokens attend to themselves and to earlier tokens only (a causal mask, as `tril` makes it), with a mask and without. In an encoder each token may look at all tokens but padding: pass the mask on to attention as it is."))
    at((dropped, f"return {last}"), "dropout", ("dropout_by_own_switch", (f"F.dropout({attended}, self.dropout.p, self.noise)", f"return {last}\n\n    noise = True\n\n    def train(self, mode: bool = True):\n        self.noise = True\n        return super().train(mode)\n\n    def eval(self):\n        super().eval()\n        self.noise = False\n        return self"), "Put into eval mode by a module around it, yours gives another result than after its own `eval()`. For its parts a module calls `train(False)`, not `eval()`. Let dropout look at `self.training`, which both of them set."))
    at(f"{heard}, mask)", "mask", ("zeros_hidden", f"{heard}, (x != 0).any(dim=-1)[:, None, None] if mask is None else mask)", "Without a mask, tokens of zeros are not looked at as others are. Do you take them for padding? Nothing is padding unless the mask says so: pass `None` on to attention as it is."))
    at((", mask: Tensor | None = None", f"{heard}, mask)"), "mask", ("no_mask", ("", f"{heard})"), "`forward` takes no mask. Give it a second parameter, `mask=None`, and pass it on to attention."))
    eps_of_norms(at, 2)
    layer_dropout(at, {"attention": attended}, fed, last)
    at(dropped, "mask", ("no_dropout_with_a_mask", f"({attended} if mask is not None else {dropped})", "With a mask, what attention returns is not dropped in training mode. The mask decides where tokens look, and nothing else: drop with it, too."))
    at(dropped, "dropout",
       ("attention_dropped_unscaled", f"{attended} * (torch.rand_like(x) >= self.dropout.p * self.training)", "Of what attention returns you zero a share p and leave the rest as it was. What remains is divided by 1 − p, as `nn.Dropout` does."),
       ("attention_dropped_as_in_2014", f"{attended} * ((torch.rand_like(x) >= self.dropout.p) if self.training else 1 - self.dropout.p)", "You scale what attention returns as the 2014 paper did: in training the rest stays as it was, and eval mode multiplies by 1 − p. Here eval mode changes nothing, and in training the rest is divided by 1 − p.", (*NUMBERS, "dropout")),
       ("attention_dropped_by_tokens", f"{attended} * self.dropout(torch.ones_like(x[..., :1]))", "Of what attention returns you drop whole tokens. Dropout decides for each number by itself."),
       ("dropout_always", f"F.dropout({attended}, self.dropout.p)", "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` made in `__init__` knows the mode by itself (one made in `forward` does not).", (*NUMBERS, "dropout")),
       ("attention_dropped_misscaled", f"{attended} * ((torch.rand_like(x) >= self.dropout.p) * (1 - self.dropout.p) if self.training else 1)", "Of what attention returns a share p becomes 0, but the rest is multiplied by something other than 1/(1 − p). `nn.Dropout` does both."),
       ("attention_kept", f"{attended} * ((torch.rand_like(x) < self.dropout.p) / (1 - self.dropout.p) if self.training else 1)", "Of what attention returns you keep a share p and drop the others (is a comparison the wrong way round?). A share p is dropped, and the rest divided by 1 − p."),
       ("attention_dropped_by_sentences", f"{attended} * self.dropout(torch.ones_like(x[:, :1, :1]))", "Of what attention returns you drop whole sentences. Dropout decides for each number by itself."),
       ("attention_dropped_as_a_whole", f"{attended} * float(not self.training or bool(torch.rand(()) >= self.dropout.p)) / (1 - self.dropout.p * self.training)", "In training mode you drop all that attention returns at some calls. Dropout decides for each number by itself."),
       ("attention_dropped_inside", f"self.attention(self.dropout({heard}), mask)", "There is noise in what attention adds, but its numbers are not dropped. Do you drop before attention's last layer: what goes into it, or its weights? Dropout acts on what comes out of it, before the sum."))
    at("x + self.dropout(", "dropout", ("sum_dropped", "self.dropout(x + ", "You drop numbers of x itself, or of the sum after attention, before or after a norm, so the skip connection is cut at random places. Only what attention returns is dropped, before it is added."))
    for name, number in (("a_tenth", "0.1"), ("a_fifth", "0.2"), ("a_half", "0.5")):
        at(f"Dropout({p})", "dropout", (f"dropout_of_{name}", f"Dropout({number})", f"Your dropout after attention uses a p of its own, {number}{' (`nn.Dropout()` takes it when it is not told)' if name == 'a_half' else ''}. Take `{p}`."))
    at(f"Dropout({p})", "dropout", ("keeps_p", f"Dropout(1 - {p})", "You keep a share p of what attention returns instead of dropping it: `nn.Dropout` takes the probability of becoming zero."))


@MISTAKES.of(right.gelu)
def in_gelu(at):
    at("0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS,
       ("relu", "x.clamp(min=0.0)", "This is ReLU: it cuts off everything below zero. GELU is x·Φ(x), smooth, and slightly negative between about −3 and 0."),
       ("sigmoid_approximation", "x * torch.sigmoid(1.702 * x)", "x·σ(1.702·x) is the fast approximation of GELU; it is off by up to 0.02. Here the exact one is needed, with `torch.erf`."),
       ("silu", "x * torch.sigmoid(x)", "x·σ(x) is SiLU, also called Swish. It looks alike; GELU weighs x with the normal distribution's Φ(x), which takes `torch.erf`."),
       ("density", "x * torch.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi)", "You multiply x by the normal density, the bell curve. Φ is the area under that curve to the left of x, which grows from 0 to 1: it takes `torch.erf`."),
       ("elu", "torch.where(x > 0, x, torch.expm1(x.clamp(max=0.0)))", "This is ELU: x above zero, eˣ − 1 below it. GELU is x·Φ(x), which takes `torch.erf`."),
       ("leaky_relu", "torch.where(x > 0, x, 0.01 * x)", "This is leaky ReLU: negative numbers times 0.01. GELU is x·Φ(x), which takes `torch.erf`."),
       ("softplus", "torch.log1p(torch.exp(-x.abs())) + x.clamp(min=0.0)", "This is softplus, ln(1 + eˣ): smooth as well, but never negative, and 0.69 at zero. GELU is x·Φ(x)."),
       ("cut_at_zero", "(0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))).clamp(min=0.0)", "Your negative numbers become 0. GELU dips below zero there, to −0.17, and fades out slowly: x·Φ(x) on both sides."))
    for end in ("2", "3", "4"):
        at("return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS, (f"ends_at_{end}", f"return torch.where(x.abs() > {end}, x.clamp(min=0.0), 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0))))", f"Beyond ±{end} you return x itself, or 0, as if Φ were 1 or 0 there. It comes near them, but is not there yet: take x·Φ(x) for all numbers."))
    at("torch.erf(x / math.sqrt(2.0))", NUMBERS,
       ("tanh_approximation", "torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))", "This is the tanh approximation, which differs from GELU by up to 0.0005. It saves time on some machines, and GPT-2 was trained with it; here the exact one is needed, with `torch.erf`."),
       ("tanh_without_the_cube", "torch.tanh(math.sqrt(2.0 / math.pi) * x)", "This is the tanh approximation without its term 0.044715·x³. The exact GELU is needed, with `torch.erf`."))
    at("erf(x / math.sqrt(2.0))", NUMBERS,
       ("erf_of_x", "erf(x)", "Yours is ½·x·(1 + erf(x)): its normal distribution has variance ½. With erf(x/√2) it has variance 1, as Φ's has. (`2**1/2` is 1: write `2**0.5`.)"),
       ("root_outside", "erf(x) / math.sqrt(2.0)", "You divide the result of erf by √2. Divide x, before erf gets it: erf(x/√2)."))
    for terms in (5, 10, 15, 20):
        at("return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS, (f"erf_as_{terms}_terms", f"z = x / math.sqrt(2.0)\n    erf = sum((-1) ** n * z ** (2 * n + 1) / (math.factorial(n) * (2 * n + 1)) for n in range({terms}))\n    return 0.5 * x * (1.0 + erf * 2 / math.sqrt(math.pi))", f"Your erf is the sum of {terms} terms of its series. That is exact near 0 and far off for large numbers, positive and negative. `torch.erf` is right for all."))
    at("x / math.sqrt(2.0)", NUMBERS,
       ("erf_of_half_x", "x / 2.0", "Your erf gets x/2 (or your normal distribution has variance 2). With x/√2 the distribution has variance 1, as Φ's has."),
       ("erf_of_a_quarter", "x / 2.0**1 / 2.0", "Your erf gets x/4; it should get x/√2 (`x / 2**1/2` is read as x/2/2: write `2**0.5` or `math.sqrt(2.0)`)."))
    at("x / math", NUMBERS,
       ("erf_of_x_times_root_2", "x * math", "Your erf gets x·√2. It should get x/√2."),
       ("detached", "x.detach() / math", "The probability is cut off from x (by `detach`, `torch.no_grad` or `.data`, or because it is made of plain numbers), so the gradient is only Φ(x); the part x·φ(x), which comes from the probability, is missing.", "gradients"))
    at("0.5 * x", NUMBERS,
       ("no_half", "x", "The factor ½ is missing: 1 + erf runs from 0 to 2, and a probability runs from 0 to 1. All your values are twice too large."),
       ("probability_only", "0.5", "You return the probability Φ(x) itself; GELU is x times it."))
    at("* (1.0", NUMBERS, ("half_too_often", "* 0.5 * (1.0", "Your values are half as large as GELU's. Is ½ in them twice, once for x and once for the probability? One ½ turns 1 + erf into Φ(x)."))
    at("1.0 + torch", NUMBERS,
       ("minus", "1.0 - torch", "Yours multiplies x by 1 − Φ(x), the probability of being *above* x: negative numbers pass and positive ones are held back. With 1 + erf(x/√2) it is the other way round."),
       ("one_forgotten", "torch", "The 1 of 1 + erf is missing. Without it negative numbers come out positive: ½·x·erf(x/√2) is the same for x and −x."))
    at("x * (1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS, ("brackets", "(x * torch.erf(x / math.sqrt(2.0)) + 1.0)", "Your 1 is not multiplied by x: it is x·(1 + erf(…)), with brackets, not x·erf(…) + 1."))
    at("(1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS,
       ("root_of_the_sum", "(1.0 + torch.erf(x)) / math.sqrt(2.0)", "You divide 1 + erf(x) by √2. The √2 belongs inside the erf, below x: 1 + erf(x/√2)."),
       ("no_brackets", "1.0 + torch.erf(x / math.sqrt(2.0))", "Yours is ½·x + erf(x/√2): ½·x multiplies the 1 only, and erf is added by itself. It multiplies the whole sum, ½·x·(1 + erf(x/√2)), with brackets."))
    at("0.5 * x * (1.0 + torch", NUMBERS,
       ("half_in_the_brackets", "x * (1.0 + 0.5 * torch", "½ belongs to all of 1 + erf(…). In yours it multiplies erf only."),
       ("half_of_the_one", "x * (0.5 + torch", "½ belongs to all of 1 + erf(…). In yours it multiplies the 1 only."))
    at("torch.erf(", NUMBERS,
       ("erfc", "torch.erfc(", "In yours 1 − erf is added to the 1 (`torch.erfc` is 1 − erf), so the weight falls as x grows. With 1 + erf it grows."),
       ("erfinv", "torch.erfinv(", "`torch.erfinv` is the inverse of the error function. Φ takes `torch.erf`."),
       ("tanh_for_erf", "torch.tanh(", "You take tanh where erf belongs (x·σ(√2·x) is the same). The two look alike, but Φ, the normal distribution's share below x, takes `torch.erf`."))
    for number in ("1.4", "1.41", "1.414", "1.42"):
        at("math.sqrt(2.0)", NUMBERS, (f"root_rounded_to_{number}", number, f"You take √2 as {number}. That is not exact enough here: `math.sqrt(2.0)`, or `2**0.5`."))
    at("torch.erf(x / math.sqrt(2.0))", "gradients", ("root_of_the_square", "torch.sign(x) * torch.erf(torch.sqrt(x * x / 2.0))", "Where x is exactly 0, your gradient is NaN. A root's slope is infinite at 0, and 0 · ∞ is NaN: do you take the root of x² for the size of x? `torch.erf` takes negative numbers as they are."))
    at("return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS, ("divided_everywhere", "x /= math.sqrt(2.0)\n    return 0.5 * x * (1.0 + torch.erf(x))", "Your values are too small by √2: the factor x is x/√2, too. Only erf gets x/√2. (Is x divided in place? `z = x` makes no copy, and `z /= …` writes into x: write `z = x / math.sqrt(2)`.)"))
    CORNERS = "Where x is exactly 0, your gradient is {}; GELU's slope there is ½. Your formula is put together of pieces with a corner at 0, such as `relu`, `clamp` and `abs`: the corners cancel, and the slopes that PyTorch takes there do not."
    for name, part, slope in (("relu_and_abs", "torch.relu(x)", "0"), ("clamp_and_abs", "x.clamp(min=0)", "1")):
        at("0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", "gradients", (name, f"{part} - x.abs() * 0.5 * torch.erfc(x.abs() / math.sqrt(2.0))", CORNERS.format(slope)))
    at("return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", "gradients", ("in_place", "x *= 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))\n    return x", "You change `x` in place (an assignment like `x *= …` writes into the caller's numbers). Make a new tensor."))
    at("return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", NUMBERS, ("written_into_a_copy", "out = torch.zeros_like(x)\n    out.reshape(-1)[:] = (0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))).reshape(-1)\n    return out", "Where the memory of x is in another order (as `transpose` leaves it), your result is all 0. Do you write into `out.reshape(-1)`? It is a copy there, and `out` stays as it was. Compute with whole tensors, or write into `out` itself."))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")


@MISTAKES.of(right.LayerNorm)
def in_LayerNorm(at):
    NOT_ALONE = (ALONE, *EPS_TOO)
    FROZEN = ("parameters", "gradients")
    at("correction=0, ", EPS_TOO, ("unbiased", "", "You divide the squares by D − 1 (`var` and `std` of PyTorch do so unless told otherwise). Layer norm uses the biased variance, divided by D: `correction=0`. Here D = {D}, so your normalized numbers are too small, by the factor √(({D} − 1)/{D})."))
    at(("variance = x.var(dim=-1, correction=0,", "torch.sqrt(variance + self.eps)"), EPS_TOO, ("unbiased_std_plus_eps", ("std = x.std(dim=-1,", "(std + self.eps)"), "You divide by the standard deviation plus eps. Two things differ from layer norm: its squares are divided by D − 1 (`std` does so unless told otherwise), and eps belongs to the variance, under the root."))
    at("torch.sqrt(variance + self.eps)", "eps", ("eps_outside", "(variance.sqrt() + self.eps)", "Your eps is outside the root. It should be added to the variance, under the root: √(variance + eps). With a tiny variance that is a different number."))
    at("torch.sqrt(variance + self.eps)", EPS_TOO, ("length_plus_eps", "((x - mean).norm(dim=-1, keepdim=True) + self.eps)", "You divide by the length of x − mean, the root of the *sum* of squares, plus eps. Two things differ from layer norm: the variance is the *mean* of the squares, and eps is added to it, under the root."))
    at("torch.sqrt(variance + self.eps)", "eps", ("eps_after_the_root", "torch.hypot(variance.sqrt(), torch.full_like(variance, self.eps**0.5))", "Where all numbers of a token are equal, your gradient is nan or infinite. Do you take the root of the variance before eps comes in? At 0 the root is infinitely steep: add eps first, √(variance + eps)."))
    at("torch.sqrt(variance + self.eps)", "eps",
       ("eps_outside_the_std", "(x.std(dim=-1, correction=0, keepdim=True) + self.eps)", "Your eps is outside the root. It should be added to the variance, under the root: √(variance + eps). With a tiny variance that is a different number."),
       ("root_of_eps_added_to_the_std", "(x.std(dim=-1, correction=0, keepdim=True) + self.eps**0.5)", "You add the root of eps to the root of the variance. The sum comes first, then its root: √(variance + eps)."))
    at(("variance = x.var(dim=-1, correction=0,", "torch.sqrt(variance + self.eps)"), EPS_TOO, ("unbiased_root_plus_eps", ("variance = x.var(dim=-1,", "(variance.sqrt() + self.eps)"), "You divide by the root of the variance, plus eps. Two things differ from layer norm: the squares are divided by D − 1 (`var` does so unless told otherwise), and eps belongs under the root."))
    at("torch.sqrt(variance + self.eps)", "eps", ("larger_of_eps_and_the_std", "variance.sqrt().clamp(min=self.eps)", "You take eps as the least that the standard deviation may be. It is added to every variance, under the root: √(variance + eps)."))
    at("(x - mean) / torch.sqrt(variance + self.eps)", "eps", ("eps_for_the_least_length", "F.normalize(x - mean, dim=-1, eps=self.eps) * x.size(-1) ** 0.5", "For `F.normalize` eps is the least length to divide by. It is added to every variance, under the root: √(variance + eps)."))
    at("variance + self.eps", "eps", ("larger_of_the_two", "variance.clamp(min=self.eps)", "You take eps as the least that the variance may be. It is added to every variance, under the root: variance + eps."))
    at("torch.sqrt(variance + self.eps)", "eps", ("roots_added", "(variance.sqrt() + self.eps**0.5)", "You add the root of eps to the root of the variance. The sum comes first, then its root: √(variance + eps)."))
    for number in ("1e-5", "1e-6", "1e-8", "1e-12"):
        at("+ self.eps", "eps", (f"eps_of_{number}", f"+ {number}", f"You use an eps of your own, {number}; take the one that is handed to the constructor."))
    at("(x - mean) / torch.sqrt(variance + self.eps)", "eps", ("eps_added_to_the_result", "((x - mean) / torch.sqrt(variance) + self.eps)", "Your eps is added after the division. It should be added to the variance, under the root (brackets: `torch.sqrt(variance + eps)`)."))
    at((" / torch.sqrt(variance + self.eps)", "+ self.bias"), "eps", ("eps_added_at_the_end", (" / torch.sqrt(variance)", "+ self.bias + self.eps"), "Your eps is added at the very end. It should be added to the variance, under the root: √(variance + eps)."))
    at("+ self.eps", "eps", ("eps_twice", "+ 2 * self.eps", "You add eps twice. Once is right: √(variance + eps)."))
    at("torch.sqrt(", EPS_TOO, ("divides_by_variance", "(", "You divide by the variance; its root, the standard deviation, is what brings the spread to 1."))
    at(("dim=-1", "# (..., 1)"), NOT_ALONE,
       ("over_tokens", ("dim=-2", "# (..., 1, D)"), "Your mean and variance run over the tokens of a sentence (the axis before the last). Layer norm takes one token at a time: its own D numbers, the last axis."),
       ("over_axis_1", ("dim=1", "# (B, 1, D)"), "Your mean and variance run over axis 1, the tokens of a sentence; the D numbers of one token are needed, the last axis, `dim=-1`."),
       ("batch_norm", ("dim=tuple(range(x.dim() - 1))", "# (..., D)"), "This is batch norm: mean and variance run over all tokens of all sentences, one pair per column. Layer norm computes one pair per token, over its own D numbers."),
       ("over_batch", ("dim=0", "# (1, T, D)"), "Your mean and variance run over the batch (axis 0): tokens of different sentences get mixed. Layer norm takes one token at a time, the last axis."),
       ("over_sentence", ("dim=tuple(range(x.dim()))[-2:]", "# (..., 1, 1)"), "You take one mean and one variance per sentence, over its tokens and columns. Each token has its own: reduce over the last axis only."),
       ("only_three_axes", ("dim=2", "# (B, T, 1)"), "Your mean and variance run over axis 2, which is the last only when x has three axes. The contract says any leading axes: `dim=-1` is always the last.", ALONE),
       ("over_axes_1_and_2", ("dim=(1, 2)", "# (B, 1, 1)"), "Your mean and variance run over axes 1 and 2, so a sentence has one of each. Each token has its own: reduce over the last axis only, `dim=-1`."),
       ("over_all_but_the_first", ("dim=tuple(range(1, x.dim())) or (0,)", "# (B, 1, ...)"), "Your mean and variance run over all axes but the first: over a whole sentence where x is (B, T, D). Each token has its own: reduce over the last axis only, `dim=-1`."),
       ("over_axes_0_and_1", ("dim=(0, 1)", "# (1, 1, D)"), "This is batch norm: your mean and variance run over axes 0 and 1, all tokens of all sentences. Layer norm computes one pair per token, over the last axis."), times=2)
    at(("mean(dim=-1, keepdim=True)  # (..., 1)", "var(dim=-1, correction=0, keepdim=True)  # (..., 1)"), NOT_ALONE, ("over_everything", ("mean()", "var(correction=0)"), "You take one mean and one variance over the whole tensor, so tokens and sentences get mixed. Each token has its own: reduce over the last axis only, with `keepdim=True`."))
    at((", keepdim=True", "# (..., 1)"), NOT_ALONE, ("no_keepdim", ("", "# (...)"), "Without `keepdim=True` mean and variance have shape (B, T), and PyTorch lines up their last axis, T, with the last axis of x, D. Keep the axis, as size 1, so that each token meets its own."), times=2)
    at("mean(dim=-1, keepdim=True)", NOT_ALONE, ("mean_without_keepdim", "mean(dim=-1)", "Your mean lacks `keepdim=True` (the variance is fine): it has shape (B, T), and PyTorch lines up its last axis, T, with the last axis of x, D. Keep the axis, as size 1."))
    at("correction=0, keepdim=True", NOT_ALONE, ("variance_without_keepdim", "correction=0", "Your variance lacks `keepdim=True` (the mean is fine): it has shape (B, T), and PyTorch lines up its last axis, T, with the last axis of x, D. Keep the axis, as size 1."))
    at("mean(dim=-1, keepdim=True)  # (..., 1)", NOT_ALONE, ("mean_over_everything", "mean()", "Your variance is each token's own, but there is one mean for the whole tensor: `mean(dim=-1, keepdim=True)`."))
    at("var(dim=-1, correction=0, keepdim=True)  # (..., 1)", NOT_ALONE, ("variance_over_everything", "var(correction=0)", "Your mean is each token's own, but there is one variance for the whole tensor: take it over the last axis, too, with `keepdim=True`."))
    at("mean(dim=-1", NOT_ALONE, ("mean_over_tokens", "mean(dim=-2", "Your mean runs over the tokens of a sentence, your variance over the numbers of one token. Both belong over the last axis, `dim=-1`."))
    at("var(dim=-1", NOT_ALONE, ("variance_over_tokens", "var(dim=-2", "Your variance runs over the tokens of a sentence, your mean over the numbers of one token. Both belong over the last axis, `dim=-1`."))
    at(("mean = x", "variance = x"), EPS_TOO, ("var_mean_swapped", ("variance = x", "mean = x"), "Mean and variance are exchanged: you subtract the variance and take the root of the mean. (`torch.var_mean` returns the variance first.)"))
    at("x.var(dim=-1, correction=0, keepdim=True)", "eps", ("unbiased_and_taken_back", "x.var(dim=-1, keepdim=True) * (x.size(-1) - 1) / x.size(-1)", "With D = 1 your result is NaN. (Do you divide by D − 1, as `var` and `std` do unless told otherwise, and multiply by (D − 1)/D? With D = 1 that is 0/0.) Divide by D: `correction=0`."))
    at("x.var(dim=-1, correction=0, keepdim=True)", NUMBERS, ("squares_minus_square", "x.pow(2).mean(dim=-1, keepdim=True) - mean**2", "Your variance is the mean of the squares minus the square of the mean. On paper that is the variance; but far from zero both are large and nearly equal, and their difference has lost its digits. Subtract the mean first, then square."))
    at("x.var(dim=-1, correction=0, keepdim=True)", EPS_TOO, ("squares_not_divided", "((x - mean) ** 2).sum(dim=-1, keepdim=True)", "You add up the squares but do not divide by D: the variance is the *mean* of the squared distances from the mean. Here D = {D}, so your normalized numbers are √{D} times too small."))
    at(("x.var(dim=-1, correction=0, keepdim=True)", "torch.sqrt(variance + self.eps)"), EPS_TOO, ("mean_distance", ("(x - mean).abs().mean(dim=-1, keepdim=True)", "(variance + self.eps)"), "You divide by the mean distance from the mean, |x − mean|. The variance takes the squares of the distances, and the divisor is its root."))
    at("x.var(dim=-1, correction=0,", EPS_TOO, ("squares_not_centered", "x.pow(2).mean(dim=-1,", "You take the mean of the squares of x for the variance; the mean is subtracted before squaring, there too."))
    at("x.var(", EPS_TOO,
       ("root_of_the_std", "x.std(", "You take the root of the standard deviation, which is a root already (`std`, or `var(…).sqrt()`). Take the root of the variance plus eps."),
       ("variance_detached", "x.detach().var(", "The variance, or its root, is cut off from x (by `detach`, `torch.no_grad` or `.data`, or because it is made of plain numbers). It depends on x, and the gradient has to know it.", "gradients"))
    at("(x - mean)", EPS_TOO,
       ("brackets", "x - mean", "Only the mean is divided, and x stays as large as it was. Divide the whole difference: (x − mean) needs its brackets."),
       ("mean_not_subtracted", "x", "The mean is not subtracted (that is RMS norm's idea, with another denominator). Layer norm first moves each token's numbers to mean 0."))
    at(("x.mean(dim=-1, keepdim=True)", "x.var(dim=-1, correction=0, keepdim=True)", "torch.sqrt(variance + self.eps)"), EPS_TOO, ("min_max", ("x.amin(dim=-1, keepdim=True)", "x.amax(dim=-1, keepdim=True)", "(variance - mean + self.eps)"), "You bring the smallest number to 0 and the largest to 1. Layer norm subtracts the mean and divides by the standard deviation."))
    at(("variance = x.var(dim=-1, correction=0,", "(x - mean) / torch.sqrt(variance"), EPS_TOO, ("rms", ("mean_square = x.pow(2).mean(dim=-1,", "x / torch.sqrt(mean_square"), "This is RMS norm: no mean is subtracted, and the root of the mean square is the divisor. It serves well in many newer models; layer norm subtracts the mean first."))
    at(("torch.ones(dim)", "variance = x.var(dim=-1, correction=0,", "(x - mean) / torch.sqrt(variance", "* self.weight"), ALL, ("rms_of_gemma", ("torch.zeros(dim)", "mean_square = x.pow(2).mean(dim=-1,", "x / torch.sqrt(mean_square", "* (1 + self.weight)"), "This is RMS norm as in Gemma: no mean is subtracted, and `weight` starts at 0 and acts as 1 + `weight`. Layer norm subtracts the mean first; its `weight` starts at 1 and is the factor itself."))
    at(" / torch.sqrt(variance + self.eps)", EPS_TOO, ("variance_not_divided", "", "You subtract the mean but don't divide: each token keeps its own spread. Divide by √(variance + eps)."))
    at(" * self.weight + self.bias", EPS_TOO, ("weight_and_bias_unused", "", "`weight` and `bias` exist but are not applied: multiply the normalized numbers by `weight`, then add `bias`."))
    at(" + self.bias", EPS_TOO, ("bias_unused", "", "`bias` exists but is not added at the end."))
    at("+ self.bias", EPS_TOO, ("bias_subtracted", "- self.bias", "You subtract `bias`. It is added, at the end."))
    at("self.weight + self.bias", EPS_TOO, ("weight_plus_bias", "(self.weight + self.bias)", "You multiply by the sum of weight and bias. The normalized numbers are multiplied by `weight`; `bias` is added to that."))
    at(("(x - mean)", "* self.weight + self.bias"), EPS_TOO, ("bias_scaled_too", ("((x - mean)", "+ self.bias) * self.weight"), "Your weight also multiplies the bias. The order is: normalize, times `weight`, then plus `bias`."))
    at("* self.weight + self.bias", EPS_TOO, ("swapped", "* self.bias + self.weight", "`weight` and `bias` are exchanged: the numbers are multiplied by `weight` and shifted by `bias`."))
    at(("mean = x", " * self.weight + self.bias"), EPS_TOO, ("scales_before", ("x = x * self.weight + self.bias\n        mean = x", ""), "`weight` and `bias` are applied before the normalization, which undoes most of them. They come last, so that the layer can choose its scale."))
    for one, two in (("gamma", "beta"), ("gain", "bias"), ("scale", "shift"), ("w", "b"), ("g", "b"), ("alpha", "beta"), ("a_2", "b_2")):
        at(("self.weight", "self.bias"), ALL, (f"called_{one}_and_{two}", (f"self.{one}", f"self.{two}"), f"Your two parameters are called `{one}` and `{two}`. Call them `weight` and `bias`: trained weights are copied by name."), times=2)
    at(("torch.ones(dim)", "* self.weight"), ALL, ("one_plus_weight", ("torch.zeros(dim)", "* (1 + self.weight)"), "You multiply by 1 + `weight`, and `weight` starts at 0, as in a few later models. Here `weight` itself is the factor, and starts at 1: trained weights will be copied in as they are."))
    at(("nn.Parameter(torch.ones(dim))", "nn.Parameter(torch.zeros(dim))"), ("values", "parameters", "gradients", "eps"), ("plain_tensors", ("torch.ones(dim)", "torch.zeros(dim)"), "Neither `weight` nor `bias` is a parameter, so PyTorch does not know that they should be learned. Make each an `nn.Parameter` in `__init__` (a plain tensor or a buffer is not learned)."))
    at("nn.Parameter(torch.ones(dim))", ALL, ("weight_a_plain_tensor", "torch.ones(dim)", "`weight` is no parameter, so PyTorch does not know that it should be learned. Make it an `nn.Parameter` in `__init__`, as `bias` is one."))
    at("nn.Parameter(torch.zeros(dim))", ALL, ("bias_a_plain_tensor", "torch.zeros(dim)", "`bias` is no parameter, so PyTorch does not know that it should be learned. Make it an `nn.Parameter` in `__init__`, as `weight` is one."))
    at(("self.weight = nn.Parameter(torch.ones(dim))", "self.bias = nn.Parameter(torch.zeros(dim))", " * self.weight + self.bias"), ALL, ("nothing_learned", ("self.dim = dim", "", ""), "There is no `weight` and no `bias`. Layer norm ends with a scale and a shift that are learned, one number per column each."))
    at(("self.bias = nn.Parameter(torch.zeros(dim))", " + self.bias"), ALL, ("no_bias", ("", ""), "There is no `bias`. After the multiplication by `weight` a learned number per column is added."))
    at(("self.weight = nn.Parameter(torch.ones(dim))", " * self.weight"), ALL, ("no_weight", ("", ""), "There is no `weight`. The normalized numbers are multiplied by a learned number per column before `bias` is added."))
    at(("torch.ones(dim)", "torch.zeros(dim)"), FROZEN, ("not_to_be_learned", ("torch.ones(dim), requires_grad=False", "torch.zeros(dim), requires_grad=False"), "`weight` and `bias` require no gradient (their `requires_grad` is False), so PyTorch never learns them. A plain `nn.Parameter(…)` is learned."))
    at("torch.ones(dim)", FROZEN, ("weight_not_to_be_learned", "torch.ones(dim), requires_grad=False", "`weight` requires no gradient (its `requires_grad` is False), so PyTorch never learns it. A plain `nn.Parameter(…)` is learned."))
    at("torch.zeros(dim)", FROZEN, ("bias_not_to_be_learned", "torch.zeros(dim), requires_grad=False", "`bias` requires no gradient (its `requires_grad` is False), so PyTorch never learns it. A plain `nn.Parameter(…)` is learned."))
    at(("ones(dim)", "zeros(dim)"), "parameters",
       ("random_start", ("randn(dim)", "randn(dim)"), "Your `weight` and `bias` do not start as asked: in each the numbers differ (are they drawn at random?). A new layer norm must change nothing beyond the norm: `weight` starts at 1, `bias` at 0."),
       ("starts_swapped", ("zeros(dim)", "ones(dim)"), "The starts are exchanged: yours are 0 for `weight` and 1 for `bias`. `weight` starts at 1, `bias` at 0, so that a new layer changes nothing beyond the norm."),
       ("single_numbers", ("ones(1)", "zeros(1)"), "One `weight` and one `bias` for all columns: each of the D columns has its own, so both have shape (D,).", ("values", "parameters", "gradients", "eps")),
       ("row_parameters", ("ones(1, dim)", "zeros(1, dim)"), "`weight` and `bias` have two axes, (1, D). Their shape is (D,): trained weights of this shape will be copied in.", (ALONE, *ALL)))
    at("ones(dim)", "parameters",
       ("random_weight", "rand(dim)", "The numbers of your `weight` differ at the start (are they drawn at random?). A new layer norm must change nothing beyond the norm: `weight` starts at 1."),
       ("zero_start", "zeros(dim)", "Your `weight` starts at 0. It starts at 1, and `bias` at 0, so that a new layer changes nothing beyond the norm."))
    at("zeros(dim)", "parameters",
       ("random_bias", "randn(dim)", "The numbers of your `bias` differ at the start (are they drawn at random?). A new layer norm must change nothing beyond the norm: `bias` starts at 0."),
       ("bias_of_one", "ones(dim)", "Your `bias` starts at 1. It should start at 0, so that a new layer changes nothing beyond the norm."))
    at(" * self.weight + self.bias", ALONE, ("leading_axes_added", " * self.weight[None, None] + self.bias[None, None]", "Where x has fewer than three axes, axes of length 1 come in front of your result, so that it has three. Did you give some factor or term three axes, such as `weight` or `bias`? The result has the shape of x: `weight` and `bias`, of shape (D,), meet its last axis as they are."))
    at("        return (x - mean)", NOT_ALONE, ("running_statistics", "        if not self.training:\n            mean, variance = torch.zeros_like(mean), torch.ones_like(variance)\n        return (x - mean)", "In eval mode a new layer of yours takes mean 0 and variance 1 for every token, which is where running averages, as in batch norm, begin. Training mode gives another result. Layer norm takes each token's own mean and variance in both modes."))
    at("x.mean(", "gradients", ("mean_detached", "x.detach().mean(", "The mean is cut off from x (by `detach`, `torch.no_grad` or `.data`, or because it is made of plain numbers). It depends on x, and the gradient has to know it."))
    at(("x.mean(", "x.var("), "gradients", ("no_gradient_through_statistics", ("x.detach().mean(", "x.detach().var("), "Mean and variance are cut off from x (by `detach`, `torch.no_grad` or `.data`, or because they are made of plain numbers). They depend on x, and the gradient has to know it."))
    at("return (x - mean)", "gradients", ("in_place", "x -= mean\n        return x", "You change `x` in place. In a layer the skip connection still needs the x from before the norm; make a new tensor."))
    class_beginnings(at, (ALONE, "parameters", *EPS_TOO), takes="dim, eps")
    squeezed(at, EPS_TOO, "has the shape of `x`")
    divided_by_root(at, "variance", "variance", "whose numbers are all equal", EPS_TOO, eps="eps")


@MISTAKES.of(right.FeedForward)
def in_FeedForward(at):
    STOPS = ("shape", "dropout", *BUILT_OTHERWISE)
    at("self.gelu(", NUMBERS, ("relu", "F.relu(", "You use ReLU between the two layers, as the 2017 paper did; here it is GELU, as in BERT."))
    at("self.gelu = gelu", NUMBERS,
       ("tanh_gelu", 'self.gelu = nn.GELU(approximate="tanh")', "Your GELU is the tanh approximation; the exact one is needed: your `gelu`, or `nn.GELU()` without `approximate`."),
       ("gelu_not_made", "self.gelu = nn.GELU", "`nn.GELU` is a class: called with a tensor, it makes a module, no result. `nn.GELU()` is the module that takes a tensor.", STOPS))
    at("self.gelu(self.linear_1(x))", NUMBERS,
       ("no_activation", "self.linear_1(x)", "No GELU acts between the two layers (one whose result is not used does nothing). Two linear layers in a row are one linear layer, however wide the middle is."),
       ("gelu_of_gelu", "self.gelu(self.gelu(self.linear_1(x)))", "GELU is applied twice between the layers. Once is right."),
       ("gelu_first", "self.linear_1(self.gelu(x))", "Your GELU comes before `linear_1`; it belongs between the two layers."))
    for name, call in (("softmax", "softmax(dim=-1)"), ("sigmoid", "sigmoid()"), ("tanh", "tanh()")):
        at("self.gelu(self.linear_1(x))", NUMBERS, (name, f"self.linear_1(x).{call}", f"You put {name} between the two layers. Here it is GELU, as in BERT."))
    at(("self.gelu(self.linear_1(x))", "self.linear_2(hidden)"), NUMBERS, ("gelu_after_both", ("self.linear_1(x)", "self.gelu(self.linear_2(hidden))"), "Your GELU comes after `linear_2`. It belongs between the two layers: without it there they are one linear layer."))
    at("self.linear_2(hidden)", NUMBERS,
       ("gelu_twice", "self.gelu(self.linear_2(hidden))", "There is a second GELU after `linear_2`. What is added to the tokens must be free to be negative: one GELU, between the layers."),
       ("norm_at_the_end", "F.layer_norm(self.linear_2(hidden), x.shape[-1:])", "You normalize what `linear_2` returns. The norm belongs to the layer around this module."),
       ("linear_1_twice", "self.linear_1(hidden)", "`linear_1` is called twice, `linear_2` never: it is `linear_2` that brings the F numbers back to D.", STOPS))
    at("return self", (*NUMBERS, "dropout"), ("skip_inside", "return x + self", "You add x at the end. The skip connection belongs to the layer around this module, which will add it again."))
    at("self.linear_1(x)", NUMBERS,
       ("norm_inside", "self.linear_1(F.layer_norm(x, x.shape[-1:]))", "You normalize x first. The norm belongs to the layer around this module; x goes straight into `linear_1`."),
       ("linear_2_twice", "self.linear_2(x)", "`linear_2` is called twice, `linear_1` never: it is `linear_1` that takes the D numbers of x.", STOPS))
    at(("self.linear_1(x)", "self.linear_2(hidden)"), STOPS, ("linear_2_first", ("self.linear_2(x)", "self.linear_1(hidden)"), "`linear_2` is called before `linear_1`. First `linear_1`, D to F, then GELU, then `linear_2`, F to D."))
    at("self.dropout(self.linear_2(hidden))", ("shape", *NUMBERS),
       ("not_narrowed", "self.dropout(hidden)", "`linear_2` has no effect on what you return: after the GELU it brings the F numbers back to D."),
       ("half_done", "hidden", "You return what comes after the GELU. `linear_2` and the dropout are still to come: they bring the F numbers back to D.", ("shape", *NUMBERS, "dropout")),
       ("skip_inside_the_dropout", "self.dropout(x + self.linear_2(hidden))", "You add x, before the dropout. The skip connection belongs to the layer around this module, which will add it again.", NUMBERS),
       ("no_dropout", "self.linear_2(hidden)", "In training mode nothing is dropped. `forward` must return what dropout, with p = `config.hidden_dropout_prob`, makes of `linear_2`'s result. (A call whose result is not used drops nothing, and one in eval mode neither.)", "dropout"),
       ("dropout_always", "F.dropout(self.linear_2(hidden), self.dropout.p)", "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` made in `__init__` knows the mode by itself (one made in `forward` does not).", (*NUMBERS, "dropout")),
       ("dropout_where_gradients_are_recorded", "F.dropout(self.linear_2(hidden), self.dropout.p, torch.is_grad_enabled())", "Whether your dropout acts depends on whether gradients are recorded, and not on the mode: it also acts in eval mode, unless `torch.no_grad()` is on. Take `training=self.training`.", ("gradients", "dropout")),
       ("dropout_in_the_middle", "self.linear_2(self.dropout(hidden))", "You drop too early, before `linear_2`: x, or the F numbers in the middle. Here dropout acts on the result, after `linear_2`: a share p of the D numbers that come out is zero.", "dropout"),
       ("dropout_in_eval_mode_only", "F.dropout(self.linear_2(hidden), self.dropout.p, not self.training)", "Your dropout acts in eval mode and rests in training mode; it is the other way round.", (*NUMBERS, "dropout")))
    at("(hidden)", "dropout", ("dropout_twice", "(self.dropout(hidden))", "You drop twice: at the end, and before `linear_2` (x, or the F numbers in the middle). BERT's layer does so once, at the end."))
    at("self.dropout(self.linear_2(hidden))", ("shape", "values", "gradients"), ("flattened", "self.dropout(self.linear_2(hidden)).reshape(-1, x.shape[-1])", "You make one axis of all leading axes, and leave it so: (B, T, D) becomes (B·T, D). The result has the shape of `x`: bring the axes back, `.reshape(x.shape)`."))
    at("return self.dropout(self.linear_2(hidden))", "dropout",
       ("dropout_twice_at_the_end", "return self.dropout(self.dropout(self.linear_2(hidden)))", "You drop the result twice, so more than a share p is lost. Once is enough."),
       ("dropout_unscaled", "y = self.linear_2(hidden)\n        return y * (torch.rand_like(y) >= self.dropout.p) if self.training else y", "You zero a share p and leave the rest as it was, so in training the results are too small on average, by the factor 1 − p. What remains is divided by 1 − p."),
       ("dropout_by_own_switch", "return F.dropout(self.linear_2(hidden), self.dropout.p, self.noise)\n\n    noise = True\n\n    def train(self, mode: bool = True):\n        self.noise = True\n        return super().train(mode)\n\n    def eval(self):\n        super().eval()\n        self.noise = False\n        return self", "Put into eval mode by a module around it, yours gives another result than after its own `eval()`. For its parts a module calls `train(False)`, not `eval()`. Let dropout look at `self.training`, which both of them set."),
       ("dropout_of_2014", "y, p = self.linear_2(hidden), self.dropout.p\n        return y * (torch.rand_like(y) >= p) if self.training else y * (1 - p)", "You scale as the 2014 paper did: in training the rest stays as it was, and eval mode multiplies by 1 − p. Here eval mode changes nothing, and in training the rest is divided by 1 − p.", (*NUMBERS, "dropout")),
       ("dropout_of_columns", "y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[..., :1, :])) if y.dim() > 1 else self.dropout(y)", "You drop whole columns: one decision for all tokens of a sentence. Dropout decides for each number by itself."),
       ("dropout_of_a_batch", "y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[0])) if y.dim() > 2 else self.dropout(y)", "You drop the same numbers in every sentence of the batch. Dropout decides for each number by itself."),
       ("dropout_before_the_bias", "y = self.dropout(hidden @ self.linear_2.weight.T)\n        return y + self.linear_2.bias", "You drop before the bias of `linear_2` is added, so what is dropped becomes the bias. Dropout acts on all that `linear_2` returns, bias included, and puts a 0 there."),
       ("dropout_as_noise", "y, p = self.linear_2(hidden), self.dropout.p\n        return y * (1 + torch.randn_like(y) * (p / (1 - p)) ** 0.5) if self.training else y", "In training mode there is noise in what you return, but no number is dropped. Dropout sets a share p of the numbers to 0 and divides the rest by 1 − p."),
       ("dropout_divided_by_p", "y, p = self.linear_2(hidden), self.dropout.p\n        return y * (torch.rand_like(y) >= p) / max(p, 1e-9) if self.training else y", "You divide what remains by p. It is divided by 1 − p, the share that remains, so that the mean stays the same."),
       ("dropout_turned_round", "y, p = self.linear_2(hidden), self.dropout.p\n        return y * (torch.rand_like(y) < p) / (1 - p) if self.training else y", "You keep a share p and drop the others (is a comparison the wrong way round?). A share p is dropped, and the rest divided by 1 − p."),
       ("dropout_times_1_minus_p", "y, p = self.linear_2(hidden), self.dropout.p\n        return y * (torch.rand_like(y) >= p) * (1 - p) if self.training else y", "What remains is multiplied by 1 − p; it is divided by it, so that the mean stays the same."),
       ("dropout_of_tokens", "y = self.linear_2(hidden)\n        return y * self.dropout(torch.ones_like(y[..., :1]))", "You drop whole tokens: one decision for all D numbers. Dropout decides for each number by itself."))
    at("Dropout(config.hidden_dropout_prob)", "dropout",
       ("alpha_dropout", "AlphaDropout(config.hidden_dropout_prob)", "What you drop becomes a constant other than 0: `nn.AlphaDropout` does that. Take `nn.Dropout`, which puts a 0 there."),
       ("keeps_p", "Dropout(1 - config.hidden_dropout_prob)", "You keep a share p instead of dropping it: `nn.Dropout` takes the probability of becoming zero."))
    at((", config.intermediate_size)", "(config.intermediate_size"), ("values", "parameters", "gradients"), ("four_times_as_wide", (", 4 * config.hidden_size)", "(4 * config.hidden_size"), "You make the middle 4·D wide. That is BERT's habit; the contract says `config.intermediate_size`, here {F} for D = {D}."))
    at("nn.Dropout(", STOPS, ("dropout_1d", "nn.Dropout1d(", "`nn.Dropout1d` drops whole tokens, and takes two or three axes only. `nn.Dropout` decides for each number by itself."))
    for one, two in (("1", "2"), ("2", "1")):
        out = {"1": "intermediate", "2": "hidden"}[one]
        at(f", config.{out}_size)", BUILT_OTHERWISE, (f"no_bias_in_linear_{one}", f", config.{out}_size, bias=False)", f"`linear_{one}` has no bias, `linear_{two}` has one. Both have one in BERT, and its weights bring numbers for them."))
    at(("intermediate_size)", "hidden_size)"), ("values", "parameters", "gradients"), ("no_bias", ("intermediate_size, bias=False)", "hidden_size, bias=False)"), "Your linear layers have no bias; both have one in BERT, and its weights bring numbers for them."))
    for one, two in (("fc1", "fc2"), ("linear1", "linear2"), ("lin1", "lin2"), ("w_1", "w_2"), ("c_fc", "c_proj"), ("linear_in", "linear_out"), ("dense_1", "dense_2"), ("intermediate", "output"), ("up", "down")):
        at(("self.linear_1", "self.linear_2"), BUILT_OTHERWISE, (f"called_{one}_and_{two}", (f"self.{one}", f"self.{two}"), f"Your two layers are called `{one}` and `{two}`. Call them `linear_1` and `linear_2`: weights are copied by name."), times=2)
    at(("config.intermediate_size)\n        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)", "# (..., F)\n        return self.dropout(self.linear_2(hidden))"), ("values", "parameters", "gradients"), ("one_layer", ("config.hidden_size)", "# (..., D)\n        return self.dropout(hidden)"), "There is one linear layer, D to D. The network has two: D to F, then F back to D."))
    at("(config.intermediate_size, config.hidden_size)", ("shape", *BUILT_OTHERWISE),
       ("linear_2_stays_wide", "(config.intermediate_size, config.intermediate_size)", "Your `linear_2` goes from F to F. It brings the F numbers back to D, so that the result can be added to x."),
       ("linear_2_swapped", "(config.hidden_size, config.intermediate_size)", "The sizes of `linear_2` are swapped: it takes F numbers and gives D. (`nn.Linear(inputs, outputs)`.)", STOPS))
    at("(config.hidden_size, config.intermediate_size)", STOPS, ("linear_1_swapped", "(config.intermediate_size, config.hidden_size)", "The sizes of `linear_1` are swapped: it takes D numbers and gives F, and `linear_2` brings F back to D. (`nn.Linear(inputs, outputs)`.)"))
    other_chances(at)
    class_beginnings(at, STOPS, takes="config")
    at("forward(self, x: Tensor)", STOPS, ("called_without_x", "forward(self)", "`forward` takes `self` and `x`."))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")


# ---- both layers ----


@MISTAKES.of(right.TransformerEncoderLayer)
def in_TransformerEncoderLayer(at):
    at(("x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "x + self.feed_forward(self.layer_norm_2(x))"), EPS_TOO, ("post_norm", ("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"), "Your norms come after the additions: that is post-norm, the arrangement of 2017 and of BERT, and the next exercise. Here the norm comes first: x + attention(norm(x))."))
    at(("x = x +", "return x +"), EPS_TOO, ("skip_from_the_norm", ("x = self.layer_norm_1(x) +", "return self.layer_norm_2(x) +"), "What you add to is the *normalized* x. The skip connection carries x as it came: x + attention(norm(x)), not norm(x) + attention(norm(x))."))
    at(("self.dropout(self.attention(self.layer_norm_1(x), mask))", "self.feed_forward(self.layer_norm_2(x))"), EPS_TOO, ("norm_of_the_branch", ("self.layer_norm_1(self.dropout(self.attention(x, mask)))", "self.layer_norm_2(self.feed_forward(x))"), "You normalize what attention and feed-forward return, before adding it. In pre-norm the norm comes before them: x + attention(norm(x))."))
    at(("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "return x + self.feed_forward(self.layer_norm_2(x))"), EPS_TOO, ("halved", ("x = (x + self.dropout(self.attention(self.layer_norm_1(x), mask))) / 2", "return (x + self.feed_forward(self.layer_norm_2(x))) / 2"), "You halve each sum, as if x and what a part returns were to be averaged. The skip connection adds: x + attention(x)."))
    at(("x = x +", "layer_norm_2(x)"), DROPOUT_TOO, ("attention_lost", ("h = x +", "layer_norm_2(h)"), "The second sum starts from the layer's input again, so what attention added is lost on the way (only the feed-forward network has seen it). Add to the sum after attention."))
    at(("x = x + self.dropout(self.attention(self.layer_norm_1(x)", "layer_norm_2(x)"), EPS_TOO, ("second_norm_of_the_input", ("h = self.layer_norm_1(x)\n        x = x + self.dropout(self.attention(h", "layer_norm_2(h)"), "The second norm gets what the first norm returned instead of the sum after attention."))
    at("x + self.feed_forward(self.layer_norm_2(x))", EPS_TOO, ("normalized_at_the_end", "self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))", "You normalize the result as well. A pre-norm layer hands its sum on as it is; one norm at the very end of the whole stack takes care of it."))
    at("x = x +", EPS_TOO, ("first_skip_from_the_norm", "x = self.layer_norm_1(x) +", "In the first half what you add to is the *normalized* x. The skip connection carries x as it came: x + attention(norm(x))."))
    at("return x +", EPS_TOO, ("second_skip_from_the_norm", "return self.layer_norm_2(x) +", "In the second half what you add to is the *normalized* x. The skip connection carries the sum after attention as it is: x + feed_forward(norm(x))."))
    at("self.dropout(self.attention(self.layer_norm_1(x), mask))", EPS_TOO, ("first_norm_of_the_branch", "self.layer_norm_1(self.dropout(self.attention(x, mask)))", "In the first half you normalize what attention returns, before adding it. The norm comes before attention: x + attention(norm(x))."))
    at("self.feed_forward(self.layer_norm_2(x))", EPS_TOO, ("second_norm_of_the_branch", "self.layer_norm_2(self.feed_forward(x))", "In the second half you normalize what the feed-forward network returns, before adding it. The norm comes before it: x + feed_forward(norm(x))."))
    at(("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "self.feed_forward(self.layer_norm_2(x))"), DROPOUT_TOO, ("one_skip", ("h = self.attention(self.layer_norm_1(x), mask)", "self.dropout(self.feed_forward(self.layer_norm_2(h)))"), "Attention's result goes into the feed-forward network without x and without dropout, and there is one sum, at the end. Each part has its own: x = x + dropout(attention(norm(x))), then x + feed_forward(norm(x))."))
    at("self.layer_norm_1(x)", "mask", ("no_norm_with_a_mask", "x if mask is not None else self.layer_norm_1(x)", "A mask that hides nothing changes your result. With a mask, do you leave out a norm or a part, such as `layer_norm_1`? Only the mask differs between the two calls: attention(layer_norm_1(x), mask)."))
    in_both_layers(at, "pre", "post", built=("shape", "parameters", "mask", *DROPOUT_TOO))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")


@MISTAKES.of(right.PostNormEncoderLayer)
def in_PostNormEncoderLayer(at):
    at(("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"), EPS_TOO, ("pre_norm", ("x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "x + self.feed_forward(self.layer_norm_2(x))"), "Your norms come before attention and feed-forward: that is pre-norm, the exercise before. Post-norm adds first and normalizes the sum: norm(x + attention(x))."))
    at(("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "self.layer_norm_2(x + self.feed_forward(x))"), EPS_TOO, ("pre_norm_and_a_norm", ("x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))"), "You normalize the result of a whole pre-norm layer: the norms still stand in front of attention and the feed-forward network. Each sum is normalized: norm(x + attention(x)), then norm(x + feed_forward(x))."))
    at(("self.layer_norm_1(x + ", "self.layer_norm_2(x + "), EPS_TOO, ("norm_inside_the_sum", ("x + self.layer_norm_1(", "x + self.layer_norm_2("), "You normalize what attention returns and add x afterwards. Post-norm normalizes the sum: norm(x + attention(x)), not x + norm(attention(x))."))
    at(("x = self", "feed_forward(x)"), DROPOUT_TOO, ("second_skip_from_the_input", ("h = self", "feed_forward(h)"), "The second sum adds the layer's input. It should add what the first norm returns, the same numbers that the feed-forward network gets."))
    at(("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "feed_forward(x)"), EPS_TOO, ("second_skip_around_the_norm", ("x + self.dropout(self.attention(x, mask))", "feed_forward(self.layer_norm_1(x))"), "The feed-forward network gets normalized tokens, but the second skip connection starts before that norm. In post-norm everything goes through the norm: norm first, then both ways from its result."))
    at(("x = self", "x + self.feed_forward(x)"), EPS_TOO, ("feed_forward_of_the_input", ("h = self", "h + self.feed_forward(x)"), "The feed-forward network gets the layer's input. It should get what `layer_norm_1` returns, the same numbers that its result is added to."))
    at("self.layer_norm_1(x + ", EPS_TOO, ("first_norm_inside_the_sum", "x + self.layer_norm_1(", "In the first half you normalize what attention returns and add x afterwards. The sum is normalized: norm(x + attention(x))."))
    at("self.layer_norm_2(x + ", EPS_TOO, ("second_norm_inside_the_sum", "x + self.layer_norm_2(", "In the second half you normalize what the feed-forward network returns and add x afterwards. The sum is normalized: norm(x + feed_forward(x))."))
    at(("x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "feed_forward(x)"), EPS_TOO, ("feed_forward_before_the_norm", ("h = x + self.dropout(self.attention(x, mask))\n        x = self.layer_norm_1(h)", "feed_forward(h)"), "The feed-forward network gets the sum before `layer_norm_1`; only the skip connection starts after that norm. Both start from what the norm returned."))
    at("self.layer_norm_1(x + self.dropout(self.attention(x, mask)))", "mask", ("no_norm_with_a_mask", "x + self.dropout(self.attention(x, mask)) if mask is not None else self.layer_norm_1(x + self.dropout(self.attention(x)))", "A mask that hides nothing changes your result. With a mask, do you leave out a norm or a part, such as `layer_norm_1`? Only the mask differs between the two calls: norm(x + attention(x, mask))."))
    in_both_layers(at, "post", "pre", built=("parameters", "mask", *DROPOUT_TOO))
    squeezed(at, NUMBERS, "has the shape of `x`")


@MISTAKES.of(right.count_layer_parameters)
def in_count_layer_parameters(at):
    COUNTS = ("BERT base", "any sizes")
    at(("width * width + width", "(width * inner + inner) + (inner * width + width)", " + norms"), COUNTS, ("only_matrices", ("width * width", "width * inner + inner * width", ""), "You count the matrices only. Every linear layer also has a bias, one number per output, and each norm has a weight and a bias of D numbers."))
    at(("width * width + width", "(width * inner + inner) + (inner * width + width)"), COUNTS, ("no_biases", ("width * width", "width * inner + inner * width"), "The biases of the linear layers are missing: D in each of attention's four layers, F in `linear_1`, D in `linear_2`."))
    at("(width * inner + inner) + (inner * width + width)", COUNTS, ("no_feed_forward_biases", "width * inner + inner * width", "F + D numbers are missing. Are they the biases of the feed-forward network (F in `linear_1`, D in `linear_2`), or do other parts that are missing add up to as many?"))
    at(" + norms", COUNTS, ("no_norms_or_no_attention_biases", "", "4·D numbers are missing, as many as the two norms have (each a weight and a bias of D), and as many as attention has biases (D in each of its four layers). Which of the two did you leave out?"))
    at("(width + width)  # a weight and a bias each", COUNTS, ("one_norm", "width", "2·D numbers are missing. Is it half of what the norms have (two norms, each with a weight *and* a bias of D numbers, 4·D in all), or two biases of linear layers, D each?"))
    at("4 * (width * width + width)", COUNTS,
       ("one_attention_bias", "4 * width * width + width", "3·D numbers are missing. Is it three of attention's four biases, D each (`4 * D * D + D` counts one bias: brackets)? Or a bias of D and half of what the norms have?"),
       ("heads_of_64", "3 * (width * 64 * config.num_attention_heads + 64 * config.num_attention_heads) + (64 * config.num_attention_heads * width + width)", "You take a head to be 64 wide, as in BERT base. In general it is D/H wide, and all heads together are D wide.", "any sizes"),
       ("a_bias_of_d_in_each_head", "3 * (width * width + config.num_attention_heads * width) + (width * width + width)", "3·(H − 1)·D numbers too many: so many come from a bias of D in q, k and v for each of the H heads. A head's share of a bias is D/H numbers, and all heads together have D."),
       ("biases_of_one_head", "3 * (width * width + width // config.num_attention_heads) + (width * width + width)", "3·(D − K) numbers are missing: as biases of q, k and v you count those of one head, K = D/H each. All heads together have D each."),
       ("three_layers", "2 * (width * width + width)", "Attention has four linear layers, with one bias each: q, k, v and output_linear. You count two."),
       ("five_layers", "5 * (width * width + width)", "You count five linear layers of D×D. Attention has four: q, k, v and output_linear. (BERT's pooler follows the last layer.)"))
    at("4 * (width * width + width)", COUNTS, ("power_as_xor", "4 * ((width ^ 2) + width)", "`^` is no power in Python: `D ^ 2` compares the binary digits of the two numbers (exclusive or), and 30 ^ 2 is 28. D² is `D**2`, or `D * D`."))
    SEVERAL = "{}·D numbers are missing, as many as {} together. Every linear layer has a bias, and every norm a weight and a bias."
    ATTENTION_BIASES = "the biases of attention's four layers (4·D) and"
    at(("4 * (width * width + width)", "2 * (width + width)"), COUNTS,
       ("no_biases_in_attention_and_norms", ("4 * width * width", "2 * width"), SEVERAL.format(6, f"{ATTENTION_BIASES} of the two norms (2·D)")),
       ("no_biases_in_attention_and_no_norms", ("4 * width * width", "0"), SEVERAL.format(8, f"{ATTENTION_BIASES} both norms (4·D)")))
    at(("4 * (width * width + width)", "inner * width + width"), COUNTS, ("no_biases_of_d", ("4 * width * width", "inner * width"), SEVERAL.format(5, f"{ATTENTION_BIASES} that of `linear_2` (D)")))
    at("inner * width + width", COUNTS,
       ("one_bias_missing", "inner * width", "D numbers are missing: one vector of D. Is it one of attention's four biases, the bias of `linear_2`, or a norm's weight or bias?"),
       ("inner_biases_twice", "inner * width + inner", "A bias has one number per *output*: `linear_1` has F of them, `linear_2` has D. Yours are not F + D in all."))
    at("width * inner + inner", COUNTS,
       ("no_linear_1_bias", "width * inner", "F numbers are missing, as many as the bias of `linear_1` has: one for each of its F outputs."),
       ("wrong_feed_forward_biases", "width * inner + width", "A bias has one number per *output*: `linear_1` has F of them, `linear_2` has D. Yours are not F + D in all."))
    at("2 * (width + width)", COUNTS,
       ("norms_like_linear_layers", "2 * (width * width + width)", "You count each norm like a linear layer, D² + D. It has no matrix: a weight and a bias of D numbers each."),
       ("norms_of_squares", "2 * (width * width)", "You count D² for a norm's weight, without a bias. It has no matrix: a weight and a bias of D numbers each."),
       ("norms_of_single_numbers", "2 * (1 + 1)", "You count two single numbers for each norm. Its weight and its bias have D numbers each."),
       ("four_norms", "4 * (width + width)", "4·D numbers too many, as many as two more norms have. There are two in a layer, in pre-norm and in post-norm."),
       ("three_norms", "3 * (width + width)", "2·D numbers too many, as many as a third norm has. There are two in a layer. (BERT has one more norm after its embeddings, but that is no part of a layer.)"))
    at("attention + feed_forward + norms", COUNTS,
       ("number_of_bert_base", "7_087_872", "You return BERT base's number whatever the config says. Compute it from `config.hidden_size` and `config.intermediate_size`."),
       ("number_of_tensors", "16", "You return 16, whatever the config says: so many weights and biases a layer has. Count the numbers in them, `p.numel()` each."),
       ("text", 'f"{attention + feed_forward + norms:,}"', "You return a text. Return a whole number: the next cell computes with it, and puts the commas in."),
       ("twice", "2 * (attention + feed_forward + norms)", "Your number is twice that of one layer. Do you count two of them, such as a pre-norm and a post-norm layer?"),
       ("roughly_twelve", "12 * width * width", "12·D² is the rule of thumb for F = 4·D. The exact count has biases and norms in it, and F as the config says."),
       ("all_layers", "config.num_hidden_layers * (attention + feed_forward + norms)", "You count all layers of the model. Count one layer."))
    at("return attention + feed_forward + norms", COUNTS, ("numpy_float32", "return np.float32(attention + feed_forward + norms)", "You return a number of NumPy's with 24 binary digits: from 16,777,216 on it skips whole numbers. Count with plain ones."))
    at("return attention + feed_forward + norms", "any sizes", ("by_sizes", "layers = {(width, width): 4, (width, inner): 1, (inner, width): 1}\n    return norms + sum(times * (n * m + m) for (n, m), times in layers.items())", "Where F = D you count one of the six linear layers only. Do you keep them in a dict, by their sizes? There the six have one key, and the last entry takes the place of the others."))
    at(("(width * width + width)", "(width * inner + inner) + (inner * width + width)", "(width + width)"), COUNTS, ("vectors_squared", ("(width * width + width * width)", "(width * inner + inner * inner) + (inner * width + width * width)", "(width * width + width * width)"), "Each vector of n numbers (a bias, a norm's weight) counts n² in yours. Do you multiply the first size by the last? A vector has one size, which is both: `p.numel()` counts for every shape."))
    at("(width * width + width)", COUNTS, ("output_of_one_head", "(width * width + width) - width * (width - width // config.num_attention_heads)", "You count output_linear from K to D, as if it took one head's columns. It takes those of all heads, side by side: D to D."))
    at("4 * (width * width + width)  # q, k, v and output_linear", COUNTS, ("no_output_layer", "3 * (width * width + width)  # q, k and v", "Attention has four linear layers: q, k, v and output_linear. You count three."))
    at("config.intermediate_size", "any sizes",
       ("four_times_as_wide", "4 * config.hidden_size", "You take the middle of the feed-forward network as 4·D. It is so in BERT base; in general it is `config.intermediate_size`."),
       ("whole_multiple_of_the_width", "config.intermediate_size // config.hidden_size * config.hidden_size", "You take F as a whole multiple of D (by `//`?), and lose the rest of the division. F = {F} need not be a multiple of D = {D}: count with `config.intermediate_size` itself."))
    at("(inner * width + width)", COUNTS, ("one_feed_forward_matrix", "width", "The feed-forward network has two matrices, D to F and F to D. You count one."))
    at("4 * (width", COUNTS, ("times_heads", "config.num_attention_heads * 4 * (width", "You multiply attention by the number of heads. Each head is only D/H wide, so all heads together have one matrix of D×D for q, one for k, one for v."))
    at("attention = 4 * (width * width + width)", COUNTS, ("one_head", "head = width // config.num_attention_heads\n    attention = 3 * (width * head + head) + (width * width + width)", "You count one head's q, k and v, D×K each. There are H such heads."))


@MISTAKES.of(right.layer_flops)
def in_layer_flops(at):
    COUNTED = ("projections", "attention", "feed_forward")
    ENTRIES = ("entries", *COUNTED)
    at("* 2 * seq_len", COUNTED,
       ("multiplications_only", "* seq_len", "You count the multiplications. By this exercise's convention each comes with an addition, so a product of (n, m) with (m, k) counts 2·n·m·k: twice your numbers."),
       ("all_layers", "* 2 * config.num_hidden_layers * seq_len", "You count all layers of the model. Count one layer."),
       ("both_ways", "* 2 * 3 * seq_len", "You count forward and backward (three times the forward pass). Count only the forward pass."), times=3)
    at("2 * 2 * seq_len * seq_len", "attention",
       ("scores_only", "2 * seq_len * seq_len", "Your `attention` is half of it. Two products belong to it, queries with keys for the scores and weights with values for the mixtures, and a product of (n, m) with (m, k) counts 2·n·m·k."),
       ("a_quarter_of_attention", "seq_len * seq_len", "Your `attention` is a quarter of it: two products belong to it, scores and mixtures, and each counts 2·n·m·k, a multiplication and an addition for each term."),
       ("causal_half", "2 * seq_len * (seq_len + 1)", "You count half of the table, as if each token attended only to itself and those before it. In an encoder every token attends to every token: T×T."))
    at("4 * 2 * seq_len", "projections", ("half_of_the_projections", "4 * seq_len", "Your `projections` are half of it. Four products belong to them, q, k, v and output_linear, and a product of (n, m) with (m, k) counts 2·n·m·k."))
    at("2 * 2 * seq_len * width", "feed_forward",
       ("a_quarter_of_feed_forward", "seq_len * width", "Your `feed_forward` is a quarter of it: two products belong to it, and each counts 2·n·m·k, a multiplication and an addition for each term."),
       ("one_feed_forward_matrix", "2 * seq_len * width", "Your `feed_forward` is half of it. Two products belong to it, by `linear_1`, D to F, and by `linear_2`, F to D; and a product of (n, m) with (m, k) counts 2·n·m·k."))
    at("2 * 2 * seq_len * seq_len * width", "attention",
       ("mixtures_of_one_head", "2 * seq_len * seq_len * (width + width // config.num_attention_heads)", "Of scores and mixtures you count one for all heads and the other for one head, K numbers wide. H·K = D in both."),
       ("attention_with_projections", "4 * 2 * seq_len * width * width + 2 * 2 * seq_len * seq_len * width", "Your `attention` contains the projections too. They have an entry of their own; here only scores and mixtures count."))
    at("seq_len * seq_len * width", "attention",
       ("keys_of_the_longest_sentence", "seq_len * config.max_position_embeddings * width", "You let each token attend to 512 keys, as many as `config.max_position_embeddings` says. The sentence has T tokens, and each attends to those T."),
       ("attention_without_the_width", "seq_len * seq_len", "Each score is a dot product of K numbers, in all heads together D. The factor D is missing."),
       ("heads_for_the_width", "seq_len * seq_len * config.num_attention_heads", "Each score is a dot product of K numbers, so in all H heads together H·K = D. You count H where D belongs."),
       ("attention_squares_the_width", "seq_len * seq_len * width * width", "Your attention grows with T²·D². Scores are a table of T×T, each entry a dot product over D numbers in all heads together: T²·D."),
       ("one_head", "seq_len * seq_len * (width // config.num_attention_heads)", "You count the scores and mixtures of one head, K numbers wide. There are H heads, and H·K = D."),
       ("times_heads", "seq_len * seq_len * width * config.num_attention_heads", "You count D numbers for each of the H heads. A head is K = D/H wide, so all of them together are D wide."),
       ("attention_linear_in_t", "seq_len * width * width", "Your attention grows with T·D². Scores are a table of T×T, each entry a dot product over D numbers in all heads together: it grows with T²·D."))
    at("seq_len * seq_len", "attention", ("attention_of_one_token", "seq_len", "The scores are a table of T×T. A factor T is missing: you count one query, or one key."))
    at("4 * 2", "projections",
       ("three_projections", "3 * 2", "Four linear layers belong to the projections: q, k, v and output_linear. You count three."),
       ("one_projection", "2", "You count one projection of four: q, k, v and output_linear."))
    at("config.intermediate_size", "feed_forward", ("four_times_as_wide", "4 * config.hidden_size", "You take the middle of the feed-forward network as 4·D; it is `config.intermediate_size`."))
    at("seq_len * width * width", "projections", ("projections_of_one_token", "width * width", "The four linear layers around attention work on every token: T times what you count."))
    at("seq_len * width * inner", "feed_forward", ("feed_forward_of_one_token", "width * inner", "The feed-forward network works on every token: T times what you count."))
    XOR = "`^` is no power in Python: `n ^ 2` compares the binary digits of the two numbers (exclusive or), and 30 ^ 2 is 28. A square is `n**2`, or `n * n`."
    at(("seq_len * width * width", "seq_len * seq_len * width"), ("projections", "attention"), ("powers_as_xor", ("seq_len * (width ^ 2)", "(seq_len ^ 2) * width"), XOR))
    at("seq_len * width * width", "projections", ("width_squared_by_xor", "seq_len * (width ^ 2)", XOR))
    at("seq_len * seq_len * width", "attention", ("length_squared_by_xor", "(seq_len ^ 2) * width", XOR))
    at("    return {", COUNTED, ("cut_to_the_longest", "    seq_len = min(seq_len, config.max_position_embeddings)\n    return {", "Your numbers stop growing at 512 tokens, as many as `config.max_position_embeddings` says. Nothing is cut here: count for all `seq_len` tokens."))
    at(('"projections": 4', '"attention": 2'), ("projections", "attention"), ("entries_swapped", ('"attention": 4', '"projections": 2'), "The numbers of `projections` and `attention` are exchanged. The linear layers q, k, v and output_linear are the projections; scores and mixtures are attention."))
    at(("return {", "}"), ENTRIES,
       ("total_too", ("flops = {", "}\n    flops[\"total\"] = sum(flops.values())\n    return flops"), "There is a fourth entry, the total. The dict has three: a sum of them counts everything twice.", "entries"),
       ("in_billions", ("flops = {", "}\n    return {key: count / 10**9 for key, count in flops.items()}"), "You return billions of FLOPs, divided by 10⁹. Return the counts themselves: whole numbers.", COUNTED),
       ("tuple", ("flops = {", "}\n    return tuple(flops.values())"), "You return a tuple. Return one dict, and nothing beside it: its keys are projections, attention and feed_forward."),
       ("sum", ("flops = {", "}\n    return sum(flops.values())"), "You return a single number. Return a dict with the keys projections, attention and feed_forward: what grows how is the point."))
    at('"feed_forward": 2', ("entries", "feed_forward"), ("hyphen", '"feed-forward": 2', "The key is `feed_forward`, with an underscore, as in the table: `feed-forward` is another one."))
    for key in ("ffn", "feedforward", "ff"):
        at('"feed_forward": 2', ("entries", "feed_forward"), (f"called_{key}", f'"{key}": 2', f"You call an entry `{key}`. Its name is `feed_forward`, as in the table."))
    at('"projections": 4', ("entries", "projections"), ("singular", '"projection": 4', "The key is `projections`, in the plural, as in the table: `projection` is another one."))
    at(("seq_len * width * width", "seq_len * width * inner"), ("projections", "feed_forward"),
       ("one_token", ("width * width", "width * inner"), "The linear layers work on every token: T times what you count."),
       ("with_biases", ("seq_len * width * width + 4 * seq_len * width", "seq_len * width * inner + seq_len * (inner + width)"), "You count the additions of the biases as well. Only matrix products are counted here."))
    at(("seq_len * width * width", "2 * 2 * seq_len * width * inner"), ("projections", "feed_forward"), ("with_biases_twice", ("seq_len * (width * width + width)", "2 * seq_len * (2 * width * inner + inner + width)"), "You count the biases as well, like one more row of each matrix. Only matrix products are counted here."))


@MISTAKES.of_quiz("quiz_encoder_layer", right.quiz_encoder_layer)
def in_quiz_encoder_layer(wrong):
    wrong("moves information between tokens", "feed-forward network",
                 "It works on every token by itself: change one token, and only that token's result changes. Attention is where tokens meet.")
    wrong("moves information between tokens", "layer norm",
                 "It sees the numbers of one token and nothing else. Attention is where tokens meet.")
    wrong("mean and variance over", "one column of the batch",
                 "That is batch norm. Layer norm takes the D numbers of one token, whatever else is in the batch.")
    wrong("mean and variance over", "the whole sentence",
                 "Then one odd token would change all others, and padding would count. Layer norm takes the D numbers of one token.")
    wrong("norms in BERT", "before attention",
                 "That is pre-norm, as in GPT-2. BERT keeps the arrangement of 2017: the norm comes after each addition.")
    wrong("norms in BERT", "before and after",
                 "Some later models do that. BERT normalizes once per part, after the addition.")
    wrong("one more norm at the end", "post-norm",
                 "Its layers end in a norm already. In pre-norm the sum is passed on unchanged, and grows: a stack needs one norm at its end.")
    wrong("one more norm at the end", "both",
                 "Post-norm layers end in a norm already; only a stack of pre-norm layers needs one more.")
    wrong("one more norm at the end", "neither",
                 "In pre-norm nothing ever normalizes the sum itself, and it grows from layer to layer: a stack needs one norm at its end.")
    wrong("most work for 20 tokens", "projections",
                 "They come second: 8·T·D² against 4·T·D·F, which is 16·T·D² in BERT.")
    wrong("most work for 20 tokens", "scores and mixtures",
                 "They grow with T², but from a small start: with BERT base they catch up with the feed-forward network at T = 3072.")
