"""Wrong answers to the exercises of 08-classification-head."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.classification_head import cross_entropy, quiz_tasks, train_step
from anatomy.reference.encoder import TransformerEncoder

# ---------------------------------------------------------------------------- TransformerForSequenceClassification


@misconception(
    "You classify the last token (`[:, -1]`). In a padded batch that is mostly padding; BERT's summary sits at the first "
    "place, where [CLS] is: `hidden[:, 0]`.",
    breaks=("values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__last_token(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[:, -1]))


@misconception(
    "You classify the last real token of each sentence. That is GPT's way, where only the last token has seen everything; "
    "here the first one, [CLS], is asked for: `hidden[:, 0]`.",
    breaks=("values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__last_real_token(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        last = attention_mask.sum(dim=1) - 1
        return self.classifier(self.dropout(hidden[torch.arange(len(hidden)), last]))


@misconception(
    "You take position 1, the first word; [CLS] stands before it, at position 0.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__counts_from_one(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[:, 1:2])).squeeze(1)


@misconception(
    "You average over all tokens, padding included. This exercise asks for BERT's way: the vector of [CLS] alone, "
    "`hidden[:, 0]`.",
    breaks=("values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__mean_of_all(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden.mean(dim=1)))


@misconception(
    "You average over the real tokens. That is a good summary too (notebook 07 used it), but another one: this exercise "
    "asks for the vector of [CLS], `hidden[:, 0]`.",
    breaks=("values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__mean_of_real(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        keep = attention_mask.unsqueeze(-1).float()
        return self.classifier(self.dropout((hidden * keep).sum(dim=1) / keep.sum(dim=1)))


@misconception(
    "You take the largest value of each column over all tokens (max pooling); asked for is the vector of [CLS], "
    "`hidden[:, 0]`.",
    breaks=("values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__max_pooling(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden.amax(dim=1)))


@misconception(
    "Your forward ends with a softmax. It should return logits, any real numbers: the loss brings the softmax with it, and "
    "a second one would flatten its gradients.",
    breaks=("values", "no mask", "dropout", "gradients"),
)
class TransformerForSequenceClassification__softmax(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[:, 0])).softmax(dim=-1)


@misconception(
    "Your forward ends with a log-softmax. It should return logits, just what the linear layer gives; the loss does the "
    "rest.",
    breaks=("values", "no mask", "dropout", "gradients"),
)
class TransformerForSequenceClassification__log_softmax(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[:, 0])).log_softmax(dim=-1)


@misconception(
    "A tanh stands between [CLS] and your classifier. BERT's pooler has one, after a linear layer of its own; here there "
    "is none: dropout, then `classifier`.",
    breaks=("values", "no mask", "dropout", "gradients"),
)
class TransformerForSequenceClassification__tanh(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(torch.tanh(self.dropout(hidden[:, 0])))


@misconception(
    "You have built BERT's pooler too (a linear layer and a tanh). A fine head, with more parameters than are asked for: "
    "here [CLS] goes through dropout straight into `classifier`.",
    breaks=("values", "no mask", "parameters", "dropout", "gradients"),
)
class TransformerForSequenceClassification__pooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(torch.tanh(self.pooler(hidden[:, 0]))))


@misconception(
    "You return logits for every token. One row for each sentence is wanted: take the first token's vector, "
    "`hidden[:, 0]`, before you classify.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__every_token(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask)))


@misconception(
    "`hidden[0]` is the first sentence of the batch with all its tokens; the first token of every sentence is "
    "`hidden[:, 0]`.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__first_sentence(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[0]))


@misconception(
    "You don't hand `attention_mask` on to the encoder: [CLS] then attends to padding, and a sentence's label depends on "
    "how long its neighbors in the batch are.",
    breaks=("values", "gradients"),
)
class TransformerForSequenceClassification__ignores_the_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids)
        return self.classifier(self.dropout(hidden[:, 0]))


@misconception(
    "You classify the embedding of [CLS], before any layer. There it is the same vector for every sentence: call the "
    "whole encoder.",
    breaks=("values", "no mask", "gradients"),
)
class TransformerForSequenceClassification__embedding_only(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder.embeddings(input_ids)[:, 0]))


@misconception(
    "You return the index of the largest logit, a decision. Return the logits: the loss needs to know how close the "
    "decision was.",
    breaks=("shape", "values", "no mask", "dropout", "gradients"),
)
class TransformerForSequenceClassification__argmax(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[:, 0])).argmax(dim=-1)


@misconception(
    "`dropout` is made but not used: between [CLS] and `classifier` no number is dropped in training.",
    breaks=("dropout",),
)
class TransformerForSequenceClassification__no_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.encoder(input_ids, attention_mask)[:, 0])


@misconception(
    "Your dropout comes after the classifier: in training it sets whole logits to 0. It belongs before it, on the D "
    "numbers of [CLS].",
    breaks=("dropout",),
)
class TransformerForSequenceClassification__dropout_on_logits(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.dropout(self.classifier(self.encoder(input_ids, attention_mask)[:, 0]))


@misconception(
    "You drop with another probability than the config's: take `config.hidden_dropout_prob`, which need not be 0.1.",
    breaks=("dropout",),
)
class TransformerForSequenceClassification__dropout_of_a_tenth(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask)[:, 0]))


@misconception(
    "Your dropout acts in eval mode too: the same sentence gets other logits at every call. An `nn.Dropout` layer knows "
    "the mode by itself; `F.dropout` has to be told: `training=self.training`.",
    breaks=("values", "no mask", "dropout", "gradients"),
)
class TransformerForSequenceClassification__dropout_in_eval(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.chance = config.hidden_dropout_prob
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(F.dropout(hidden[:, 0], self.chance))


@misconception(
    "Your classifier always has two outputs; the number of labels is in `config.num_labels`.",
    breaks=("shape", "values", "no mask", "parameters", "dropout", "gradients"),
)
class TransformerForSequenceClassification__two_labels(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask)[:, 0]))


@misconception(
    "Your classifier has no bias. `nn.Linear` brings one unless told otherwise, and the contract keeps it.",
    breaks=("values", "no mask", "parameters", "dropout", "gradients"),
)
class TransformerForSequenceClassification__no_bias(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels, bias=False)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask)[:, 0]))


@misconception(
    "The encoder runs under `torch.no_grad()` (or its result is detached): no gradient can reach it, so it could never be "
    "fine-tuned. Freezing is decided outside, when the optimizer is made.",
    breaks=("no mask", "gradients"),
)
class TransformerForSequenceClassification__frozen_body(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        with torch.no_grad():
            hidden = self.encoder(input_ids, attention_mask)
        return self.classifier(self.dropout(hidden[:, 0]))


@misconception(
    "The names are part of the contract: your encoder is called `bert`, and `encoder` is expected, so that weights can be "
    "copied in by name.",
    breaks=("values", "no mask", "parameters", "dropout", "gradients"),
)
class TransformerForSequenceClassification__called_bert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.bert = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.bert(input_ids, attention_mask)[:, 0]))


# ---------------------------------------------------------------------------------------------- cross_entropy


@misconception(
    "A softmax comes first, and then a whole cross-entropy, which has a softmax of its own: two in a row. The loss of a "
    "perfect answer could not fall to 0, and gradients get small. Use the logits as they come.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__softmax_before(logits, labels):
    probabilities = logits.softmax(dim=-1)
    right = probabilities.gather(1, labels[:, None]).squeeze(1)
    return (probabilities.logsumexp(dim=-1) - right).mean()


@misconception(
    "You average over all B·N entries, but only one entry in each row counts: divide by the number of sentences, B = {B}, "
    "not by B·N (N = {N} labels).",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__mean_over_classes(logits, labels):
    wanted = torch.eye(logits.size(1))[labels]
    return -(wanted * (logits - logits.logsumexp(dim=-1, keepdim=True))).mean()


@misconception(
    "You sum over the batch; the mean is asked for. A sum grows with the batch, and the step size would have to shrink "
    "with it.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__sum(logits, labels):
    return (logits.logsumexp(dim=-1) - logits.gather(1, labels[:, None]).squeeze(1)).sum()


@misconception(
    "You return one loss for each sentence, shape (B,); what is wanted is their mean, a single number.",
    breaks=("shape", "values", "large logits", "gradients"),
)
def cross_entropy__no_mean(logits, labels):
    return logits.logsumexp(dim=-1) - logits.gather(1, labels[:, None]).squeeze(1)


@misconception(
    "The minus sign is missing: this is the mean log-probability, at most 0. Whoever minimizes it learns to give the right "
    "label *less*.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__no_minus(logits, labels):
    return (logits.gather(1, labels[:, None]).squeeze(1) - logits.logsumexp(dim=-1)).mean()


@misconception(
    "Right for moderate logits, but the exponential overflows or a probability is rounded to 0 before its logarithm is "
    "taken. Take each row's largest logit off first, and write log(softmax) as a difference: x − log Σ exp(x).",
    breaks=("large logits",),
)
def cross_entropy__naive(logits, labels):
    total = logits.exp().sum(dim=-1)
    right = logits.exp().gather(1, labels[:, None]).squeeze(1)
    return -(right / total).log().mean()


@misconception(
    "The softmax is stable, but then its logarithm is taken: a probability below 1e-45 has been rounded to 0 by then, and "
    "log 0 is −∞. Don't form the probability; log(softmax) is the difference x − log Σ exp(x).",
    breaks=("large logits",),
)
def cross_entropy__log_of_softmax(logits, labels):
    probabilities = logits.softmax(dim=-1)
    return -probabilities.gather(1, labels[:, None]).log().mean()


@misconception(
    "Right for moderate logits; where a probability has been rounded to 0, its logarithm is −∞, and 0 · (−∞) from your one-hot "
    "rows is NaN. Don't form the probability: log(softmax) is x − log Σ exp(x).",
    breaks=("large logits",),
)
def cross_entropy__zero_times_infinity(logits, labels):
    wanted = torch.eye(logits.size(1))[labels]
    return -(wanted * logits.softmax(dim=-1).log()).sum(dim=-1).mean()


@misconception(
    "You shift the labels by one. They count from 0 already: label 0 is the first column.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__labels_from_one(logits, labels):
    right = logits[torch.arange(len(labels)), labels - 1]
    return (logits.logsumexp(dim=-1) - right).mean()


@misconception(
    "A small constant under the logarithm (or a clamp) hides the infinity, but not the error: a confident wrong answer "
    "then costs about 20 at most, and its gradient vanishes. Write log(softmax) as x − log Σ exp(x).",
    breaks=("large logits",),
)
def cross_entropy__clamped(logits, labels):
    probabilities = logits.softmax(dim=-1).gather(1, labels[:, None])
    return -probabilities.clamp(min=1e-9).log().mean()


@misconception(
    "You take off the largest logit of the whole batch. Rows that lie far below it underflow: take off each row's own "
    "largest, `amax(dim=-1, keepdim=True)`.",
    breaks=("large logits",),
)
def cross_entropy__one_maximum(logits, labels):
    shifted = logits - logits.max()
    return (shifted.exp().sum(dim=-1).log() - shifted.gather(1, labels[:, None]).squeeze(1)).mean()


@misconception(
    "You normalize over the batch (dim 0): the sentences compete for a label. The labels should compete within each "
    "sentence: the last dim.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__over_the_batch(logits, labels):
    logarithms = logits - logits.logsumexp(dim=0, keepdim=True)
    return -logarithms.gather(1, labels[:, None]).mean()


@misconception(
    "You normalize over all entries at once, sentences and labels together; each sentence's probabilities must sum to 1 "
    "by themselves.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__over_everything(logits, labels):
    logarithms = logits - logits.flatten().logsumexp(dim=0)
    return -logarithms.gather(1, labels[:, None]).mean()


@misconception(
    "The softmax's denominator is missing: minus the right logit can be made as small as one likes by raising all "
    "logits. Add log Σ exp(x).",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__no_normalizer(logits, labels):
    return -logits.gather(1, labels[:, None]).mean()


@misconception(
    "You return minus the mean *probability* of the right labels, without the logarithm. Its gradient vanishes just where "
    "the model is most wrong.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__no_logarithm(logits, labels):
    return -logits.softmax(dim=-1).gather(1, labels[:, None]).mean()


@misconception(
    "You average the probabilities and take the logarithm of their mean; take the logarithm of each first. "
    "The mean comes last.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__mean_before_logarithm(logits, labels):
    return -logits.softmax(dim=-1).gather(1, labels[:, None]).mean().log()


@misconception(
    "`logits[:, labels]` picks the columns `labels` in *every* row, a (B, B) matrix. One entry a row is wanted: "
    "`logits[torch.arange(B), labels]`, or `gather`.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__picks_columns(logits, labels):
    logarithms = logits - logits.logsumexp(dim=-1, keepdim=True)
    return -logarithms[:, labels].mean()


@misconception(
    "You measure how sure the model is of its own favorite (the largest logit). What counts is the probability of the "
    "right label, whichever it is.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__own_favorite(logits, labels):
    return (logits.logsumexp(dim=-1) - logits.amax(dim=-1)).mean()


@misconception(
    "This is a yes-or-no loss for each label on its own (sigmoid, binary cross-entropy). Here exactly one label is right, "
    "and the softmax lets them compete.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__binary(logits, labels):
    wanted = torch.eye(logits.size(1))[labels]
    return (F.softplus(logits) - wanted * logits).mean()


@misconception(
    "Your logarithm has base 2: the loss is in bits. In this course, and in the library, it is in nats (base e): smaller "
    "by the factor ln 2 = 0.693.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__bits(logits, labels):
    right = logits.gather(1, labels[:, None]).squeeze(1)
    return (logits.logsumexp(dim=-1) - right).mean() / 0.6931471805599453


@misconception(
    "This is the perplexity, the exponential of the loss. The loss itself is wanted.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__perplexity(logits, labels):
    return (logits.logsumexp(dim=-1) - logits.gather(1, labels[:, None]).squeeze(1)).mean().exp()


@misconception(
    "You return a plain number (`.item()`, `float`). The value is right, but nothing can learn from it: return the tensor, "
    "which knows how it came about.",
    breaks=("shape", "values", "large logits", "gradients"),
)
def cross_entropy__plain_number(logits, labels):
    return (logits.logsumexp(dim=-1) - logits.gather(1, labels[:, None]).squeeze(1)).mean().item()


@misconception(
    "You divide by B twice (by B² in all, B = {B}): a mean has taken the mean already.",
    breaks=("values", "large logits", "gradients"),
)
def cross_entropy__divided_twice(logits, labels):
    return (logits.logsumexp(dim=-1) - logits.gather(1, labels[:, None]).squeeze(1)).mean() / len(labels)


# ---------------------------------------------------------------------------------------------- train_step


@misconception(
    "`zero_grad` is missing: `backward` *adds* to the gradients that are there, so each step also repeats all earlier "
    "ones. The first step is right, the second is not.",
    breaks=("fresh gradients",),
)
def train_step__no_zero_grad(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@misconception(
    "`zero_grad` stands between `backward` and `step`: the gradients are wiped out before the optimizer sees them, and "
    "nothing ever changes. Call it before `backward`.",
    breaks=("update", "fresh gradients"),
)
def train_step__zero_grad_too_late(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@misconception(
    "`step` comes before `backward`: the optimizer walks along the *previous* batch's gradient, and at the first step it has "
    "none. First `backward`, which computes the gradients, then `step`, which uses them.",
    breaks=("update", "fresh gradients"),
)
def train_step__step_before_backward(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    optimizer.step()
    optimizer.zero_grad()
    loss.backward()
    return loss.item()


@misconception(
    "`backward` is missing: no gradient is ever computed, so `step` has nothing to go by.",
    breaks=("update", "fresh gradients"),
)
def train_step__no_backward(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    optimizer.step()
    return loss.item()


@misconception(
    "The model is not put into training mode: it comes in eval mode from the last prediction, and dropout stays off. Begin "
    "with `model.train()`.",
    breaks=("training mode",),
)
def train_step__trains_in_eval(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@misconception(
    "You return the loss tensor. It drags its whole computation along; `loss.item()` is the plain number.",
    breaks=("loss",),
)
def train_step__returns_tensor(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    optimizer.step()
    return loss


@misconception(
    "`loss = ….item()` comes before `backward`: a plain number has no gradients. Keep the tensor, call `backward` on it, "
    "and take `.item()` at the end.",
    breaks=("loss", "update", "fresh gradients", "training mode"),
)
def train_step__item_before_backward(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels).item()
    loss.backward()
    optimizer.step()
    return loss


@misconception(
    "You compute the loss anew after the step and return that. It costs a second forward pass; wanted is the loss from "
    "before the step, which is there already.",
    breaks=("loss",),
)
def train_step__loss_after_the_step(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    cross_entropy(model(input_ids, attention_mask), labels).backward()
    optimizer.step()
    with torch.no_grad():
        return cross_entropy(model(input_ids, attention_mask), labels).item()


@misconception(
    "Nothing is returned: give back `loss.item()`, so that whoever trains can see how it goes.",
    breaks=("loss",),
)
def train_step__returns_nothing(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    optimizer.step()


@misconception(
    "The attention mask is not handed to the model: it then reads padding as if it were text.",
    breaks=("loss", "update", "fresh gradients"),
)
def train_step__ignores_the_mask(model, batch, optimizer):
    input_ids, _, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, torch.ones_like(input_ids)), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@misconception(
    "You apply a softmax before `cross_entropy`, which has one inside: the loss is flattened, and learning is slow.",
    breaks=("loss", "update", "fresh gradients"),
)
def train_step__softmax_before(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask).softmax(dim=-1), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@misconception(
    "You change the parameters yourself, by learning rate times gradient. That is plain SGD, whichever optimizer was "
    "given: call `optimizer.step()`.",
    breaks=("update", "fresh gradients"),
)
def train_step__sgd_by_hand(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    with torch.no_grad():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad
    return loss.item()


@misconception(
    "`step` is missing: the gradients are computed, but nobody walks along them.",
    breaks=("update", "fresh gradients"),
)
def train_step__no_step(model, batch, optimizer):
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    return loss.item()


# ---------------------------------------------------------------------------------------------- train_classifier


@misconception(
    "You go through the batches once, whatever `epochs` says. Either the outer loop is missing, or an iterator made before it "
    "(`iter(batches)`, `enumerate`, `zip`) is used up after the first epoch: loop over `batches` anew in each.",
    breaks=("learns", "losses", "all batches"),
)
def train_classifier__one_epoch(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for batch in batches:
        losses.append(train_step(model, batch, optimizer))
        if on_step is not None:
            on_step(losses[-1])
    model.eval()
    return losses


@misconception(
    "`return` stands inside the outer loop: training ends after the first epoch.",
    breaks=("learns", "losses", "all batches", "modes"),
)
def train_classifier__returns_early(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(losses[-1])
        return losses
    model.eval()
    return losses


@misconception(
    "You train on the first batch only, again and again. The inner loop goes through all of them.",
    breaks=("learns", "losses", "all batches"),
)
def train_classifier__first_batch_only(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        batch = next(iter(batches))
        losses.append(train_step(model, batch, optimizer))
        if on_step is not None:
            on_step(losses[-1])
    model.eval()
    return losses


@misconception(
    "Each batch is trained on twice: `train_step` is called once to keep the loss and once more to tell it. Call it once "
    "and keep what it returns.",
    breaks=("all batches", "on_step"),
)
def train_classifier__two_steps_a_batch(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(train_step(model, batch, optimizer))
    model.eval()
    return losses


@misconception(
    "The list of losses is emptied at the beginning of each epoch: only the last epoch's are returned. Make it before the "
    "loops.",
    breaks=("losses",),
)
def train_classifier__last_epoch_only(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        losses = []
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(losses[-1])
    model.eval()
    return losses


@misconception(
    "You return the mean loss of each epoch. Asked for is the loss of every step: the means can be made from it later.",
    breaks=("losses",),
)
def train_classifier__mean_per_epoch(model, batches, optimizer, epochs, on_step=None):
    means = []
    for _ in range(epochs):
        losses = []
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(losses[-1])
        means.append(sum(losses) / len(losses))
    model.eval()
    return means


@misconception(
    "Nothing is returned: end with `return losses`.",
    breaks=("losses",),
)
def train_classifier__returns_nothing(model, batches, optimizer, epochs, on_step=None):
    for _ in range(epochs):
        for batch in batches:
            loss = train_step(model, batch, optimizer)
            if on_step is not None:
                on_step(loss)
    model.eval()


@misconception(
    "You return the model. It is changed in place, so the caller has it already; the losses are wanted.",
    breaks=("losses",),
)
def train_classifier__returns_model(model, batches, optimizer, epochs, on_step=None):
    for _ in range(epochs):
        for batch in batches:
            loss = train_step(model, batch, optimizer)
            if on_step is not None:
                on_step(loss)
    return model.eval()


@misconception(
    "You keep and pass on the losses as tensors. Each holds on to its whole computation, and memory fills up: "
    "`loss.item()` is the number.",
    breaks=("losses", "on_step"),
)
def train_classifier__tensors(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for input_ids, attention_mask, labels in batches:
            model.train()
            optimizer.zero_grad()
            loss = cross_entropy(model(input_ids, attention_mask), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss)
            if on_step is not None:
                on_step(loss)
    model.eval()
    return losses


@misconception(
    "The model is left in training mode: the next prediction would drop numbers at random. End with `model.eval()`.",
    breaks=("modes",),
)
def train_classifier__left_in_training_mode(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(losses[-1])
    return losses


@misconception(
    "It trains in eval mode from beginning to end: dropout never acts. `train_step` switches to training mode; if you write "
    "the step out again, so must you.",
    breaks=("modes",),
)
def train_classifier__trains_in_eval(model, batches, optimizer, epochs, on_step=None):
    losses = []
    model.eval()
    for _ in range(epochs):
        for input_ids, attention_mask, labels in batches:
            optimizer.zero_grad()
            loss = cross_entropy(model(input_ids, attention_mask), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if on_step is not None:
                on_step(losses[-1])
    return losses


@misconception(
    "After the first epoch the model stays in eval mode: it is switched there at the epoch's end and never back. Put "
    "`model.train()` inside the loop.",
    breaks=("modes",),
)
def train_classifier__eval_after_the_first_epoch(model, batches, optimizer, epochs, on_step=None):
    losses = []
    model.train()
    for _ in range(epochs):
        for input_ids, attention_mask, labels in batches:
            optimizer.zero_grad()
            loss = cross_entropy(model(input_ids, attention_mask), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if on_step is not None:
                on_step(losses[-1])
        model.eval()
    return losses


@misconception(
    "`on_step` is never called: after each step, if it is not None, tell it the loss.",
    breaks=("on_step",),
)
def train_classifier__never_tells(model, batches, optimizer, epochs, on_step=None):
    losses = [train_step(model, batch, optimizer) for _ in range(epochs) for batch in batches]
    model.eval()
    return losses


@misconception(
    "`on_step` is called even when there is none: None can't be called. Ask first: `if on_step is not None`.",
    breaks=("on_step",),
)
def train_classifier__calls_none(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            on_step(losses[-1])
    model.eval()
    return losses


@misconception(
    "`on_step` is called once an epoch; it should hear of every step: the call belongs into the inner loop.",
    breaks=("on_step",),
)
def train_classifier__tells_once_an_epoch(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
        if on_step is not None:
            on_step(losses[-1])
    model.eval()
    return losses


@misconception(
    "You tell `on_step` the number of the step; it expects the loss.",
    breaks=("on_step",),
)
def train_classifier__tells_the_number(model, batches, optimizer, epochs, on_step=None):
    losses = []
    for _ in range(epochs):
        for number, batch in enumerate(batches):
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(number)
    model.eval()
    return losses


@misconception(
    "You make an optimizer of your own; the one that you are given never takes a step. It was chosen for this model, with "
    "its learning rates and with what may change: use it.",
    breaks=("learns",),
)
def train_classifier__own_optimizer(model, batches, optimizer, epochs, on_step=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    losses = []
    for _ in range(epochs):
        for batch in batches:
            losses.append(train_step(model, batch, optimizer))
            if on_step is not None:
                on_step(losses[-1])
    model.eval()
    return losses


@misconception(
    "The losses are computed, but no step is taken: without `backward` and `optimizer.step()` nothing is learned.",
    breaks=("learns", "losses", "modes"),
)
def train_classifier__only_measures(model, batches, optimizer, epochs, on_step=None):
    losses = []
    model.eval()
    for _ in range(epochs):
        for input_ids, attention_mask, labels in batches:
            with torch.no_grad():
                losses.append(cross_entropy(model(input_ids, attention_mask), labels).item())
            if on_step is not None:
                on_step(losses[-1])
    return losses


@misconception(
    "You add all losses of an epoch up and step once at its end, so most steps are missing. One step for each batch is wanted.",
    breaks=("learns", "losses"),
)
def train_classifier__one_step_an_epoch(model, batches, optimizer, epochs, on_step=None):
    means = []
    model.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        losses = [cross_entropy(model(input_ids, mask), labels) for input_ids, mask, labels in batches]
        loss = sum(losses) / len(losses)
        loss.backward()
        optimizer.step()
        means.append(loss.item())
        if on_step is not None:
            on_step(means[-1])
    model.eval()
    return means


# ---------------------------------------------------------------------------------------------- TokenClassifier


@misconception(
    "You still pick out [CLS]: one row of logits for each sentence. Here every token gets its own: classify all of "
    "`hidden`.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TokenClassifier__cls_only(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask)[:, 0]))


@misconception(
    "You cut off the special tokens. Return logits for all T tokens; which of them count is decided where the loss is "
    "computed.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TokenClassifier__without_special_tokens(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask)))[:, 1:-1]


@misconception(
    "Your forward ends with a softmax. It should return logits, any real numbers; the loss brings the softmax with it.",
    breaks=("values", "no mask", "dropout", "gradients"),
)
class TokenClassifier__softmax(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask))).softmax(dim=-1)


@misconception(
    "You return a label for each token (argmax). Return the logits: the loss, and whoever wants to know how sure the model "
    "is, need them.",
    breaks=("shape", "values", "no mask", "dropout", "gradients"),
)
class TokenClassifier__argmax(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask))).argmax(dim=-1)


@misconception(
    "You don't hand `attention_mask` on to the encoder: real tokens then attend to padding.",
    breaks=("values", "gradients"),
)
class TokenClassifier__ignores_the_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids)))


@misconception(
    "You classify the embeddings: each token is then labeled without its neighbors, and *flies* gets the same label "
    "everywhere. Call the whole encoder.",
    breaks=("values", "no mask", "gradients"),
)
class TokenClassifier__embedding_only(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder.embeddings(input_ids)))


@misconception(
    "You have a layer for each place in the sentence. All tokens share one layer: a name is a name wherever it stands, and "
    "a sentence may be longer than any before.",
    breaks=("values", "no mask", "dropout", "gradients"),
)
class TokenClassifier__layer_per_place(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        places = range(config.max_position_embeddings)
        self.classifiers = nn.ModuleList(nn.Linear(config.hidden_size, config.num_labels) for _ in places)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.dropout(self.encoder(input_ids, attention_mask))
        return torch.stack([self.classifiers[place](hidden[:, place]) for place in range(hidden.size(1))], dim=1)


@misconception(
    "Your logits come as (B, N, T), the order that PyTorch's own cross-entropy likes; wanted is (B, T, N), one row for "
    "each token.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TokenClassifier__labels_first(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask))).transpose(1, 2)


@misconception(
    "You flatten sentences and tokens into one axis, (B·T, N). That is what the loss will do; keep (B, T, N) here.",
    breaks=("shape", "values", "no mask", "gradients"),
)
class TokenClassifier__flattened(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.dropout(self.encoder(input_ids, attention_mask))).flatten(0, 1)


@misconception(
    "You set the logits of padding to 0. Leave them as they are: the loss decides what counts, and a logit of 0 is not "
    "“no label”, it is an even bet.",
    breaks=("values", "gradients"),
)
class TokenClassifier__padding_to_zero(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        logits = self.classifier(self.dropout(self.encoder(input_ids, attention_mask)))
        return logits if attention_mask is None else logits * attention_mask.unsqueeze(-1)


@misconception(
    "`dropout` is made but not used: between the encoder and `classifier` no number is dropped in training.",
    breaks=("dropout",),
)
class TokenClassifier__no_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.classifier(self.encoder(input_ids, attention_mask))


@misconception(
    "Your dropout comes after the classifier: in training it sets whole logits to 0. It belongs before it.",
    breaks=("dropout",),
)
class TokenClassifier__dropout_on_logits(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        return self.dropout(self.classifier(self.encoder(input_ids, attention_mask)))


# ---------------------------------------------------------------------------------------------- span_scores


@misconception(
    "Start and end have changed places: row 0 of `w` is the start vector, row 1 the end vector, and the start scores come "
    "first.",
    breaks=("values", "mask", "gradients"),
)
def span_scores__swapped(hidden, w, mask=None):
    end, start = (hidden @ w.T).unbind(dim=-1)
    if mask is not None:
        start, end = (scores.masked_fill(mask == 0, float("-inf")) for scores in (start, end))
    return start, end


@misconception(
    "You use the start vector for both: the end scores need row 1 of `w`.",
    breaks=("values", "mask", "gradients"),
)
def span_scores__one_vector(hidden, w, mask=None):
    start = hidden @ w[0]
    if mask is not None:
        start = start.masked_fill(mask == 0, float("-inf"))
    return start, start


@misconception(
    "You return one tensor (B, T, 2). A pair is wanted, start scores (B, T) and end scores (B, T): `unbind(dim=-1)` takes "
    "it apart.",
    breaks=("shape", "values", "mask", "gradients"),
)
def span_scores__one_tensor(hidden, w, mask=None):
    scores = hidden @ w.T
    return scores if mask is None else scores.masked_fill(mask.unsqueeze(-1) == 0, float("-inf"))


@misconception(
    "You multiply with `w` as it is, (2, D); the axis D of both must meet: `hidden @ w.T`. (Where D is 2 it runs and gives "
    "other numbers.)",
    breaks=("shape", "values", "mask", "gradients"),
)
def span_scores__not_transposed(hidden, w, mask=None):
    start, end = (hidden @ w).unbind(dim=-1)
    if mask is not None:
        start, end = (scores.masked_fill(mask == 0, float("-inf")) for scores in (start, end))
    return start, end


@misconception(
    "You turn the scores into probabilities. Return them as they are: `best_span` adds them, and the loss brings its own "
    "softmax.",
    breaks=("values", "mask", "gradients"),
)
def span_scores__softmax(hidden, w, mask=None):
    start, end = (hidden @ w.T).unbind(dim=-1)
    if mask is not None:
        start, end = (scores.masked_fill(mask == 0, float("-inf")) for scores in (start, end))
    return start.softmax(dim=-1), end.softmax(dim=-1)


@misconception(
    "You divide the scores by √D. That belongs to attention; here the vectors of `w` are learned and find their own "
    "length.",
    breaks=("values", "mask", "gradients"),
)
def span_scores__scaled(hidden, w, mask=None):
    start, end = (hidden @ w.T / hidden.size(-1) ** 0.5).unbind(dim=-1)
    if mask is not None:
        start, end = (scores.masked_fill(mask == 0, float("-inf")) for scores in (start, end))
    return start, end


@misconception(
    "You compare directions (cosines): the lengths of the vectors count too. Take plain dot products.",
    breaks=("values", "mask", "gradients"),
)
def span_scores__cosine(hidden, w, mask=None):
    start, end = (F.normalize(hidden, dim=-1) @ F.normalize(w, dim=-1).T).unbind(dim=-1)
    if mask is not None:
        start, end = (scores.masked_fill(mask == 0, float("-inf")) for scores in (start, end))
    return start, end


@misconception(
    "You set masked scores to 0. Zero is a good score where the others are negative; −∞ is never chosen.",
    breaks=("mask",),
)
def span_scores__masked_to_zero(hidden, w, mask=None):
    start, end = (hidden @ w.T).unbind(dim=-1)
    return (start, end) if mask is None else (start * mask, end * mask)


@misconception(
    "You have it the wrong way round: the tokens that may be chosen get −∞, and padding keeps its scores. The mask is 1 "
    "where an answer may lie.",
    breaks=("mask",),
)
def span_scores__mask_inverted(hidden, w, mask=None):
    start, end = (hidden @ w.T).unbind(dim=-1)
    if mask is not None:
        start, end = (scores.masked_fill(mask != 0, float("-inf")) for scores in (start, end))
    return start, end


@misconception(
    "The mask has no effect: padding keeps its scores, and an answer may end in it. Set both scores to −∞ where the mask "
    "is 0.",
    breaks=("mask",),
)
def span_scores__ignores_the_mask(hidden, w, mask=None):
    start, end = (hidden @ w.T).unbind(dim=-1)
    return start, end


@misconception(
    "You mask the start scores only; an answer may then end in the padding. Mask both.",
    breaks=("mask",),
)
def span_scores__masks_start_only(hidden, w, mask=None):
    start, end = (hidden @ w.T).unbind(dim=-1)
    return (start if mask is None else start.masked_fill(mask == 0, float("-inf"))), end


@misconception(
    "You set the *vectors* of masked tokens to 0: their scores are then 0, which is a good score where others are "
    "negative. Set the scores to −∞.",
    breaks=("mask",),
)
def span_scores__mask_in_place(hidden, w, mask=None):
    if mask is not None:
        hidden = hidden.masked_fill_((mask == 0).unsqueeze(-1), 0.0)
    start, end = (hidden @ w.T).unbind(dim=-1)
    return start, end


# ---------------------------------------------------------------------------------------------- best_span


@misconception(
    "You choose the best start and the best end independently of each other. The end can then lie before the start: look "
    "for the best *pair* with i ≤ j.",
    breaks=("values", "length"),
)
def best_span__independent(start, end, max_len):
    def pair(start, end):
        return start.argmax().item(), end.argmax().item()

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "You choose the best start and the best end independently, and swap them where they come in the wrong order. But a good "
    "start is no good end: look for the best *pair* with i ≤ j.",
    breaks=("values", "length"),
)
def best_span__swapped_into_order(start, end, max_len):
    def pair(start, end):
        first, last = start.argmax().item(), end.argmax().item()
        return min(first, last), max(first, last)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "You fix the best start first and then look for an end behind it. A slightly worse start with a much better end can "
    "win: compare pairs.",
    breaks=("values", "length"),
)
def best_span__greedy_start(start, end, max_len):
    def pair(start, end):
        first = start.argmax().item()
        return first, first + end[first : first + max_len].argmax().item()

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "You fix the best end first and then look for a start before it. A slightly worse end with a much better start can "
    "win: compare pairs.",
    breaks=("values", "length"),
)
def best_span__greedy_end(start, end, max_len):
    def pair(start, end):
        last = end.argmax().item()
        low = max(0, last - max_len + 1)
        return low + start[low : last + 1].argmax().item(), last

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "The end may not lie before the start: keep only the pairs with i ≤ j (on and above the diagonal of the T × T table).",
    breaks=("values", "length"),
)
def best_span__any_order(start, end, max_len):
    def pair(start, end):
        total = start[:, None] + end[None, :]
        allowed = torch.ones_like(total).tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(start), best % len(start)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "You kept the other half of the table: the end lies before the start, or on it. Rows are starts, columns are ends: "
    "i ≤ j is on and *above* the diagonal (`triu`).",
    breaks=("values", "length", "ties", "batch"),
)
def best_span__lower_half(start, end, max_len):
    def pair(start, end):
        total = start[:, None] + end[None, :]
        allowed = torch.ones_like(total).tril().triu(1 - max_len).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(start), best % len(start)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "You ask for an end *behind* the start; a span of one token, i = j, is allowed too.",
    breaks=("values", "length", "ties"),
)
def best_span__no_single_token(start, end, max_len):
    def pair(start, end):
        total = start[:, None] + end[None, :]
        allowed = torch.ones_like(total).triu(1).tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(start), best % len(start)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Your spans may be one token too long: from i to j, both included, are j − i + 1 tokens, so j − i is at most "
    "max_len − 1.",
    breaks=("length",),
)
def best_span__one_too_long(start, end, max_len):
    def pair(start, end):
        total = start[:, None] + end[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(start), best % len(start)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Your spans may have at most max_len − 1 tokens; a span of exactly max_len is allowed.",
    breaks=("length",),
)
def best_span__one_too_short(start, end, max_len):
    def pair(start, end):
        best = (0, 0)
        top = float("-inf")
        for i in range(len(start)):
            for j in range(i, min(i + max_len - 1, len(start))):
                if start[i] + end[j] > top:
                    top, best = start[i] + end[j], (i, j)
        return best

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "`max_len` has no effect: spans of any length are considered.",
    breaks=("length",),
)
def best_span__any_length(start, end, max_len):
    def pair(start, end):
        total = start[:, None] + end[None, :]
        best = total.masked_fill(~torch.ones_like(total).triu().bool(), float("-inf")).argmax().item()
        return best // len(start), best % len(start)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Forbidden pairs are multiplied by 0, not set to −∞: where all scores are negative, 0 wins.",
    breaks=("values",),
)
def best_span__masked_to_zero(start, end, max_len):
    def pair(start, end):
        total = start[:, None] + end[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = torch.where(allowed, total, 0.0).argmax().item()
        return best // len(start), best % len(start)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Your search begins with a best score of 0 and never finds anything better where all scores are negative. Begin with "
    "−∞.",
    breaks=("values", "ties"),
)
def best_span__starts_from_zero(start, end, max_len):
    def pair(start, end):
        top, best = 0.0, None
        for i in range(len(start)):
            for j in range(i, min(i + max_len, len(start))):
                if start[i] + end[j] > top:
                    top, best = start[i] + end[j], (i, j)
        return best

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Where several spans tie you take the last; the first is wanted. With `>=` each later one replaces the one before: "
    "use `>`.",
    breaks=("ties",),
)
def best_span__last_of_ties(start, end, max_len):
    def pair(start, end):
        top, best = float("-inf"), (0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_len, len(start))):
                if start[i] + end[j] >= top:
                    top, best = start[i] + end[j], (i, j)
        return best

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Where several spans tie you take the shortest; the contract wants the first, that is the smallest i and then the "
    "smallest j.",
    breaks=("ties",),
)
def best_span__shortest_of_ties(start, end, max_len):
    def pair(start, end):
        pairs = [(i, j) for i in range(len(start)) for j in range(i, min(i + max_len, len(start)))]
        return max(pairs, key=lambda pair: ((start[pair[0]] + end[pair[1]]).item(), pair[0] - pair[1]))

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


@misconception(
    "Your second number is one behind the last token, as in a slice. Here both ends belong to the span.",
    breaks=("values", "length", "ties", "batch"),
)
def best_span__end_excluded(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    if start.dim() == 2:
        return [(i, j + 1) for i, j in map(pair, start, end)]
    first, last = pair(start, end)
    return first, last + 1


@misconception(
    "Your second number is the span's length; the place of its last token is wanted.",
    breaks=("values", "length", "ties", "batch"),
)
def best_span__length_for_end(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    if start.dim() == 2:
        return [(i, j - i + 1) for i, j in map(pair, start, end)]
    first, last = pair(start, end)
    return first, last - first + 1


@misconception(
    "The two places are tensors; plain ints are wanted, as for slices and JSON: `.item()` or `.tolist()`.",
    breaks=("values", "length", "ties", "batch"),
)
def best_span__tensors(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    if start.dim() == 2:
        return [tuple(torch.tensor(pair(one, other))) for one, other in zip(start, end)]
    return tuple(torch.tensor(pair(start, end)))


@misconception(
    "For a batch you return the one best span of all sentences together; each row of (B, T) has its own.",
    breaks=("batch",),
)
def best_span__best_of_the_batch(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    if start.dim() == 1:
        return pair(start, end)
    pairs = [pair(one, other) for one, other in zip(start, end)]
    sums = [(one[i] + other[j]).item() for (i, j), one, other in zip(pairs, start, end)]
    return [pairs[sums.index(max(sums))]] * len(pairs)


@misconception(
    "For a batch only the first row is searched; a list with one pair for each row is wanted.",
    breaks=("batch",),
)
def best_span__first_row(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    if start.dim() == 2:
        start, end = start[0], end[0]
    return pair(start, end)


@misconception(
    "For a batch you return two lists, all starts and all ends. Wanted is a list of pairs, one for each row: `zip` turns one "
    "into the other.",
    breaks=("batch",),
)
def best_span__two_lists(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    if max_len < 1:
        raise ValueError("max_len must be at least 1")
    if start.dim() == 1:
        return pair(start, end)
    firsts, lasts = zip(*map(pair, start, end))
    return list(firsts), list(lasts)


@misconception(
    "A `max_len` of 0 allows no span at all: refuse it with a ValueError that says so. Yours returns one all the same.",
    breaks=("refusal",),
)
def best_span__accepts_zero(start, end, max_len):
    def pair(one, other):
        total = one[:, None] + other[None, :]
        allowed = torch.ones_like(total).triu().tril(max_len - 1).bool()
        best = total.masked_fill(~allowed, float("-inf")).argmax().item()
        return best // len(one), best % len(one)

    max_len = max(1, max_len)
    return pair(start, end) if start.dim() == 1 else [pair(one, other) for one, other in zip(start, end)]


# ---------------------------------------------------------------------------------------------- counting


@misconception(
    "You left out the biases: a linear layer from D = {D} to N = {N} has D·N + N numbers.",
    breaks=("sequence", "token"),
)
def count_head_parameters__no_bias(config):
    linear = config.hidden_size * config.num_labels
    return {"sequence": linear, "token": linear, "span": 2 * config.hidden_size}


@misconception(
    "Your bias has D = {D} numbers; a linear layer has one for each *output*, here N = {N}.",
    breaks=("sequence", "token"),
)
def count_head_parameters__bias_of_inputs(config):
    linear = config.hidden_size * config.num_labels + config.hidden_size
    return {"sequence": linear, "token": linear, "span": 2 * config.hidden_size}


@misconception(
    "The span head of this notebook is two vectors without a bias: 2·D. (One bias for all tokens would shift all scores "
    "alike and change no choice.)",
    breaks=("span",),
)
def count_head_parameters__span_with_bias(config):
    linear = config.hidden_size * config.num_labels + config.num_labels
    return {"sequence": linear, "token": linear, "span": 2 * config.hidden_size + 2}


@misconception(
    "You count the token head once for every position. All tokens share one layer, so the length of the text doesn't "
    "matter.",
    breaks=("token",),
)
def count_head_parameters__token_times_length(config):
    linear = config.hidden_size * config.num_labels + config.num_labels
    return {"sequence": linear, "token": config.max_position_embeddings * linear, "span": 2 * config.hidden_size}


@misconception(
    "A span head has nothing to do with the number of labels: it is one start vector and one end vector, 2·D.",
    breaks=("span",),
)
def count_head_parameters__span_by_labels(config):
    linear = config.hidden_size * config.num_labels + config.num_labels
    return {"sequence": linear, "token": linear, "span": linear}


@misconception(
    "You count one vector for the span head; it has two, one for the start and one for the end.",
    breaks=("span",),
)
def count_head_parameters__one_span_vector(config):
    linear = config.hidden_size * config.num_labels + config.num_labels
    return {"sequence": linear, "token": linear, "span": config.hidden_size}


@misconception(
    "You include BERT's pooler, D² + D numbers; the head of this notebook has none.",
    breaks=("sequence",),
)
def count_head_parameters__pooler(config):
    width = config.hidden_size
    linear = width * config.num_labels + config.num_labels
    return {"sequence": width * width + width + linear, "token": linear, "span": 2 * width}


# ---------------------------------------------------------------------------------------------- quiz_tasks

QUIZ = [
    wrong_option("quiz_tasks", quiz_tasks, question, option, sentence)
    for question, option, sentence in (
        ("does B follow from A", "one label for each sentence",
         "whether B follows is a property of both together: the pair gets one label, read off the one [CLS] before it."),
        ("does B follow from A", "a start and an end",
         "the answer is no passage of the text but one of a few words (yes, no, can't tell): one label for the pair."),
        ("all names of people", "one label for the text",
         "a text may hold no name or ten; each token has to be told whether it belongs to one."),
        ("all names of people", "a start and an end",
         "that points at a single passage; names may occur many times, so every token gets a label."),
        ("the passage that answers", "one label for the pair",
         "a label can say that there is an answer, not where it is; two places, first and last token, say where."),
        ("the passage that answers", "a label for each passage",
         "with 300 tokens there are 45,150 passages; a score for each start and each end is enough."),
        ("frozen body", "only the body changes",
         "frozen means that its weights stay; what is trained is the new layer on top."),
        ("frozen body", "nothing changes",
         "the head begins with random weights, and those are trained even when the body is frozen."),
    )
]  # fmt: skip
