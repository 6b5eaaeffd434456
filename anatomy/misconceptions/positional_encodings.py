"""Wrong answers to the exercises of 06-positional-encodings."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.positional_encodings import quiz_positions, sinusoidal_encoding

# ---------------------------------------------------------------------------------------------- permutation_gap


@misconception(
    "You shuffle what goes in, but compare with a result in the old order. Shuffle the second result too, `[:, perm]`, "
    "so that each token is compared with itself.",
    breaks=("values",),
)
def permutation_gap__one_side(module, x, perm):
    return (module(x[:, perm]) - module(x)).abs().max().item()


@misconception(
    "You undo the permutation on a result that was never shuffled: f(x) needs `[:, perm]`, the same order as the input "
    "got. (The inverse belongs on the other side: f(x[:, perm])[:, inverse] against f(x) would do.)",
    breaks=("values",),
)
def permutation_gap__inverse(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm.argsort()]).abs().max().item()


@misconception(
    "`x[perm]` shuffles the first axis, which is the batch: sentences change places, not words. Tokens lie along "
    "axis 1, `x[:, perm]`.",
    breaks=("values", "plain float"),
)
def permutation_gap__shuffles_batch(module, x, perm):
    return (module(x[perm]) - module(x)[perm]).abs().max().item()


@misconception(
    "You shuffle the last axis, the columns of every token; the tokens themselves lie along axis 1, `x[:, perm]`.",
    breaks=("values", "plain float"),
)
def permutation_gap__shuffles_columns(module, x, perm):
    return (module(x[..., perm]) - module(x)[..., perm]).abs().max().item()


@misconception(
    "You take the largest difference with its sign, but the largest of all can be a negative one: `.abs()` belongs "
    "before `.max()` (after it is too late).",
    breaks=("values",),
)
def permutation_gap__no_abs(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm]).max().item()


@misconception(
    "You average the differences; asked for is the largest. One token that notices its place is enough, and a mean "
    "can hide it.",
    breaks=("values",),
)
def permutation_gap__mean(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm]).abs().mean().item()


@misconception(
    "You add up all differences; asked for is the largest. A sum grows with the number of tokens, so it could not be "
    "compared between texts.",
    breaks=("values",),
)
def permutation_gap__sum(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm]).abs().sum().item()


@misconception(
    "You return the square of the largest difference; asked for is its absolute value, `.abs()`.",
    breaks=("values",),
)
def permutation_gap__squared(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm]).pow(2).max().item()


@misconception(
    "You compute the length of the whole difference (a root of a sum of squares); asked for is its largest entry.",
    breaks=("values",),
)
def permutation_gap__norm(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm]).norm().item()


@misconception(
    "You answer whether the two agree; asked for is by how much they differ, as a number: 0.0 is a better answer "
    "than True, and 0.3 a much better one than False.",
    breaks=("values", "plain float"),
)
def permutation_gap__yes_or_no(module, x, perm):
    return torch.allclose(module(x[:, perm]), module(x)[:, perm], atol=1e-6)


@misconception(
    "The number is right, but still wrapped in a tensor. A plain Python float is asked for: `.item()` or `float(…)` "
    "takes it out.",
    breaks=("plain float",),
)
def permutation_gap__tensor(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm]).abs().max()


@misconception(
    "You call a method that only an `nn.Module` has. `module` may be any callable, also a plain function: call it, "
    "and ask nothing else of it.",
    breaks=("values", "plain float"),
)
def permutation_gap__modules_only(module, x, perm):
    module.eval()
    return (module(x[:, perm]) - module(x)[:, perm]).abs().max().item()


@misconception(
    "You shuffle both: f sees the shuffled tokens on both sides, and the two results are the same, whatever f is.",
    breaks=("values",),
)
def permutation_gap__same_twice(module, x, perm):
    x = x[:, perm]
    return (module(x) - module(x)).abs().max().item()


@misconception(
    "You look at the first sentence only (`[0]`); the largest difference may be in another.",
    breaks=("values",),
)
def permutation_gap__first_sentence(module, x, perm):
    return (module(x[:, perm]) - module(x)[:, perm])[0].abs().max().item()


# ---------------------------------------------------------------------------------------------- sinusoidal_encoding


@misconception(
    "Your exponent has i where the formula has 2i: pair i turns at 10000^(−2i/D), so the frequencies fall all the way "
    "from 1 to nearly 1/10000. Yours stop at about 1/100.",
    breaks=("values",),
)
def sinusoidal_encoding__i_for_2i(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    t = torch.arange(num_positions).float()[:, None]
    i = torch.arange(dim // 2)
    pe = torch.zeros(num_positions, dim)
    pe[:, 0::2] = torch.sin(t / 10000 ** (i / dim))
    pe[:, 1::2] = torch.cos(t / 10000 ** (i / dim))
    return pe


@misconception(
    "Your exponent is twice too large: `torch.arange(0, dim, 2)` already counts 0, 2, 4, …, which is 2i. Multiplied "
    "by 2 again it is 4i.",
    breaks=("values",),
)
def sinusoidal_encoding__2i_twice(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    t = torch.arange(num_positions).float()[:, None]
    i = torch.arange(0, dim, 2)
    pe = torch.zeros(num_positions, dim)
    pe[:, 0::2] = torch.sin(t / 10000 ** (2 * i / dim))
    pe[:, 1::2] = torch.cos(t / 10000 ** (2 * i / dim))
    return pe


@misconception(
    "Each column has a frequency of its own; sine and cosine come in pairs and share one: columns 2i and 2i + 1 both "
    "use 10000^(−2i/D). Without the pair no rotation takes one position to the next.",
    breaks=("values",),
)
def sinusoidal_encoding__frequency_per_column(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(dim) / dim)
    pe = torch.zeros(num_positions, dim)
    pe[:, 0::2] = angles[:, 0::2].sin()
    pe[:, 1::2] = angles[:, 1::2].cos()
    return pe


@misconception(
    "You put all sines first and all cosines after them. That is another valid layout, the same numbers in other "
    "columns (tensor2tensor and others use it), but here sine and cosine alternate, as in the paper's formula.",
    breaks=("values",),
)
def sinusoidal_encoding__halves(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


@misconception(
    "Your positions start at 1: row 0 should be sin 0, cos 0, … = 0, 1, 0, 1, …, the encoding of position 0.",
    breaks=("values",),
)
def sinusoidal_encoding__from_one(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    t = torch.arange(1, num_positions + 1).float()[:, None]
    angles = t / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@misconception(
    "Sine and cosine have changed places: even columns (0, 2, …) hold the sine, odd ones the cosine.",
    breaks=("values",),
)
def sinusoidal_encoding__cosine_first(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)


@misconception(
    "You multiply by 10000^(2i/D) where you should divide: frequencies must fall from pair to pair, not explode.",
    breaks=("values",),
)
def sinusoidal_encoding__multiplies(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    frequencies = 10000 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.arange(num_positions).double()[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


@misconception(
    "All your columns are sines. The cosines are missing: without them sin(t) alone can't tell t from π − t, and no "
    "matrix moves one position to the next.",
    breaks=("values",),
)
def sinusoidal_encoding__only_sines(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.sin()], dim=-1).flatten(1)


@misconception(
    "You divide the exponent by the number of positions, N; it is the width D that it runs along. Position t must "
    "look the same in a short text and in a long one.",
    breaks=("values",),
)
def sinusoidal_encoding__exponent_over_n(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / num_positions)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@misconception(
    "You divide positions by their number, so they run from 0 to 1. Then a step is larger in a short text than in a "
    "long one, and no offset looks the same twice: use t itself.",
    breaks=("values",),
)
def sinusoidal_encoding__positions_over_n(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    t = torch.arange(num_positions).float()[:, None] / num_positions
    angles = t / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@misconception(
    "Your last pair turns at exactly 1/10000: the exponent is 2i/(D − 2). tensor2tensor's code does it that way; the "
    "paper's formula, wanted here, is 2i/D.",
    breaks=("values",),
)
def sinusoidal_encoding__reaches_the_base(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / max(dim - 2, 1))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@misconception(
    "Your base is 1000; the paper's is 10000 (four zeros).",
    breaks=("values",),
)
def sinusoidal_encoding__base_1000(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 1000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@misconception(
    "There is no exponent: you divide t by 10000·2i/D, not by 10000 to the power 2i/D. (Pair 0 then divides by zero.)",
    breaks=("values",),
)
def sinusoidal_encoding__no_power(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / (10000 * torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@misconception(
    "An odd width gets a last sine without its cosine, without a word. Refuse it: `raise ValueError(…)`, with a message "
    "that says what is wanted.",
    breaks=("refusal",),
)
def sinusoidal_encoding__accepts_odd(num_positions, dim):
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :dim]


@misconception(
    "An odd width does fail, but with a message about sizes from deep inside PyTorch. Look at `dim` first and raise a "
    "`ValueError` that says what is wanted.",
    breaks=("refusal",),
)
def sinusoidal_encoding__odd_crashes(num_positions, dim):
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    pe = torch.zeros(num_positions, dim)
    pe[:, 0::2] = angles.sin()
    pe[:, 1::2] = angles.cos()
    return pe


@misconception(
    "You return a batch axis in front, (1, N, D). The contract asks for (N, D): broadcasting adds it to every sentence "
    "all the same.",
    breaks=("shape", "values"),
)
def sinusoidal_encoding__batch_axis(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = torch.arange(num_positions).float()[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[None]


# ---------------------------------------------------------------------------------------------- shift_matrix


@misconception(
    "Yours turns the wrong way: it is the transpose, which is T(−k) and takes PE(t + k) back to PE(t). The first row "
    "of each block comes from sin(a + b) = sin a · cos b + cos a · sin b, so its two entries are cos and +sin. (If you "
    "had row vectors in mind: here PE(t) is a column, and T stands on its left.)",
    breaks=("values", "negative offsets"),
)
def shift_matrix__transposed(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset * 10000 ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, -s], [s, c]])
    return matrix


@misconception(
    "Both of your off-diagonal entries are +sin. One of them is negative: cos(a + b) = cos a · cos b − sin a · sin b. "
    "Without that sign the block does not turn, and lengths change.",
    breaks=("values", "negative offsets"),
)
def shift_matrix__no_minus(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset * 10000 ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [s, c]])
    return matrix


@misconception(
    "Your matrix fits an encoding with all sines first and all cosines after them. Here they alternate, so each pair's "
    "block stands on the diagonal: rows and columns 2i and 2i + 1.",
    breaks=("values", "negative offsets"),
)
def shift_matrix__halves(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = offset * 10000 ** (-torch.arange(0, dim, 2) / dim)
    c, s = angles.cos().diag(), angles.sin().diag()
    return torch.cat([torch.cat([c, s], dim=1), torch.cat([-s, c], dim=1)], dim=0)


@misconception(
    "Your matrix moves *entries* of a vector by k places (ones beside the diagonal). What has to move is the position "
    "that the vector encodes: every pair (sin, cos) turns by k·ωᵢ.",
    breaks=("values", "negative offsets"),
)
def shift_matrix__moves_entries(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    return torch.eye(dim).roll(offset, dims=0)


@misconception(
    "You have only the cosines on the diagonal. sin(a + b) = sin a · cos b + cos a · sin b needs the pair's other half "
    "as well: the sines stand beside the diagonal.",
    breaks=("values", "negative offsets"),
)
def shift_matrix__only_cosines(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = offset * 10000 ** (-torch.arange(0, dim, 2) / dim)
    return angles.cos().repeat_interleave(2).diag()


@misconception(
    "Your frequencies have i where the formula has 2i; pair i turns by k·10000^(−2i/D), as in `sinusoidal_encoding`.",
    breaks=("values", "negative offsets"),
)
def shift_matrix__i_for_2i(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset * 10000 ** (-i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix


@misconception(
    "All pairs turn by the same angle, k. Each has its own frequency: pair i turns by k·10000^(−2i/D).",
    breaks=("values", "negative offsets"),
)
def shift_matrix__one_frequency(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    c, s = math.cos(offset), math.sin(offset)
    return torch.block_diag(*[torch.tensor([[c, s], [-s, c]])] * (dim // 2))


@misconception(
    "A negative offset moves forward with you: you take its absolute value. T(−k) turns the other way.",
    breaks=("negative offsets",),
)
def shift_matrix__absolute_offset(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = abs(offset) * 10000 ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix


@misconception(
    "For a negative offset you return the identity, as a loop of `offset` steps does that never runs. T(−k) is the "
    "transpose of T(k); or put k·ωᵢ into the angle, with its sign, and no loop over steps is needed.",
    breaks=("negative offsets",),
)
def shift_matrix__steps_forward_only(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    step = torch.zeros(dim, dim, dtype=torch.float64)
    for i in range(dim // 2):
        c, s = math.cos(10000 ** (-2 * i / dim)), math.sin(10000 ** (-2 * i / dim))
        step[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]], dtype=torch.float64)
    matrix = torch.eye(dim, dtype=torch.float64)
    for _ in range(offset):
        matrix = step @ matrix
    return matrix.float()


@misconception(
    "You refuse negative offsets; they are as good as others. T(−k) leads back: it turns every pair the other way.",
    breaks=("negative offsets",),
)
def shift_matrix__refuses_negative(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    if offset < 0:
        raise ValueError("offset must not be negative")
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset * 10000 ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix


@misconception(
    "An odd dim is accepted, and its last row stays empty. There is no such encoding (a sine would lack its cosine): "
    "raise a `ValueError` that says so.",
    breaks=("refusal",),
)
def shift_matrix__accepts_odd(offset, dim):
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset * 10000 ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix


# ---------------------------------------------------------------------------------------------- Embeddings


@misconception(
    "You add positions to the *ids*: id 2051 in place 3 becomes id 2054, another word. Ids are names, not amounts; "
    "look up two vectors and add those.",
    breaks=("values", "gradients"),
)
class Embeddings__adds_to_ids(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids + torch.arange(length))))


@misconception(
    "You look up positions by the *ids*, `position_embeddings(input_ids)`. A position is the token's place: 0, 1, 2, …, "
    "`torch.arange(T)`, whatever the token is.",
    breaks=("shape", "values", "parameters", "gradients", "length limit"),
)
class Embeddings__positions_from_ids(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        if input_ids.size(1) > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(input_ids)))


@misconception(
    "You number the sentences of the batch, not the tokens: all tokens of sentence b get position b. Positions run "
    "along T (axis 1), and every sentence counts from 0.",
    breaks=("values", "gradients"),
)
class Embeddings__positions_over_batch(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        if input_ids.size(1) > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        positions = torch.arange(input_ids.size(0))[:, None]
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(positions)))


@misconception(
    "Your positions go on counting from one sentence to the next: the second starts where the first ended. Each "
    "sentence starts at 0.",
    breaks=("values", "gradients"),
)
class Embeddings__counts_through_the_batch(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        most = self.position_embeddings.num_embeddings
        if input_ids.size(1) > most:
            raise ValueError("too long")
        positions = torch.arange(input_ids.numel()).reshape(input_ids.shape) % most
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(positions)))


@misconception(
    "Your positions start at 1. The table's first row belongs to the first token: with 1 … T it is never used, and a "
    "text as long as the table runs over its end.",
    breaks=("values", "gradients", "length limit"),
)
class Embeddings__from_one(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        positions = torch.arange(1, length + 1)
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(positions)))


@misconception(
    "The positions are never added: two sentences with the same words in another order get the same vectors.",
    breaks=("values", "gradients"),
)
class Embeddings__no_positions(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        if input_ids.size(1) > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids)))


@misconception(
    "You use the fixed sinusoids; here the positions are *learned*: a table `position_embeddings` with one row per "
    "position, as in BERT.",
    breaks=("values", "parameters", "gradients", "train mode"),
)
class Embeddings__sinusoids(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.most = config.max_position_embeddings

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.most:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids)
        return self.dropout(self.layer_norm(x + sinusoidal_encoding(length, x.size(-1))))


@misconception(
    "You add a third table, for token types, as BERT does. Here only tokens and positions are asked for; types come in "
    "notebook 07, where the real weights are loaded.",
    breaks=("values", "parameters", "gradients", "train mode"),
)
class Embeddings__token_types(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.layer_norm(x + self.token_type_embeddings(torch.zeros_like(input_ids))))


@misconception(
    "You normalize tokens and positions each by itself and then add. Add first; the norm sees the sum.",
    breaks=("values", "gradients"),
)
class Embeddings__norm_each(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        places = self.layer_norm(self.position_embeddings(torch.arange(length)))
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids)) + places)


@misconception(
    "You multiply the token vectors by √D before adding. The 2017 paper does so (§3.4), BERT does not, and real BERT "
    "weights, loaded by name, would come out wrong.",
    breaks=("values", "gradients"),
)
class Embeddings__times_root_d(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids)
        x = x * math.sqrt(x.size(-1)) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.layer_norm(x))


@misconception(
    "There is no normalization in what you return: the sum goes through `layer_norm` before dropout.",
    breaks=("values", "gradients"),
)
class Embeddings__no_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        return self.dropout(self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length)))


@misconception(
    "You normalize the token vectors and add positions afterwards. Add first, then normalize the sum.",
    breaks=("values", "gradients"),
)
class Embeddings__norm_before_adding(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.layer_norm(self.token_embeddings(input_ids))
        return self.dropout(x + self.position_embeddings(torch.arange(length)))


@misconception(
    "Your layer norm has the library's default eps, 1e-5; `config.layer_norm_eps` is asked for. BERT's is 1e-12, and "
    "here the check makes it large, so that you can see it.",
    breaks=("values", "gradients"),
)
class Embeddings__default_eps(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.layer_norm(x))


@misconception(
    "`dropout` is made, but never used: in training the result should lose a share of its entries.",
    breaks=("train mode",),
)
class Embeddings__no_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        return self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length)))


@misconception(
    "Dropout comes before the norm in yours. Then the norm fills the holes again: no entry of the result is 0, and all "
    "the others change as well. First normalize, then drop.",
    breaks=("train mode",),
)
class Embeddings__dropout_before_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.layer_norm(self.dropout(x))


@misconception(
    "Your dropout has a fixed share, 0.1; take it from `config.hidden_dropout_prob`, which can be anything, also 0.",
    breaks=("train mode",),
)
class Embeddings__dropout_fixed(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.layer_norm(x))


@misconception(
    "Your dropout never stops: `F.dropout` drops in eval mode too, unless it is told `training=self.training`. The "
    "layer `nn.Dropout` knows the mode by itself.",
    breaks=("values", "gradients", "train mode"),
)
class Embeddings__dropout_in_eval(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.share = config.hidden_dropout_prob

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return F.dropout(self.layer_norm(x), self.share)


@misconception(
    "A text longer than the table does fail, but as “index out of range” inside the lookup, which names neither the "
    "length nor the limit. Compare the two first and raise a `ValueError` that does.",
    breaks=("length limit",),
)
class Embeddings__index_error(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        positions = torch.arange(input_ids.size(1), device=input_ids.device)
        x = self.token_embeddings(input_ids) + self.position_embeddings(positions)
        return self.dropout(self.layer_norm(x))


@misconception(
    "A text longer than the table is cut off without a word. Whoever calls it would never know that the end was not "
    "read: raise a `ValueError`.",
    breaks=("length limit",),
)
class Embeddings__cuts_off(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        input_ids = input_ids[:, : self.position_embeddings.num_embeddings]
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(input_ids.size(1)))
        return self.dropout(self.layer_norm(x))


@misconception(
    "Tokens beyond the table all get its last position. They would be in no order among themselves: raise a "
    "`ValueError` instead.",
    breaks=("length limit",),
)
class Embeddings__repeats_last_position(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        positions = torch.arange(input_ids.size(1)).clamp(max=self.position_embeddings.num_embeddings - 1)
        x = self.token_embeddings(input_ids) + self.position_embeddings(positions)
        return self.dropout(self.layer_norm(x))


@misconception(
    "You refuse a text that is exactly as long as the table; it still fits. Only T *greater* than the number of rows "
    "is too long (`>`, not `>=`).",
    breaks=("length limit",),
)
class Embeddings__refuses_full_table(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length >= self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.layer_norm(x))


@misconception(
    "Your layers bear Hugging Face's names (`word_embeddings`, `LayerNorm`); the contract says `token_embeddings`, "
    "`position_embeddings`, `layer_norm`, `dropout`. Weights are copied by name.",
    breaks=("values", "parameters", "gradients", "train mode"),
)
class Embeddings__library_names(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.word_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.LayerNorm(x))


@misconception(
    "Your table of positions has as many rows as the vocabulary; `config.max_position_embeddings` says how many "
    "positions there are.",
    breaks=("values", "parameters", "gradients", "train mode", "length limit"),
)
class Embeddings__table_of_vocabulary_size(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        length = input_ids.size(1)
        if length > self.position_embeddings.num_embeddings:
            raise ValueError("too long")
        x = self.token_embeddings(input_ids) + self.position_embeddings(torch.arange(length))
        return self.dropout(self.layer_norm(x))


# ---------------------------------------------------------------------------------------------- relative_position_bias


@misconception(
    "Your offsets are i − j, query minus key; b[i, j] belongs to j − i, so that a key to the right of the query has a "
    "positive offset. Each of your matrices is the transpose of the right one.",
    breaks=("values", "clipping", "gradients"),
)
def relative_position_bias__i_minus_j(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    return table[:, (t[:, None] - t[None, :]).clamp(-reach, reach) + reach]


@misconception(
    "You take the distance |j − i|: left and right look alike. Keep the sign; the table has a column for each side.",
    breaks=("values", "clipping", "gradients"),
)
def relative_position_bias__distance(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    return table[:, (t[None, :] - t[:, None]).abs().clamp(max=reach) + reach]


@misconception(
    "You forget to move offset 0 to the middle of the table: add M (here {M}). Python counts negative indices from the "
    "end, so nothing complains.",
    breaks=("values", "clipping", "gradients"),
)
def relative_position_bias__not_centered(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    return table[:, (t[None, :] - t[:, None]).clamp(-reach, reach)]


@misconception(
    "Offsets are not clipped: beyond M to the left, indices turn negative and wrap around to the table's other end, "
    "beyond M to the right they miss it. Clip j − i to −M … M first.",
    breaks=("clipping",),
)
def relative_position_bias__not_clipped(length, table):
    t = torch.arange(length)
    return table[:, t[None, :] - t[:, None] + table.size(-1) // 2]


@misconception(
    "Keys farther away than M get a bias of 0 in yours; they share the table's outermost entry on their side.",
    breaks=("clipping",),
)
def relative_position_bias__zero_beyond(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    offsets = t[None, :] - t[:, None]
    return table[:, offsets.clamp(-reach, reach) + reach] * (offsets.abs() <= reach)


@misconception(
    "Offsets beyond M start again at the other end (modulo the table's length); a far key would look like a near one. "
    "Clip instead: `clamp(−M, M)`.",
    breaks=("clipping",),
)
def relative_position_bias__modulo(length, table):
    t = torch.arange(length)
    return table[:, (t[None, :] - t[:, None] + table.size(-1) // 2) % table.size(-1)]


@misconception(
    "You clip after moving to the middle, and at −M and M: then everything to the right of the center is cut. Clip "
    "j − i first and add M afterwards, or clip the index to 0 … 2M.",
    breaks=("values", "clipping", "gradients"),
)
def relative_position_bias__clipped_too_late(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    return table[:, (t[None, :] - t[:, None] + reach).clamp(-reach, reach)]


@misconception(
    "You put offset 0 in column T − 1; the table tells where it is: in its own middle, column M = (2M + 1) // 2, "
    "whatever T is.",
    breaks=("values", "clipping", "gradients"),
)
def relative_position_bias__centered_on_length(length, table):
    t = torch.arange(length)
    index = t[None, :] - t[:, None] + length - 1
    return table[:, index.clamp(0, table.size(-1) - 1)]


@misconception(
    "The heads come last in what you return, (T, T, H). Scores are (B, H, T, T), so the bias is (H, T, T), which "
    "broadcasts over the batch.",
    breaks=("shape", "values", "clipping", "gradients"),
)
def relative_position_bias__heads_last(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    return table.T[(t[None, :] - t[:, None]).clamp(-reach, reach) + reach]


@misconception(
    "All heads share the first head's row. Each has its own, so that one can look near and another far.",
    breaks=("values", "clipping", "gradients"),
)
def relative_position_bias__one_head(length, table):
    reach = table.size(-1) // 2
    t = torch.arange(length)
    return table[0][(t[None, :] - t[:, None]).clamp(-reach, reach) + reach].expand(table.size(0), -1, -1)


@misconception(
    "The numbers are right, but no gradient reaches the table: copied out as plain numbers, it could never be learned. "
    "Index the tensor itself.",
    breaks=("gradients",),
)
def relative_position_bias__cut_off(length, table):
    reach = table.size(-1) // 2
    bias = torch.zeros(table.size(0), length, length)
    for h in range(table.size(0)):
        for i in range(length):
            for j in range(length):
                bias[h, i, j] = table[h, max(-reach, min(reach, j - i)) + reach].item()
    return bias


# ---------------------------------------------------------------------------------------------- apply_rotary


@misconception(
    "You turn the other way, by −θ: the minus sign stands in the wrong line. x₀·cos θ − x₁·sin θ is the new x₀, "
    "x₀·sin θ + x₁·cos θ the new x₁. Dot products would not notice, but vectors stored or trained elsewhere would.",
    breaks=("values", "gradients"),
)
def apply_rotary__minus_theta(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() + b * theta.sin(), b * theta.cos() - a * theta.sin()), dim=-1).flatten(-2)


@misconception(
    "You pair column i with column i + K/2. That is another valid layout, which many libraries use (it is this one "
    "with the columns in another order), but here neighbors make a pair: columns 2i and 2i + 1, as in the paper.",
    breaks=("values", "gradients"),
)
def apply_rotary__halves(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1)


@misconception(
    "You mix two layouts: angles for neighbors (2i, 2i + 1), partners from the other half (i, i + K/2). Then nothing "
    "is turned as a whole, and scores depend on more than the offset. Make both for neighbors.",
    breaks=("values", "offsets only", "gradients"),
)
def apply_rotary__mixed_layouts(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    theta = theta.repeat_interleave(2, dim=-1)
    a, b = x.chunk(2, dim=-1)
    return x * theta.cos() + torch.cat((-b, a), dim=-1) * theta.sin()


@misconception(
    "The results are turned correctly, but end up in the wrong columns: all first members, then all second ones. Each "
    "pair goes back to where it came from, columns 2i and 2i + 1 (`stack` and `flatten`, not `cat`).",
    breaks=("values", "gradients"),
)
def apply_rotary__left_in_halves(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1)


@misconception(
    "You overwrite the first member of each pair and then use the *new* value for the second. Keep both old values "
    "until both new ones are made.",
    breaks=("values", "offsets only", "gradients"),
)
def apply_rotary__overwritten(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    first = x[..., 0::2] * theta.cos() - x[..., 1::2] * theta.sin()
    second = first * theta.sin() + x[..., 1::2] * theta.cos()
    return torch.stack((first, second), dim=-1).flatten(-2)


@misconception(
    "There is no minus sign: the new x₀ is x₀·cos θ **−** x₁·sin θ. With a plus in both lines nothing is turned, "
    "lengths change, and scores depend on more than the offset.",
    breaks=("values", "offsets only", "gradients"),
)
def apply_rotary__no_minus(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() + b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "Your exponent has i where the formula has 2i: pair i turns by t·base^(−2i/K).",
    breaks=("values", "gradients"),
)
def apply_rotary__i_for_2i(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(x.size(-1) // 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "All pairs turn by the same angle t; each has its own speed: pair i turns by t·base^(−2i/K).",
    breaks=("values", "gradients"),
)
def apply_rotary__one_frequency(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None].float()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "The given positions have no effect: you count 0, 1, 2, … yourself, or not at all. They may have gaps or come in "
    "another order (a text continued, a store of old keys): use `positions`.",
    breaks=("values", "offsets only", "gradients"),
)
def apply_rotary__ignores_positions(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = torch.arange(x.size(-2))[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "Your positions are one too large: the token at position 0 is not turned at all. (Scores would not notice, since "
    "both sides move.)",
    breaks=("values", "gradients"),
)
def apply_rotary__from_one(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = (positions[:, None] + 1) * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "`base` has no effect: 10000 is written into your formula. It is only the default.",
    breaks=("values", "gradients"),
)
def apply_rotary__ignores_base(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * 10000 ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "You *add* sines and cosines, as in an absolute encoding. Rotary multiplies: each pair of x is turned, and its "
    "length stays.",
    breaks=("values", "offsets only", "gradients"),
)
def apply_rotary__adds(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    return x + torch.stack((theta.sin(), theta.cos()), dim=-1).flatten(-2) + 0 * x


@misconception(
    "Sine and cosine have changed places: at angle 0 a vector must stay as it is, so cos θ goes with the column itself "
    "and sin θ with its partner.",
    breaks=("values", "gradients"),
)
def apply_rotary__sin_for_cos(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.sin() - b * theta.cos(), a * theta.cos() + b * theta.sin()), dim=-1).flatten(-2)


@misconception(
    "An odd width is accepted, and its last column is never turned. Pairs need an even width: raise a `ValueError` that "
    "says so.",
    breaks=("refusal",),
)
def apply_rotary__accepts_odd(x, positions, base=10000.0):
    pairs = x.size(-1) // 2
    theta = positions[:, None] * base ** (-2 * torch.arange(pairs) / x.size(-1))
    a, b = x[..., 0 : 2 * pairs : 2], x[..., 1::2]
    turned = torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)
    return torch.cat((turned, x[..., 2 * pairs :]), dim=-1)


@misconception(
    "An odd width does fail, but with a message about sizes from deep inside PyTorch. Look at the last axis first and "
    "raise a `ValueError` that says what is wanted.",
    breaks=("refusal",),
)
def apply_rotary__odd_crashes(x, positions, base=10000.0):
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()), dim=-1).flatten(-2)


@misconception(
    "You change `x` in place; whoever called you still needs the unturned one. Write into a new tensor, such as "
    "`torch.empty_like(x)`.",
    breaks=("values", "offsets only", "gradients"),
)
def apply_rotary__in_place(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = a * theta.cos() - b * theta.sin()
    x[..., 1::2] = a * theta.sin() + b * theta.cos()
    return x


# ---------------------------------------------------------------------------------------------- quiz_positions


def _wrong(question, option, sentence):
    return wrong_option("quiz_positions", quiz_positions, question, option, sentence)


QUIZ = [
    _wrong(
        "words shuffled, no positions",
        "the same vectors, unmoved",
        "that would be *invariance*: the output would not move at all. Each token takes its vector along to its new "
        "place, which is *equivariance*.",
    ),
    _wrong(
        "words shuffled, no positions",
        "other vectors",
        "without positions a token sees the same set of keys and values wherever it stands, so its vector can't change: "
        "your gap was 0.",
    ),
    _wrong(
        "nothing beyond its table",
        "sinusoidal encoding",
        "the sinusoids are a formula: there is a row for any position, though nobody has trained with those far out.",
    ),
    _wrong(
        "nothing beyond its table",
        "clipped relative bias",
        "clipping is what saves it: every larger distance uses the outermost entry, so any length works.",
    ),
    _wrong(
        "rotary turns",
        "token embeddings",
        "those stay without positions; rotary acts inside every attention layer, after the projections.",
    ),
    _wrong(
        "rotary turns",
        "queries, keys and values",
        "values stay as they are: positions should decide *where* a token looks, not what it takes from there.",
    ),
    _wrong(
        "a relative bias is added to",
        "the token vectors",
        "it is one number for each pair of places, and pairs first meet in the scores.",
    ),
    _wrong(
        "a relative bias is added to",
        "the weights after softmax",
        "then the weights of a row would no longer sum to one; it is added to the scores, before the softmax.",
    ),
]
