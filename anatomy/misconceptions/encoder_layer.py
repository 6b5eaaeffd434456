"""Wrong answers to the exercises of 05-encoder-layer."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.encoder_layer import FeedForward, LayerNorm, SelfAttention, quiz_encoder_layer

# ---------------------------------------------------------------------------------------------- gelu


@misconception(
    "This is ReLU: it cuts off everything below zero. GELU is x·Φ(x), smooth, and slightly negative between about"
    " −3 and 0.",
    breaks=("values", "gradients"),
)
def gelu__relu(x):
    return x.clamp(min=0)


@misconception(
    "You wrote the tanh approximation, which differs from GELU by up to 0.0005. It saves time on some machines, "
    "and GPT-2 was trained with it; here the exact one is wanted, with `torch.erf`.",
    breaks=("values", "gradients"),
)
def gelu__tanh_approximation(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@misconception(
    "x·σ(1.702·x) is the fast approximation of GELU; it is off by up to 0.02. Here the exact one is wanted, with "
    "`torch.erf`.",
    breaks=("values", "gradients"),
)
def gelu__sigmoid_approximation(x):
    return x * torch.sigmoid(1.702 * x)


@misconception(
    "x·σ(x) is SiLU, also called Swish. It looks alike; GELU weighs x with the normal distribution's Φ(x), which "
    "takes `torch.erf`.",
    breaks=("values", "gradients"),
)
def gelu__silu(x):
    return x * torch.sigmoid(x)


@misconception(
    "Your erf gets x; it should get x/√2. The error function belongs to a normal distribution of variance ½, and "
    "the √2 brings it to variance 1.",
    breaks=("values", "gradients"),
)
def gelu__erf_of_x(x):
    return 0.5 * x * (1 + torch.erf(x))


@misconception(
    "You divide by 2 inside the erf; √2 is wanted there.",
    breaks=("values", "gradients"),
)
def gelu__erf_of_half_x(x):
    return 0.5 * x * (1 + torch.erf(x / 2))


@misconception(
    "Inside the erf you multiply x by √2; divide by it instead.",
    breaks=("values", "gradients"),
)
def gelu__erf_of_x_times_root_2(x):
    return 0.5 * x * (1 + torch.erf(x * math.sqrt(2)))


@misconception(
    "The factor ½ is missing: 1 + erf runs from 0 to 2, and a probability runs from 0 to 1. All your values are "
    "twice too large.",
    breaks=("values", "gradients"),
)
def gelu__no_half(x):
    return x * (1 + torch.erf(x / math.sqrt(2)))


@misconception(
    "You take ½ twice: once for x and once for the probability. One ½ turns 1 + erf into Φ(x).",
    breaks=("values", "gradients"),
)
def gelu__half_too_often(x):
    return 0.5 * x * (0.5 * (1 + torch.erf(x / math.sqrt(2))))


@misconception(
    "You return the probability Φ(x) itself; GELU is x times it.",
    breaks=("values", "gradients"),
)
def gelu__probability_only(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@misconception(
    "You multiply x by the normal density, the bell curve. Φ is the area under that curve to the left of x, which"
    " grows from 0 to 1: it takes `torch.erf`.",
    breaks=("values", "gradients"),
)
def gelu__density(x):
    return x * torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


@misconception(
    "There is 1 − erf in yours, the probability of being *above* x: negative numbers pass and positive ones are "
    "held back. With 1 + erf it is the other way round.",
    breaks=("values", "gradients"),
)
def gelu__minus(x):
    return 0.5 * x * (1 - torch.erf(x / math.sqrt(2)))


@misconception(
    "The 1 has to be inside the brackets: x·(1 + erf(…)), not x·erf(…) + 1.",
    breaks=("values", "gradients"),
)
def gelu__brackets(x):
    return 0.5 * (x * torch.erf(x / math.sqrt(2)) + 1)


@misconception(
    "The 1 of 1 + erf is missing. Without it negative numbers come out positive: ½·x·erf(x/√2) is the same for x "
    "and −x.",
    breaks=("values", "gradients"),
)
def gelu__one_forgotten(x):
    return 0.5 * x * torch.erf(x / math.sqrt(2))


@misconception(
    "This is softplus, ln(1 + eˣ): smooth as well, but never negative, and 0.69 at zero. GELU is x·Φ(x).",
    breaks=("values", "gradients"),
)
def gelu__softplus(x):
    return torch.log1p(torch.exp(-x.abs())) + x.clamp(min=0)


@misconception(
    "The probability is cut off from x (`detach`, `torch.no_grad` or `.data`), so the gradient is only Φ(x); the "
    "part x·φ(x), which comes from the probability, is missing.",
    breaks=("gradients",),
)
def gelu__detached(x):
    with torch.no_grad():
        probability = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return x * probability


@misconception(
    "You change `x` in place (an assignment like `x *= …` writes into the caller's numbers). Make a new tensor.",
    breaks=("values", "gradients"),
)
def gelu__in_place(x):
    return x.mul_(0.5 * (1 + torch.erf(x / math.sqrt(2))))


# ---------------------------------------------------------------------------------------------- LayerNorm


@misconception(
    "You divide the squares by D − 1 (`var` and `std` of PyTorch do so unless told otherwise). Layer norm uses "
    "the biased variance, divided by D: `correction=0`. Here D = {D}, so your values are too small by √({D}/({D} "
    "− 1)).",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__unbiased(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "You divide by `x.std(…) + eps`. Two things differ from layer norm: `std` divides by D − 1 unless told "
    "otherwise, and eps belongs to the variance, under the root.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__unbiased_std_plus_eps(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return self.weight * (x - mean) / (x.std(-1, keepdim=True) + self.eps) + self.bias


@misconception(
    "Your eps stands outside the root. It is added to the variance, under the root: √(variance + eps). With a "
    "tiny variance that is a different number.",
    breaks=("eps",),
)
class LayerNorm__eps_outside(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / (x.var(-1, correction=0, keepdim=True).sqrt() + self.eps) * self.weight + self.bias


@misconception(
    "eps is not used. A token whose numbers are all equal has variance 0, and 0/0 is nan: add eps to the "
    "variance, under the root.",
    breaks=("eps",),
)
class LayerNorm__no_eps(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / x.var(-1, correction=0, keepdim=True).sqrt() * self.weight + self.bias


@misconception(
    "You use an eps of your own, 1e-5; take the one that is handed to the constructor. BERT's is 1e-12.",
    breaks=("eps",),
)
class LayerNorm__eps_fixed(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + 1e-5) * self.weight + self.bias


@misconception(
    "You add eps², as if eps belonged to the standard deviation. It is added to the variance as it is.",
    breaks=("eps",),
)
class LayerNorm__eps_squared(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps**2) * self.weight + self.bias


@misconception(
    "eps is subtracted from the variance. It is added, so that the root never gets zero or less.",
    breaks=("eps",),
)
class LayerNorm__eps_subtracted(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) - self.eps) * self.weight + self.bias


@misconception(
    "You divide by the variance; its root, the standard deviation, is what brings the spread to 1.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__divides_by_variance(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / (x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "You multiply by the standard deviation. Divide by it: tokens with a wide spread are to become narrower.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__multiplies(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) * torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "Your mean and variance run over the tokens of a sentence (the axis before the last). Layer norm looks at one"
    " token at a time: its own D numbers, the last axis.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__over_tokens(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        if x.dim() == 1:
            return self.bias + 0 * x
        mean, variance = x.mean(-2, keepdim=True), x.var(-2, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "Your mean and variance run over axis 1, the tokens of a sentence; the D numbers of one token are wanted, the"
    " last axis, `dim=-1`.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__over_axis_1(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean, variance = x.mean(1, keepdim=True), x.var(1, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "This is batch norm: mean and variance run over all tokens of all sentences, one pair per column. Layer norm "
    "computes one pair per token, over its own D numbers.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__batch_norm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        axes = tuple(range(x.dim() - 1))
        mean, variance = x.mean(axes, keepdim=True), x.var(axes, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "Your mean and variance run over the batch (axis 0): tokens of different sentences get mixed. Layer norm "
    "looks at one token at a time, the last axis.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__over_batch(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean, variance = x.mean(0, keepdim=True), x.var(0, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "You take one mean and one variance over the whole tensor, so tokens and sentences get mixed. Each token has "
    "its own: reduce over the last axis only, with `keepdim=True`.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__over_everything(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        variance = x.var(correction=0)
        return (x - x.mean()) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "You take one mean and one variance per sentence, over its tokens and columns. Each token has its own: reduce"
    " over the last axis only.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__over_sentence(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        axes = tuple(range(x.dim()))[-2:]
        mean, variance = x.mean(axes, keepdim=True), x.var(axes, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "`dim=2` is the last axis only when x has three axes. The contract says any leading axes: `dim=-1` is always "
    "the last.",
    breaks=("shape",),
)
class LayerNorm__only_three_axes(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean, variance = x.mean(2, keepdim=True), x.var(2, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "Without `keepdim=True` the mean has shape (B, T), and PyTorch lines up its last axis, T, with the last axis "
    "of x, D. Keep the axis, as size 1, so that each token meets its own mean.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__no_keepdim(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return (x - x.mean(-1)) / torch.sqrt(x.var(-1, correction=0) + self.eps) * self.weight + self.bias


@misconception(
    "The mean is not subtracted (that is RMS norm's idea, with another denominator). Layer norm first moves each "
    "token's numbers to mean 0.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__mean_not_subtracted(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "This is RMS norm: no mean is subtracted, and the root of the mean square is the divisor. It serves well in "
    "many newer models; layer norm subtracts the mean first.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__rms(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "You subtract the mean but don't divide: each token keeps its own spread. Divide by √(variance + eps).",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__variance_not_divided(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return (x - x.mean(-1, keepdim=True)) * self.weight + self.bias


@misconception(
    "`weight` and `bias` exist but are not applied: multiply the normalized numbers by `weight`, then add `bias`.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__weight_and_bias_unused(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps)


@misconception(
    "`bias` exists but is not added at the end.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__bias_unused(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight


@misconception(
    "Your weight also multiplies the bias. The order is: normalize, times `weight`, then plus `bias`.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__bias_scaled_too(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return ((x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) + self.bias) * self.weight


@misconception(
    "`weight` and `bias` have changed places: the numbers are multiplied by `weight` and shifted by `bias`.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__swapped(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.bias + self.weight


@misconception(
    "`weight` and `bias` are applied before the normalization, which undoes most of them. They come last, so that"
    " the layer can choose its scale.",
    breaks=("values", "gradients", "eps"),
)
class LayerNorm__scales_before(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        x = x * self.weight + self.bias
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps)


@misconception(
    "The two parameters are to be called `weight` and `bias` (the 2016 paper says gain and bias, some code gamma "
    "and beta): trained weights will be copied in by these names.",
    breaks=("shape", "values", "parameters", "gradients", "eps"),
)
class LayerNorm__other_names(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.gamma, self.beta = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.gamma + self.beta


@misconception(
    "`weight` and `bias` are plain tensors, so PyTorch does not know that they are to be learned: wrap them in "
    "`nn.Parameter`.",
    breaks=("shape", "values", "parameters", "gradients", "eps"),
)
class LayerNorm__plain_tensors(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = torch.ones(dim), torch.zeros(dim)

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "Your `weight` and `bias` start at random. A new layer norm is to change nothing beyond the norm: `weight` "
    "starts at 1, `bias` at 0.",
    breaks=("parameters",),
)
class LayerNorm__random_start(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        torch.manual_seed(0)
        self.weight, self.bias = nn.Parameter(torch.randn(dim)), nn.Parameter(torch.randn(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "Your `weight` starts at 0, so a new layer returns nothing but zeros, whatever comes in. It starts at 1, "
    "`bias` at 0.",
    breaks=("parameters",),
)
class LayerNorm__zero_start(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "One `weight` and one `bias` for all columns: each of the D columns has its own, so both have shape (D,).",
    breaks=("shape", "values", "parameters", "gradients", "eps"),
)
class LayerNorm__single_numbers(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + self.eps) * self.weight + self.bias


@misconception(
    "Mean and variance are cut off from x (`detach`, `torch.no_grad` or `.data`). They depend on x, and the "
    "gradient has to know it.",
    breaks=("gradients", "eps"),
)
class LayerNorm__no_gradient_through_statistics(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        with torch.no_grad():
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


@misconception(
    "You change `x` in place. In a layer the skip connection still needs the x from before the norm; make a new "
    "tensor.",
    breaks=("shape", "values", "gradients", "eps"),
)
class LayerNorm__in_place(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        variance = x.var(-1, correction=0, keepdim=True)
        x -= x.mean(-1, keepdim=True)
        return x / torch.sqrt(variance + self.eps) * self.weight + self.bias


# ---------------------------------------------------------------------------------------------- FeedForward


@misconception(
    "You use ReLU between the two layers, as the 2017 paper did; here it is GELU, as in BERT.",
    breaks=("values", "gradients"),
)
class FeedForward__relu(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.linear_1(x).relu()))


@misconception(
    "Your GELU is the tanh approximation; the exact one is wanted: your `gelu`, or `nn.GELU()` without `approximate`.",
    breaks=("values", "gradients"),
)
class FeedForward__tanh_gelu(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU(approximate="tanh")
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "There is no GELU between the two layers. Two linear layers in a row are one linear layer, however wide the "
    "middle is.",
    breaks=("values", "gradients"),
)
class FeedForward__no_activation(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.linear_1(x)))


@misconception(
    "Your GELU comes after `linear_2`. It belongs between the two layers: without it there they are one linear layer.",
    breaks=("values", "gradients"),
)
class FeedForward__gelu_after_both(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.gelu(self.linear_2(self.linear_1(x))))


@misconception(
    "There is a second GELU after `linear_2`. What is added to the tokens must be free to be negative: one GELU, "
    "between the layers.",
    breaks=("values", "gradients"),
)
class FeedForward__gelu_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.gelu(self.linear_2(self.gelu(self.linear_1(x)))))


@misconception(
    "Your GELU comes before `linear_1`; it belongs between the two layers.",
    breaks=("values", "gradients"),
)
class FeedForward__gelu_first(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.linear_1(self.gelu(x))))


@misconception(
    "You add x at the end. The skip connection belongs to the layer around this module, which will add it again.",
    breaks=("values", "gradients", "dropout"),
)
class FeedForward__skip_inside(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return x + self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "In training mode nothing is dropped. `self.dropout` has to be called in `forward`, on what `linear_2` returns.",
    breaks=("dropout",),
)
class FeedForward__no_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.linear_2(self.gelu(self.linear_1(x)))


@misconception(
    "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` module "
    "knows the mode by itself.",
    breaks=("values", "gradients", "dropout"),
)
class FeedForward__dropout_always(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.p = config.hidden_dropout_prob

    def forward(self, x):
        return F.dropout(self.linear_2(self.gelu(self.linear_1(x))), self.p, training=True)


@misconception(
    "You drop too early: x, or the F numbers in the middle. Here dropout acts on the result, after `linear_2`: a "
    "share p of the D numbers that come out is zero.",
    breaks=("dropout",),
)
class FeedForward__dropout_in_the_middle(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.linear_2(self.dropout(self.gelu(self.linear_1(x))))


@misconception(
    "You drop twice, in the middle and at the end. BERT's layer does so once, at the end.",
    breaks=("dropout",),
)
class FeedForward__dropout_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.dropout(self.gelu(self.linear_1(x)))))


@misconception(
    "Your dropout uses a p of its own, 0.1. Take `config.hidden_dropout_prob`.",
    breaks=("dropout",),
)
class FeedForward__dropout_of_a_tenth(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "Your dropout takes half of the numbers, which is what `nn.Dropout()` does when it is not told p. Hand it "
    "`config.hidden_dropout_prob`.",
    breaks=("dropout",),
)
class FeedForward__dropout_of_a_half(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout()

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "You use `config.attention_probs_dropout_prob`, which is for attention weights. Here it is "
    "`config.hidden_dropout_prob`.",
    breaks=("dropout",),
)
class FeedForward__dropout_of_attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "You keep a share p instead of dropping it: `nn.Dropout` takes the probability of becoming zero.",
    breaks=("dropout",),
)
class FeedForward__keeps_p(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(1 - config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "You zero a share p and leave the rest as it was, so in training the results are too small by 1 − p on "
    "average. What remains is divided by 1 − p.",
    breaks=("dropout",),
)
class FeedForward__dropout_unscaled(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.p = config.hidden_dropout_prob

    def forward(self, x):
        y = self.linear_2(self.gelu(self.linear_1(x)))
        return y * (torch.rand_like(y) >= self.p) if self.training else y


@misconception(
    "You drop whole tokens: one decision for all D numbers. Dropout decides for each number by itself.",
    breaks=("dropout",),
)
class FeedForward__dropout_of_tokens(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.p = config.hidden_dropout_prob

    def forward(self, x):
        y = self.linear_2(self.gelu(self.linear_1(x)))
        keep = (torch.rand(y.shape[:-1]) >= self.p).unsqueeze(-1)
        return y * keep / (1 - self.p) if self.training else y


@misconception(
    "You make the middle 4·D wide. That is BERT's habit; the contract says `config.intermediate_size`, here {F} "
    "for D = {D}.",
    breaks=("values", "parameters", "gradients", "dropout"),
)
class FeedForward__four_times_as_wide(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, 4 * config.hidden_size)
        self.linear_2 = nn.Linear(4 * config.hidden_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "Your linear layers have no bias; both have one in BERT, and its weights bring numbers for them.",
    breaks=("values", "parameters", "gradients", "dropout"),
)
class FeedForward__no_bias(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


@misconception(
    "The two layers are to be called `linear_1` and `linear_2`: weights will be copied in by these names.",
    breaks=("values", "parameters", "gradients", "dropout"),
)
class FeedForward__other_names(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.fc2(self.gelu(self.fc1(x))))


@misconception(
    "There is one linear layer, D to D. The network has two: D to F, then F back to D.",
    breaks=("values", "parameters", "gradients", "dropout"),
)
class FeedForward__one_layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.gelu(self.linear_1(x)))


@misconception(
    "The sizes are swapped: `linear_1` takes D numbers and gives F, `linear_2` brings F back to D.",
    breaks=("shape", "values", "parameters", "gradients", "dropout"),
)
class FeedForward__swapped_sizes(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.linear_2 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


# ---------------------------------------------------------------------------------------------- TransformerEncoderLayer


@misconception(
    "Both skip connections are missing. Each part *adds* to the tokens: x + attention(…), then x + "
    "feed_forward(…). Without the sum a token would have to pass through every part unharmed.",
    breaks=("values", "gradients", "dropout", "eps"),
)
class TransformerEncoderLayer__no_skip(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.dropout(self.attention(self.layer_norm_1(x), mask))
        return self.feed_forward(self.layer_norm_2(x))


@misconception(
    "The skip connection around attention is missing: x + attention(norm(x)), so that a token keeps itself and "
    "adds what it heard.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__no_skip_around_attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "The skip connection around the feed-forward network is missing: its result is to be added to what went into "
    "its norm.",
    breaks=("values", "gradients", "dropout", "eps"),
)
class TransformerEncoderLayer__no_skip_around_feed_forward(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return self.feed_forward(self.layer_norm_2(x))


@misconception(
    "Your norms come after the additions: that is post-norm, the arrangement of 2017 and of BERT, and the next "
    "exercise. Here the norm comes first: x + attention(norm(x)).",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__post_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "What you add to is the *normalized* x. The skip connection carries x as it came: x + attention(norm(x)), not"
    " norm(x) + attention(norm(x)).",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__skip_from_the_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        h = self.layer_norm_1(x)
        x = h + self.dropout(self.attention(h, mask))
        h = self.layer_norm_2(x)
        return h + self.feed_forward(h)


@misconception(
    "You normalize what attention and feed-forward return, before adding it. In pre-norm the norm comes before "
    "them: x + attention(norm(x)).",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__norm_of_the_branch(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.layer_norm_1(self.dropout(self.attention(x, mask)))
        return x + self.layer_norm_2(self.feed_forward(x))


@misconception(
    "The two norms exist but are not called: each part gets the normalized tokens, attention(layer_norm_1(x)) and"
    " feed_forward(layer_norm_2(x)).",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__no_norms(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(x, mask))
        return x + self.feed_forward(x)


@misconception(
    "`layer_norm_2` is never called: the feed-forward network gets normalized tokens too, "
    "feed_forward(layer_norm_2(x)).",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__second_norm_forgotten(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(x)


@misconception(
    "`layer_norm_1` is never called: attention gets normalized tokens, attention(layer_norm_1(x)).",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__first_norm_forgotten(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(x, mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "You use `layer_norm_1` in both places. Each part has a norm of its own, with its own weight and bias; "
    "`layer_norm_2` learns nothing in yours.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__one_norm_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_1(x))


@misconception(
    "Your two norms are one and the same module under two names. Make two: each has its own weight and bias.",
    breaks=("values", "parameters", "gradients", "dropout", "mask", "eps"),
)
class TransformerEncoderLayer__norms_shared(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "Your norms have changed places: `layer_norm_1` belongs to attention, `layer_norm_2` to the feed-forward network.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__norms_swapped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_2(x), mask))
        return x + self.feed_forward(self.layer_norm_1(x))


@misconception(
    "Both parts get the tokens as they came. Here they work one after the other: the feed-forward network gets "
    "what attention has already added to. (A few later models do it your way, in parallel.)",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__parallel(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        attended = self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + attended + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "The second sum starts from the layer's input again, so what attention added is lost on the way (only the "
    "feed-forward network has seen it). Add to the sum after attention.",
    breaks=("values", "gradients", "dropout", "eps"),
)
class TransformerEncoderLayer__attention_lost(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        h = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(h))


@misconception(
    "The second norm gets the layer's input instead of the sum after attention.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__second_norm_of_the_input(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        h = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return h + self.feed_forward(self.layer_norm_2(self.layer_norm_1(x)))


@misconception(
    "The layer's input enters twice: once in each sum. The second sum adds to the first one's result only.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__input_added_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        h = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + h + self.feed_forward(self.layer_norm_2(h))


@misconception(
    "You normalize the result as well. A pre-norm layer hands its sum on as it is; one norm at the very end of "
    "the whole stack takes care of it.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__normalized_at_the_end(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))


@misconception(
    "The order is reversed: attention comes first, then the feed-forward network.",
    breaks=("values", "gradients", "eps"),
)
class TransformerEncoderLayer__feed_forward_first(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.feed_forward(self.layer_norm_2(x))
        return x + self.dropout(self.attention(self.layer_norm_1(x), mask))


@misconception(
    "You multiply where a sum is wanted: the skip connection is x + attention(…).",
    breaks=("values", "gradients", "dropout", "eps"),
)
class TransformerEncoderLayer__multiplied(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x * self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x * self.feed_forward(self.layer_norm_2(x))


@misconception(
    "The mask is not handed on: call `self.attention(…, mask)`. Otherwise the tokens look at padding.",
    breaks=("mask",),
)
class TransformerEncoderLayer__mask_ignored(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x)))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "`forward` takes no mask. Give it a second parameter, `mask=None`, and hand it on to attention.",
    breaks=("mask",),
)
class TransformerEncoderLayer__no_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.layer_norm_1(x)))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them "
    "`config.layer_norm_eps`.",
    breaks=("eps",),
)
class TransformerEncoderLayer__library_eps(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "What attention returns is not dropped in training mode. The feed-forward network brings its own dropout; "
    "attention needs the layer's.",
    breaks=("dropout",),
)
class TransformerEncoderLayer__attention_not_dropped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.attention(self.layer_norm_1(x), mask)
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "What the feed-forward network returns is dropped twice: the module does so itself already.",
    breaks=("dropout",),
)
class TransformerEncoderLayer__feed_forward_dropped_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.dropout(self.feed_forward(self.layer_norm_2(x)))


@misconception(
    "You drop numbers of the sum, so the skip connection is cut at random places. Drop what attention returns, "
    "before it is added.",
    breaks=("dropout",),
)
class TransformerEncoderLayer__sum_dropped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.dropout(x + self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "You drop what goes into attention. Dropout acts on what comes out of it, before the sum.",
    breaks=("dropout",),
)
class TransformerEncoderLayer__norm_dropped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.attention(self.dropout(self.layer_norm_1(x)), mask)
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "What attention returns is dropped with another p than `config.hidden_dropout_prob`. (The config has a second"
    " one, `attention_probs_dropout_prob`, for attention weights; and `nn.Dropout()` without an argument takes "
    "½.)",
    breaks=("dropout",),
)
class TransformerEncoderLayer__other_p(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "Your dropout after attention uses a p of its own, 0.1. Take `config.hidden_dropout_prob`.",
    breaks=("dropout",),
)
class TransformerEncoderLayer__dropout_of_a_tenth(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


# ---------------------------------------------------------------------------------------------- PostNormEncoderLayer


@misconception(
    "Your norms come before attention and feed-forward: that is pre-norm, the exercise before. Post-norm adds "
    "first and normalizes the sum: norm(x + attention(x)).",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__pre_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


@misconception(
    "Both skip connections are missing. What is normalized is the *sum*: norm(x + attention(x)), then norm(x + "
    "feed_forward(x)).",
    breaks=("values", "gradients", "dropout", "eps"),
)
class PostNormEncoderLayer__no_skip(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(self.feed_forward(x))


@misconception(
    "The skip connection around attention is missing: norm(x + attention(x)).",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__no_skip_around_attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "The skip connection around the feed-forward network is missing: norm(x + feed_forward(x)).",
    breaks=("values", "gradients", "dropout", "eps"),
)
class PostNormEncoderLayer__no_skip_around_feed_forward(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(self.feed_forward(x))


@misconception(
    "You normalize what attention returns and add x afterwards. Post-norm normalizes the sum: norm(x + "
    "attention(x)), not x + norm(attention(x)).",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__norm_inside_the_sum(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.layer_norm_1(self.dropout(self.attention(x, mask)))
        return x + self.layer_norm_2(self.feed_forward(x))


@misconception(
    "The two norms exist but are not called: each sum goes through its norm.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__no_norms(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(x, mask))
        return x + self.feed_forward(x)


@misconception(
    "There is one norm at the end; the sum after attention goes through a norm as well, `layer_norm_1`.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__first_norm_forgotten(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(x, mask))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "The last sum is not normalized: `layer_norm_2` comes at the very end.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__second_norm_forgotten(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return x + self.feed_forward(x)


@misconception(
    "You use `layer_norm_1` in both places. Each sum has a norm of its own, with its own weight and bias.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__one_norm_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_1(x + self.feed_forward(x))


@misconception(
    "Your two norms are one and the same module under two names. Make two: each has its own weight and bias.",
    breaks=("values", "parameters", "gradients", "dropout", "mask", "eps"),
)
class PostNormEncoderLayer__norms_shared(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "Your norms have changed places: `layer_norm_1` comes after attention, `layer_norm_2` after the feed-forward "
    "network.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__norms_swapped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_2(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_1(x + self.feed_forward(x))


@misconception(
    "The second sum adds the layer's input. It adds what comes out of the first norm, the same numbers that the "
    "feed-forward network gets.",
    breaks=("values", "gradients", "dropout", "eps"),
)
class PostNormEncoderLayer__second_skip_from_the_input(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        h = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(h))


@misconception(
    "The feed-forward network gets normalized tokens, but the second skip connection starts before that norm. In "
    "post-norm everything goes through the norm: norm first, then both ways from its result.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__second_skip_around_the_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(x, mask))
        return self.layer_norm_2(x + self.feed_forward(self.layer_norm_1(x)))


@misconception(
    "You normalize before attention and feed-forward and after them. Post-norm does it only after each sum.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__norms_before_and_after(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(self.layer_norm_1(x), mask)))
        return self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))


@misconception(
    "The order is reversed: attention comes first, then the feed-forward network.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__feed_forward_first(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_2(x + self.feed_forward(x))
        return self.layer_norm_1(x + self.dropout(self.attention(x, mask)))


@misconception(
    "The mask is not handed on: call `self.attention(x, mask)`. Otherwise the tokens look at padding.",
    breaks=("mask",),
)
class PostNormEncoderLayer__mask_ignored(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "`forward` takes no mask. Give it a second parameter, `mask=None`, and hand it on to attention.",
    breaks=("mask",),
)
class PostNormEncoderLayer__no_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        x = self.layer_norm_1(x + self.dropout(self.attention(x)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them "
    "`config.layer_norm_eps`.",
    breaks=("eps",),
)
class PostNormEncoderLayer__library_eps(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "What attention returns is not dropped in training mode. The feed-forward network brings its own dropout; "
    "attention needs the layer's.",
    breaks=("dropout",),
)
class PostNormEncoderLayer__attention_not_dropped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.attention(x, mask))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "What the feed-forward network returns is dropped twice: the module does so itself already.",
    breaks=("dropout",),
)
class PostNormEncoderLayer__feed_forward_dropped_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.dropout(self.feed_forward(x)))


@misconception(
    "You drop numbers of the sum, before or after its norm, so the skip connection is cut at random places. Drop "
    "what attention returns, before it is added.",
    breaks=("dropout",),
)
class PostNormEncoderLayer__sum_dropped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(self.dropout(x + self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "What attention returns is dropped with another p than `config.hidden_dropout_prob`. (The config has a second"
    " one, `attention_probs_dropout_prob`, for attention weights; and `nn.Dropout()` without an argument takes "
    "½.)",
    breaks=("dropout",),
)
class PostNormEncoderLayer__other_p(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "Your dropout after attention uses a p of its own, 0.1. Take `config.hidden_dropout_prob`.",
    breaks=("dropout",),
)
class PostNormEncoderLayer__dropout_of_a_tenth(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


@misconception(
    "The layer's input enters twice: once in each sum. The second sum adds what the first norm returned to what "
    "the feed-forward network makes of it, and nothing more.",
    breaks=("values", "gradients", "eps"),
)
class PostNormEncoderLayer__input_added_twice(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.layer_norm_1, self.layer_norm_2 = LayerNorm(width, eps), LayerNorm(width, eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        h = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + h + self.feed_forward(h))


# ---------------------------------------------------------------------------------------------- count_layer_parameters


@misconception(
    "You count the matrices only. Every linear layer also has a bias, one number per output, and each norm has a "
    "weight and a bias of D numbers.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__only_matrices(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * d * d + 2 * d * f


@misconception(
    "The biases of the linear layers are missing: D in each of attention's four layers, F in `linear_1`, D in "
    "`linear_2`.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__no_biases(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * d * d + 2 * d * f + 4 * d


@misconception(
    "The biases of the feed-forward network are missing: F in `linear_1` and D in `linear_2`.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__no_feed_forward_biases(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * d * d + 4 * d + 2 * d * f + 4 * d


@misconception(
    "4·D numbers are missing, as many as the two norms have (each a weight and a bias of D), and as many as "
    "attention has biases (D in each of its four layers). Which of the two did you leave out?",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__no_norms_or_no_attention_biases(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * (d * d + d) + 2 * d * f + f + d


@misconception(
    "You count 2·D for the norms. There are two of them in a layer, and each has a weight *and* a bias of D "
    "numbers: 4·D.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__one_norm(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * (d * d + d) + 2 * d * f + f + d + 2 * d


@misconception(
    "Attention has four linear layers: q, k, v and output_linear. You count three.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__no_output_layer(config):
    d, f = config.hidden_size, config.intermediate_size
    return 3 * (d * d + d) + 2 * d * f + f + d + 4 * d


@misconception(
    "You take the middle of the feed-forward network as 4·D. It is so in BERT base; in general it is "
    "`config.intermediate_size`.",
    breaks=("any sizes",),
)
def count_layer_parameters__four_times_as_wide(config):
    d = config.hidden_size
    return 12 * d * d + 13 * d


@misconception(
    "12·D² is the rule of thumb for F = 4·D. The exact count has biases and norms in it, and F as the config says.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__roughly_twelve(config):
    d = config.hidden_size
    return 12 * d * d


@misconception(
    "The feed-forward network has two matrices, D to F and F to D. You count one.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__one_feed_forward_matrix(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * (d * d + d) + d * f + f + d + 4 * d


@misconception(
    "A bias has one number per *output*: `linear_1` has F of them, `linear_2` has D. Yours are not F + D in all.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__wrong_feed_forward_biases(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * (d * d + d) + 2 * d * f + 2 * d + 4 * d


@misconception(
    "You multiply attention by the number of heads. Each head is only D/H wide, so all heads together have one "
    "matrix of D×D for q, one for k, one for v.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__times_heads(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * (d * d + d) * config.num_attention_heads + 2 * d * f + f + d + 4 * d


@misconception(
    "You count one head's q, k and v, D×K each. There are H such heads.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__one_head(config):
    d, f = config.hidden_size, config.intermediate_size
    return 3 * (d + 1) * (d // config.num_attention_heads) + d * d + d + 2 * d * f + f + d + 4 * d


@misconception(
    "You count all layers of the model. One layer is asked for.",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__all_layers(config):
    d, f = config.hidden_size, config.intermediate_size
    return config.num_hidden_layers * (4 * (d * d + d) + 2 * d * f + f + d + 4 * d)


@misconception(
    "There are two norms in a layer; you count three. (BERT has one more norm after its embeddings, but that is "
    "no part of a layer.)",
    breaks=("BERT base", "any sizes"),
)
def count_layer_parameters__three_norms(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * (d * d + d) + 2 * d * f + f + d + 6 * d


# ---------------------------------------------------------------------------------------------- layer_flops


@misconception(
    "You count the multiplications. By this exercise's convention each comes with an addition, so a product of "
    "(n, m) with (m, k) counts 2·n·m·k: twice your numbers.",
    breaks=("projections", "attention", "feed_forward"),
)
def layer_flops__multiplications_only(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 4 * t * d * d, "attention": 2 * t * t * d, "feed_forward": 2 * t * d * f}


@misconception(
    "Attention multiplies twice: queries with keys for the scores, then weights with values for the mixtures. You"
    " count one of the two.",
    breaks=("attention",),
)
def layer_flops__scores_only(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 8 * t * d * d, "attention": 2 * t * t * d, "feed_forward": 4 * t * d * f}


@misconception(
    "You count the scores and mixtures of one head, K numbers wide. There are H heads, and H·K = D.",
    breaks=("attention",),
)
def layer_flops__one_head(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {
        "projections": 8 * t * d * d,
        "attention": 4 * t * t * (d // config.num_attention_heads),
        "feed_forward": 4 * t * d * f,
    }


@misconception(
    "You count D numbers for each of the H heads. A head is K = D/H wide, so all of them together are D wide.",
    breaks=("attention",),
)
def layer_flops__times_heads(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {
        "projections": 8 * t * d * d,
        "attention": 4 * t * t * d * config.num_attention_heads,
        "feed_forward": 4 * t * d * f,
    }


@misconception(
    "Your attention grows with T·D². Scores are a table of T×T, each entry a dot product over D numbers in all "
    "heads together: it grows with T²·D.",
    breaks=("attention",),
)
def layer_flops__attention_linear_in_t(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 8 * t * d * d, "attention": 4 * t * d * d, "feed_forward": 4 * t * d * f}


@misconception(
    "Your `attention` contains the projections too. They have an entry of their own; here only scores and "
    "mixtures count.",
    breaks=("attention",),
)
def layer_flops__attention_with_projections(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 8 * t * d * d, "attention": 8 * t * d * d + 4 * t * t * d, "feed_forward": 4 * t * d * f}


@misconception(
    "You count half of the table, as if each token looked only at those before it. In an encoder everyone looks "
    "at everyone: T×T.",
    breaks=("attention",),
)
def layer_flops__causal_half(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 8 * t * d * d, "attention": 2 * t * (t + 1) * d, "feed_forward": 4 * t * d * f}


@misconception(
    "Four linear layers belong to the projections: q, k, v and output_linear. You count three.",
    breaks=("projections",),
)
def layer_flops__three_projections(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 6 * t * d * d, "attention": 4 * t * t * d, "feed_forward": 4 * t * d * f}


@misconception(
    "You count one projection of four: q, k, v and output_linear.",
    breaks=("projections",),
)
def layer_flops__one_projection(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 2 * t * d * d, "attention": 4 * t * t * d, "feed_forward": 4 * t * d * f}


@misconception(
    "The feed-forward network multiplies twice: by `linear_1`, D to F, and by `linear_2`, F to D.",
    breaks=("feed_forward",),
)
def layer_flops__one_feed_forward_matrix(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 8 * t * d * d, "attention": 4 * t * t * d, "feed_forward": 2 * t * d * f}


@misconception(
    "You take the middle of the feed-forward network as 4·D; it is `config.intermediate_size`.",
    breaks=("feed_forward",),
)
def layer_flops__four_times_as_wide(seq_len, config):
    t, d = seq_len, config.hidden_size
    return {"projections": 8 * t * d * d, "attention": 4 * t * t * d, "feed_forward": 16 * t * d * d}


@misconception(
    "The linear layers work on every token: T times what you count.",
    breaks=("projections", "feed_forward"),
)
def layer_flops__one_token(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 8 * d * d, "attention": 4 * t * t * d, "feed_forward": 4 * d * f}


@misconception(
    "You count the additions of the biases as well. Only matrix products are counted here.",
    breaks=("projections", "feed_forward"),
)
def layer_flops__with_biases(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {
        "projections": 8 * t * d * d + 4 * t * d,
        "attention": 4 * t * t * d,
        "feed_forward": 4 * t * d * f + t * (f + d),
    }


@misconception(
    "You count all layers of the model. One layer is asked for.",
    breaks=("projections", "attention", "feed_forward"),
)
def layer_flops__all_layers(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {
        "projections": config.num_hidden_layers * 8 * t * d * d,
        "attention": config.num_hidden_layers * 4 * t * t * d,
        "feed_forward": config.num_hidden_layers * 4 * t * d * f,
    }


@misconception(
    "You count forward and backward (three times the forward pass). Only the forward pass is asked for.",
    breaks=("projections", "attention", "feed_forward"),
)
def layer_flops__both_ways(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return {"projections": 24 * t * d * d, "attention": 12 * t * t * d, "feed_forward": 12 * t * d * f}


@misconception(
    "You return three numbers without names. A dict is asked for, with the keys projections, attention and "
    "feed_forward.",
    breaks=("projections", "attention", "feed_forward"),
)
def layer_flops__tuple(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return 8 * t * d * d, 4 * t * t * d, 4 * t * d * f


@misconception(
    "You return one number, the sum. A dict is asked for, with the keys projections, attention and feed_forward: "
    "what grows how is the point.",
    breaks=("projections", "attention", "feed_forward"),
)
def layer_flops__sum(seq_len, config):
    t, d, f = seq_len, config.hidden_size, config.intermediate_size
    return 8 * t * d * d + 4 * t * t * d + 4 * t * d * f


# ---------------------------------------------------------------------------------------------- quiz_encoder_layer

QUIZ = [
    wrong_option("quiz_encoder_layer", quiz_encoder_layer, question, option, sentence)
    for question, option, sentence in (
        (
            "moves information between tokens",
            "feed-forward network",
            "It works on every token by itself: change one token, and only that token's result changes. Attention"
            " is where tokens meet.",
        ),
        (
            "moves information between tokens",
            "layer norm",
            "It looks at the numbers of one token and at nothing else. Attention is where tokens meet.",
        ),
        (
            "mean and variance over",
            "one column of the batch",
            "That is batch norm. Layer norm takes the D numbers of one token, whoever else is in the batch.",
        ),
        (
            "mean and variance over",
            "the whole sentence",
            "Then one odd token would change all others, and padding would count. Layer norm takes the D numbers "
            "of one token.",
        ),
        (
            "norms in BERT",
            "before attention",
            "That is pre-norm, as in GPT-2. BERT keeps the arrangement of 2017: the norm comes after each addition.",
        ),
        (
            "norms in BERT",
            "before and after",
            "Some later models do that. BERT normalizes once per part, after the addition.",
        ),
        (
            "one more norm at the end",
            "post-norm",
            "Its layers end in a norm already. In pre-norm the sum is handed on as it is, and grows: a stack "
            "needs one norm at its end.",
        ),
        (
            "one more norm at the end",
            "both",
            "Post-norm layers end in a norm already; only a stack of pre-norm layers needs one more.",
        ),
        (
            "one more norm at the end",
            "neither",
            "In pre-norm nothing ever normalizes the sum itself, and it grows from layer to layer: a stack needs "
            "one norm at its end.",
        ),
        (
            "most work for 20 tokens",
            "projections",
            "They come second: 8·T·D² against 4·T·D·F, which is 16·T·D² in BERT.",
        ),
        (
            "most work for 20 tokens",
            "scores and mixtures",
            "They grow with T², but from a small start: with BERT base they catch up with the feed-forward "
            "network at T = 3072.",
        ),
    )
]
