"""Right answers to 01-embedding-lookup, written differently: each must get full marks."""

import re
from collections import Counter, OrderedDict, defaultdict

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# ---------------------------------------------------------------------------------------------- learn_bpe


def learn_bpe__text_and_regular_expression(word_counts, num_merges):
    """The way of the paper's own listing: words as text with spaces, whole symbols matched by a regular expression."""
    vocab = {" ".join(word) + " </w>": count for word, count in word_counts.items()}
    merges = []
    while len(merges) < num_merges:
        pairs = defaultdict(int)
        for text, count in vocab.items():
            symbols = text.split()
            for i in range(len(symbols) - 1):
                pairs[symbols[i], symbols[i + 1]] += count
        if len(pairs) == 0:
            break
        best = max(pairs, key=pairs.get)
        merges.append(best)
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        vocab = {pattern.sub(lambda _: "".join(best), text): count for text, count in vocab.items()}
    return merges


def learn_bpe__search_by_hand(word_counts, num_merges):
    """No Counter, no max: lists and a strict comparison, pieces as tuples."""
    split = [(tuple(word) + ("</w>",), n) for word, n in word_counts.items()]
    result = []
    for _ in range(num_merges):
        seen, numbers = [], []
        for pieces, n in split:
            for pair in zip(pieces, pieces[1:]):
                if pair in seen:
                    numbers[seen.index(pair)] += n
                else:
                    seen.append(pair)
                    numbers.append(n)
        if not seen:
            return result
        top = 0
        for i in range(len(seen)):
            if numbers[i] > numbers[top]:
                top = i
        left, right = seen[top]
        result.append((left, right))
        new_split = []
        for pieces, n in split:
            out, i = [], 0
            while i < len(pieces):
                if i + 1 < len(pieces) and pieces[i] == left and pieces[i + 1] == right:
                    out.append(left + right)
                    i += 2
                else:
                    out.append(pieces[i])
                    i += 1
            new_split.append((tuple(out), n))
        split = new_split
    return result


def learn_bpe__most_common(word_counts, num_merges):
    """`most_common` keeps the order of insertion among equals; the merge pops from a stack; lists of lists."""

    def merge(pieces, pair):
        done = []
        for piece in pieces:
            if done and done[-1] is not None and (done[-1], piece) == pair:
                done[-1] = piece.join([done[-1], ""])
                done.append(None)  # closed: the next piece must not join it
            else:
                if done and done[-1] is None:
                    done.pop()
                done.append(piece)
        return [piece for piece in done if piece is not None]

    words = [[list(word) + ["</w>"], count] for word, count in word_counts.items()]
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for pieces, count in words:
            for pair in zip(pieces[:-1], pieces[1:]):
                counts.update({pair: count})
        if not (ranking := counts.most_common(1)):
            break
        pair = ranking[0][0]
        merges += [list(pair)]
        for entry in words:
            entry[0] = merge(entry[0], pair)
    return merges


def learn_bpe__recursive_object(word_counts, num_merges):
    """An object that can be called, recursive in the number of merges; sorted is stable."""

    class Learner:
        def __call__(self, words, left):
            pairs = OrderedDict()
            for pieces, count in words:
                for a, b in zip(pieces, pieces[1:]):
                    pairs[(a, b)] = pairs.get((a, b), 0) + count
            if left == 0 or not pairs:
                return []
            best = sorted(pairs.items(), key=lambda item: -item[1])[0][0]
            for pieces, _ in words:
                for i in range(len(pieces)):
                    if tuple(pieces[i : i + 2]) == best:
                        pieces[i : i + 2] = ["".join(best)]
            return [best, *self(words, left - 1)]

    return Learner()([([*w, "</w>"], c) for w, c in word_counts.items()], num_merges)


# ---------------------------------------------------------------------------------------------- wordpiece


def wordpiece__while_loops(word, vocab, unk="[UNK]"):
    pieces = []
    start = 0
    while start < len(word):
        end = len(word)
        found = None
        while start < end:
            piece = word[start:end]
            if start > 0:
                piece = "##" + piece
            if piece in vocab:
                found = piece
                break
            end -= 1
        if found is None:
            return [unk]
        pieces.append(found)
        start = end
    return pieces


def wordpiece__recursive(word, vocab, unk="[UNK]"):
    def cut(rest, mark):
        if not rest:
            return []
        fits = [rest[:n] for n in range(1, len(rest) + 1) if mark + rest[:n] in vocab]
        if not fits:
            return None
        longest = fits[-1]
        tail = cut(rest[len(longest) :], "##")
        return None if tail is None else [mark + longest, *tail]

    return cut(word, "") or [unk]


def wordpiece__searches_the_vocabulary(word, vocab, unk="[UNK]"):
    """Goes through the vocabulary instead of through the word's beginnings."""
    pieces, rest = [], word
    while rest:
        bare = [p[2:] if pieces else p for p in vocab if p.startswith("##") == bool(pieces)]
        best = max((p for p in bare if p and rest.startswith(p)), key=len, default=None)
        if best is None:
            return [unk]
        pieces.append(f"##{best}" if pieces else best)
        rest = rest[len(best) :]
    return pieces


def wordpiece__marks_the_text(word, vocab, unk="[UNK]"):
    """The mark is put in front of what is left of the word, and each step takes a prefix of that."""
    out, text = [], word
    while text and text != "##":
        ends = (text[:n] for n in range(len(text), 2 if out else 0, -1))
        piece = next((candidate for candidate in ends if candidate in vocab), None)
        if piece is None:
            return [unk]
        out.append(piece)
        text = "##" + text[len(piece) :]
    return out


# ---------------------------------------------------------------------------------------------- one_hot_lookup


def one_hot_lookup__library_one_hot(ids: Tensor, weight: Tensor) -> Tensor:
    return torch.matmul(F.one_hot(ids, num_classes=weight.shape[0]).float(), weight)


def one_hot_lookup__scatter_and_einsum(ids, weight):
    one_hot = torch.zeros(*ids.shape, len(weight))
    one_hot.scatter_(-1, ids.unsqueeze(-1), 1.0)
    return torch.einsum("...v,vd->...d", one_hot, weight)


def one_hot_lookup__identity_matrix(ids, weight):
    return torch.eye(weight.size(0))[ids] @ weight


def one_hot_lookup__flat_with_assignment(ids, weight):
    flat = ids.reshape(-1)
    one_hot = weight.new_zeros(flat.numel(), weight.size(0))
    one_hot[torch.arange(flat.numel()), flat] = 1
    return torch.mm(one_hot, weight).view(*ids.shape, -1)


def one_hot_lookup__broadcast_and_sum(ids, weight):
    one_hot = (ids[..., None] == torch.arange(len(weight))).double()
    return (one_hot.unsqueeze(-1) * weight).sum(dim=-2).to(weight.dtype)


def one_hot_lookup__loop_over_rows(ids, weight):
    result = torch.zeros(ids.shape + weight.shape[1:])
    for v in range(weight.size(0)):
        result += (ids == v).float().unsqueeze(-1) * weight[v]
    return result


def one_hot_lookup__linear_layer(ids, weight):
    return F.linear(F.one_hot(ids, weight.size(0)).to(weight), weight.mT)


# ---------------------------------------------------------------------------------------------- embedding_lookup


def embedding_lookup__index_select(ids, weight):
    return weight.index_select(0, ids.flatten()).reshape(*ids.shape, weight.size(1))


def embedding_lookup__loop_and_stack(ids, weight):
    flat = [weight[i] for i in ids.flatten().tolist()]
    return torch.stack(flat).view(list(ids.shape) + [-1])


def embedding_lookup__gather(ids, weight):
    flat = ids.reshape(-1, 1).expand(-1, weight.shape[1])
    return torch.gather(weight, 0, flat).unflatten(0, ids.shape)


def embedding_lookup__take(ids, weight):
    columns = torch.arange(weight.size(-1))
    return weight.contiguous().take(ids.unsqueeze(-1) * weight.size(-1) + columns)


def embedding_lookup__all_columns(ids, weight):
    return (lambda row: weight[row, :])(ids)


def embedding_lookup__module(ids, weight):
    class Table(nn.Module):
        def __init__(self, table):
            super().__init__()
            self.table = table

        def forward(self, ids):
            return self.table.__getitem__(ids)

    return Table(weight)(ids)


# ---------------------------------------------------------------------------------------------- nearest_tokens


def nearest_tokens__cosine_similarity(query_id, weight, k):
    similarity = F.cosine_similarity(weight[query_id].unsqueeze(0), weight, dim=-1)
    order = similarity.argsort(descending=True)
    return order[order != query_id][:k]


def nearest_tokens__normalize_and_mask(query_id, weight, k):
    unit = F.normalize(weight, dim=1)
    scores = torch.einsum("vd,d->v", unit, unit[query_id])
    own = torch.arange(len(weight)) == query_id
    return torch.topk(scores.masked_fill(own, -2.0), k)[1]


def nearest_tokens__divide_afterwards(query_id, weight, k):
    dots = (weight * weight[query_id]).sum(-1)
    lengths = weight.pow(2).sum(-1).sqrt()
    cosine = dots / (lengths * lengths[query_id])
    ranked = sorted((i for i in range(len(cosine)) if i != query_id), key=lambda i: cosine[i].item(), reverse=True)
    return torch.tensor(ranked[:k])


def nearest_tokens__without_the_row(query_id, weight, k):
    """Takes the row out and maps the places back to ids."""
    ids = torch.cat([torch.arange(query_id), torch.arange(query_id + 1, weight.size(0))])
    others = weight[ids] / torch.linalg.vector_norm(weight[ids], dim=-1, keepdim=True)
    return ids[(others @ weight[query_id]).topk(k).indices]


def nearest_tokens__numpy(query_id, weight, k):
    table = weight.numpy().astype(numpy.float64)
    table = table / numpy.linalg.norm(table, axis=1, keepdims=True)
    distance = 1 - table @ table[query_id]
    distance[query_id] = numpy.inf
    return torch.from_numpy(numpy.argsort(distance)[:k].copy())


# ---------------------------------------------------------------------------------------------- quiz_embeddings

quiz_embeddings__plain = {
    "flies twice": "the same",
    "rows that learn": "rows 5 and 9",
    "a new word": "several known pieces",
}

quiz_embeddings__capitals = {
    "flies twice": "The same",
    "rows that learn": "Rows 5 and 9",
    "a new word": "Several known pieces",
}

quiz_embeddings__other_order_and_spaces = {
    "a new word": " several known pieces ",
    "rows that learn": "rows 5 and 9 ",
    "flies twice": "the same",
}
