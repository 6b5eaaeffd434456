"""Wrong answers to the exercises of 08-classification-head."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from anatomy.misconceptions import misconception, mistakes_in, wrong_option
from anatomy.reference.classification_head import (
    TokenClassifier,
    TransformerForSequenceClassification,
    best_span,
    count_head_parameters,
    cross_entropy,
    quiz_tasks,
    span_scores,
    train_classifier,
    train_step,
)

# fmt: off
# A mistake takes two or three lines here; the formatter would give each argument one of its own.

# ---------------------------------------------------------------------------- TransformerForSequenceClassification

NUMBERS = ("values", "no mask", "gradients")
CLS = "hidden[:, 0]  # (B, D): the token [CLS]"

wrong = mistakes_in(TransformerForSequenceClassification)
wrong("last_token", "You classify the last token (`[:, -1]`). In a padded batch that is mostly padding; BERT's summary sits at the first place, where [CLS] is: `hidden[:, 0]`.",
      breaks=NUMBERS, old=CLS, new="hidden[:, -1]")
wrong("last_real_token", "You classify the last real token of each sentence. That is GPT's way, where only the last token has seen everything; here the first one, [CLS], is asked for: `hidden[:, 0]`.",
      breaks=NUMBERS, old=CLS, new="""hidden[:, -1]
        if attention_mask is not None:
            first = hidden[torch.arange(len(hidden)), attention_mask.sum(dim=1) - 1]""")
wrong("counts_from_one", "You take position 1, the first word; [CLS] stands before it, at position 0.",
      breaks=("shape", *NUMBERS), old=CLS, new="hidden[:, 1:2].squeeze(1)")
wrong("mean_of_all", "You average over all tokens, padding included. This exercise asks for BERT's way: the vector of [CLS] alone, `hidden[:, 0]`.",
      breaks=NUMBERS, old=CLS, new="hidden.mean(dim=1)")
wrong("mean_of_real", "You average over the real tokens. That is a good summary too (notebook 07 used it), but another one: this exercise asks for the vector of [CLS], `hidden[:, 0]`.",
      breaks=NUMBERS, old=CLS, new="""hidden.mean(dim=1)
        if attention_mask is not None:
            keep = attention_mask.unsqueeze(-1)  # (B, T, 1)
            first = (hidden * keep).sum(dim=1) / keep.sum(dim=1)""")
wrong("max_pooling", "You take the largest value of each column over all tokens (max pooling); asked for is the vector of [CLS], `hidden[:, 0]`.",
      breaks=NUMBERS, old=CLS, new="hidden.amax(dim=1)")
wrong("softmax", "Your forward ends with a softmax. It should return logits, any real numbers: the loss brings the softmax with it, and a second one would flatten its gradients.",
      breaks=(*NUMBERS, "dropout"), old="self.dropout(first))", new="self.dropout(first)).softmax(dim=-1)")
wrong("log_softmax", "Your forward ends with a log-softmax. It should return logits, just what the linear layer gives; the loss does the rest.",
      breaks=(*NUMBERS, "dropout"), old="self.dropout(first))", new="self.dropout(first)).log_softmax(dim=-1)")
wrong("tanh", "A tanh stands between [CLS] and your classifier. BERT's pooler has one, after a linear layer of its own; here there is none: dropout, then `classifier`.",
      breaks=(*NUMBERS, "dropout"), old="self.dropout(first)", new="torch.tanh(self.dropout(first))")
wrong("pooler", "You have built BERT's pooler too (a linear layer and a tanh). A fine head, with more parameters than are asked for: here [CLS] goes through dropout straight into `classifier`.",
      breaks=(*NUMBERS, "parameters", "dropout"), old=("self.dropout = ", "self.dropout(first)"),
      new=("self.pooler = nn.Linear(config.hidden_size, config.hidden_size)\n        self.dropout = ",
           "self.dropout(torch.tanh(self.pooler(first)))"))
wrong("every_token", "You return logits for every token. One row for each sentence is wanted: take the first token's vector, `hidden[:, 0]`, before you classify.",
      breaks=("shape", *NUMBERS), old="self.dropout(first)", new="self.dropout(hidden)")
wrong("first_sentence", "`hidden[0]` is the first sentence of the batch with all its tokens; the first token of every sentence is `hidden[:, 0]`.",
      breaks=("shape", *NUMBERS), old=CLS, new="hidden[0]")
wrong("ignores_the_mask", "You don't hand `attention_mask` on to the encoder: [CLS] then attends to padding, and a sentence's label depends on how long its neighbors in the batch are.",
      breaks=("values", "gradients"), old="self.encoder(input_ids, attention_mask)", new="self.encoder(input_ids)")
wrong("embedding_only", "You classify the embedding of [CLS], before any layer. There it is the same vector for every sentence: call the whole encoder.",
      breaks=NUMBERS, old="self.encoder(input_ids, attention_mask)", new="self.encoder.embeddings(input_ids)")
wrong("argmax", "You return the index of the largest logit, a decision. Return the logits: the loss needs to know how close the decision was.",
      breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(first))", new="self.dropout(first)).argmax(dim=-1)")
wrong("no_dropout", "`dropout` is made but not used: between [CLS] and `classifier` no number is dropped in training.",
      breaks="dropout", old="self.dropout(first)", new="first")
wrong("dropout_on_logits", "Your dropout comes after the classifier: in training it sets whole logits to 0. It belongs before it, on the D numbers of [CLS].",
      breaks="dropout", old="self.classifier(self.dropout(first))", new="self.dropout(self.classifier(first))")
wrong("dropout_of_a_tenth", "You drop with another probability than the config's: take `config.hidden_dropout_prob`, which need not be 0.1.",
      breaks="dropout", old="nn.Dropout(config.hidden_dropout_prob)", new="nn.Dropout(0.1)")
wrong("dropout_in_eval", "Your dropout acts in eval mode too: the same sentence gets other logits at every call. An `nn.Dropout` layer knows the mode by itself; `F.dropout` has to be told: `training=self.training`.",
      breaks=(*NUMBERS, "dropout"), old="self.dropout(first)", new="F.dropout(first, self.dropout.p)")
wrong("two_labels", "Your classifier always has two outputs; the number of labels is in `config.num_labels`.",
      breaks=("shape", *NUMBERS, "parameters", "dropout"), old="config.num_labels)", new="2)")
wrong("no_bias", "Your classifier has no bias. `nn.Linear` brings one unless told otherwise, and the contract keeps it.",
      breaks=(*NUMBERS, "parameters", "dropout"), old="config.num_labels)", new="config.num_labels, bias=False)")
wrong("frozen_body", "The encoder runs under `torch.no_grad()` (or its result is detached): no gradient can reach it, so it could never be fine-tuned. Freezing is decided outside, when the optimizer is made.",
      breaks=("no mask", "gradients"), old="hidden = self", new="with torch.no_grad():\n            hidden = self")
wrong("called_bert", "The names are part of the contract: your encoder is called `bert`, and `encoder` is expected, so that weights can be copied in by name.",
      breaks=(*NUMBERS, "parameters", "dropout"), old="self.encoder", new="self.bert", times=2)

# ---------------------------------------------------------------------------------------------- cross_entropy

LOSS = ("values", "large logits", "gradients")

wrong = mistakes_in(cross_entropy)
wrong("softmax_before", "A softmax comes first, and then a whole cross-entropy, which has a softmax of its own: two in a row. The loss of a perfect answer could not fall to 0, and gradients get small. Use the logits as they come.",
      breaks=LOSS, old="shifted = logits", new="logits = logits.softmax(dim=-1)\n    shifted = logits")
wrong("mean_over_classes", "You average over all B·N entries, but only one entry in each row counts: divide by the number of sentences, B = {B}, not by B·N (N = {N} labels).",
      breaks=LOSS, old="(log_total - right).mean()", new="(log_total - right).sum() / logits.numel()")
wrong("sum", "You sum over the batch; the mean is asked for. A sum grows with the batch, and the step size would have to shrink with it.",
      breaks=LOSS, old="(log_total - right).mean()", new="(log_total - right).sum()")
wrong("no_mean", "You return one loss for each sentence, shape (B,); what is wanted is their mean, a single number.",
      breaks=("shape", *LOSS), old="(log_total - right).mean()", new="log_total - right")
wrong("no_minus", "The minus sign is missing: this is the mean log-probability, at most 0. Whoever minimizes it learns to give the right label *less*.",
      breaks=LOSS, old="(log_total - right)", new="(right - log_total)")


@misconception("Right for moderate logits, but the exponential overflows or a probability is rounded to 0 before its logarithm is taken. Take each row's largest logit off first, and write log(softmax) as a difference: x − log Σ exp(x).",
               breaks="large logits")
def cross_entropy__naive(logits, labels):
    exponentials = logits.exp()
    right = exponentials.gather(-1, labels[:, None]).squeeze(-1)
    return -(right / exponentials.sum(dim=-1)).log().mean()


wrong("log_of_softmax", "The softmax is stable, but then its logarithm is taken: a probability below 1e-45 has been rounded to 0 by then, and log 0 is −∞. Don't form the probability; log(softmax) is the difference x − log Σ exp(x).",
      breaks="large logits", old="return (log_total - right).mean()",
      new="probabilities = (right - log_total).exp()  # (B,)\n    return -probabilities.log().mean()")


@misconception("Right for moderate logits; where a probability has been rounded to 0, its logarithm is −∞, and 0 · (−∞) from your one-hot rows is NaN. Don't form the probability: log(softmax) is x − log Σ exp(x).",
               breaks="large logits")
def cross_entropy__zero_times_infinity(logits, labels):
    wanted = torch.eye(logits.size(1))[labels]
    return -(wanted * logits.softmax(dim=-1).log()).sum(dim=-1).mean()


wrong("labels_from_one", "You shift the labels by one. They count from 0 already: label 0 is the first column.",
      breaks=LOSS, old="shifted.gather(-1, labels[:, None]).squeeze(-1)",
      new="shifted[torch.arange(len(labels)), labels - 1]")
wrong("clamped", "A small constant under the logarithm (or a clamp) hides the infinity, but not the error: a confident wrong answer then costs about 20 at most, and its gradient vanishes. Write log(softmax) as x − log Σ exp(x).",
      breaks="large logits", old="return (log_total - right).mean()",
      new="probabilities = (right - log_total).exp()  # (B,)\n    return -probabilities.clamp(min=1e-9).log().mean()")
wrong("one_maximum", "You take off the largest logit of the whole batch. Rows that lie far below it underflow: take off each row's own largest, `amax(dim=-1, keepdim=True)`.",
      breaks="large logits", old=("amax(dim=-1, keepdim=True)", "(B,): between 0 and log N"), new=("amax()", "(B,)"))
wrong("over_the_batch", "You normalize over the batch (dim 0): the sentences compete for a label. The labels should compete within each sentence: the last dim.",
      breaks=LOSS, old=("amax(dim=-1, keepdim=True)", "sum(dim=-1).log()  # (B,): between 0 and log N"),
      new=("amax(dim=0)", "sum(dim=0).log()[labels]  # (B,)"))
wrong("over_everything", "You normalize over all entries at once, sentences and labels together; each sentence's probabilities must sum to 1 by themselves.",
      breaks=LOSS, old=("amax(dim=-1, keepdim=True)", "sum(dim=-1).log()  # (B,): between 0 and log N"),
      new=("amax()", "sum().log()"))


@misconception("The softmax's denominator is missing: minus the right logit can be made as small as one likes by raising all logits. Add log Σ exp(x).",
               breaks=LOSS)
def cross_entropy__no_normalizer(logits, labels):
    return -logits.gather(-1, labels[:, None]).mean()


wrong("no_logarithm", "You return minus the mean *probability* of the right labels, without the logarithm. Its gradient vanishes just where the model is most wrong.",
      breaks=LOSS, old="(log_total - right).mean()", new="-(right - log_total).exp().mean()")
wrong("mean_before_logarithm", "You average the probabilities and take the logarithm of their mean; take the logarithm of each first. The mean comes last.",
      breaks=LOSS, old="(log_total - right).mean()", new="-(right - log_total).exp().mean().log()")
wrong("picks_columns", "`logits[:, labels]` picks the columns `labels` in *every* row, a (B, B) matrix. One entry a row is wanted: `logits[torch.arange(B), labels]`, or `gather`.",
      breaks=LOSS, old="shifted.gather(-1, labels[:, None]).squeeze(-1)  # (B,)", new="shifted[:, labels]")
wrong("own_favorite", "You measure how sure the model is of its own favorite (the largest logit). What counts is the probability of the right label, whichever it is.",
      breaks=LOSS, old="shifted.gather(-1, labels[:, None]).squeeze(-1)", new="shifted.amax(dim=-1)")


@misconception("This is a yes-or-no loss for each label on its own (sigmoid, binary cross-entropy). Here exactly one label is right, and the softmax lets them compete.",
               breaks=LOSS)
def cross_entropy__binary(logits, labels):
    wanted = torch.eye(logits.size(1))[labels]
    return (F.softplus(logits) - wanted * logits).mean()


wrong("bits", "Your logarithm has base 2: the loss is in bits. In this course, and in the library, it is in nats (base e): smaller by the factor ln 2 = 0.693.",
      breaks=LOSS, old=".mean()", new=".mean() / math.log(2)")
wrong("perplexity", "This is the perplexity, the exponential of the loss. The loss itself is wanted.",
      breaks=LOSS, old=".mean()", new=".mean().exp()")
wrong("plain_number", "You return a plain number (`.item()`, `float`). The value is right, but nothing can learn from it: return the tensor, which knows how it came about.",
      breaks=("shape", *LOSS), old=".mean()", new=".mean().item()")
wrong("divided_twice", "You divide by B twice (by B² in all, B = {B}): a mean has taken the mean already.",
      breaks=LOSS, old=".mean()", new=".mean() / len(labels)")

# ---------------------------------------------------------------------------------------------- train_step

STEPS = ("update", "fresh gradients")

wrong = mistakes_in(train_step)
wrong("no_zero_grad", "`zero_grad` is missing: `backward` *adds* to the gradients that are there, so each step also repeats all earlier ones. The first step is right, the second is not.",
      breaks="fresh gradients", old="    optimizer.zero_grad()\n", new="")
wrong("zero_grad_too_late", "`zero_grad` stands between `backward` and `step`: the gradients are wiped out before the optimizer sees them, and nothing ever changes. Call it before `backward`.",
      breaks=STEPS, old=("    optimizer.zero_grad()\n", "loss.backward()\n"),
      new=("", "loss.backward()\n    optimizer.zero_grad()\n"))
wrong("step_before_backward", "`step` comes before `backward`: the optimizer walks along the *previous* batch's gradient, and at the first step it has none. First `backward`, which computes the gradients, then `step`, which uses them.",
      breaks=STEPS, old=("    optimizer.zero_grad()\n", "loss.backward()\n    optimizer.step()\n"),
      new=("", "optimizer.step()\n    optimizer.zero_grad()\n    loss.backward()\n"))
wrong("no_backward", "`backward` is missing: no gradient is ever computed, so `step` has nothing to go by.",
      breaks=STEPS, old="    loss.backward()\n", new="")
wrong("trains_in_eval", "The model is not put into training mode: it comes in eval mode from the last prediction, and dropout stays off. Begin with `model.train()`.",
      breaks="training mode", old="    model.train()\n", new="")
wrong("returns_tensor", "You return the loss tensor. It drags its whole computation along; `loss.item()` is the plain number.",
      breaks="loss", old="loss.item()", new="loss")
wrong("item_before_backward", "`loss = ….item()` comes before `backward`: a plain number has no gradients. Keep the tensor, call `backward` on it, and take `.item()` at the end.",
      breaks=("loss", *STEPS, "training mode"), old=("), labels)", "loss.item()"), new=("), labels).item()", "loss"))
wrong("loss_after_the_step", "You compute the loss anew after the step and return that. It costs a second forward pass; wanted is the loss from before the step, which is there already.",
      breaks="loss", old="return loss.item()",
      new="with torch.no_grad():\n        return cross_entropy(model(input_ids, attention_mask), labels).item()")
wrong("returns_nothing", "Nothing is returned: give back `loss.item()`, so that whoever trains can see how it goes.",
      breaks="loss", old="    return loss.item()\n", new="")
wrong("ignores_the_mask", "The attention mask is not handed to the model: it then reads padding as if it were text.",
      breaks=("loss", *STEPS), old="model(input_ids, attention_mask)",
      new="model(input_ids, torch.ones_like(input_ids))")
wrong("softmax_before", "You apply a softmax before `cross_entropy`, which has one inside: the loss is flattened, and learning is slow.",
      breaks=("loss", *STEPS), old="model(input_ids, attention_mask)",
      new="model(input_ids, attention_mask).softmax(dim=-1)")
wrong("sgd_by_hand", "You change the parameters yourself, by learning rate times gradient. That is plain SGD, whichever optimizer was given: call `optimizer.step()`.",
      breaks=STEPS, old="optimizer.step()", new="""with torch.no_grad():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad""")
wrong("no_step", "`step` is missing: the gradients are computed, but nobody walks along them.",
      breaks=STEPS, old="    optimizer.step()\n", new="")

# ---------------------------------------------------------------------------------------------- train_classifier

STEP = "loss = train_step(model, batch, optimizer)"
WRITTEN_OUT = """*inputs, labels = batch
            optimizer.zero_grad()
            loss = cross_entropy(model(*inputs), labels)
            loss.backward()
            optimizer.step()"""
TELLING = """            if on_step is not None:
                on_step(loss)
"""

wrong = mistakes_in(train_classifier)
wrong("one_epoch", "You go through the batches once, whatever `epochs` says. Either the outer loop is missing, or an iterator made before it (`iter(batches)`, `enumerate`, `zip`) is used up after the first epoch: loop over `batches` anew in each.",
      breaks=("learns", "losses", "all batches"), old="losses = []", new="losses = []\n    batches = iter(batches)")
wrong("returns_early", "`return` stands inside the outer loop: training ends after the first epoch.",
      breaks=("learns", "losses", "all batches", "modes"), old="    model.eval()\n",
      new="        return losses\n    model.eval()\n")
wrong("first_batch_only", "You train on the first batch only, again and again. The inner loop goes through all of them.",
      breaks=("learns", "losses", "all batches"), old="in batches:", new="in list(batches)[:1]:")
wrong("two_steps_a_batch", "Each batch is trained on twice: `train_step` is called once to keep the loss and once more to tell it. Call it once and keep what it returns.",
      breaks=("all batches", "on_step"), old="on_step(loss)", new="on_step(train_step(model, batch, optimizer))")
wrong("last_epoch_only", "The list of losses is emptied at the beginning of each epoch: only the last epoch's are returned. Make it before the loops.",
      breaks="losses", old="losses = []\n    for _ in range(epochs):",
      new="for _ in range(epochs):\n        losses = []")
wrong("mean_per_epoch", "You return the mean loss of each epoch. Asked for is the loss of every step: the means can be made from it later.",
      breaks="losses", old=("losses = []\n    for _ in range(epochs):", "    model.eval()\n    return losses"),
      new=("means = []\n    for _ in range(epochs):\n        losses = []",
           "        means.append(sum(losses) / len(losses))\n    model.eval()\n    return means"))
wrong("returns_nothing", "Nothing is returned: end with `return losses`.",
      breaks="losses", old="    return losses\n", new="")
wrong("returns_model", "You return the model. It is changed in place, so the caller has it already; the losses are wanted.",
      breaks="losses", old="return losses", new="return model")
wrong("tensors", "You keep and pass on the losses as tensors. Each holds on to its whole computation, and memory fills up: `loss.item()` is the number.",
      breaks=("losses", "on_step"), old=STEP, new=WRITTEN_OUT)
wrong("left_in_training_mode", "The model is left in training mode: the next prediction would drop numbers at random. End with `model.eval()`.",
      breaks="modes", old="    model.eval()\n", new="")
wrong("trains_in_eval", "It trains in eval mode from beginning to end: dropout never acts. `train_step` switches to training mode; if you write the step out again, so must you.",
      breaks="modes", old=("losses = []", STEP, "losses.append(loss)"),
      new=("losses = []\n    model.eval()", WRITTEN_OUT, "loss = loss.item()\n            losses.append(loss)"))
wrong("eval_after_the_first_epoch", "After the first epoch the model stays in eval mode: it is switched there at the epoch's end and never back. Put `model.train()` inside the loop.",
      breaks="modes", old=("losses = []", STEP, "losses.append(loss)", "    model.eval()"),
      new=("losses = []\n    model.train()", WRITTEN_OUT, "loss = loss.item()\n            losses.append(loss)",
           "        model.eval()"))
wrong("never_tells", "`on_step` is never called: after each step, if it is not None, tell it the loss.",
      breaks="on_step", old=TELLING, new="")
wrong("calls_none", "`on_step` is called even when there is none: None can't be called. Ask first: `if on_step is not None`.",
      breaks="on_step", old=TELLING, new="            on_step(loss)\n")
wrong("tells_once_an_epoch", "`on_step` is called once an epoch; it should hear of every step: the call belongs into the inner loop.",
      breaks="on_step", old=TELLING, new="        if on_step is not None:\n            on_step(loss)\n")
wrong("tells_the_number", "You tell `on_step` the number of the step; it expects the loss.",
      breaks="on_step", old="on_step(loss)", new="on_step(len(losses))")
wrong("own_optimizer", "You make an optimizer of your own; the one that you are given never takes a step. It was chosen for this model, with its learning rates and with what may change: use it.",
      breaks="learns", old="losses = []",
      new="losses = []\n    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)")
wrong("only_measures", "The losses are computed, but no step is taken: without `backward` and `optimizer.step()` nothing is learned.",
      breaks=("learns", "losses", "modes"), old=("losses = []", STEP),
      new=("losses = []\n    model.eval()", """*inputs, labels = batch
            with torch.no_grad():
                loss = cross_entropy(model(*inputs), labels).item()"""))


@misconception("You add all losses of an epoch up and step once at its end, so most steps are missing. One step for each batch is wanted.",
               breaks=("learns", "losses"))
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

wrong = mistakes_in(TokenClassifier)
wrong("cls_only", "You still pick out [CLS]: one row of logits for each sentence. Here every token gets its own: classify all of `hidden`.",
      breaks=("shape", *NUMBERS), old="self.dropout(hidden)", new="self.dropout(hidden[:, 0])")
wrong("without_special_tokens", "You cut off the special tokens. Return logits for all T tokens; which of them count is decided where the loss is computed.",
      breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden))[:, 1:-1]")
wrong("softmax", "Your forward ends with a softmax. It should return logits, any real numbers; the loss brings the softmax with it.",
      breaks=(*NUMBERS, "dropout"), old="self.dropout(hidden))", new="self.dropout(hidden)).softmax(dim=-1)")
wrong("argmax", "You return a label for each token (argmax). Return the logits: the loss, and whoever wants to know how sure the model is, need them.",
      breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(hidden))", new="self.dropout(hidden)).argmax(dim=-1)")
wrong("ignores_the_mask", "You don't hand `attention_mask` on to the encoder: real tokens then attend to padding.",
      breaks=("values", "gradients"), old="self.encoder(input_ids, attention_mask)", new="self.encoder(input_ids)")
wrong("embedding_only", "You classify the embeddings: each token is then labeled without its neighbors, and *flies* gets the same label everywhere. Call the whole encoder.",
      breaks=NUMBERS, old="self.encoder(input_ids, attention_mask)", new="self.encoder.embeddings(input_ids)")
wrong("layer_per_place", "You have a layer for each place in the sentence. All tokens share one layer: a name is a name wherever it stands, and a sentence may be longer than any before.",
      breaks=(*NUMBERS, "dropout"),
      old=("self.classifier = nn.Linear(config.hidden_size, config.num_labels)",
           "return self.classifier(self.dropout(hidden))"),
      new=("""places = range(config.max_position_embeddings)
        self.classifiers = nn.ModuleList(nn.Linear(config.hidden_size, config.num_labels) for _ in places)""",
           """places = zip(self.classifiers, self.dropout(hidden).unbind(dim=1))
        return torch.stack([classifier(x) for classifier, x in places], dim=1)"""))
wrong("labels_first", "Your logits come as (B, N, T), the order that PyTorch's own cross-entropy likes; wanted is (B, T, N), one row for each token.",
      breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden)).transpose(1, 2)")
wrong("flattened", "You flatten sentences and tokens into one axis, (B·T, N). That is what the loss will do; keep (B, T, N) here.",
      breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden)).flatten(0, 1)")
wrong("padding_to_zero", "You set the logits of padding to 0. Leave them as they are: the loss decides what counts, and a logit of 0 is not “no label”, it is an even bet.",
      breaks=("values", "gradients"), old="return self.classifier(self.dropout(hidden))",
      new="""logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits * attention_mask.unsqueeze(-1)""")
wrong("no_dropout", "`dropout` is made but not used: between the encoder and `classifier` no number is dropped in training.",
      breaks="dropout", old="self.dropout(hidden)", new="hidden")
wrong("dropout_on_logits", "Your dropout comes after the classifier: in training it sets whole logits to 0. It belongs before it.",
      breaks="dropout", old="self.classifier(self.dropout(hidden))", new="self.dropout(self.classifier(hidden))")

# ---------------------------------------------------------------------------------------------- span_scores

SCORES = ("values", "mask", "gradients")
MASKING = """    if mask is not None:
        start = start.masked_fill(mask == 0, -torch.inf)
        end = end.masked_fill(mask == 0, -torch.inf)
"""

wrong = mistakes_in(span_scores)
wrong("swapped", "Start and end have changed places: row 0 of `w` is the start vector, row 1 the end vector, and the start scores come first.",
      breaks=SCORES, old="start, end = (hidden", new="end, start = (hidden")
wrong("one_vector", "You use the start vector for both: the end scores need row 1 of `w`.",
      breaks=SCORES, old="start, end = (hidden @ w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)",
      new="start = end = hidden @ w[0]  # (B, T)")
wrong("one_tensor", "You return one tensor (B, T, 2). A pair is wanted, start scores (B, T) and end scores (B, T): `unbind(dim=-1)` takes it apart.",
      breaks=("shape", *SCORES), old="return start, end", new="return torch.stack((start, end), dim=-1)")
wrong("not_transposed", "You multiply with `w` as it is, (2, D); the axis D of both must meet: `hidden @ w.T`. (Where D is 2 it runs and gives other numbers.)",
      breaks=("shape", *SCORES), old="w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)", new="w).unbind(dim=-1)")
wrong("softmax", "You turn the scores into probabilities. Return them as they are: `best_span` adds them, and the loss brings its own softmax.",
      breaks=SCORES, old="return start, end", new="return start.softmax(dim=-1), end.softmax(dim=-1)")
wrong("scaled", "You divide the scores by √D. That belongs to attention; here the vectors of `w` are learned and find their own length.",
      breaks=SCORES, old="hidden @ w.T", new="hidden @ w.T / hidden.size(-1) ** 0.5")
wrong("cosine", "You compare directions (cosines): the lengths of the vectors count too. Take plain dot products.",
      breaks=SCORES, old="hidden @ w.T", new="F.normalize(hidden, dim=-1) @ F.normalize(w, dim=-1).T")
wrong("masked_to_zero", "You set masked scores to 0. Zero is a good score where the others are negative; −∞ is never chosen.",
      breaks="mask", old="-torch.inf", new="0.0", times=2)
wrong("mask_inverted", "You have it the wrong way round: the tokens that may be chosen get −∞, and padding keeps its scores. The mask is 1 where an answer may lie.",
      breaks="mask", old="mask == 0", new="mask != 0", times=2)
wrong("ignores_the_mask", "The mask has no effect: padding keeps its scores, and an answer may end in it. Set both scores to −∞ where the mask is 0.",
      breaks="mask", old=MASKING, new="")
wrong("masks_start_only", "You mask the start scores only; an answer may then end in the padding. Mask both.",
      breaks="mask", old="        end = end.masked_fill(mask == 0, -torch.inf)\n", new="")
wrong("mask_in_place", "You set the *vectors* of masked tokens to 0: their scores are then 0, which is a good score where others are negative. Set the scores to −∞.",
      breaks="mask", old=("start, end = (hidden", MASKING),
      new=("""if mask is not None:
        hidden.masked_fill_(mask.unsqueeze(-1) == 0, 0.0)
    start, end = (hidden""", ""))

# ---------------------------------------------------------------------------------------------- best_span

ALL = ("values", "length", "ties", "batch")
ROWS = "return [best_span(one, other, max_len) for one, other in zip(start, end, strict=True)]"
SEARCH = """total = start[:, None] + end[None, :]  # (T, T): row i is the first token, column j the last
    allowed = torch.ones_like(total, dtype=torch.bool).triu().tril(max_len - 1)
    best = int(total.masked_fill(~allowed, -torch.inf).argmax())  # counts row by row; the first of equals
    return divmod(best, start.size(0))"""

wrong = mistakes_in(best_span)
wrong("independent", "You choose the best start and the best end independently of each other. The end can then lie before the start: look for the best *pair* with i ≤ j.",
      breaks=("values", "length"), old=SEARCH, new="return int(start.argmax()), int(end.argmax())")
wrong("swapped_into_order", "You choose the best start and the best end independently, and swap them where they come in the wrong order. But a good start is no good end: look for the best *pair* with i ≤ j.",
      breaks=("values", "length"), old=SEARCH,
      new="first, last = int(start.argmax()), int(end.argmax())\n    return min(first, last), max(first, last)")
wrong("greedy_start", "You fix the best start first and then look for an end behind it. A slightly worse start with a much better end can win: compare pairs.",
      breaks=("values", "length"), old=SEARCH,
      new="first = int(start.argmax())\n    return first, first + int(end[first : first + max_len].argmax())")
wrong("greedy_end", "You fix the best end first and then look for a start before it. A slightly worse end with a much better start can win: compare pairs.",
      breaks=("values", "length"), old=SEARCH, new="""last = int(end.argmax())
    low = max(0, last - max_len + 1)
    return low + int(start[low : last + 1].argmax()), last""")
wrong("any_order", "The end may not lie before the start: keep only the pairs with i ≤ j (on and above the diagonal of the T × T table).",
      breaks=("values", "length"), old=".triu().tril", new=".tril")
wrong("lower_half", "You kept the other half of the table: the end lies before the start, or on it. Rows are starts, columns are ends: i ≤ j is on and *above* the diagonal (`triu`).",
      breaks=ALL, old=".triu().tril(max_len - 1)", new=".tril().triu(1 - max_len)")
wrong("no_single_token", "You ask for an end *behind* the start; a span of one token, i = j, is allowed too.",
      breaks=("values", "length", "ties"), old=".triu()", new=".triu(1)")
wrong("one_too_long", "Your spans may be one token too long: from i to j, both included, are j − i + 1 tokens, so j − i is at most max_len − 1.",
      breaks="length", old="max_len - 1", new="max_len")
wrong("one_too_short", "Your spans may have at most max_len − 1 tokens; a span of exactly max_len is allowed.",
      breaks="length", old="max_len - 1", new="max_len - 2")
wrong("any_length", "`max_len` has no effect: spans of any length are considered.",
      breaks="length", old=".tril(max_len - 1)", new="")
wrong("masked_to_zero", "Forbidden pairs are set to 0, not to −∞: where all scores are negative, 0 wins.",
      breaks="values", old="-torch.inf", new="0.0")
wrong("starts_from_zero", "Your search begins with a best score of 0 and never finds anything better where all scores are negative. Begin with −∞.",
      breaks=("values", "ties"), old=SEARCH, new="""top, best = 0.0, None
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if start[i] + end[j] > top:
                top, best = start[i] + end[j], (i, j)
    return best""")
wrong("last_of_ties", "Where several spans tie you take the last; the first is wanted. With `>=` each later one replaces the one before: use `>`.",
      breaks="ties", old=SEARCH, new="""top, best = -torch.inf, None
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if start[i] + end[j] >= top:
                top, best = start[i] + end[j], (i, j)
    return best""")
wrong("shortest_of_ties", "Where several spans tie you take the shortest; the contract wants the first, that is the smallest i and then the smallest j.",
      breaks="ties", old=SEARCH,
      new="""spans = [(i, j) for i in range(len(start)) for j in range(i, min(i + max_len, len(start)))]
    return max(spans, key=lambda span: (float(start[span[0]] + end[span[1]]), span[0] - span[1]))""")
wrong("end_excluded", "Your second number is one behind the last token, as in a slice. Here both ends belong to the span.",
      breaks=ALL, old="return divmod(best, start.size(0))",
      new="first, last = divmod(best, start.size(0))\n    return first, last + 1")
wrong("length_for_end", "Your second number is the span's length; the place of its last token is wanted.",
      breaks=ALL, old="return divmod(best, start.size(0))",
      new="first, last = divmod(best, start.size(0))\n    return first, last - first + 1")
wrong("tensors", "The two places are tensors; plain ints are wanted, as for slices and JSON: `.item()` or `.tolist()`.",
      breaks=ALL, old=("int(total.masked_fill(~allowed, -torch.inf).argmax())", "divmod(best, start.size(0))"),
      new=("total.masked_fill(~allowed, -torch.inf).argmax()", "best // start.size(0), best % start.size(0)"))
wrong("best_of_the_batch", "For a batch you return the one best span of all sentences together; each row of (B, T) has its own.",
      breaks="batch", old=ROWS,
      new="""spans = [best_span(one, other, max_len) for one, other in zip(start, end, strict=True)]
        totals = [float(start[row, i] + end[row, j]) for row, (i, j) in enumerate(spans)]
        return [spans[totals.index(max(totals))]] * len(spans)""")
wrong("first_row", "For a batch only the first row is searched; a list with one pair for each row is wanted.",
      breaks="batch", old=ROWS, new="start, end = start[0], end[0]")
wrong("two_lists", "For a batch you return two lists, all starts and all ends. Wanted is a list of pairs, one for each row: `zip` turns one into the other.",
      breaks="batch", old=ROWS,
      new="""firsts, lasts = zip(*[best_span(one, other, max_len) for one, other in zip(start, end, strict=True)])
        return list(firsts), list(lasts)""")
wrong("accepts_zero", "A `max_len` of 0 allows no span at all: refuse it with a ValueError that says so. Yours returns one all the same.",
      breaks="refusal", old='raise ValueError(f"a span has at least one token; max_len is {max_len}")',
      new="max_len = 1")

# ---------------------------------------------------------------------------------------------- counting

wrong = mistakes_in(count_head_parameters)
wrong("no_bias", "You left out the biases: a linear layer from D = {D} to N = {N} has D·N + N numbers.",
      breaks=("sequence", "token"), old="width * labels + labels", new="width * labels")
wrong("bias_of_inputs", "Your bias has D = {D} numbers; a linear layer has one for each *output*, here N = {N}.",
      breaks=("sequence", "token"), old="width * labels + labels", new="width * labels + width")
wrong("span_with_bias", "The span head of this notebook is two vectors without a bias: 2·D. (One bias for all tokens would shift all scores alike and change no choice.)",
      breaks="span", old="2 * width", new="2 * width + 2")
wrong("token_times_length", "You count the token head once for every position. All tokens share one layer, so the length of the text doesn't matter.",
      breaks="token", old='"token": linear', new='"token": config.max_position_embeddings * linear')
wrong("span_by_labels", "A span head has nothing to do with the number of labels: it is one start vector and one end vector, 2·D.",
      breaks="span", old="2 * width", new="linear")
wrong("one_span_vector", "You count one vector for the span head; it has two, one for the start and one for the end.",
      breaks="span", old="2 * width", new="width")
wrong("pooler", "You include BERT's pooler, D² + D numbers; the head of this notebook has none.",
      breaks="sequence", old='"sequence": linear', new='"sequence": width * width + width + linear')

# ---------------------------------------------------------------------------------------------- quiz_tasks

wrong_option("quiz_tasks", quiz_tasks, "does B follow from A", "one label for each sentence",
             "whether B follows is a property of both together: the pair gets one label, read off the one [CLS] before it.")
wrong_option("quiz_tasks", quiz_tasks, "does B follow from A", "a start and an end",
             "the answer is no passage of the text but one of a few words (yes, no, can't tell): one label for the pair.")
wrong_option("quiz_tasks", quiz_tasks, "all names of people", "one label for the text",
             "a text may hold no name or ten; each token has to be told whether it belongs to one.")
wrong_option("quiz_tasks", quiz_tasks, "all names of people", "a start and an end",
             "that points at a single passage; names may occur many times, so every token gets a label.")
wrong_option("quiz_tasks", quiz_tasks, "the passage that answers", "one label for the pair",
             "a label can say that there is an answer, not where it is; two places, first and last token, say where.")
wrong_option("quiz_tasks", quiz_tasks, "the passage that answers", "a label for each passage",
             "with 300 tokens there are 45,150 passages; a score for each start and each end is enough.")
wrong_option("quiz_tasks", quiz_tasks, "frozen body", "only the body changes",
             "frozen means that its weights stay; what is trained is the new layer on top.")
wrong_option("quiz_tasks", quiz_tasks, "frozen body", "nothing changes",
             "the head begins with random weights, and those are trained even when the body is frozen.")
