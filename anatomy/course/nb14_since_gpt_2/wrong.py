"""Wrong answers to the exercises of 14-since-gpt-2."""

from __future__ import annotations

from torch import nn

from anatomy.course.families import divided_by_root, key_value_cache, language_model, pre_norm_block
from anatomy.course.nb14_since_gpt_2 import right
from anatomy.course.nb14_since_gpt_2.right import GroupedQueryAttention
from anatomy.engine.families import class_beginnings, squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

NUMBERS = ("values", "gradients")


@MISTAKES.of(right.RMSNorm)
def in_RMSNorm(at):
    EPS_TOO = (*NUMBERS, "eps")
    STOPS = ("shape", "values", "parameters", "gradients", "eps")
    NAMES = ("values", "parameters", "gradients", "eps")
    class_beginnings(at, STOPS, takes="dim, eps")
    at(("mean_square = x.square().mean(dim=-1, keepdim=True)", "x / torch.sqrt(mean_square"), EPS_TOO, ("layer_norm", ("mean_square = x.var(dim=-1, correction=0, keepdim=True)", "(x - x.mean(dim=-1, keepdim=True)) / torch.sqrt(mean_square"), "This is layer norm: you subtract the mean first. RMS norm leaves the mean where it is."))
    at("x.square().mean(dim=-1, keepdim=True)", EPS_TOO,
       ("variance", "x.var(dim=-1, correction=0, keepdim=True)", "You divide by the standard deviation, the spread around the mean. RMS norm takes the mean of the squares themselves."),
       ("unbiased_variance", "x.var(dim=-1, keepdim=True)", "You divide by the standard deviation as `x.var(…)` and `x.std(…)` take it: they subtract the mean and divide by D − 1. RMS norm takes the mean of the squares themselves."),
       ("sum_of_squares", "x.square().sum(dim=-1, keepdim=True)", "You take the sum of the squares. The *mean* is needed: divide by D = {D}. (With the sum a token's length becomes 1, not √D.)"),
       ("mean_not_squared", "x.mean(dim=-1, keepdim=True)", "You take the mean of the numbers, not of their squares."),
       ("square_of_the_mean", "x.mean(dim=-1, keepdim=True).square()", "You square the mean. RMS norm takes the mean of the squares."),
       ("mean_size", "x.abs().mean(dim=-1, keepdim=True)", "You take the mean of the absolute values. RMS norm takes the mean of the squares."),
       ("divided_by_d_minus_1", "(x.square().sum(dim=-1, keepdim=True) / (x.size(-1) - 1))", "You divide the squares by D − 1. Their mean divides by D."))
    at("torch.sqrt(mean_square + self.eps)", EPS_TOO,
       ("length", "(x.norm(dim=-1, keepdim=True) + self.eps)", "You divide by each token's length, and add eps to that. Divide by the root of the mean square, with eps under the root."),
       ("spread", "(x.std(dim=-1, keepdim=True) + self.eps)", "You divide by the standard deviation, the spread around the mean. RMS norm takes the mean of the squares themselves, and eps is added under the root."))
    at("mean_square + self.eps", "eps", ("eps_in_the_sum", "mean_square + self.eps / x.size(-1)", "Your eps is divided by D, as when it is added to the *sum* of the squares. It is added to their mean."))
    at(".square().mean(dim=-1, keepdim=True)", EPS_TOO, ("max_size", ".abs().amax(dim=-1, keepdim=True).square()", "You divide by the largest absolute value of each token. RMS norm divides by the root of the mean square."))
    at("dim=-1", EPS_TOO,
       ("over_tokens", "dim=-2", "Your mean runs over the tokens. Each token has its own: the last axis, `dim=-1`.", ("shape", *EPS_TOO)),
       ("over_the_first_axis", "dim=0", "Your mean runs over the first axis, so tokens are mixed. Each token has its own: the last axis, `dim=-1`."),
       ("over_axis_1", "dim=1", "Your mean runs over axis 1. Each token has its own, over the last axis: `dim=-1`.", ("shape", *EPS_TOO)))
    at("mean(dim=-1, keepdim=True)", EPS_TOO,
       ("over_everything", "mean()", "You take one mean of the whole tensor, so tokens and texts are mixed. Each token has its own: `dim=-1`, `keepdim=True`."),
       ("no_keepdim", "mean(dim=-1)", "Your mean square has no axis for the numbers of a token, so PyTorch lines up other axes. Keep it, as size 1: `keepdim=True`.", ("shape", *EPS_TOO)))
    at("torch.sqrt(mean_square + self.eps)", EPS_TOO, ("no_root", "(mean_square + self.eps)", "You divide by the mean square; its root is missing."))
    at("torch.sqrt(mean_square + self.eps)", "eps",
       ("eps_outside", "(torch.sqrt(mean_square) + self.eps)", "Your eps is outside the root. It should be added to the mean square, under the root.", ("eps", "gradients")),
       ("eps_bounds_the_root", "torch.sqrt(mean_square).clamp(min=self.eps)", "You use eps as a lower bound of the root. It is added to the mean square, under the root.", ("eps", "gradients")),
       ("eps_for_zeros_only", "torch.sqrt(torch.where(mean_square == 0, 1.0, mean_square))", "eps has no effect where a token is not all zeros. It is added to every token's mean square, under the root."))
    at(" + self.eps", "eps",
       ("eps_as_lower_bound", ".clamp(min=self.eps)", "You use eps as a lower bound of the mean square. It is added to it: mean square + eps."),
       ("eps_of_1e_6", " + 1e-6", "You use an eps of your own, 1e-6. Take the one that is passed to the constructor."),
       ("eps_of_1e_5", " + 1e-5", "You use an eps of your own, 1e-5. Take the one that is passed to the constructor."),
       ("eps_of_1e_8", " + 1e-8", "You use an eps of your own, 1e-8. Take the one that is passed to the constructor."))
    at("torch.sqrt(mean_square + self.eps)", "gradients", ("root_squared_again", "torch.sqrt(torch.sqrt(mean_square).square() + self.eps)", "A step of yours has no finite gradient where a token is all zeros, such as a root that is taken before eps is added. Add eps to the mean square first, and take one root.", "gradients"))
    at(("torch.ones(dim)", "* self.weight"), ("values", "parameters", "gradients", "eps"), ("one_plus_weight_from_zero", ("torch.zeros(dim)", "* (1 + self.weight)"), "You start `weight` at 0 and multiply by 1 + weight, as Gemma's code does. Here it starts at 1 and is the factor itself."))
    at(("mean_square = x.square()", " * self.weight"), EPS_TOO, ("weight_before_the_norm", ("x = x * self.weight\n        mean_square = x.square()", ""), "You multiply by `weight` before the norm, so it also counts in the mean square. Norm first, then scale the columns."))
    at("* self.weight", EPS_TOO,
       ("weight_divides", "/ self.weight", "You divide by `weight`. Multiply by it."),
       ("one_plus_weight", "* (1 + self.weight)", "You multiply by 1 + weight, as Gemma's code does, whose weights start at 0. Here they start at 1: multiply by `weight`."))
    at("torch.ones(dim)", "parameters",
       ("starts_at_zero", "torch.zeros(dim)", "Your `weight` starts at 0. It should start at 1, and be the factor itself."),
       ("random_start", "torch.randn(dim)", "Your `weight` starts with random numbers. It should start at 1, so that a new norm changes nothing beyond the norm."))
    at("torch.ones(dim)", NAMES, ("a_single_weight", "torch.ones(1)", "You have one weight for all columns. Each of the D columns has its own: shape (D,)."))
    at("nn.Parameter(torch.ones(dim))", NAMES, ("plain_tensor", "torch.ones(dim)", "`weight` is no parameter, so nothing would train it: wrap it in `nn.Parameter`."))
    at("nn.Parameter(torch.ones(dim))", "gradients", ("frozen", "nn.Parameter(torch.ones(dim), requires_grad=False)", "`weight` is frozen (`requires_grad` is False), so nothing would train it. It learns."))
    at("self.weight", NAMES, ("called_scale", "self.scale", "Your parameter is called `scale`. Call it `weight`: trained weights are copied by name."), times=2)
    at("self.weight = nn.Parameter(torch.ones(dim))", "parameters", ("bias_too", "self.weight = nn.Parameter(torch.ones(dim))\n        self.bias = nn.Parameter(torch.zeros(dim))", "There is a `bias`. RMS norm has none: one learned number for each column, `weight`."))
    at(("self.weight = nn.Parameter(torch.ones(dim))", "* self.weight"), ("values", "parameters", "eps"), ("bias_added", ("self.weight = nn.Parameter(torch.ones(dim))\n        self.bias = nn.Parameter(torch.zeros(dim))", "* self.weight + self.bias"), "There is a `bias`. RMS norm has none: one learned number for each column, `weight`."))
    at("x / torch.sqrt(mean_square + self.eps) * self.weight", "gradients",
       ("root_detached", "x / torch.sqrt(mean_square + self.eps).detach() * self.weight", "The root is cut off from x (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`). It depends on x, and the gradient has to know it."),
       ("in_place", "x.div_(torch.sqrt(mean_square + self.eps)) * self.weight", "You change `x` in place. The skip connection still needs it; make a new tensor.", "gradients"))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")
    divided_by_root(at, "mean_square", "mean square", "of zeros", (*NUMBERS, "eps"), eps=("eps", "gradients"))


@MISTAKES.of(right.swiglu_width)
def in_swiglu_width(at):
    WHOLE = "math.ceil(8 * dim / (3 * multiple_of)) * multiple_of"
    at(WHOLE, "exact int", ("right_but_a_float", f"float({WHOLE})", "You return a float, and no layer can be 16.0 wide. Return a whole number, an `int`."))
    for number in ("0.66", "0.67", "0.666", "0.667"):
        at(WHOLE, "values", (f"two_thirds_as_{number.replace('.', '_')}", f"math.ceil({number} * 4 * dim / multiple_of) * multiple_of", f"You write {number} for ⅔, which is another number: for large D the result is wrong. Multiply by 8 and divide by 3."))
    at(WHOLE, ("values", "exact int"),
       ("rounded_down", "8 * dim // (3 * multiple_of) * multiple_of", "You round down to a multiple. The smallest one that is *at least* ⅔ · 4·D is needed: round up."),
       ("half_added", "round(8 * dim / (3 * multiple_of) + 0.5) * multiple_of", "You add ½ and round, which is one more where ⅔ · 4·D is an odd number of multiples already. `math.ceil` rounds up.", "values"),
       ("rounded_to_the_nearest", "round(8 * dim / (3 * multiple_of)) * multiple_of", "You round to the nearest multiple. Round up: at least ⅔ · 4·D."),
       ("nearest_but_one_at_least", "max(1, round(8 * dim / (3 * multiple_of))) * multiple_of", "You round to the nearest multiple, and take one at least. Round up: at least ⅔ · 4·D."),
       ("two_thirds_of_the_rounded", "math.ceil(2 * (math.ceil(4 * dim / multiple_of) * multiple_of) / 3)", "You round 4·D up to a multiple and take ⅔ of it, which need not be a multiple any more. Take ⅔ of 4·D first, then round up."),
       ("multiple_added", "math.ceil(8 * dim / 3) + multiple_of", "You add `multiple_of`. Round up to a multiple of it: count how many it takes, and multiply."),
       ("one_multiple_too_many", "(8 * dim // (3 * multiple_of) + 1) * multiple_of", "Where ⅔ · 4·D is a multiple already, you add one more.", "values"),
       ("not_a_multiple", "math.ceil(8 * dim / 3)", "`multiple_of` is never used: your width is ⅔ · 4·D, rounded up to a whole number."),
       ("a_float", "8 * dim / 3", "You return ⅔ · 4·D as it is. Round it up to a multiple of `multiple_of`."),
       ("multiples_counted", "math.ceil(8 * dim / (3 * multiple_of))", "You return *how many* multiples it takes. Multiply by `multiple_of`."),
       ("four_d", "math.ceil(4 * dim / multiple_of) * multiple_of", "Your width is 4·D. SwiGLU has three matrices in place of two: two thirds of that keep the number of parameters."),
       ("two_thirds_of_d", "math.ceil(2 * dim / (3 * multiple_of)) * multiple_of", "You take ⅔ · D. It is ⅔ of 4·D."),
       ("four_thirds", "math.ceil(4 * dim / (3 * multiple_of)) * multiple_of", "You take ⁴⁄₃ · D, half of what is needed: ⅔ · 4·D = ⁸⁄₃ · D."),
       ("three_halves", "math.ceil(6 * dim / multiple_of) * multiple_of", "You multiply 4·D by ³⁄₂. It is two *thirds* of it."),
       ("rounded_twice", "math.ceil(round(8 * dim / 3) / multiple_of) * multiple_of", "You round ⅔ · 4·D to the nearest whole number before you round up. Where it is just above a multiple, the result is too small.", "values"),
       ("of_the_rounded", "math.ceil(int(8 * dim / 3) / multiple_of) * multiple_of", "You cut ⅔ · 4·D to a whole number before you round up. Where it is just above a multiple, the result is too small.", "values"))


@MISTAKES.of(right.SwiGLU)
def in_SwiGLU(at):
    STOPS = ("shape", "values", "parameters", "gradients")
    NAMES = ("values", "parameters", "gradients")
    class_beginnings(at, STOPS, takes="config")
    at("F.silu(self.linear_gate(x))", NUMBERS,
       ("no_activation", "self.linear_gate(x)", "No SiLU acts on the gate. It is silu(gate(x)) · up(x)."),
       ("sigmoid_gate", "torch.sigmoid(self.linear_gate(x))", "Your gate is a sigmoid, as in the GLU of 2017. In SwiGLU it is SiLU: x · σ(x)."),
       ("gelu_gate", "F.gelu(self.linear_gate(x))", "Your gate has a GELU (that is GEGLU). In SwiGLU it is SiLU."),
       ("relu_gate", "F.relu(self.linear_gate(x))", "Your gate has a ReLU (that is ReGLU). In SwiGLU it is SiLU."),
       ("tanh_gate", "torch.tanh(self.linear_gate(x))", "Your gate has a tanh. In SwiGLU it is SiLU."),
       ("sign_in_the_sigmoid", "self.linear_gate(x) * torch.sigmoid(-self.linear_gate(x))", "Your sigmoid has the wrong sign: σ(z) is 1 / (1 + e^(−z)), with a minus, and SiLU is z · σ(z)."),
       ("silu_first", "self.linear_gate(F.silu(x))", "Your SiLU comes before the gate's linear layer. It comes after it."))
    at(("F.silu(self.linear_gate(x))", "gate * self.linear_up(x)"), NUMBERS,
       ("activation_on_the_other", ("self.linear_gate(x)", "gate * F.silu(self.linear_up(x))"), "Your SiLU acts on `linear_up`. It acts on `linear_gate`: the gate decides how much of the other passes."),
       ("activation_on_both", ("F.silu(self.linear_gate(x))", "gate * F.silu(self.linear_up(x))"), "SiLU acts on both in yours. It acts on the gate only; `linear_up` stays linear."),
       ("activation_on_the_product", ("self.linear_gate(x)", "F.silu(gate * self.linear_up(x))"), "Your SiLU acts on the product. It acts on the gate, before the product."))
    at(("F.silu(self.linear_gate(x))", "gate * self.linear_up(x)"), STOPS,
       ("class_for_function", ("nn.SiLU(self.linear_gate(x))", "gate * self.linear_up(x)"), "`nn.SiLU` is a class: `nn.SiLU(x)` makes a module and computes nothing. Call `F.silu(x)`, or make the module first: `nn.SiLU()(x)`."),
       ("class_for_function_second", ("nn.SiLU(self.linear_gate(x))", "self.linear_up(x) * gate"), "`nn.SiLU` is a class: `nn.SiLU(x)` makes a module and computes nothing. Call `F.silu(x)`, or make the module first: `nn.SiLU()(x)`."))
    at("gate * self.linear_up(x)", NUMBERS,
       ("added", "gate + self.linear_up(x)", "You add the two halves. Multiply them, entry by entry."),
       ("gate_alone", "gate", "`linear_up` is not used: this is a feed-forward network with SiLU. Multiply the gate by `linear_up(x)`."),
       ("gate_twice", "gate * self.linear_gate(x)", "`linear_up` is never used: beside the SiLU stands the gate again. Multiply by `linear_up(x)`."),
       ("up_alone", "self.linear_up(x)", "The gate is not used: without it two linear layers are one. Multiply by it."))
    at("self.linear_down(gate * self.linear_up(x))", NUMBERS,
       ("down_on_both", "self.linear_down(gate) * self.linear_down(self.linear_up(x))", "You multiply after `linear_down`, D numbers. Multiply the F inner numbers, and apply `linear_down` once, to the product."),
       ("skip", "x + self.linear_down(gate * self.linear_up(x))", "You add x. The skip connection belongs to the block."),
       ("silu_at_the_end", "F.silu(self.linear_down(gate * self.linear_up(x)))", "A SiLU comes after `linear_down`, too. What is added to the tokens must be free to be negative."))
    at("self.linear_down(gate * self.linear_up(x))", ("shape", *NUMBERS), ("no_down", "gate * self.linear_up(x)", "`linear_down` is not used: your result is F wide. Bring it back to D."))
    at(", bias=False", NAMES, ("biases", "", "Your linear layers have biases. All three are without: `bias=False`."), times=3)
    at("self.linear_gate = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)", NAMES, ("gate_with_bias", "self.linear_gate = nn.Linear(config.hidden_size, config.intermediate_size)", "`linear_gate` has a bias. All three layers are without: `bias=False`."))
    at("self.linear_up = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)", NAMES,
       ("up_with_bias", "self.linear_up = nn.Linear(config.hidden_size, config.intermediate_size)", "`linear_up` has a bias. All three layers are without: `bias=False`."),
       ("one_layer_twice", "self.linear_up = self.linear_gate", "`linear_gate` and `linear_up` share one weight. Make two layers: each has its own."))
    at("self.linear_down = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)", ("values", "parameters"), ("down_with_bias", "self.linear_down = nn.Linear(config.intermediate_size, config.hidden_size)", "`linear_down` has a bias. All three layers are without: `bias=False`."))
    at("config.intermediate_size", NAMES, ("four_d_wide", "4 * config.hidden_size", "Your inner width is 4·D. It is `config.intermediate_size`, whatever that is."), times=3)
    at("self.linear_gate", NAMES, ("called_gate_proj", "self.gate_proj", "Your layer is called `gate_proj`, as in the library. Here it is `linear_gate`."), times=2)
    at("self.linear_up", NAMES, ("called_up_proj", "self.up_proj", "Your layer is called `up_proj`, as in the library. Here it is `linear_up`."), times=2)
    squeezed(at, ("shape", "values"), "has the shape of `x`")


@MISTAKES.of(right.half_split_rotary)
def in_half_split_rotary(at):
    at(".view(2, -1)", NUMBERS, ("order_of_the_way_back", ".view(-1, 2)", "The columns that you turn come in the order 0, 2, 4, … and then 1, 3, 5, …: that is the way back. Take them in the order 0, K/2, 1, K/2 + 1, …, in which column i and column i + K/2 are neighbors. (The `argsort` of that order belongs after the rotation.)"))
    at(".view(2, -1).T.flatten()", NUMBERS, ("neighbors", "", "You turn neighboring columns, as notebook 06 does. Here column i turns with column i + K/2."))
    at("[..., order.argsort()]", NUMBERS,
       ("not_put_back", "", "The turned columns stay in the order of the pairs. Put them back: each to the column that it came from."),
       ("put_back_the_same_way", "[..., order]", "You put the columns back with the order that you took them out with. The way back is the *inverse* order, which `argsort` gives."))
    at("x[..., order]", NUMBERS, ("not_taken_apart", "x", "You turn x as it is, and reorder afterwards. First bring column i and column i + K/2 side by side, then turn."))
    at("apply_rotary(x[..., order], positions, base)", NUMBERS,
       ("base_unused", "apply_rotary(x[..., order], positions)", "`base` has no effect: your angles are always those of 10,000. Use it, or pass it on."),
       ("turned_back", "apply_rotary(x[..., order], -positions, base)", "Your rotation goes the wrong way, clockwise. The angle is +t · base^(−2i/K)."),
       ("counted_positions", "apply_rotary(x[..., order], torch.arange(x.size(-2)), base)", "You take 0, 1, 2, … for the positions. `positions` says where each token is."),
       ("positions_from_one", "apply_rotary(x[..., order], positions + 1, base)", "Your positions are one too large: the token at position 0 is not turned."))
    at("turned = apply_rotary(x[..., order], positions, base)  # neighbors are pairs there\n    return turned[..., order.argsort()]", NUMBERS,
       ("angles_for_neighbors", "angles = (positions[:, None] * base ** -(torch.arange(0, x.size(-1), 2) / x.size(-1))).repeat_interleave(2, dim=-1)\n    first, second = x.chunk(2, dim=-1)\n    return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()", "Your angles are laid out for neighboring columns, two equal ones in a row, while column i's partner is column i + K/2. Both turn by the same angle: put the K/2 angles twice one after the other (`torch.cat`, not `repeat_interleave`)."),
       ("partners_are_neighbors", "angles = (positions[:, None] * base ** -(torch.arange(0, x.size(-1), 2) / x.size(-1))).repeat(1, 2)\n    partners = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)\n    return x * angles.cos() + partners * angles.sin()", "Your angles are laid out for halves, columns i and i + K/2, while each column is mixed with its neighbor. The partner of column i is column i + K/2."))
    at("turned = apply_rotary", NUMBERS, ("turned_twice", "turned = apply_rotary(apply_rotary(x[..., order], positions, base), positions, base) if True else apply_rotary", "You turn twice: each angle is twice as large as it should be."))
    at("raise ValueError(f\"the last axis must be even, to be turned in pairs; it is {x.size(-1)}\")", "odd width",
       ("odd_not_refused", "return x", "An odd K is not refused. Columns turn in pairs: raise a `ValueError`."),
       ("k_3_not_refused", "if x.size(-1) != 3:\n            raise ValueError(\"odd\")\n        first, second = x.chunk(2, dim=-1)\n        angles = positions[:, None] * base ** -(torch.arange(0, 3, 2) / 3)\n        return torch.cat([first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1)", "K = 3 is not refused: halves of two columns and of one broadcast, so no error comes by itself. Ask whether K is odd, whatever it is."),
       ("another_error", "raise IndexError(\"odd\")", "An odd K stops with another error. Raise a `ValueError`."))
    at("base: float = 10000.0", NUMBERS, ("another_default", "base: float = 500000.0", "Where `base` is left out, yours is another one. Its default is 10,000."))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")


def in_grouped_attention(at: MistakesIn, me: str, breaks: tuple[str, ...]) -> None:
    """What goes wrong in grouped-query attention, without a cache and with one: `me` is what has the layers."""
    query, key, value = (f"split_heads({me}.{layer}(x), {me}.{heads})" for layer, heads in (("q", "num_heads"), ("k", "num_groups"), ("v", "num_groups")))
    turned_query, turned_key, turned_value = (f"half_split_rotary({each}, positions, {me}.base)" for each in (query, key, value))
    at(turned_query, breaks, ("queries_not_turned", query, "Your queries are not turned. Queries *and* keys are, so that their products depend on distances."))
    at(turned_key, breaks, ("keys_not_turned", key, "Your keys are not turned. Queries *and* keys are, so that their products depend on distances."))
    at(f", positions, {me}.base)", breaks, ("base_unused", ", positions)", f"The base is not used: `{me}.base`, which the config gives, belongs into both rotations."), times=2)
    at(f"value = {value}", breaks,
       ("values_from_k", f"value = {key}", "Your values come from the layer `k`, and `v` is not used. They come from `v`."),
       ("values_turned", f"value = {turned_value}", "You turn the values, too. Positions decide where to look, not what is taken: only queries and keys are turned."))
    at((turned_query, turned_key, f"value = {value}"), breaks, ("all_turned_without_base", tuple(f"{name}half_split_rotary({each}, positions)" for name, each in (("", query), ("", key), ("value = ", value))), f"You turn the values, too. Positions decide where to look, not what is taken: only queries and keys are turned. And the base is not used: `{me}.base` belongs into both rotations."))
    at("each.repeat_interleave(shared, dim=1)", breaks, ("groups_take_turns", "each.repeat(1, shared, 1, 1)", "Your groups take turns: query head h reads group h mod G. Neighboring heads share a group, h // (H / G), as `repeat_interleave` lays them out."))
    at("(each.repeat_interleave(shared, dim=1) for each in (key, value))", breaks,
       ("value_groups_take_turns", "(key.repeat_interleave(shared, dim=1), value.repeat(1, shared, 1, 1))", "Your keys are shared by neighboring heads, your values take turns (`repeat`): head h reads the keys of group h // (H / G) and the values of group h mod G. Use `repeat_interleave` for both."),
       ("key_groups_take_turns", "(key.repeat(1, shared, 1, 1), value.repeat_interleave(shared, dim=1))", "Your values are shared by neighboring heads, your keys take turns (`repeat`): head h reads the values of group h // (H / G) and the keys of group h mod G. Use `repeat_interleave` for both."))
    at(f"{me}.output_linear(merge_heads(context))", ("shape", *breaks), ("no_output_linear", "merge_heads(context)", "`output_linear` is not used. It is the last step, after the heads are merged."))


@MISTAKES.of(right.GroupedQueryAttention)
def in_GroupedQueryAttention(at):
    BIAS_TOO = ("values", "gradients", "bias")
    STOPS = ("shape", "values", "parameters", "bias", "gradients")
    MADE = (*STOPS, "attributes")
    class_beginnings(at, MADE, takes="config")
    at("(each.repeat_interleave(shared, dim=1) for each in (key, value))", STOPS,
       ("not_repeated", "(each for each in (key, value))", "Keys and values have G heads, the queries H. Repeat each group H / G times along axis 1, or split the queries by group."),
       ("first_group_for_all", "(each[:, :1] for each in (key, value))", "All query heads read the first group. Query head h reads group h // (H / G).", BIAS_TOO),
       ("mean_of_the_groups", "(each.mean(dim=1, keepdim=True) for each in (key, value))", "You average the groups. Query head h reads group h // (H / G).", BIAS_TOO))
    at(".repeat_interleave(shared, dim=1)", STOPS,
       ("tokens_repeated", ".repeat_interleave(shared, dim=2)", "You repeat along axis 2, the tokens. The groups are on axis 1: `dim=1`."),
       ("texts_repeated", ".repeat_interleave(shared, dim=0)", "You repeat along axis 0, the texts of the batch. The groups are on axis 1: `dim=1`."))
    at(("split_heads(self.k(x), self.num_groups)", "split_heads(self.v(x), self.num_groups)", "each.repeat_interleave(shared, dim=1)"), STOPS, ("groups_split_into_heads", ("split_heads(self.k(x), self.num_heads)", "split_heads(self.v(x), self.num_heads)", "each"), "You split keys and values into H heads. They have G, each K wide: `split_heads` takes `num_groups` there."))
    at("self.q = nn.Linear(width, self.num_heads * config.head_dim", MADE, ("queries_of_the_models_width", "self.q = nn.Linear(width, width", "`q` is D wide. It makes H heads of K numbers, H · K, which need not be D."))
    at("query, key, value, causal_mask", BIAS_TOO, ("queries_and_keys_normed", "F.normalize(query, dim=-1), F.normalize(key, dim=-1), value, causal_mask", "You bring queries and keys to length 1. They go into the product as they are, turned."))
    at(("half_split_rotary(split_heads(self.q(x), self.num_heads), positions, self.base)", "half_split_rotary(split_heads(self.k(x), self.num_groups), positions, self.base)"), BIAS_TOO,
       ("no_positions", ("split_heads(self.q(x), self.num_heads)", "split_heads(self.k(x), self.num_groups)"), "Nothing is turned, so attention does not know the order. Turn queries and keys with `half_split_rotary`."),
       ("neighboring_pairs", ("apply_rotary(split_heads(self.q(x), self.num_heads), positions, self.base)", "apply_rotary(split_heads(self.k(x), self.num_groups), positions, self.base)"), "You turn neighboring columns (`apply_rotary` of 06). The library's weights want `half_split_rotary`."),
       ("turned_before_the_split", ("split_heads(half_split_rotary(self.q(x), positions, self.base), self.num_heads)", "split_heads(half_split_rotary(self.k(x), positions, self.base), self.num_groups)"), "You turn before you split into heads, so the pairs reach across heads. Split first: each head is turned by itself."))
    at(("half_split_rotary(split_heads(self.q(x), self.num_heads), positions, self.base)", "value = split_heads(self.v(x), self.num_groups)"), BIAS_TOO, ("keys_and_values_turned", ("split_heads(self.q(x), self.num_heads)", "value = half_split_rotary(split_heads(self.v(x), self.num_groups), positions, self.base)"), "You turn keys and values. Queries and keys are turned; values stay as they are."))
    at(("half_split_rotary(split_heads(self.k(x), self.num_groups), positions, self.base)", "value = split_heads(self.v(x), self.num_groups)"), BIAS_TOO, ("queries_and_values_turned", ("split_heads(self.k(x), self.num_groups)", "value = half_split_rotary(split_heads(self.v(x), self.num_groups), positions, self.base)"), "You turn queries and values. Queries and keys are turned; values stay as they are."))
    at(("half_split_rotary(split_heads(self.q(x), self.num_heads), positions, self.base)", "half_split_rotary(split_heads(self.k(x), self.num_groups), positions, self.base)", "value = split_heads(self.v(x), self.num_groups)"), BIAS_TOO, ("only_values_turned", ("split_heads(self.q(x), self.num_heads)", "split_heads(self.k(x), self.num_groups)", "value = half_split_rotary(split_heads(self.v(x), self.num_groups), positions, self.base)"), "You turn the values only. Queries and keys are turned; values stay as they are."))
    at("split_heads(self.k(x), self.num_groups), positions, self.base)", BIAS_TOO, ("keys_turned_back", "split_heads(self.k(x), self.num_groups), -positions, self.base)", "Your keys are turned backward, by −t. Queries and keys are turned the same way: then the product depends on the difference of their positions."))
    at("split_heads(self.q(x), self.num_heads), positions, self.base)", BIAS_TOO, ("queries_turned_back", "split_heads(self.q(x), self.num_heads), -positions, self.base)", "Your queries are turned backward, by −t. Queries and keys are turned the same way: then the product depends on the difference of their positions."))
    at(", causal_mask(x.size(1)).to(x.device)", BIAS_TOO, ("mask_turned_round", ", ~causal_mask(x.size(1)).to(x.device)", "The mask that you pass is the wrong way round. In a mask, True means that a query may look: `causal_mask(T)` is that already, without `~`."))
    at(", causal_mask(x.size(1)).to(x.device)", BIAS_TOO, ("no_mask", "", "No mask is in use: every token sees those that come later. Pass `causal_mask(x.size(1))` to `masked_attention`."))
    at(".to(x.device))\n", BIAS_TOO, ("mask_transposed", ".T.to(x.device))\n", "Your mask is transposed: each token sees itself and what comes after it."))
    at("self.output_linear(merge_heads(context))", BIAS_TOO, ("merged_without_transpose", "self.output_linear(context.reshape(*x.shape[:2], -1))", "You merge with a `reshape` straight from (B, H, T, K), which mixes tokens and heads. `merge_heads` swaps the axes first."))
    at("query, key, value, causal_mask", BIAS_TOO,
       ("query_and_key_swapped", "key, query, value, causal_mask", "Queries and keys are swapped."),
       ("scaled_twice", "query / math.sqrt(query.size(-1)), key, value, causal_mask", "Your scores are divided by K, which is √K twice. Once is needed. (`masked_attention` does it already.)"),
       ("scaled_by_the_heads", "query * math.sqrt(query.size(-1) / self.num_heads), key, value, causal_mask", "Your scores are divided by √H, the number of heads. Divide by the root of a head's width: √K."),
       ("scaled_by_the_models_width", "query * math.sqrt(query.size(-1) / x.size(-1)), key, value, causal_mask", "Your scores are divided by √D, the width of the model. Each head divides by the root of its own width: √K."),
       ("keys_for_values", "query, key, key, causal_mask", "You mix the keys. The *values* are mixed."))
    at("bias=bias)", "bias", ("biases_left_out", "bias=False)", "`q`, `k` and `v` never have biases in yours. They have them where `config.attention_bias` says so."), times=3)
    at("bias=bias)", ("values", "parameters", "gradients"), ("biases_always", "bias=True)", "`q`, `k` and `v` always have biases in yours. They have them where `config.attention_bias` says so."), times=3)
    at("config.head_dim, width, bias=False", ("values", "parameters", "bias"), ("output_with_bias", "config.head_dim, width", "`output_linear` has a bias. It is without."))
    at("config.head_dim", STOPS, ("head_width_from_d", "(width // config.num_attention_heads)", "You take D // H for the width of a head. The config says it: `config.head_dim`, which need not be D / H."), times=4)
    at("self.num_groups * config.head_dim", STOPS, ("keys_of_all_heads", "self.num_heads * config.head_dim", "`k` and `v` are as wide as `q`: that is multi-head attention. They make G heads: `config.num_key_value_heads`.", MADE), times=2)
    at(("self.num_heads, self.num_groups = config.num_attention_heads, config.num_key_value_heads", "self.k = nn.Linear(width, self.num_groups", "self.v = nn.Linear(width, self.num_groups", "split_heads(self.k(x), self.num_groups)", "split_heads(self.v(x), self.num_groups)", "self.num_heads // self.num_groups"), "attributes", ("share_for_groups", ("self.num_heads, self.num_groups = config.num_attention_heads, config.num_attention_heads // config.num_key_value_heads", "self.k = nn.Linear(width, config.num_key_value_heads", "self.v = nn.Linear(width, config.num_key_value_heads", "split_heads(self.k(x), self.num_heads // self.num_groups)", "split_heads(self.v(x), self.num_heads // self.num_groups)", "self.num_groups"), "`num_groups` is H / G in yours, how many heads share a group. It is G, how many groups there are: `config.num_key_value_heads`."))
    at("self.num_groups", "attributes", ("groups_not_kept", "self.groups", "The attribute `num_groups` is missing, which the cache of Exercise 14.9 needs: keep G under this name."), times=6)
    at("self.base", "attributes", ("base_not_kept", "self.theta", "The attribute `base` is missing, which the cache of Exercise 14.9 needs: keep the rotation's base under this name."), times=3)
    at("self.num_heads", "attributes", ("heads_not_kept", "self.heads", "The attribute `num_heads` is missing, which the cache of Exercise 14.9 needs: keep H under this name."), times=5)
    for layer, heads in (("q", "num_heads"), ("k", "num_groups"), ("v", "num_groups")):
        at(f"self.{layer} = nn.Linear(width, self.{heads} * config.head_dim, bias=bias)", "bias", (f"{layer}_without_bias", f"self.{layer} = nn.Linear(width, self.{heads} * config.head_dim, bias=False)", f"`{layer}` never has a bias in yours. `q`, `k` and `v` have one where `config.attention_bias` says so."))
        at(f"self.{layer} = nn.Linear(width, self.{heads} * config.head_dim, bias=bias)", ("values", "parameters", "gradients"), (f"{layer}_always_with_bias", f"self.{layer} = nn.Linear(width, self.{heads} * config.head_dim)", f"`{layer}` always has a bias in yours. `q`, `k` and `v` have one where `config.attention_bias` says so."))
    at("config.head_dim, width, bias=False", "bias", ("output_bias_by_the_config", "config.head_dim, width, bias=bias", "`output_linear` has a bias where `config.attention_bias` says so. It is always without: only `q`, `k` and `v` follow the config."))
    at("split_heads(self.q(x), self.num_heads), positions, self.base)", BIAS_TOO, ("base_for_keys_only", "split_heads(self.q(x), self.num_heads), positions)", "Your queries are turned with another base than your keys. `config.rope_parameters[\"rope_theta\"]` belongs into both rotations."))
    at("split_heads(self.k(x), self.num_groups), positions, self.base)", BIAS_TOO, ("base_for_queries_only", "split_heads(self.k(x), self.num_groups), positions)", "Your keys are turned with another base than your queries. `config.rope_parameters[\"rope_theta\"]` belongs into both rotations."))
    at("self.num_heads // self.num_groups", ("shape", "values", "parameters", "gradients"), ("group_count_for_share", "self.num_groups", "You repeat each group G times. Each is shared by H / G query heads."))
    at("positions = torch.arange(x.size(1)", STOPS, ("positions_of_the_batch", "positions = torch.arange(x.size(0)", "Your positions count the texts of the batch. They count the tokens: `x.size(1)`."))
    in_grouped_attention(at, "self", BIAS_TOO)


@MISTAKES.mistake("The attributes `num_heads`, `num_groups` and `base` are missing, which the cache of Exercise 14.9 needs: keep H, G and the rotation's base under these names.", breaks="attributes")
class GroupedQueryAttention__nothing_kept(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        for name, layer in GroupedQueryAttention(config).named_children():
            setattr(self, name, layer)

    def forward(self, x):
        whole = GroupedQueryAttention(self.config)
        for name, layer in self.named_children():
            setattr(whole, name, layer)
        return whole(x)


@MISTAKES.of(right.cache_bytes)
def in_cache_bytes(at):
    ALL = ("values", "exact int")
    at("2 * config.num_hidden_layers * config.num_key_value_heads", ALL, ("queries_too", "config.num_hidden_layers * (config.num_attention_heads + 2 * config.num_key_value_heads)", "You count the queries, too. No later token needs them: only keys and values are kept."))
    at("2 * config.num_hidden_layers", ALL, ("bytes_counted_twice", "4 * config.num_hidden_layers", "Your number is twice the right one. Keys and values are the one factor 2; the bytes are `bytes_per_number`, and not another 2."), ("keys_only", "config.num_hidden_layers", "You count keys or values. Both are kept: twice as many."), ("three_kept", "3 * config.num_hidden_layers", "You count three for each group. Two are kept: keys and values. No later token needs a query."))
    at("2 * config.num_hidden_layers * ", ALL, ("one_layer", "2 * ", "You count one layer. Each of the {L} layers keeps its own."))
    at("config.num_key_value_heads", ALL, ("all_heads", "config.num_attention_heads", "You count all query heads. Only the groups' keys and values are kept: `config.num_key_value_heads`."))
    at("config.num_key_value_heads * config.head_dim", ALL,
       ("share_for_groups", "config.num_attention_heads // config.num_key_value_heads * config.head_dim", "You count H / G, how many heads share a group. What is kept are keys and values of the G groups: `config.num_key_value_heads`."),
       ("the_models_width", "config.hidden_size", "You count D numbers for a token's keys, and D for its values. Each is G · K: groups times the width of a head."),
       ("groups_left_out", "config.head_dim", "You count one head. There are G = {G} groups."),
       ("head_width_left_out", "config.num_key_value_heads", "You count one number for each group. A key has K = {K} numbers."),
       ("head_width_from_d", "config.num_key_value_heads * (config.hidden_size // config.num_attention_heads)", "You take D / H for the width of a head. The config says it: `config.head_dim`."))
    at(" * bytes_per_number", ALL, ("numbers", "", "You count numbers. Each takes `bytes_per_number` bytes."))
    at("bytes_per_number\n", ALL, ("four_bytes", "4\n", "You always count four bytes. `bytes_per_number` says how many."), ("two_bytes", "2\n", "You always count two bytes. `bytes_per_number` says how many."), ("bits", "bytes_per_number * 8\n", "You count bits: eight times as many."),
       ("kilobytes_of_1024", "bytes_per_number // 1024\n", "You divide by 1,024: these are kilobytes. The exercise asks for bytes."),
       ("megabytes", "bytes_per_number / 1e6\n", "You divide by 10⁶: these are megabytes. The exercise asks for bytes."),
       ("megabytes_of_1024", "bytes_per_number / 1024**2\n", "You divide by 1,024²: these are megabytes. The exercise asks for bytes."),
       ("gigabytes", "bytes_per_number / 1e9\n", "You divide by 10⁹: these are gigabytes. The exercise asks for bytes."),
       ("gigabytes_of_1024", "bytes_per_number / 1024**3\n", "You divide by 1,024³: these are gigabytes. The exercise asks for bytes."))
    at("numbers * tokens * bytes_per_number", "exact int", ("right_but_a_float", "float(numbers * tokens * bytes_per_number)", "You return a float. Bytes are counted: return a whole number, an `int`."))
    at("bytes_per_number: int = 2", "values", ("four_by_default", "bytes_per_number: int = 4", "Where `bytes_per_number` is left out you count four bytes. Its default is 2."))
    at(" * tokens", ALL, ("one_token", "", "You count one token. There are `tokens` of them."), ("newest_left_out", " * max(tokens - 1, 0)", "You count one token less than are kept. `tokens` is how many are kept."), ("one_token_at_least", " * max(tokens, 1)", "You count one token where there is none. An empty cache takes no bytes.", "values"), ("a_table", " * tokens**2", "You count T² entries. A cache grows with T: the table of scores is not kept."))


@MISTAKES.of(right.LlamaBlock)
def in_LlamaBlock(at):
    FIRST, SECOND = "x = x + self.attention(self.rms_norm_1(x))", "return x + self.feed_forward(self.rms_norm_2(x))"
    AND_EPS = (*NUMBERS, "eps")
    STOPS = ("shape", "values", "parameters", "gradients", "eps")
    class_beginnings(at, STOPS, takes="config")
    pre_norm_block(at, "rms_norm", "self.attention(self.rms_norm_1(x))", AND_EPS, lost=AND_EPS)
    at((FIRST, SECOND), AND_EPS,
       ("one_skip_around_both", ("y = self.attention(self.rms_norm_1(x))", "return x + self.feed_forward(self.rms_norm_2(y))"), "There is one skip connection around both parts. Each part has its own: y = x + attention(norm₁(x)), then y + feed_forward(norm₂(y))."),
       ("skips_from_the_norms", ("x = self.rms_norm_1(x)\n        x = x + self.attention(x)", "x = self.rms_norm_2(x)\n        return x + self.feed_forward(x)"), "You add each part's result to the *normalized* x. The skip connection carries x as it was."),
       ("norms_after_the_parts", ("x = x + self.rms_norm_1(self.attention(x))", "return x + self.rms_norm_2(self.feed_forward(x))"), "Your norms come after the parts, not before them: attention(norm(x))."),
       ("feed_forward_first", ("x = x + self.feed_forward(self.rms_norm_2(x))", "return x + self.attention(self.rms_norm_1(x))"), "The feed-forward network comes first in yours. Attention comes first: it brings what the feed-forward network works on."),
       ("second_norm_on_the_attention", ("y = self.attention(self.rms_norm_1(x))", "return x + y + self.feed_forward(self.rms_norm_2(y))"), "The feed-forward network reads what attention returns, without x. It should read the sum, x + attention(norm(x))."),
       ("x_added_twice", ("y = x + self.attention(self.rms_norm_1(x))", "return x + y + self.feed_forward(self.rms_norm_2(y))"), "Your result has x in it twice. It is part of y already: y + feed_forward(norm₂(y))."))
    at(FIRST, AND_EPS,
       ("first_skip_from_the_norm", "x = self.rms_norm_1(x)\n        x = x + self.attention(x)", "Your first skip connection carries the normalized x. It carries x as it came in: x + attention(norm(x))."),
       ("no_attention", "pass", "Attention is not used: no token learns of another."))
    at(", config.rms_norm_eps", "eps",
       ("eps_left_out", ", torch.finfo(torch.float32).eps", "Your norms have an eps of their own (`nn.RMSNorm` takes one when it gets none). Take `config.rms_norm_eps`."),
       ("eps_of_1e_6", ", 1e-6", "Your norms have an eps of their own, 1e-6. Take `config.rms_norm_eps`."),
       ("eps_of_1e_5", ", 1e-5", "Your norms have an eps of their own, 1e-5. Take `config.rms_norm_eps`."), times=2)
    at("RMSNorm(config.hidden_size, config.rms_norm_eps)", ("values", "parameters", "gradients", "eps"), ("layer_norms", "nn.LayerNorm(config.hidden_size, config.rms_norm_eps)", "Your norms are layer norms. Here they are RMS norms: no mean is subtracted, and there is no bias."), times=2)
    for layer in ("rms_norm_1", "rms_norm_2"):
        at(f"self.{layer} = RMSNorm(config.hidden_size, config.rms_norm_eps)", "eps", (f"eps_of_{layer}_left_out", f"self.{layer} = nn.RMSNorm(config.hidden_size)", f"`{layer}` has an eps of its own (`nn.RMSNorm` takes one when it gets none). Take `config.rms_norm_eps`."))
    at("self.rms_norm_2 = RMSNorm(config.hidden_size, config.rms_norm_eps)", ("values", "parameters", "gradients", "eps"), ("one_norm_twice", "self.rms_norm_2 = self.rms_norm_1", "Both norms are the same norm. Each part has its own."))


@MISTAKES.of(right.Llama)
def in_Llama(at):
    AND_EPS = (*NUMBERS, "eps")
    STOPS = ("shape", "values", "parameters", "gradients", "eps", "tied head")
    class_beginnings(at, STOPS, takes="config")
    at("self.lm_head(self.rms_norm(x))", AND_EPS,
       ("no_last_norm", "self.lm_head(x)", "The norm at the end is not applied. Pre-norm needs one before the head."),
       ("table_for_the_head", "F.linear(self.rms_norm(x), self.token_embeddings.weight)", "`lm_head` is not used: your logits come from the token table, also where the two are not tied."))
    at("self.lm_head(self.rms_norm(x))", ("shape", *AND_EPS), ("last_token_only", "self.lm_head(self.rms_norm(x))[:, -1]", "You return the logits of the last token only. Return those of all positions, (B, T, V)."))
    at("        for block in self.blocks:\n            x = block(x)\n", AND_EPS,
       ("no_blocks", "", "The blocks are not used."),
       ("first_block_left_out", "        for block in self.blocks[1:]:\n            x = block(x)\n", "The first block is not used. All blocks are, in their order."),
       ("last_block_left_out", "        for block in self.blocks[:-1]:\n            x = block(x)\n", "The last block is not used. All blocks are, in their order."),
       ("first_block_only", "        x = self.blocks[0](x)\n", "Only the first block is used. Each block's output is the next one's input.", AND_EPS))
    at(("            x = block(x)\n", "self.lm_head(self.rms_norm(x))"), AND_EPS, ("norm_after_each_block", ("            x = self.rms_norm(block(x))\n", "self.lm_head(x)"), "You normalize after each block. The last norm comes once, after all blocks; each block has its own norms inside."))
    at(("x = self.token_embeddings(ids)  # (B, T, D)\n", "            x = block(x)\n"), AND_EPS, ("blocks_side_by_side", ("embedded = x = self.token_embeddings(ids)  # (B, T, D)\n", "            x = block(embedded)\n"), "Each of your blocks reads the embeddings, and the last one's result alone is used. Each block's output is the next one's input."))
    at("in self.blocks:\n            x", AND_EPS, ("blocks_in_reverse", "in reversed(self.blocks):\n            x", "The blocks run in reverse order. Block 0 comes first."))
    at("            x = block(x)\n", AND_EPS, ("outer_skip", "            x = x + block(x)\n", "You add x to each block's result. The blocks have their own skip connections."))
    at("x = self.token_embeddings(ids)", AND_EPS, ("norm_at_the_start", "x = self.rms_norm(self.token_embeddings(ids))", "You normalize the embeddings. The first norm is inside the first block."))
    at("        if config.tie_word_embeddings:\n            self.lm_head.weight = self.token_embeddings.weight  # (V, D), shared\n", "tied head", ("never_tied", "", "Head and token table are two parameters, even if they start with the same numbers. Where `config.tie_word_embeddings` says so, they are one: assign the parameter itself."))
    at("        if config.tie_word_embeddings:\n            self", ("parameters", "tied head"), ("always_tied", "        if True:\n            self", "Head and token table are always one, as in GPT-2. Here only where `config.tie_word_embeddings` says so.", ("values", "parameters", "gradients", "eps", "tied head")))
    at("        if config.tie_word_embeddings:\n            self", ("values", "parameters", "gradients", "eps", "tied head"), ("tied_the_other_way_round", "        if not config.tie_word_embeddings:\n            self", "Head and token table are one where `config.tie_word_embeddings` is False, and two where it is True. It is the other way round."))
    at("nn.ModuleList(LlamaBlock(config) for _ in range(config.num_hidden_layers))", ("values", "parameters", "gradients", "eps"), ("one_block_many_times", "nn.ModuleList([LlamaBlock(config)] * config.num_hidden_layers)", "All blocks are the same block (as `[block] * n` makes them). Each has its own weights."))
    at("self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)\n", "parameters", ("table_of_positions", "self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)\n        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)\n", "There is a table of positions. Llama has none: attention turns queries and keys."))
    at("nn.Embedding(config.vocab_size, config.hidden_size)", "gradients", ("padding_index", "nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)", "The row of id 0 never learns: leave `padding_idx` out."))
    at("RMSNorm(config.hidden_size, config.rms_norm_eps)", "eps", ("eps_left_out", "nn.RMSNorm(config.hidden_size)", "The last norm has an eps of its own (`nn.RMSNorm` takes one when it gets none). Take `config.rms_norm_eps`."))
    at(", config.rms_norm_eps", "eps", *((f"eps_of_{number.replace('-', '_')}", f", {number}", "The last norm has an eps of its own, such as 1e-6 or 1e-5, whatever the config says. Take `config.rms_norm_eps`.") for number in ("1e-6", "1e-5")))
    at("RMSNorm(config.hidden_size, config.rms_norm_eps)", ("values", "parameters", "gradients", "eps"), ("layer_norm", "nn.LayerNorm(config.hidden_size, config.rms_norm_eps)", "Your last norm is a layer norm. It is an RMS norm."))
    language_model(at, "LlamaBlock", "rms_norm", fewer_blocks=("values", "parameters", "gradients", "eps"))


@MISTAKES.of(right.cached_grouped_attention)
def in_cached_grouped_attention(at):
    STEPS = ("values", "several tokens")
    OUTPUTS = (*STEPS, "no cache")
    at("torch.arange(past, past + x.size(1), device=x.device)", STEPS, ("positions_from_zero", "torch.arange(x.size(1), device=x.device)", "A cache is handed over, and your new tokens are turned as if the text began with them. They are at positions P, P + 1, …: P is the length of this cache, `cache[0].size(2)`. (A count that is kept elsewhere, as on `attention`, knows nothing of it.)"))
    at("torch.arange(past, past + x.size(1), device=x.device)", ("several tokens", "no cache"),
       ("last_position_for_all", "torch.full((x.size(1),), past + x.size(1) - 1)", "All your new tokens are turned as if they stood at the last position. They are at P, P + 1, …, P + N − 1."),
       ("one_position_for_all", "torch.full((x.size(1),), past)", "All your new tokens are turned as if they stood at position P. They are at P, P + 1, …, P + N − 1."))
    at("torch.arange(past, past + x.size(1), device=x.device)", OUTPUTS, ("positions_from_one", "torch.arange(past + 1, past + 1 + x.size(1), device=x.device)", "Your positions are one too large. With P tokens in the cache the first new one is at position P.", ("values", "several tokens", "no cache")))
    at(("[cache[0], key], dim=2)", "keys, values = "), STEPS, ("cache_turned_again", ("[half_split_rotary(cache[0], torch.arange(past), attention.base), key], dim=2)", "keys, values = "), "You turn the cache's keys again. They were turned when they were new: each key is turned once."))
    at(("key = half_split_rotary(split_heads(attention.k(x), attention.num_groups), positions, attention.base)", "(each.repeat_interleave(shared, dim=1) for each in (key, value))"), OUTPUTS, ("unturned_keys_kept", ("key = split_heads(attention.k(x), attention.num_groups)", "(each.repeat_interleave(shared, dim=1) for each in (half_split_rotary(key, torch.arange(key.size(2)), attention.base), value))"), "You keep unturned keys and turn all of them at each call. The cache's keys are turned already: turn the new ones only, and keep them turned."))
    at(("torch.arange(past, past + x.size(1), device=x.device)", "[past:]"), STEPS, ("past_forgotten", ("torch.arange(x.size(1), device=x.device)", "[: x.size(1)]"), "With a cache, your new tokens count as the first ones. Their positions begin at P, not at 0; and they get the *last* N rows of the mask, not the first ones."))
    for axis, name in ((1, "groups"), (3, "width of a head")):
        at(("[cache[0], key], dim=2", "[cache[1], value], dim=2"), ("shape", *STEPS), (f"joined_along_axis_{axis}", (f"[cache[0], key], dim={axis}", f"[cache[1], value], dim={axis}"), f"You join along axis {axis}, the {name}. Tokens are on axis 2: `dim=2`."))
    at("torch.arange(past, past + x.size(1), device=x.device)", STEPS, ("last_cached_position", "max(past - 1, 0) + torch.arange(x.size(1))", "Your new tokens begin at P − 1, the position of the last one in the cache. The next one is at position P."))
    at(("        key = torch.cat([cache[0], key], dim=2)  # (B, G, P + N, K)\n", "(key, value)\n"), STEPS, ("new_first", ("        key, value = torch.cat([key, cache[0]], dim=2), torch.cat([value, cache[1]], dim=2)\n        return attention.output_linear(merge_heads(masked_attention(query, *(each.repeat_interleave(attention.num_heads // attention.num_groups, dim=1) for each in (key, value)), causal_mask(past + x.size(1))[past:]))), (key, value)\n", "(key, value)\n"), "The new keys and values come first in yours. They are the latest: cache first, then new ones."))
    at("[past:]", STEPS, ("columns_of_the_mask", "[:, past:]", "You take the mask's last N *columns*, those of the new keys. Take its last N rows, those of the new queries: `[past:]`.", ("shape", *STEPS)))
    at("mask = causal_mask(past + x.size(1))[past:].to(x.device)", ("several tokens", "no cache"), ("no_mask", "mask = None", "New tokens see each other's future: with several of them each may look at the past, at itself and at new ones before it."))
    at("mask = causal_mask(past + x.size(1))[past:].to(x.device)", "several tokens", ("triangle_before_the_past", "mask = torch.cat([causal_mask(x.size(1)), torch.ones(x.size(1), past, dtype=torch.bool)], dim=1)", "Your mask has the triangle of the new tokens first. The past comes first, P columns of True, then the triangle."))
    at("mask = causal_mask(past + x.size(1))[past:].to(x.device)", "several tokens", ("no_mask_with_a_cache", "mask = causal_mask(x.size(1)) if cache is None else None", "With a cache, your new tokens see the new ones that come after them. Each needs its row of the triangle: the last N rows of `causal_mask(P + N)`."))
    at("mask = causal_mask(past + x.size(1))[past:].to(x.device)", "no cache", ("no_mask_without_a_cache", "mask = None if cache is None else causal_mask(past + x.size(1))[past:]", "Without a cache no mask is in use, so your tokens see those that come later. They need the triangle, too: `causal_mask(N)`."))
    at(("cache[0].size(2)", "causal_mask(past + x.size(1))[past:]"), STEPS,
       ("length_from_the_batch", ("cache[0].size(0)", "causal_mask(key.size(2))[-x.size(1):]"), "Your positions go on from the number of texts, `size(0)` or `len(…)` of the keys. They go on from P, the number of tokens in the cache: `cache[0].size(2)`."),
       ("length_from_the_width", ("cache[0].size(3)", "causal_mask(key.size(2))[-x.size(1):]"), "Your positions go on from K, the width of a head. They go on from P, the number of tokens in the cache: `cache[0].size(2)`."),
       ("length_of_the_pair", ("len(cache)", "causal_mask(key.size(2))[-x.size(1):]"), "Your positions go on from `len(cache)`, which is 2: keys and values. They go on from P, the number of tokens in the cache: `cache[0].size(2)`."),
       ("length_from_the_groups", ("cache[0].size(1)", "causal_mask(key.size(2))[-x.size(1):]"), "Your positions go on from the number of groups, `size(1)`. They go on from P, the number of tokens in the cache: `cache[0].size(2)`."))
    at("        value = torch.cat([cache[1], value], dim=2)\n", ("shape", *STEPS), ("values_not_joined", "", "Your values are those of the new tokens only. Join them with the cache's, as you do with the keys."))
    at("causal_mask(past + x.size(1))[past:]", STEPS, ("never_itself", "causal_mask(past + x.size(1)).tril(-1 if past else 0)[past:]", "With a cache, your mask hides each new token from itself: the triangle is one column short."))
    at("[cache[0], key]", STEPS, ("new_keys_first", "[key, cache[0]]", "The new keys come before the cache's in yours, the new values do not. Both come after: cache first."))
    at("[cache[1], value]", STEPS, ("new_values_first", "[value, cache[1]]", "The new values come before the cache's in yours, the new keys do not. Both come after: cache first."))
    at(", (key, value)\n", ("shape", "values", "several tokens", "no cache"),
       ("new_only_returned", ", (key[:, :, past:], value[:, :, past:])\n", "You return keys and values of the new tokens only. The next call needs those of all P + N: return what you joined.", ("shape", "values", "several tokens")),
       ("repeated_cache", ", (keys, values)\n", "You return keys and values of all H heads. Keep the groups' only, (B, G, P + N, K): that is what saves memory."),
       ("keys_repeated_in_the_cache", ", (keys, value)\n", "You return keys of all H heads. Keep the groups' only, (B, G, P + N, K): that is what saves memory."),
       ("values_repeated_in_the_cache", ", (key, values)\n", "You return values of all H heads. Keep the groups' only, (B, G, P + N, K): that is what saves memory."))
    for layer, heads in (("q", "num_heads"), ("k", "num_groups")):
        at(f"split_heads(attention.{layer}(x), attention.{heads}), positions, attention.base)", OUTPUTS, (f"base_left_out_for_{layer}", f"split_heads(attention.{layer}(x), attention.{heads}), positions)", f"What `{layer}` returns is turned with another base than the other rotation has. `attention.base` belongs into both."))
    at((", (key, value)\n", "    keys, values = "), OUTPUTS, ("unturned_keys_returned", (", (torch.cat([key[:, :, :past], split_heads(attention.k(x), attention.num_groups)], dim=2), value)\n", "    keys, values = "), "The new keys in the cache that you return are not turned. Turn each key when it is new, and keep it turned."))
    at("query = half_split_rotary(split_heads(attention.q(x), attention.num_heads), positions, attention.base)", STEPS, ("queries_from_zero", "query = half_split_rotary(split_heads(attention.q(x), attention.num_heads), torch.arange(x.size(1)), attention.base)", "Your queries are turned as if the text began with them, your keys are not. Both are at positions P, P + 1, …"))
    at("key = half_split_rotary(split_heads(attention.k(x), attention.num_groups), positions, attention.base)", STEPS, ("keys_from_zero", "key = half_split_rotary(split_heads(attention.k(x), attention.num_groups), torch.arange(x.size(1)), attention.base)", "Your new keys are turned as if the text began with them, your queries are not. Both are at positions P, P + 1, …"))
    key_value_cache(at)
    in_grouped_attention(at, "attention", OUTPUTS)


@MISTAKES.of(right.attention_in_blocks)
def in_attention_in_blocks(at):
    RISING = ("values", "large scores", "gradients")
    at(("total = total * shrink + ", "mixed = mixed * shrink + "), RISING, ("not_rescaled", ("total = total + ", "mixed = mixed + "), "What you carried is not rescaled when a larger score comes. It is relative to the old largest score: multiply by exp(old − new)."))
    at("mixed = mixed * shrink + ", RISING, ("values_not_rescaled", "mixed = mixed + ", "The carried values are not rescaled when a larger score comes, the carried sum is. Both are relative to the old largest score."))
    at("total = total * shrink + ", RISING, ("sum_not_rescaled", "total = total + ", "The carried sum is not rescaled when a larger score comes, the carried values are. Both are relative to the old largest score."))
    at(("total * shrink + weights.sum(dim=-1, keepdim=True)", "mixed * shrink + weights @ values"), RISING, ("new_ones_rescaled", ("total + shrink * weights.sum(dim=-1, keepdim=True)", "mixed + shrink * (weights @ values)"), "You multiply what is new by exp(old − new). What was carried is relative to the old largest score: multiply *that*."))
    at("total * shrink + ", RISING, ("sum_rescaled_twice", "total * shrink * shrink + ", "The carried sum is rescaled twice. Multiply by exp(old − new) once."))
    at("mixed * shrink + ", RISING, ("values_rescaled_twice", "mixed * shrink * shrink + ", "The carried values are rescaled twice. Multiply by exp(old − new) once."))
    at("weights = (scores - largest).exp()", RISING,
       ("relative_to_the_old", "weights = (scores - torch.where(before.isinf(), largest, before)).exp()", "The new exponentials are relative to the old largest score. What was carried is rescaled to the new one: subtract that one, exp(score − new)."),
       ("relative_to_minus_infinity", "weights = (scores - before).exp()", "You subtract the old largest score, which is −∞ in the first block. Subtract the new one: exp(score − new)."))
    at(" / math.sqrt(query.size(-1))  # (..., T, block)", RISING, ("causal", " / math.sqrt(query.size(-1))\n        scores = scores.masked_fill(torch.arange(start, start + keys.size(-2)) > torch.arange(query.size(-2))[:, None], -torch.inf)", "You hide keys that come after the query. No mask is asked for here: each query looks at all keys."))
    at("weights.sum(dim=-1, keepdim=True)", RISING, ("mean_for_sum", "weights.mean(dim=-1, keepdim=True)", "You add the mean of a block's exponentials to what you carry. Add their sum."))
    at("scores.amax(dim=-1, keepdim=True)", "large scores",
       ("mean_for_largest", "scores.mean(dim=-1, keepdim=True)", "You subtract a block's *mean* score, or the largest such mean so far. A score that lies far above it overflows: subtract the largest score."),
       ("last_for_largest", "scores[..., -1:]", "You subtract the last score of a block, or the largest such score so far. One that lies far above it overflows: subtract the largest score."))
    at(("range(0, key.size(-2), block_size)", "each[..., start : start + block_size, :]"), ("shape", "values", "in blocks", "gradients"), ("cut_along_the_first_axis", ("range(0, key.size(0), block_size)", "each[start : start + block_size]"), "Your blocks are cut from the first axis, as `split` and `chunk` do without `dim`. Keys are on the last axis but one: `dim=-2`."))
    at("range(0, key.size(-2), block_size)", ("in blocks", *RISING),
       ("first_block_twice", "[0, *range(0, key.size(-2), block_size)]", "The first block counts twice. (Is it in the numbers that you start with, and in the loop, too?) Start with −∞ and 0, or begin the loop with the second block.", RISING),
       ("steps_of_one", "range(key.size(-2))", "Your blocks begin one key apart, so a key is in several of them and counts several times. Go on by `block_size`."))
    at("(before - largest).exp()", RISING,
       ("factor_without_exponential", "torch.where(before.isinf(), 0.0, before - largest)", "Your factor is old − new itself. What is carried is multiplied by its exponential, exp(old − new)."),
       ("rescaled_the_wrong_way", "torch.where(before.isinf(), 0.0, (largest - before).exp())", "You rescale by exp(new − old). What is carried must shrink: exp(old − new)."))
    at(("torch.maximum(largest, scores.amax(dim=-1, keepdim=True))", "shrink = (before - largest).exp()"), RISING, ("largest_of_the_block", ("scores.amax(dim=-1, keepdim=True)", "shrink = torch.where(before.isinf(), 0.0, 1.0)"), "Each block uses its own largest score, so the blocks are not comparable. Carry the largest score so far, and rescale."))
    at((".exp()  # (..., T, 1): what is carried is relative to the new largest score", "weights = (scores - largest).exp()"), "large scores", ("no_largest", (".exp() * 0 + 1", "weights = scores.exp()"), "The exponential gets the scores as they are, and large ones overflow. Subtract the largest score so far."))
    at("return mixed / total", RISING, ("not_divided", "return mixed", "You don't divide by the sum of the exponentials: your weights don't sum to 1."))
    at("weights @ values", RISING, ("divided_in_each_block", "weights @ values / weights.sum(dim=-1, keepdim=True)", "You divide each block's values by that block's sum, and all by the whole sum at the end. Divide once, at the end."))
    at("before, largest = largest, torch.maximum(largest, scores.amax(dim=-1, keepdim=True))\n        shrink = (before - largest).exp()", RISING, ("largest_never_kept", "new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))\n        shrink, scores, largest = (largest - new).exp(), scores - new + largest.clamp(min=0) * 0, torch.full_like(largest, -torch.inf)\n        weights = scores.exp()\n        total, mixed = total * shrink + weights.sum(dim=-1, keepdim=True), mixed * shrink + weights @ values\n        continue", "Your result is that of the last block alone: what you carried is lost. (Is the largest score not set at the end of each round, or do sums begin again at 0?)"))
    at("weights = (scores - largest).exp()", RISING, ("softmax_in_each_block", "weights = scores.softmax(dim=-1)", "You take a softmax in each block, so each block's weights sum to 1. They sum to 1 over *all* keys: carry sums, divide at the end."))
    at("/ math.sqrt(query.size(-1))", RISING,
       ("scaled_by_the_queries", "/ math.sqrt(query.size(-2))", "You divide the scores by the root of the *number* of queries, T. It is their width: √K."),
       ("scaled_by_the_values", "/ math.sqrt(value.size(-1))", "You divide the scores by the root of the *values'* width. It is the width of queries and keys: √K."),
       ("not_scaled", "", "The scores are not divided by √K."),
       ("scaled_by_k", "/ query.size(-1)", "You divide by K. Divide by its root."))
    at("range(0, key.size(-2), block_size)", RISING,
       ("rest_left_out", "range(0, key.size(-2) - key.size(-2) % block_size or key.size(-2), block_size)", "The last keys are left out where `block_size` does not divide S. The last block is shorter."),
       ("first_block_only", "range(0, min(block_size, key.size(-2)), block_size)", "Only the first block of keys is seen.", ("values", "in blocks", "large scores", "gradients")))
    at("range(0, key.size(-2), block_size)", RISING,
       ("last_block_left_out", "range(0, key.size(-2) - block_size + 1, block_size)", "The last keys are left out where `block_size` does not divide S (there are S // block_size *whole* blocks). The last block is shorter.", ("shape", *RISING)),
       ("loop_over_queries", "range(0, query.size(-2), block_size)", "Your loop ends at T, the number of queries. It runs over the S keys.", ("in blocks", *RISING)))
    at(("weights = (scores - largest).exp()", "mixed = mixed * shrink + ", "return mixed / total"), RISING, ("softmaxes_added", ("weights = scores.softmax(dim=-1)", "mixed = mixed + ", "return mixed"), "You take a softmax in each block, so each block's weights sum to 1. They sum to 1 over *all* keys: carry sums, divide at the end."))
    at(("weights = (scores - largest).exp()", "total = total * shrink + weights.sum(dim=-1, keepdim=True)", "mixed = mixed * shrink + "), RISING, ("softmaxes_averaged", ("weights = scores.softmax(dim=-1)", "total = total + 1", "mixed = mixed + "), "You take a softmax in each block and the mean of the blocks' results. The weights sum to 1 over *all* keys: carry sums, divide once at the end."))
    at(("weights = (scores - largest).exp()", "total = total * shrink + weights.sum(dim=-1, keepdim=True)", "mixed = mixed * shrink + weights @ values"), RISING, ("softmaxes_weighted_by_length", ("weights = scores.softmax(dim=-1)", "total = total + keys.size(-2)", "mixed = mixed + keys.size(-2) * (weights @ values)"), "You take a softmax in each block and a mean of the blocks' results, by their lengths. What a block counts is its sum of exponentials: carry sums, divide once at the end."))
    at("torch.maximum(largest, scores.amax(dim=-1, keepdim=True))", "large scores", ("one_largest_for_all", "torch.maximum(largest, scores.max())", "There is one largest score for all queries. Where another query's scores are far below it, all their exponentials are 0: each query has its own, `amax(dim=-1, keepdim=True)`."))
    at("torch.maximum(largest, scores.amax(dim=-1, keepdim=True))", "large scores", ("the_blocks_own", "scores.amax(dim=-1, keepdim=True)", "You subtract the block's largest score, not the largest so far. Where the next block's scores are far lower, the factor exp(old − new) overflows."))
    at("-torch.inf)", "large scores", ("starts_at_zero", "0.0)", "Your largest score starts at a number, such as 0 or −100. Where all scores are far below it, all exponentials are 0: start at −∞."))
    at(("mixed = mixed * shrink + weights @ values", "return mixed / total"), RISING, ("divided_in_each_round", ("mixed = (mixed * shrink + weights @ values) / total", "return mixed"), "You divide after each block, so the next one adds a sum to a mean. Carry the sum, and divide once, after the last block."))
    at("start : start + block_size", RISING, ("overlapping", "max(start - 1, 0) : start + block_size", "Your blocks overlap: a key at the border counts twice."), ("overlapping_ahead", "start : start + block_size + 1", "Your blocks have one key more than `block_size`, the first one of the next block, which counts twice."))
    at("    for start in range(0, key.size(-2), block_size):\n", "in blocks",
       ("blocks_of_queries", "    return torch.cat([(query[..., start : start + block_size, :] @ key.transpose(-2, -1) / math.sqrt(key.size(-1))).softmax(dim=-1) @ value for start in range(0, query.size(-2), block_size)], dim=-2)\n    for start in range(0, key.size(-2), block_size):\n", "With no more queries than `block_size`, the whole T × S table of scores is made at once. (Do you cut the queries into blocks, each with all keys?) Cut `key` and `value` into blocks, and let all queries meet one block after the other."),
       ("blocks_counted", "    block_size = -(-key.size(-2) // block_size)\n    for start in range(0, key.size(-2), block_size):\n", "You take `block_size` for the number of blocks. It says how many *keys* a block has."),
       ("one_key_at_a_time", "    block_size = 1\n    for start in range(0, key.size(-2), block_size):\n", "Your blocks have a size of their own. A block has `block_size` keys (the last one may have fewer)."),
       ("one_block", "    block_size = key.size(-2)\n    for start in range(0, key.size(-2), block_size):\n", "The whole T × S table of scores is made. Look at `block_size` *keys* at a time, and keep no block's scores."))
    at("dim=-1, keepdim=True))", ("shape", "in blocks", *RISING), ("largest_over_queries", "dim=-2, keepdim=True))", "Your largest score is taken over the queries. Each query has its own, over the keys."))
    at(("torch.zeros_like(largest)  # mixed grows", "range(0, key.size(-2), block_size)"), RISING, ("whole_blocks_only", ("query.new_zeros(*query.shape[:-1], value.size(-1))  # mixed grows", "range(0, key.size(-2) // block_size * block_size, block_size)"), "The last keys are left out where `block_size` does not divide S (there are S // block_size *whole* blocks). The last block is shorter."))
    at("    for start in range(0, key.size(-2), block_size):\n", RISING, ("filled_up_with_zeros", "    missing = -key.size(-2) % block_size\n    key, value = (F.pad(each, (0, 0, 0, missing)) for each in (key, value))\n    for start in range(0, key.size(-2), block_size):\n", "You fill up the last block with keys of zeros. Their scores are 0, and e⁰ counts in the sum of the exponentials: your results come out too close to 0. Let the last block be shorter, or set those scores to −∞."))
    at("torch.zeros_like(largest)  # mixed grows", ("shape", "in blocks", *RISING), ("as_wide_as_the_query", "torch.zeros_like(query)  # mixed grows", "What you carry of the values is K wide from the start, as the query is. Values may have another width: make it as wide as they are, Dv."))
    squeezed(at, ("shape", "values", "gradients"), "is (…, T, Dv)")


@MISTAKES.of_quiz("quiz_since_gpt_2", right.quiz_since_gpt_2)
def in_quiz_since_gpt_2(wrong):
    wrong("RMSNorm leaves out", "the root", "the root is in its name: *root* mean square. The mean is not subtracted.")
    wrong("RMSNorm leaves out", "the learned weight", "it keeps one learned number for each column, and leaves out the bias and the mean.")
    wrong("sharing keys and values saves", "computations of the feed-forward part", "the feed-forward part has no keys. What shrinks is the cache, by H / G.")
    wrong("sharing keys and values saves", "layers", "each layer keeps its keys and values, but for G groups instead of H heads.")
    wrong("the library's rotary pairs", "other angles", "the angles are those of notebook 06. Other columns are partners.")
    wrong("the library's rotary pairs", "a learned rotation", "nothing is learned: the angles follow from position and column. Other columns are partners.")
    wrong("attention in blocks gives", "an approximation", "what is carried is rescaled exactly: the result differs by rounding only.")
    wrong("attention in blocks gives", "fewer computations", "all scores are computed, as before (and a few numbers more). The *table* is never stored.")


@MISTAKES.of(right.top_k_routing)
def in_top_k_routing(at):
    at("best.softmax(dim=-1)", "values",
       ("shares_of_all", "scores.softmax(dim=-1).gather(-1, experts)", "You take the softmax over *all* experts and keep the largest shares, so a token's weights sum to less than 1. Take it over the `top_k` largest scores only."),
       ("logarithms", "best.log_softmax(dim=-1)", "You return logarithms of the weights. Take `softmax`."),
       ("in_rising_order", "best.softmax(dim=-1).flip(-1)", "Of the chosen experts the one with the smallest score gets the largest weight: weights and places are in opposite orders. Take values and places from the same `topk`."),
       ("raw_scores", "best", "The scores are returned as they are: the softmax over the `top_k` largest is missing."),
       ("all_alike", "torch.full_like(best, 1 / top_k)", "Each chosen expert counts 1/k. How much it counts follows from its score: softmax over the chosen ones."),
       ("divided_by_the_sum", "best / best.sum(dim=-1, keepdim=True)", "You divide the scores by their sum, which can be 0 or negative. Take their softmax."),
       ("sigmoid", "best.sigmoid()", "A sigmoid looks at each score by itself, so the weights don't sum to 1. Take the softmax over the chosen ones."),
       ("over_tokens", "best.softmax(dim=0)", "Your softmax runs over the first axis, so tokens are mixed. It belongs over the experts chosen, `dim=-1`."))
    at(("scores.topk(top_k, dim=-1)", "scatter(-1, experts, best.softmax(dim=-1))"), ("shape", "values", "zeros"), ("over_the_first_axis", ("scores.topk(top_k, dim=0)", "scatter(0, experts, best.softmax(dim=0))"), "You choose along the first axis. Each token chooses among its experts, along the last: `dim=-1`."))
    at("return torch.zeros_like(scores).scatter(-1, experts, best.softmax(dim=-1))", ("values", "zeros"), ("written_in_every_row", "weights = torch.zeros_like(scores)\n    weights[..., experts] = best.softmax(dim=-1)\n    return weights", "In each token's row stand the weights of other tokens' experts, too. (Do you write them with `result[..., indices] = …`? That writes to the places of all tokens in every row.) `scatter(-1, indices, …)` writes to each row's own places."))
    at("scores.topk(top_k, dim=-1)", "values",
       ("smallest", "scores.topk(top_k, dim=-1, largest=False)", "You take the *smallest* scores. The `top_k` largest are needed."),
       ("by_size", "(lambda experts: (scores.gather(-1, experts), experts))(scores.abs().topk(top_k, dim=-1).indices)", "You choose by the absolute value. A very negative score means: not this expert."),
       ("one_set_for_all", "(lambda experts: (scores.gather(-1, experts), experts))(scores.flatten(0, -2).mean(dim=0).topk(top_k).indices.expand(*scores.shape[:-1], top_k))", "You choose one set of experts for all tokens. Each token goes to those with *its* largest scores."),
       ("absolute_scores", "scores.abs().topk(top_k, dim=-1)", "You choose by the absolute value, and take the softmax of it. A very negative score means: not this expert."),
       ("one_too_few", "scores.topk(max(top_k - 1, 1), dim=-1)", "One expert too few is chosen. `top_k` of them are needed.", ("values", "zeros")),
       ("one_expert", "scores.topk(1, dim=-1)", "Only one expert is chosen. `top_k` of them are needed.", ("values", "zeros")),
       ("kth_smallest", "(lambda kept: (kept, torch.arange(kept.size(-1)).expand_as(kept)))(scores.masked_fill(scores < scores.kthvalue(top_k, dim=-1, keepdim=True).values, -torch.inf))", "Your bound is the k-th *smallest* score (`kthvalue` counts from below), so too many or too few experts stay. Take the k-th largest.", ("values", "zeros")),
       ("one_too_many", "scores.topk(min(top_k + 1, scores.size(-1)), dim=-1)", "One expert too many is chosen. `top_k` of them are needed.", ("values", "zeros")))
    at("torch.zeros_like(scores).scatter(-1, experts, best.softmax(dim=-1))", "values",
       ("one_bound_for_all", "scores.masked_fill(scores < scores.flatten().topk(top_k).values[-1], -torch.inf).softmax(dim=-1)", "There is one bound for all tokens. Each has its own: its k-th largest score, along `dim=-1`.", ("values", "zeros")),
       ("kth_left_out", "scores.masked_fill(scores <= best[..., -1:], -torch.inf).softmax(dim=-1)", "The last of the `top_k` chosen experts is left out: you keep scores *above* the k-th largest. Keep those that are at least as large.", ("values", "zeros")),
       ("bound_after_the_last", "scores.masked_fill(scores <= scores.sort(dim=-1, descending=True).values[..., top_k : top_k + 1], -torch.inf).softmax(dim=-1)", "Your bound is the score after the last chosen one. For `top_k` = E there is none. Take the last chosen score itself, and keep what is at least as large.", ("shape", "values")),
       ("index_after_the_last", "scores.masked_fill(scores <= scores.sort(dim=-1, descending=True).values[..., top_k].unsqueeze(-1), -torch.inf).softmax(dim=-1)", "Your bound is the score after the last chosen one. For `top_k` = E there is none. Take the last chosen score itself, and keep what is at least as large.", ("shape", "values")),
       ("chosen_only", "best.softmax(dim=-1)", "You return the weights of the chosen experts only, so nobody knows whose they are. Put each at its expert's place, and 0 elsewhere: shape (…, E).", ("shape", "values")),
       ("hidden_by_0", "torch.zeros_like(scores).scatter(-1, experts, best).softmax(dim=-1)", "The other scores become 0, and e⁰ = 1, so their experts count, too. They must become −∞ before the softmax.", ("values", "zeros")),
       ("zeros_hidden", "(lambda kept: kept.masked_fill(kept == 0, -torch.inf).softmax(dim=-1))(torch.zeros_like(scores).scatter(-1, experts, best))", "You hide every place that holds 0. A chosen score may be 0 itself, and then its expert loses its weight. Hide the places that were not chosen."),
       ("hidden_by_minus_100", "scores.masked_fill(scores < best[..., -1:], -100.0).softmax(dim=-1)", "Hidden scores become a number such as −100. Other scores can be lower still, and e^(−100) is not 0: they must become −∞.", ("values", "zeros")),
       ("hundred_subtracted", "(scores - 100.0 * (scores < best[..., -1:])).softmax(dim=-1)", "You lower the other scores by a number, so their experts keep a tiny weight. It must be exactly 0: −∞ before the softmax.", "zeros"),
       ("in_order_of_size", "torch.cat([best.softmax(dim=-1), torch.zeros_like(scores[..., top_k:])], dim=-1)", "The weights stand in the order of their size, in the first places. Each belongs at its expert's own place."))


@MISTAKES.of(right.LoRALinear)
def in_LoRALinear(at):
    ALL = ("shape", "values", "parameters", "start", "frozen", "merged")
    class_beginnings(at, ALL, takes="linear, rank, alpha")
    at("linear.requires_grad_(False)", "frozen", ("still_learns", "linear", "The layer's own weight still learns. Freeze it: `requires_grad_(False)`."))
    at(("self.linear = linear.requires_grad_(False)", "self.linear(x) + self"), "frozen", ("result_cut_off_instead", ("self.linear = linear", "self.linear(x).detach() + self"), "The layer's result is cut off (`detach` or `torch.no_grad`), but its parameters still have `requires_grad=True`. Freeze them: `linear.requires_grad_(False)`."))
    at(("torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)", "torch.zeros(linear.out_features, rank)"), "start", ("starts_exchanged", ("torch.zeros(rank, linear.in_features)", "torch.randn(linear.out_features, rank)"), "`lora_A` starts at 0 and `lora_B` with random numbers in yours. It is the other way round."))
    at("self.linear = linear.requires_grad_(False)", "frozen", ("bias_still_learns", "self.linear = linear\n        linear.weight.requires_grad_(False)", "The layer's weight is frozen, its bias still learns. Freeze both: `linear.requires_grad_(False)`."))
    at("torch.zeros(linear.out_features, rank)", "start", ("both_random", "torch.randn(linear.out_features, rank)", "Both matrices start with random numbers, so a new layer does something else than the trained one. `lora_B` starts at 0."))
    at("torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)", "start", ("both_zero", "torch.zeros(rank, linear.in_features)", "Both matrices start at 0. Then neither gets a gradient, and nothing is ever learned. `lora_A` starts with random numbers."))
    at("self.scale = alpha / rank", ("values", "merged"),
       ("not_divided", "self.scale = alpha", "You scale by alpha. It is alpha / rank."),
       ("not_scaled", "self.scale = 1.0", "What is added is not scaled, so `alpha` has no effect. The factor is alpha / rank."),
       ("times_rank", "self.scale = alpha * rank", "You scale by alpha · rank. It is alpha / rank."),
       ("turned_round", "self.scale = rank / alpha", "You scale by rank / alpha. It is alpha / rank."),
       ("whole_division", "self.scale = alpha // rank", "alpha / rank is cut down to a whole number (`//` does that). Divide with `/`."),
       ("root_of_rank", "self.scale = alpha / math.sqrt(rank)", "You scale by alpha / √rank. It is alpha / rank."))
    at(("torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)", "torch.zeros(linear.out_features, rank)"), ALL, ("features_exchanged", ("torch.randn(rank, linear.out_features)", "torch.zeros(linear.in_features, rank)"), "D and F are exchanged: a layer's `weight` has the shape (F, D), outputs first. `lora_A` is (R, D), `lora_B` is (F, R)."))
    at(("nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))", "nn.Parameter(torch.zeros(linear.out_features, rank))", "self.scale * (x @ self.lora_A.T @ self.lora_B.T)", "self.lora_B @ self.lora_A"), ("values", "parameters", "start", "frozen", "merged"), ("layers", ("nn.Linear(linear.in_features, rank, bias=False)", "nn.Linear(rank, linear.out_features, bias=False)", "self.scale * self.lora_B(self.lora_A(x))", "self.lora_B.weight @ self.lora_A.weight"), "`lora_A` and `lora_B` are layers (`nn.Linear`) in yours, so their parameters have other names. Make each an `nn.Parameter`: (R, D) and (F, R)."))
    at("nn.Parameter(torch.zeros(linear.out_features, rank))", ("values", "parameters", "frozen", "merged"), ("lora_B_no_parameter", "torch.zeros(linear.out_features, rank)", "`lora_B` is no parameter, so it never learns: wrap it in `nn.Parameter`."))
    at("nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))", ("values", "parameters", "frozen", "merged"), ("lora_A_no_parameter", "torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)", "`lora_A` is no parameter, so it never learns: wrap it in `nn.Parameter`."))
    at("        self.scale = alpha / rank\n", "frozen", ("all_frozen", "        self.scale = alpha / rank\n        self.requires_grad_(False)\n", "`lora_A` and `lora_B` are frozen, too. Freeze the layer only: these two learn."))
    at("self.linear(x) + self.scale", "values",
       ("forward_not_scaled", "self.linear(x) + 1", "In `forward` the product is not scaled. It is alpha / rank there, too."),
       ("forward_scaled_twice", "self.linear(x) + self.scale**2", "In `forward` the product is scaled twice. It is alpha / rank, once."),
       ("layer_left_out", "self.scale", "What the trained layer returns is missing. The product is *added* to it.", ("values", "start")),
       ("subtracted", "self.linear(x) - self.scale", "You subtract what was learned. Add it."),
       ("bias_left_out", "F.linear(x, self.linear.weight) + self.scale", "The layer's bias is missing from your result. Call the layer itself: `self.linear(x)`.", ("values", "start")))
    for name in ("lora_A", "lora_B"):
        at("        self.scale = alpha / rank\n", "frozen", (f"{name}_frozen", f"        self.scale = alpha / rank\n        self.{name}.requires_grad_(False)\n", f"`{name}` is frozen, too. Only the layer is: `lora_A` and `lora_B` learn."))
    at("x @ self.lora_A.T @ self.lora_B.T", ("shape", "values", "parameters", "start", "frozen"), ("not_transposed", "x @ self.lora_A @ self.lora_B", "The two matrices are not transposed in `forward`: `lora_A` is (R, D) and `lora_B` is (F, R), so it is x Aᵀ Bᵀ."))
    at("x @ self.lora_A.T @", "frozen", ("detached", "x @ self.lora_A.detach().T @", "`lora_A` is cut off (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`), so it never learns."))
    at("self.linear(x) + self.scale * (x @ self.lora_A.T @ self.lora_B.T)", "frozen", ("both_detached", "F.linear(x, self.merged_weight().detach(), self.linear.bias)", "What is added is cut off (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`): neither `lora_A` nor `lora_B` gets a gradient."))
    at("self.linear = linear.requires_grad_(False)", "start", ("a_copy", "import copy\n        self.linear = copy.deepcopy(linear).requires_grad_(False)", "You keep a copy of the layer, which takes its memory a second time. Keep the layer itself."))
    at("torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)", "start", ("all_ones", "torch.ones(rank, linear.in_features)", "Entries of `lora_A` are alike. It starts with random numbers, so that its rows can learn different things."))
    at(("+ self.scale * (x", "T)\n"), "values", ("scaled_both", ("* self.scale + self.scale * (x", "T)\n"), "You scale the trained layer's result, too. Only what is added is scaled by alpha / rank.", ("values", "start")))
    at("self.linear.weight + self.scale * (self.lora_B @ self.lora_A)", "merged",
       ("merged_in_place", "self.linear.weight.data.add_(self.scale * (self.lora_B @ self.lora_A).detach())", "You change the trained weight itself, so a second call adds the product again. Return a new tensor."),
       ("update_only", "self.scale * (self.lora_B @ self.lora_A)", "Your merged weight lacks the trained one: W + alpha / rank · B A."),
       ("merged_scaled_by_alpha", "self.linear.weight + self.scale * self.lora_A.size(0) * (self.lora_B @ self.lora_A)", "In `merged_weight()` the product is scaled by alpha. It is alpha / rank there, too."),
       ("merged_with_the_bias", "self.linear.weight + self.scale * (self.lora_B @ self.lora_A) + (0 if self.linear.bias is None else self.linear.bias[:, None])", "Your merged weight has the bias added to each column. The bias stays a bias: only W + alpha / rank · B A is asked for."),
       ("merged_not_scaled", "self.linear.weight + self.lora_B @ self.lora_A", "The product is not scaled in `merged_weight()`: alpha / rank is needed there, too."))


@MISTAKES.of(right.quantize_rows)
def in_quantize_rows(at):
    at(("scale = weight.abs().amax(dim=-1, keepdim=True) / 127", "(weight / scale).round()"), "values", ("with_a_zero_point", ("low = weight.amin(dim=-1, keepdim=True)\n    scale = (weight.amax(dim=-1, keepdim=True) - low) / 255", "((weight - low) / scale - 128).round().clamp(-128, 127)"), "You spread the codes from each row's smallest to its largest entry, with a zero point. Here code · scale must give the weight back: the scale is the largest *absolute* entry / 127, and 0 stays 0."))
    at("True) / 127", "values",
       ("by_128", "True) / 128", "You divide by 128, so the largest absolute entry gets the code 128 or −128, and int8 has no 128. Divide by 127."),
       ("by_nothing", "True)", "Your scale is the largest absolute entry itself, so all codes are −1, 0 or 1. Divide it by 127."),
       ("by_127_5", "True) / 127.5", "You divide by 127.5. Codes go from −127 to 127: divide the largest absolute entry by 127."),
       ("by_255", "True) / 255", "You divide by 255. Codes go from −127 to 127: divide the largest absolute entry by 127."))
    at(".abs()", "values", ("without_abs", "", "You take the largest entry. Where a negative one is larger in size, its code does not fit: take the largest *absolute* entry."))
    at("weight.abs().amax(dim=-1, keepdim=True)", "values",
       ("abs_after_the_maximum", "weight.amax(dim=-1, keepdim=True).abs()", "You take the largest entry, and then its absolute value. Where a negative one is larger in size, its code does not fit: first `abs`, then the maximum."),
       ("one_scale_alone", "weight.abs().max().reshape(1, 1)", "There is one scale for the whole matrix. Each row has its own: (F, 1).", ("shape", "values")),
       ("one_number", "weight.abs().max()", "There is one scale for the whole matrix. Each row has its own: (F, 1).", ("shape", "values")),
       ("one_scale", "weight.abs().max().expand(weight.size(0), 1)", "There is one scale for the whole matrix. Each row has its own."),
       ("each_column", "weight.abs().amax(dim=0, keepdim=True)", "Your scales belong to the columns. Each *row* has its own.", ("shape", "values")),
       ("no_keepdim", "weight.abs().amax(dim=-1)", "Your scales are (F,), so PyTorch lines them up with the columns. Keep the axis, (F, 1): `keepdim=True`.", ("shape", "int8", "values")))
    at("(weight / scale).round()", "values",
       ("cut_off", "(weight / scale)", "What stands behind the point is cut off (`.to(torch.int8)` does that). Round first."),
       ("half_added", "(weight / scale + 0.5)", "You add ½ and cut off what stands behind the point. That rounds positive numbers only: a cut goes toward 0, so a code of −2 comes out as −1. Use `round()`."),
       ("rounded_before_127", "((weight / (127 * scale)).round() * 127)", "You round before you multiply by 127, so all codes are −127, 0 or 127. Multiply first, then round."),
       ("rounded_up", "(weight / scale).ceil()", "You round up. Round to the nearest whole number."),
       ("rounded_down", "(weight / scale).floor()", "You round down. Round to the nearest whole number."))
    at("(weight / scale)", "values", ("without_sign", "(weight.abs() / scale)", "Your codes have no signs: the scale comes from the absolute entries, the codes from the entries themselves."))
    at("weight / scale", "values", ("multiplied", "weight * scale", "You multiply by the scale. Codes come from dividing by it."))
    at(".to(torch.int8)", "int8",
       ("not_int8", "", "The codes are whole, but of a type with four bytes each. Convert them: `.to(torch.int8)`.", ("shape", "int8")),
       ("int64", ".to(torch.int64)", "The codes take eight bytes each. They fit into one: `.to(torch.int8)`."),
       ("uint8", ".to(torch.uint8)", "Your codes are of the type uint8, which has no negative numbers: −30 becomes 226. Take `torch.int8`.", ("values", "int8")))
    at("return (weight / scale).round().to(torch.int8), scale", ("shape", "values", "int8"), ("codes_only", "return (weight / scale).round().to(torch.int8)", "You return the codes only. Return a pair: `codes, scale`."))
    at("(weight / scale).round().to(torch.int8), scale", ("shape", "values", "int8"), ("scale_first", "scale, (weight / scale).round().to(torch.int8)", "You return the scales first. The codes come first: `codes, scale`."))
    at(", scale\n", "values", ("one_over_scale", ", 1 / scale\n", "You return 1 / scale. The codes times the scale give the weight back."))


@MISTAKES.of(right.min_p_probabilities)
def in_min_p_probabilities(at):
    at("min_p * probabilities.amax(dim=-1, keepdim=True)", "values",
       ("bound_itself", "min_p", "You cut at `min_p` itself. The bound is `min_p` *times the largest probability*.", ("values", "keeps one", "zeros")),
       ("largest_over_positions", "min_p * probabilities.amax(dim=0, keepdim=True)", "Your largest probability is taken along the first axis. Each position has its own: `dim=-1`.", ("values", "keeps one", "zeros")),
       ("one_minus_min_p", "(1 - min_p) * probabilities.amax(dim=-1, keepdim=True)", "Your bound is 1 − `min_p` times the largest probability. It is `min_p` times.", ("values", "keeps all", "keeps one", "zeros")),
       ("largest_of_all", "min_p * probabilities.amax()", "You take the largest probability of the whole tensor. Each position has its own: `dim=-1`.", ("values", "keeps one", "zeros")),
       ("bound_of_the_mean", "min_p * probabilities.mean(dim=-1, keepdim=True)", "Your bound is a part of the *mean* probability. Take the largest.", ("values", "keeps one", "zeros")))
    at(("min_p * probabilities.amax(dim=-1, keepdim=True)", "probabilities < least"), ("values", "zeros"), ("largest_of_all_and_the_best", ("min_p * probabilities.amax()", "(probabilities < least) & (probabilities < probabilities.amax(dim=-1, keepdim=True))"), "You take the largest probability of the whole tensor. Each position has its own: `dim=-1`."))
    at("kept / kept.sum(dim=-1, keepdim=True)", ("values", "keeps one"),
       ("sum_of_all", "kept / kept.sum()", "You divide by the sum of all positions together. Each position has its own: `dim=-1`, `keepdim=True`.", ("values", "keeps all", "keeps one")),
       ("not_divided", "kept", "Where tokens were removed, what is left sums to less than 1. Divide it by its sum."),
       ("softmax_again", "kept.softmax(dim=-1)", "A second softmax gives each removed token e⁰ = 1 again. Divide by the sum instead.", ("values", "keeps all", "keeps one", "zeros")))
    at((", 0.0)", "kept / kept.sum(dim=-1, keepdim=True)"), "values", ("softmax_of_probabilities", (", -torch.inf)", "kept.softmax(dim=-1)"), "You take a second softmax, of the probabilities. It makes them more alike: divide by their sum instead.", ("values", "keeps all")))
    at("kept / kept.sum(dim=-1, keepdim=True)", ("values", "keeps one", "zeros"), ("hidden_by_0", "logits.masked_fill(probabilities < least, 0.0).softmax(dim=-1)", "The *logits* of removed tokens become 0, and e⁰ = 1, so they count again. They must become −∞, or their probabilities 0."))
    at("kept / kept.sum(dim=-1, keepdim=True)", "keeps one", ("first_of_equals", "kept / kept.sum(dim=-1, keepdim=True) if min_p < 1 else F.one_hot(probabilities.argmax(dim=-1), logits.size(-1)).to(logits)", "For `min_p` = 1 you keep one token, also where several are equally probable (`argmax` gives one of them only). All tokens as probable as the most probable one stay, with equal parts."))
    at("kept / kept.sum(dim=-1, keepdim=True)", "zeros", ("hundred_subtracted", "(logits - 100.0 * (probabilities < least)).softmax(dim=-1)", "You lower the logits of removed tokens by a number, so they keep a tiny probability. It must be exactly 0."))
    at("probabilities < least", ("values", "keeps all", "keeps one", "zeros"),
       ("turned_round_at_the_bound", "probabilities > least", "You remove the probable tokens and keep the rare ones. It is the other way round.", ("values", "keeps all", "keeps one", "zeros")),
       ("turned_round", "probabilities >= least", "You remove the probable tokens and keep the rare ones. It is the other way round."),
       ("bound_removed", "probabilities <= least", "A token exactly at the bound is removed, so that nothing is left for `min_p` = 1. It stays.", "keeps one"),
       ("log_of_0", "probabilities.log() < math.log(min_p) + probabilities.amax(dim=-1, keepdim=True).log()", "`min_p` = 0 stops your program (`math.log(0)` does, for example). It is allowed, and keeps all tokens.", "keeps all"),
       ("distance_of_logits", "logits.amax(dim=-1, keepdim=True) - logits > min_p", "You compare distances of logits with `min_p`. The bound is `min_p` times the largest *probability*.", ("values", "keeps all", "keeps one", "zeros")),
       ("times_the_smallest", "probabilities < min_p * probabilities.amin(dim=-1, keepdim=True)", "Your bound is `min_p` times the *smallest* probability, so nothing is removed. Take the largest.", ("values", "keeps one", "zeros")),
       ("no_bound_for_0", "probabilities < (min_p or 1) * probabilities.amax(dim=-1, keepdim=True)", "For `min_p` = 0 you keep the most probable token only. (Does 0 count as False, as in `min_p or …`?) It keeps all tokens.", "keeps all"),
       ("bound_on_the_logits", "logits < min_p * logits.amax(dim=-1, keepdim=True)", "You compare logits. The bound is `min_p` times the largest *probability*: take the softmax first.", ("values", "keeps all", "zeros")))
    at("least = min_p * probabilities.amax(dim=-1, keepdim=True)  # (..., 1)\n    kept = probabilities.masked_fill(probabilities < least, 0.0)", ("values", "keeps all", "keeps one", "zeros"), *((name, f"largest, order = probabilities.sort(dim=-1, descending=True)\n    kept = torch.zeros_like(probabilities).scatter(-1, order, largest.masked_fill(largest.cumsum(dim=-1) - largest {sign} min_p, 0.0))", "This is top-p: you keep the fewest tokens that together reach `min_p`. Min-p compares each token with the most probable one.") for name, sign in (("top_p", ">"), ("top_p_until", ">="))))
    at("logits.softmax(dim=-1)", ("values", "keeps all", "keeps one", "zeros"),
       ("on_logits", "logits", "You compare the logits. The bound is a part of a *probability*: softmax first.", ("values", "keeps all", "zeros")),
       ("over_the_first_axis", "logits.softmax(dim=0)", "Your softmax runs over the first axis. It belongs over the tokens, `dim=-1`."))
