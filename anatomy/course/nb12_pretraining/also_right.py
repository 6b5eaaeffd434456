"""Right answers to the exercises of 12-pretraining, written differently."""

from __future__ import annotations

import itertools
import math
import re

import torch
import torch.nn.functional as F
from torch import nn

from anatomy.course.nb12_pretraining.right import draw_below, random_parts

# ---------------------------------------------------------------------------------------------- mask_tokens


def mask_tokens__bernoulli_in_place(ids, special_mask, vocab_size, mask_id, generator, rate=0.15):
    inputs, labels = ids.clone(), ids.clone()
    probabilities = torch.full(ids.shape, float(rate)).masked_fill_(special_mask.bool(), 0.0)
    chosen = torch.bernoulli(probabilities, generator=generator).bool()
    labels[~chosen] = -100
    replaced = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool() & chosen
    inputs[replaced] = mask_id
    other = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool() & chosen & ~replaced
    inputs[other] = torch.randint(vocab_size, ids.shape, generator=generator)[other]
    return inputs, labels


def mask_tokens__loop(ids, special_mask, vocab_size, mask_id, generator, rate=0.15):
    rows, asked = [], []
    for line, special in zip(ids.tolist(), special_mask.tolist()):
        row, labels = [], []
        for token, is_special in zip(line, special):
            if is_special or torch.rand((), generator=generator).item() >= rate:
                row.append(token)
                labels.append(-100)
                continue
            labels.append(token)
            dice = torch.rand((), generator=generator).item()
            row.append(mask_id if dice < 0.8 else draw_below(vocab_size, generator) if dice < 0.9 else token)
        rows.append(row)
        asked.append(labels)
    return torch.tensor(rows), torch.tensor(asked)


def mask_tokens__one_draw(ids, special_mask, vocab_size, mask_id, generator, rate=0.15):
    dice = torch.rand(ids.shape, generator=generator, dtype=torch.float64)
    dice = torch.where(special_mask != 0, 2.0, dice / rate)
    other = torch.randint(high=vocab_size, size=ids.shape, generator=generator)
    inputs = torch.where(dice < 0.8, torch.full_like(ids, mask_id), torch.where(dice < 0.9, other, ids))
    return inputs, torch.where(dice < 1, ids, -100)


def mask_tokens__multinomial(ids, special_mask, vocab_size, mask_id, generator, rate=0.15):
    weights = torch.tensor([1 - rate, 0.8 * rate, 0.1 * rate, 0.1 * rate])
    what = torch.multinomial(weights, ids.numel(), replacement=True, generator=generator).view(ids.shape)
    what = what * (1 - special_mask.to(torch.long))
    some = (torch.rand(ids.shape, generator=generator) * vocab_size).long().clamp(max=vocab_size - 1)
    inputs = torch.stack([ids, torch.full_like(ids, mask_id), some, ids]).gather(0, what[None]).squeeze(0)
    return [inputs, (ids + 100) * (what > 0) - 100]


def mask_tokens__only_the_chosen_draw(ids, special_mask, vocab_size, mask_id, generator, rate=0.15):
    flat, labels = ids.flatten().clone(), torch.full((ids.numel(),), -100)
    places = ((special_mask.flatten() == 0) & (torch.rand(ids.numel(), generator=generator) < rate)).nonzero()[:, 0]
    labels[places] = flat[places]
    tenth = torch.randint(10, places.shape, generator=generator)
    flat[places[tenth < 8]] = mask_id
    flat[places[tenth == 8]] = torch.randint(vocab_size, (int((tenth == 8).sum()),), generator=generator)
    return flat.view_as(ids), labels.view_as(ids)


# ---------------------------------------------------------------------------------------------- mlm_loss


def mlm_loss__ignore_index(logits, labels):
    total = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100, reduction="sum")
    return total / (labels != -100).sum().clamp(min=1)


def mlm_loss__gather(logits, labels):
    counted = (labels != -100).float()
    picked = logits.log_softmax(-1).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(picked * counted).sum() / max(counted.sum(), torch.tensor(1.0))


def mlm_loss__loop(logits, labels):
    losses = [
        torch.logsumexp(row, 0) - row[label]
        for text, asked in zip(logits, labels.tolist())
        for row, label in zip(text, asked)
        if label != -100
    ]
    return sum(losses) / len(losses) if losses else torch.tensor(0.0)


def mlm_loss__module(logits, labels):
    loss = nn.CrossEntropyLoss()(logits.reshape(-1, logits.size(-1)), labels.reshape(-1))
    return logits.sum() * 0 if (labels == -100).all() else loss


def mlm_loss__one_hot(logits, labels):
    hot = F.one_hot(labels.where(labels >= 0, logits.size(-1)), logits.size(-1) + 1)[..., :-1].to(logits.dtype)
    return torch.einsum("btv,btv->", hot, -F.log_softmax(logits, dim=-1)) / hot.sum().clamp(min=1)


# ---------------------------------------------------------------------------------------------- next_sentence_pairs


def next_sentence_pairs__index(docs, generator):
    everything = [(d, sentence) for d, doc in enumerate(docs) for sentence in doc]
    result = []
    for d in range(len(docs)):
        for i in range(len(docs[d]) - 1):
            if torch.rand((), generator=generator).item() < 0.5:
                result.append((docs[d][i], docs[d][i + 1], 1))
                continue
            candidates = [sentence for other, sentence in everything if other != d]
            which = int(torch.randint(len(candidates), (1,), generator=generator))
            result.append((docs[d][i], candidates[which], 0))
    return result


def next_sentence_pairs__rejection(docs, generator):
    flat = [(number, sentence) for number, doc in enumerate(docs) for sentence in doc]
    pairs = []
    for number, doc in enumerate(docs):
        for place, sentence in enumerate(doc[:-1]):
            if torch.bernoulli(torch.tensor(0.5), generator=generator):
                pairs.append([sentence, doc[place + 1], True])
            else:
                own, second = flat[draw_below(len(flat), generator)]
                while own == number:
                    own, second = flat[draw_below(len(flat), generator)]
                pairs.append([sentence, second, False])
    return pairs


def next_sentence_pairs__all_at_once(docs, generator):
    pairs = []
    for i, doc in enumerate(docs):
        others = list(itertools.chain.from_iterable(docs[:i] + docs[i + 1 :]))
        count = len(doc) - 1
        coins = torch.randint(2, (count,), generator=generator).tolist()
        seconds = torch.randint(len(others), (count,), generator=generator).tolist()
        pairs += [
            (doc[j], doc[j + 1] if coin else others[second], coin)
            for j, (coin, second) in enumerate(zip(coins, seconds))
        ]
    return tuple(pairs)


def next_sentence_pairs__weighted_document(docs, generator):
    def second(number):
        weights = torch.tensor([0.0 if other == number else float(len(doc)) for other, doc in enumerate(docs)])
        doc = docs[int(torch.multinomial(weights, 1, generator=generator))]
        return doc[draw_below(len(doc), generator)]

    pairs = []
    for number, doc in enumerate(docs):
        for first, following in zip(doc, doc[1:]):
            follows = draw_below(2, generator)
            pairs.append((first, following if follows else second(number), follows))
    return pairs


# ---------------------------------------------------------------------------------------------- sentence_order_pairs


def sentence_order_pairs__index(docs, generator):
    pairs = []
    for doc in docs:
        for i in range(1, len(doc)):
            if torch.rand(1, generator=generator) < 0.5:
                pairs.append((doc[i - 1], doc[i], 1))
            else:
                pairs.append((doc[i], doc[i - 1], 0))
    return pairs


def sentence_order_pairs__reverse(docs, generator):
    def pair(*both):
        swap = draw_below(2, generator)
        return [*both[:: -1 if swap else 1], 1 - swap]

    return [pair(a, b) for doc in docs for a, b in itertools.pairwise(doc)]


def sentence_order_pairs__all_coins_first(docs, generator):
    neighbors = [doc[i : i + 2] for doc in docs for i in range(len(doc) - 1)]
    coins = torch.rand(len(neighbors), generator=generator) > 0.5
    return [(*(pair if coin else pair[::-1]), bool(coin)) for pair, coin in zip(neighbors, coins)]


def sentence_order_pairs__permutation(docs, generator):
    pairs = []
    for doc in docs:
        for both in zip(doc[:-1], doc[1:]):
            order = torch.randperm(2, generator=generator).tolist()
            pairs.append((both[order[0]], both[order[1]], int(order == [0, 1])))
    return pairs


# ---------------------------------------------------------------------------------------------- span_corruption


def _numbers(length, rate, mean_span):
    hidden = max(1, min(length - 1, round(length * rate)))
    return hidden, max(1, min(round(hidden / mean_span), hidden, length - hidden + 1))


def span_corruption__mask_of_places(ids, rate, mean_span, sentinel_ids, eos_id, generator):
    hidden, count = _numbers(len(ids), rate, mean_span)
    lengths = random_parts(hidden, count, generator)
    slots = sorted(torch.randperm(len(ids) - hidden + 1, generator=generator)[:count].tolist())  # before which kept one
    is_hidden = []
    for slot in range(len(ids) - hidden + 1):
        if slot in slots:
            is_hidden += [slots.index(slot) + 1] * lengths[slots.index(slot)]
        is_hidden += [0] * (slot < len(ids) - hidden)
    inputs, targets, last = [], [], 0
    for token, number in zip(ids.tolist(), is_hidden):
        if number and number != last:
            inputs.append(sentinel_ids[number - 1])
            targets.append(sentinel_ids[number - 1])
        (targets if number else inputs).append(token)
        last = number
    return torch.tensor(inputs + [eos_id]), torch.tensor(targets + [sentinel_ids[count], eos_id])


def span_corruption__tensors(ids, rate, mean_span, sentinel_ids, eos_id, generator):
    hidden, count = _numbers(ids.numel(), rate, mean_span)
    spans = random_parts(hidden, count, generator)
    gaps = random_parts(ids.numel() - hidden + 2, count + 1, generator)
    sizes = [gaps[0] - 1]
    for k in range(count):
        sizes += [spans[k], gaps[k + 1] - (k == count - 1)]
    pieces = torch.split(ids, sizes)
    inputs, targets = [pieces[0]], []
    for k in range(count):
        mark = ids.new_tensor([sentinel_ids[k]])
        inputs += [mark, pieces[2 * k + 2]]
        targets += [mark, pieces[2 * k + 1]]
    end = ids.new_tensor([eos_id])
    return torch.cat([*inputs, end]), torch.cat([*targets, ids.new_tensor([sentinel_ids[count]]), end])


def span_corruption__tries_until_it_fits(ids, rate, mean_span, sentinel_ids, eos_id, generator):
    length = len(ids)
    hidden, count = _numbers(length, rate, mean_span)
    if math.comb(length, hidden) > 5000:
        return span_corruption__tensors(ids, rate, mean_span, sentinel_ids, eos_id, generator)
    while True:
        places = set(torch.randperm(length, generator=generator)[:hidden].tolist())
        starts = [p for p in sorted(places) if p - 1 not in places]
        if len(starts) == count:
            break
    inputs, targets = [], []
    for place, token in enumerate(ids.tolist()):
        if place in starts:
            inputs.append(sentinel_ids[starts.index(place)])
            targets.append(sentinel_ids[starts.index(place)])
        (targets if place in places else inputs).append(token)
    return torch.LongTensor(inputs + [eos_id]), torch.LongTensor(targets + [sentinel_ids[count], eos_id])


def span_corruption__all_ways_in_a_list(ids, rate, mean_span, sentinel_ids, eos_id, generator):
    length = len(ids)
    hidden, count = _numbers(length, rate, mean_span)
    cuts = sorted(torch.randperm(hidden - 1, generator=generator)[: count - 1].tolist())
    ends = [cut + 1 for cut in cuts] + [hidden]
    kept = length - hidden
    before = sorted(torch.multinomial(torch.ones(kept + 1), count, generator=generator).tolist())
    tokens, iterator = ids.tolist(), 0
    inputs, targets, used = [], [], 0
    for number, (place, end) in enumerate(zip(before, ends)):
        upto = place + used
        inputs.extend(tokens[iterator:upto])
        inputs.append(sentinel_ids[number])
        targets.append(sentinel_ids[number])
        targets.extend(tokens[upto : upto + end - used])
        iterator = upto + end - used
        used = end
    inputs.extend(tokens[iterator:])
    targets.append(sentinel_ids[count])
    return torch.tensor(inputs + [eos_id], dtype=torch.int32), torch.tensor(targets + [eos_id])


# ---------------------------------------------------------------------------------------------- bart_noise


def bart_noise__tables(tokens, kind, generator):
    def infill():
        noisy, skip, stays = [], 0, False
        for token in tokens:
            if skip:
                skip -= 1
                stays = skip == 0
                continue
            if not stays and torch.rand(1, generator=generator).item() < 1 / 7:
                noisy.append("[MASK]")
                skip = int(torch.poisson(torch.full((1,), 3.0), generator=generator).item())
                if skip:
                    skip -= 1
                    stays = skip == 0
                    continue
            noisy.append(token)
            stays = False
        return noisy

    def permute():
        sentences = [[]]
        for token in tokens:
            sentences[-1].append(token)
            if token == ".":
                sentences.append([])
        if not sentences[-1]:
            sentences.pop()
        keys = torch.rand(len(sentences), generator=generator).tolist()
        return sum((sentence for _, sentence in sorted(zip(keys, sentences))), [])

    def hit():
        return (torch.rand(len(tokens), generator=generator) < 0.3).tolist()

    def rotate():
        turned = list(tokens)
        for _ in range(draw_below(len(tokens), generator)):
            turned.append(turned.pop(0))
        return turned

    return {
        "mask": lambda: ["[MASK]" if gone else token for token, gone in zip(tokens, hit())],
        "delete": lambda: [token for token, gone in zip(tokens, hit()) if not gone],
        "infill": infill,
        "permute": permute,
        "rotate": rotate,
    }[kind]()


def bart_noise__match(tokens, kind, generator):
    noisy = tokens.copy()
    match kind:
        case "mask":
            for place in range(len(noisy)):
                if torch.bernoulli(torch.tensor(0.3), generator=generator) == 1:
                    noisy[place] = "[MASK]"
        case "delete":
            for place in reversed(range(len(noisy))):
                if torch.bernoulli(torch.tensor(0.3), generator=generator) == 1:
                    del noisy[place]
        case "infill":
            place = 0
            while place < len(noisy):
                if torch.bernoulli(torch.tensor(1 / 7), generator=generator) == 1:
                    length = int(torch.poisson(torch.tensor([3.0]), generator=generator)[0])
                    noisy[place : place + length] = ["[MASK]"]
                    place += 1
                place += 1
        case "permute":
            text = re.split(r"(?<=^\.) |(?<= \.) ", " ".join(noisy))
            noisy = []
            for number in torch.randperm(len(text), generator=generator):
                noisy += text[number].split()
        case "rotate":
            start = draw_below(len(noisy), generator)
            noisy = [noisy[(start + place) % len(noisy)] for place in range(len(noisy))]
    return noisy


def bart_noise__lengths_first(tokens, kind, generator):
    count = len(tokens)
    dice = torch.rand(count, generator=generator).tolist()
    if kind == "mask":
        return tuple("[MASK]" if one > 0.7 else token for one, token in zip(dice, tokens))
    if kind == "delete":
        return list(itertools.compress(tokens, (one > 0.3 for one in dice)))
    if kind == "infill":
        lengths = torch.poisson(torch.full((count,), 3.0), generator=generator).int().tolist()
        noisy, place = [], 0
        while place < count:
            if dice[place] * 7 < 1:
                noisy += ["[MASK]", *tokens[place + lengths[place] :][:1]]
                place += lengths[place] + 1
            else:
                noisy.append(tokens[place])
                place += 1
        return noisy
    if kind == "permute":
        groups, number = {}, 0
        for token in tokens:
            groups.setdefault(number, []).append(token)
            number += token == "."
        left, noisy = list(groups.values()), []
        while left:
            noisy.extend(left.pop(draw_below(len(left), generator)))
        return noisy
    if kind == "rotate":
        twice = tokens * 2
        start = int(torch.randperm(count, generator=generator)[0])
        return twice[start : start + count]
    raise ValueError(f"no noise is called {kind!r}")


def bart_noise__numpy_free_choice(tokens, kind, generator):
    coin = lambda p: float(torch.rand((), generator=generator, dtype=torch.float64)) < p  # noqa: E731
    if kind in ("mask", "delete"):
        hits = [coin(0.3) for _ in tokens]
        if kind == "mask":
            return [("[MASK]" if hit else token) for hit, token in zip(hits, tokens)]
        return [token for hit, token in zip(hits, tokens) if not hit]
    if kind == "infill":
        rest, noisy = iter(tokens), []
        for token in rest:
            if coin(1 / 7):
                noisy.append("[MASK]")
                limit, product, length = math.exp(-3), float(torch.rand((), generator=generator)), 0
                while product > limit:  # Knuth's way to draw from Poisson's distribution
                    length, product = length + 1, product * float(torch.rand((), generator=generator))
                for _ in range(length):
                    token = next(rest, None)
            if token is not None:
                noisy.append(token)
        return noisy
    if kind == "permute":
        sentences, sentence = [], []
        for token in tokens:
            sentence = [*sentence, token]
            if token == ".":
                sentences, sentence = [*sentences, sentence], []
        sentences += [sentence] * bool(sentence)
        for last in range(len(sentences) - 1, 0, -1):  # Fisher and Yates
            other = draw_below(last + 1, generator)
            sentences[last], sentences[other] = sentences[other], sentences[last]
        return [token for one in sentences for token in one]
    where = torch.arange(len(tokens)).roll(-draw_below(len(tokens), generator))
    return [tokens[place] for place in where]


# ---------------------------------------------------------------------------------------------- replaced_token_labels


def replaced_token_labels__bool(original, corrupted):
    return torch.ne(original, corrupted)


def replaced_token_labels__where(original, corrupted):
    return torch.where(original == corrupted, 0, 1)


def replaced_token_labels__loop(original, corrupted):
    return torch.tensor([[float(a != b) for a, b in zip(*rows)] for rows in zip(original.tolist(), corrupted.tolist())])


def replaced_token_labels__difference(original, corrupted):
    return (original - corrupted).abs().clamp(max=1).double()


# ---------------------------------------------------------------------------------------------- distillation_loss


def distillation_loss__by_hand(student_logits, teacher_logits, labels, temperature, alpha):
    with torch.no_grad():
        log_p = torch.log_softmax(teacher_logits / temperature, -1)
        p = log_p.exp()
    log_q = torch.log_softmax(student_logits / temperature, -1)
    divergence = (p * (log_p - log_q)).sum(-1).mean()
    hard = -student_logits.log_softmax(-1)[torch.arange(len(labels)), labels].mean()
    return alpha * temperature * temperature * divergence + (1 - alpha) * hard


def distillation_loss__modules(student_logits, teacher_logits, labels, temperature, alpha):
    soft = nn.KLDivLoss(reduction="batchmean")(
        F.log_softmax(student_logits / temperature, dim=1), F.softmax(teacher_logits.data / temperature, dim=1)
    )
    return torch.lerp(nn.CrossEntropyLoss()(student_logits, labels), soft * temperature**2, alpha)


def distillation_loss__one_text_at_a_time(student_logits, teacher_logits, labels, temperature, alpha):
    total = 0.0
    for mine, theirs, label in zip(student_logits, teacher_logits.detach(), labels):
        q, p = (F.log_softmax(row / temperature, dim=0) for row in (mine, theirs))
        total = total + alpha * temperature**2 * torch.dot(p.exp(), p - q)
        total = total + (1 - alpha) * (torch.logsumexp(mine, 0) - mine[label])
    return total / len(labels)


def distillation_loss__entropy_apart(student_logits, teacher_logits, labels, temperature, alpha):
    p = F.softmax(teacher_logits.detach() / temperature, dim=-1)
    crossed = F.cross_entropy(student_logits / temperature, p)
    entropy = torch.special.entr(p).sum(dim=-1).mean()
    hard = F.nll_loss(F.log_softmax(student_logits, dim=-1), labels)
    return (crossed - entropy) * (alpha * temperature**2) + hard * (1 - alpha)


# ---------------------------------------------------------------------------------------------- finetuning_loss


def finetuning_loss__lambda(lm_loss, task_loss, weight):
    return (lambda l1, l2: l2 + l1 * weight)(lm_loss, task_loss)


def finetuning_loss__add(lm_loss, task_loss, weight):
    return torch.add(task_loss, lm_loss, alpha=weight)


def finetuning_loss__dot(lm_loss, task_loss, weight):
    return torch.stack([lm_loss, task_loss]) @ torch.tensor([float(weight), 1.0])


finetuning_loss__one_line = lambda lm, task, w: sum([task, w * lm])  # noqa: E731


# ---------------------------------------------------------------------------------------------- quiz

_RIGHT = {
    "static masking": "the same positions in every epoch",
    "a rate of 90%": "too little is left to predict from",
    "reading both sides": "each token would see itself",
    "not always [MASK]": "the mark is missing later",
    "ELECTRA learns from": "every token",
}
quiz_pretraining__capitals = {question: option.capitalize() for question, option in _RIGHT.items()}
quiz_pretraining__spaces = {question: f" {option} " for question, option in _RIGHT.items()}
quiz_pretraining__other_order = dict(reversed(_RIGHT.items()))
