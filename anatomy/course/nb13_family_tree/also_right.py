"""Right answers to the exercises of 13-family-tree in styles other than the reference's."""

from __future__ import annotations

import math
import random

import numpy as np
import torch
from torch.nn import functional as F

from anatomy.course.nb13_family_tree.right import quiz_which_model, sliding_window_mask

# ---------------------------------------------------------------------------------------------- prefix_lm_mask


def prefix_lm_mask__loop(prefix, length):
    mask = torch.zeros(length, length, dtype=torch.int64)
    for t in range(length):
        for s in range(length):
            if s < prefix or s <= t:
                mask[t, s] = 1
    return mask


def prefix_lm_mask__in_place(prefix, length):
    mask = torch.ones(length, length).tril()
    mask[:, :prefix] = 1
    return mask


def prefix_lm_mask__block(prefix, length):
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    mask[:prefix, :prefix] = True  # behind the prefix, all of it is past anyway
    return mask


prefix_lm_mask__lambda = lambda prefix, length: (  # noqa: E731
    torch.arange(length) < torch.arange(1, length + 1).clamp(min=prefix)[:, None]
)


def prefix_lm_mask__rows(prefix, length):
    counts = [max(prefix, t + 1) for t in range(length)]
    return torch.tensor([[1] * count + [0] * (length - count) for count in counts], dtype=torch.uint8)


def prefix_lm_mask__not_hidden(prefix, length):
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    hidden[:, :prefix] = False
    return ~hidden


# ---------------------------------------------------------------------------------------------- sliding_window_mask


def sliding_window_mask__triangles(length, window):
    half = window // 2
    return torch.ones(length, length).triu(-half).tril(half)


def sliding_window_mask__slices(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for t in range(length):
        mask[t, max(0, t - window // 2) : t + window // 2 + 1] = True
    return mask


def sliding_window_mask__true_division(length, window):
    t, s = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return (t - s).abs() <= window / 2  # distances are whole numbers


def sliding_window_mask__diagonals(length, window):
    mask = torch.zeros(length, length, dtype=torch.long)
    for step in range(min(window // 2, length - 1) + 1):
        mask.diagonal(step).fill_(1)
        mask.diagonal(-step).fill_(1)
    return mask


sliding_window_mask__lambda = lambda length, window: torch.tensor(  # noqa: E731
    [[2 * abs(t - s) <= window for s in range(length)] for t in range(length)]
)


def sliding_window_mask__numpy(length, window):
    distance = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    return torch.from_numpy((distance <= window // 2).astype(np.float32))


# ---------------------------------------------------------------------------------------------- bigbird_mask


def bigbird_mask__choose(length, window, num_global, num_random, generator):
    mask = sliding_window_mask(length, window)
    mask[:num_global, :] = 1
    mask[:, :num_global] = 1
    for t in range(length):
        unseen = [s for s in range(length) if not mask[t, s]]
        order = torch.randperm(len(unseen), generator=generator).tolist()
        for place in order[:num_random]:
            mask[t, unseen[place]] = 1
    return mask.long()


def bigbird_mask__highest_of_noise(length, window, num_global, num_random, generator):
    places = torch.arange(length)
    near = (places[:, None] - places).abs() <= window // 2
    seen = near | (places < num_global) | (places[:, None] < num_global)
    noise = torch.rand(length, length, generator=generator).masked_fill(seen, -1.0)
    chosen = noise.argsort(dim=-1, descending=True).argsort(dim=-1) < num_random
    return seen | (chosen & ~seen)


def bigbird_mask__multinomial(length, window, num_global, num_random, generator):
    mask = sliding_window_mask(length, window).float()
    mask[:num_global] = 1.0
    mask[:, :num_global] = 1.0
    for row in mask:
        count = min(num_random, int((row == 0).sum()))
        if count:
            row[torch.multinomial(1 - row, count, replacement=False, generator=generator)] = 1.0
    return mask


def bigbird_mask__pythons_chance(length, window, num_global, num_random, generator):
    dice = random.Random(int(torch.randint(2**62, (1,), generator=generator)))
    rows = []
    for t in range(length):
        seen = {s for s in range(length) if abs(t - s) <= window // 2 or t < num_global or s < num_global}
        unseen = sorted(set(range(length)) - seen)
        seen |= set(dice.sample(unseen, min(num_random, len(unseen))))
        rows.append([s in seen for s in range(length)])
    return torch.tensor(rows)


def bigbird_mask__again_until_new(length, window, num_global, num_random, generator):
    mask = sliding_window_mask(length, window).clone()
    mask[:num_global], mask[:, :num_global] = True, True
    for t in range(length):
        wanted = min(length, int(mask[t].sum()) + num_random)
        while mask[t].sum() < wanted:
            mask[t, torch.randint(length, (1,), generator=generator)] = True
    return mask


# ---------------------------------------------------------------------------------------------- attention_cost


def attention_cost__count_nonzero(mask):
    return torch.count_nonzero(mask).item()


def attention_cost__tensor(mask):
    return mask.sum()


attention_cost__lambda = lambda mask: len(mask.nonzero())  # noqa: E731


def attention_cost__loop(mask):
    return sum(1 for row in mask.tolist() for entry in row if entry)


def attention_cost__numpy(mask):
    return np.sum(mask.numpy() == 1)


def attention_cost__einsum(mask):
    return float(torch.einsum("ts->", mask.float()))


# ---------------------------------------------------------------------------------------------- growth_exponent


def growth_exponent__polyfit(lengths, costs):
    slope, _ = np.polyfit(np.log2(lengths), np.log2(costs), 1)
    return slope


def growth_exponent__float32(lengths, costs):
    x, y = torch.log(torch.tensor(lengths, dtype=torch.float32)), torch.log(torch.tensor(costs, dtype=torch.float32))
    return ((x - x.mean()) * (y - y.mean())).mean() / x.var(unbiased=False)


def growth_exponent__least_squares(lengths, costs):
    x = torch.tensor([[math.log(length), 1.0] for length in lengths], dtype=torch.float64)
    y = torch.tensor([[math.log(cost)] for cost in costs], dtype=torch.float64)
    return torch.linalg.lstsq(x, y).solution[0].item()


def growth_exponent__plain_python(lengths, costs):
    x, y = [math.log10(length) for length in lengths], [math.log10(cost) for cost in costs]
    n = len(x)
    above = n * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)
    return above / (n * sum(a * a for a in x) - sum(x) ** 2)


def growth_exponent__covariance(lengths, costs):
    matrix = np.cov(np.log(lengths), np.log(costs))
    return matrix[0, 1] / matrix[0, 0]


# ---------------------------------------------------------------------------------------------- encoder_parameters


def encoder_parameters__shapes(config):
    """All shapes in a list, then their products."""
    match config.model_type:
        case "bert" | "roberta":
            width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
            first, rest = width, [(config.type_vocab_size, width), (width, width), (width,)]
        case "albert":
            width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_groups
            first = config.embedding_size
            rest = [(config.type_vocab_size, first), (first, width), (width,), (width, width), (width,)]
        case "distilbert":
            width, inner, layers, first, rest = config.dim, config.hidden_dim, config.n_layers, config.dim, []
        case other:
            raise ValueError(f"no formula for {other}")
    shapes = [(config.vocab_size, first), (config.max_position_embeddings, first), (first,), (first,), *rest]
    for _ in range(layers):
        shapes += 4 * [(width, width), (width,)] + 4 * [(width,)]
        shapes += [(width, inner), (inner,), (inner, width), (width,)]
    return sum(math.prod(shape) for shape in shapes)


def encoder_parameters__attribute_by_attribute(config):
    kind = config.model_type
    if kind not in {"bert", "roberta", "distilbert", "albert"}:
        raise ValueError(kind)
    d = getattr(config, "hidden_size", None) or config.dim
    i = config.hidden_dim if kind == "distilbert" else config.intermediate_size
    e = config.embedding_size if kind == "albert" else d
    total = config.vocab_size * e + config.max_position_embeddings * e + e + e
    if kind != "distilbert":
        total += config.type_vocab_size * e + d * d + d
    if kind == "albert":
        total += e * d + d
    one = 4 * d * d + 2 * d * i + 9 * d + i
    return float(total + one * {"albert": getattr(config, "num_hidden_groups", 0)}.get(kind, config.num_hidden_layers))


def encoder_parameters__layers_of_torch(config):
    """Layers made and counted, one of each kind."""

    def count(*modules):
        return sum(parameter.numel() for module in modules for parameter in module.parameters())

    def block(width, inner):
        return torch.nn.TransformerEncoderLayer(width, 1, inner)

    words, places = config.vocab_size, config.max_position_embeddings
    if config.model_type == "distilbert":
        tables = torch.nn.Embedding(words + places, config.dim), torch.nn.LayerNorm(config.dim)
        return count(*tables) + config.n_layers * count(block(config.dim, config.hidden_dim))
    if config.model_type not in ("bert", "roberta", "albert"):
        raise ValueError(f"unknown: {config.model_type}")
    width, inner = config.hidden_size, config.intermediate_size
    narrow = getattr(config, "embedding_size", width)
    tables = torch.nn.Embedding(words + places + config.type_vocab_size, narrow), torch.nn.LayerNorm(narrow)
    pooler = torch.nn.Linear(width, width)
    if config.model_type == "albert":
        widening = torch.nn.Linear(narrow, width)
        return count(*tables, widening, pooler) + config.num_hidden_groups * count(block(width, inner))
    return count(*tables, pooler) + config.num_hidden_layers * count(block(width, inner))


# ---------------------------------------------------------------------------------------------- few_shot_prompt


def few_shot_prompt__added_up(task, examples, query):
    prompt = task + ":\n"
    for given, wanted in examples:
        prompt += given + " => " + wanted + "\n"
    return prompt + query + " =>"


def few_shot_prompt__template(task, examples, query):
    shown = "".join("{} => {}\n".format(*pair) for pair in examples)
    return f"{task}:\n{shown}{query} =>"


few_shot_prompt__lambda = lambda task, examples, query: "\n".join(  # noqa: E731
    [task + ":"] + [" => ".join(pair) for pair in examples] + [query + " =>"]
)


def few_shot_prompt__stripped(task, examples, query):
    lines = [f"{task}:"]
    lines.extend("%s => %s" % pair for pair in [*examples, (query, "")])  # noqa: UP031
    return "\n".join(lines).rstrip()


# ---------------------------------------------------------------------------------------------- patchify


def _refuse(height, width, patch):
    if height % patch != 0 or width % patch != 0:
        raise ValueError(f"{patch} does not divide {height} and {width}")


def patchify__unfold(images, patch):
    _refuse(*images.shape[2:], patch)
    return F.unfold(images, kernel_size=patch, stride=patch).transpose(1, 2)


def patchify__loop(images, patch):
    if images.shape[-2] % patch or images.shape[-1] % patch:
        raise ValueError(f"images of {tuple(images.shape)} and patches of {patch}")
    patches = []
    for top in range(0, images.shape[-2], patch):
        for left in range(0, images.shape[-1], patch):
            patches.append(images[:, :, top : top + patch, left : left + patch].flatten(1))
    return torch.stack(patches, dim=1)


def patchify__tensor_unfold(images, patch):
    _, channels, height, width = images.size()
    _refuse(height, width, patch)
    squares = images.unfold(2, patch, patch).unfold(3, patch, patch)  # (B, C, rows, columns, P, P)
    return squares.permute(0, 2, 3, 1, 4, 5).reshape(len(images), -1, channels * patch**2)


def patchify__einsum(images, patch):
    batch, channels, height, width = images.shape
    if rest := [size for size in (height, width) if size % patch]:
        raise ValueError(f"no multiples of {patch}: {rest}")
    grid = images.contiguous().view(batch, channels, height // patch, patch, width // patch, patch)
    return torch.einsum("bchpwq->bhwcpq", grid).reshape(batch, -1, channels * patch * patch)


def patchify__convolution(images, patch):
    channels = images.shape[1]
    _refuse(*images.shape[-2:], patch)
    size = channels * patch * patch
    pick = torch.eye(size).reshape(size, channels, patch, patch)  # each filter picks one pixel of one channel
    return F.conv2d(images, pick, stride=patch).flatten(2).mT


def patchify__pixel_unshuffle(images, patch):
    _refuse(images.size(2), images.size(3), patch)
    return F.pixel_unshuffle(images, patch).flatten(2).transpose(1, 2)


# ---------------------------------------------------------------------------------------------- clip_loss


def clip_loss__cosine_similarity(image_emb, text_emb, temperature):
    logits = F.cosine_similarity(image_emb[:, None], text_emb[None], dim=-1) / temperature
    labels = torch.arange(image_emb.size(0))
    return 0.5 * F.cross_entropy(logits, labels) + 0.5 * F.cross_entropy(logits.t(), labels)


def clip_loss__log_softmax(image_emb, text_emb, temperature):
    images = image_emb / image_emb.norm(dim=-1, keepdim=True)
    texts = text_emb / text_emb.norm(dim=-1, keepdim=True)
    logits = torch.einsum("id,jd->ij", images, texts) * (1 / temperature)
    both = logits.log_softmax(dim=0) + logits.log_softmax(dim=1)
    return -both.diagonal().mean() / 2


def clip_loss__logsumexp(image_emb, text_emb, temperature):
    lengths = image_emb.pow(2).sum(1).sqrt()[:, None] * text_emb.pow(2).sum(1).sqrt()
    logits = image_emb.matmul(text_emb.mT) / lengths / temperature
    below = torch.logsumexp(logits, 0).sum() + torch.logsumexp(logits, 1).sum()
    return (below - 2 * torch.trace(logits)) / (2 * len(logits))


def clip_loss__one_by_one(image_emb, text_emb, temperature):
    images, texts = F.normalize(image_emb), F.normalize(text_emb)
    losses = []
    for i in range(len(images)):
        place = torch.tensor([i])
        losses.append(F.cross_entropy((texts @ images[i])[None] / temperature, place))
        losses.append(F.cross_entropy((images @ texts[i])[None] / temperature, place))
    return torch.stack(losses).mean()


def clip_loss__soft_labels(image_emb, text_emb, temperature):
    logits = F.linear(F.normalize(image_emb, dim=1), F.normalize(text_emb, dim=1)).div(temperature)
    identity = torch.eye(logits.size(0))
    return (F.cross_entropy(logits, identity) + F.cross_entropy(logits.transpose(0, 1), identity)).mul(0.5)


def clip_loss__shifted_exponentials(image_emb, text_emb, temperature):
    images = image_emb / torch.linalg.vector_norm(image_emb, dim=1, keepdim=True)
    texts = text_emb / torch.linalg.vector_norm(text_emb, dim=1, keepdim=True)
    logits = images @ texts.T / temperature
    loss = 0.0
    for rows in (logits, logits.T):
        low = rows - rows.detach().amax(dim=1, keepdim=True)
        loss = loss + (low.exp().sum(dim=1).log() - low.diagonal()).mean()
    return loss / 2


# ---------------------------------------------------------------------------------------------- quiz_which_model

quiz_which_model__capitals = {question: answer.upper() for question, answer in quiz_which_model.items()}
quiz_which_model__spaces = {question: f" {answer} " for question, answer in quiz_which_model.items()}
quiz_which_model__other_order = dict(reversed(quiz_which_model.items()))
