"""Wrong answers to the exercises of 08-classification-head."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from anatomy.course.nb08_classification_head.right import (
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
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A mistake takes two or three lines here; the formatter would give each argument one of its own.

NUMBERS = ("values", "no mask", "gradients")
ALL_OF_BOTH = {
    TransformerForSequenceClassification: ("first", ("shape", *NUMBERS, "parameters", "dropout")),
    TokenClassifier: ("hidden", ("shape", *NUMBERS, "dropout")),
}
CHANCE, OUT_OF, MASK = "nn.Dropout(config.hidden_dropout_prob)", "nn.Linear(config.hidden_size, config.num_labels)", "self.encoder(input_ids, attention_mask)"


@MISTAKES.of(TransformerForSequenceClassification)
def in_TransformerForSequenceClassification(wrong):
    CLS = "hidden[:, 0]  # (B, D): the token [CLS]"

    wrong("last_token", "You classify the last token (`[:, -1]`). In a padded batch that is mostly padding; BERT's summary sits at the first place, where [CLS] is: `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="hidden[:, -1]")
    wrong("last_real_token", "You classify the last real token of each sentence. That is GPT's way, where only the last token has seen everything; here the first one, [CLS], is asked for: `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="""hidden[:, -1]
        if attention_mask is not None:
            first = hidden[torch.arange(len(hidden)), attention_mask.sum(dim=1) - 1]""")
    wrong("counts_from_one", "You take position 1, the first word; [CLS] stands before it, at position 0.",
          breaks=("shape", *NUMBERS, "parameters"), old=CLS, new="hidden[:, 1]")
    wrong("keeps_the_axis", "A slice, `0:1`, keeps the axis of the tokens: your result has one axis too many, (B, 1, N). A plain number takes it away: `hidden[:, 0]`.",
          breaks=("shape", *NUMBERS), old=CLS, new="hidden[:, :1]")
    wrong("one_number_a_token", "What goes into your classifier is (B, T), one number for each token: the ids, or the first number of each hidden state (`hidden[:, :, 0]`). Wanted is the vector of the first token, (B, D): `hidden[:, 0]`.",
          breaks=("shape", *NUMBERS, "parameters", "dropout"), old=CLS, new="hidden[:, :, 0]")
    wrong("ids_alone", "Token ids go into your classifier. It wants the encoder's vector of the first token, (B, D): `self.encoder(input_ids, attention_mask)[:, 0]`.",
          breaks=("shape", *NUMBERS, "parameters", "dropout"), old="self.dropout(first)", new="self.dropout(input_ids)")
    wrong("first_of_the_first", "You pick a single vector, the first token of the first sentence. Wanted is the first token of every sentence: `hidden[:, 0]`.",
          breaks=("shape", *NUMBERS), old=CLS, new="hidden[0, 0]")
    wrong("sum_of_all", "You add up the vectors of all tokens, padding included. This exercise asks for BERT's way: the vector of [CLS] alone, `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="hidden.sum(dim=1)")
    wrong("mean_of_all", "You average over all tokens, padding included. This exercise asks for BERT's way: the vector of [CLS] alone, `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="hidden.mean(dim=1)")
    wrong("mean_of_real", "You average over the real tokens. That is a good summary too (notebook 07 used it), but another one: this exercise asks for the vector of [CLS], `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="""hidden.mean(dim=1)
        if attention_mask is not None:
            keep = attention_mask.unsqueeze(-1)  # (B, T, 1)
            first = (hidden * keep).sum(dim=1) / keep.sum(dim=1)""")
    wrong("max_pooling", "You take the largest value of each column over all tokens (max pooling); asked for is the vector of [CLS], `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="hidden.amax(dim=1)")
    wrong("max_of_real", "You take the largest value of each column over the real tokens (max pooling); asked for is the vector of [CLS], `hidden[:, 0]`.",
          breaks=NUMBERS, old=CLS, new="""hidden.amax(dim=1)
        if attention_mask is not None:
            first = hidden.masked_fill(attention_mask.unsqueeze(-1) == 0, -torch.inf).amax(dim=1)""")
    wrong("tanh", "A tanh stands between [CLS] and your classifier. BERT's pooler has one, after a linear layer of its own; here there is none: dropout, then `classifier`.",
          breaks=(*NUMBERS, "dropout"), old="self.dropout(first)", new="torch.tanh(self.dropout(first))")
    wrong("tanh_before_dropout", "A tanh stands between [CLS] and your classifier. BERT's pooler has one, after a linear layer of its own; here there is none: dropout, then `classifier`.",
          breaks=NUMBERS, old=CLS, new="torch.tanh(hidden[:, 0])")
    wrong("pooler", "You have built BERT's pooler too (a linear layer and a tanh). A fine head, with more parameters than are asked for: here [CLS] goes through dropout straight into `classifier`.",
          breaks=("values", "no mask", "parameters", "gradients"), old=("self.dropout = ", "self.dropout(first)"),
          new=("self.pooler = nn.Linear(config.hidden_size, config.hidden_size)\n        self.dropout = ",
               "self.dropout(torch.tanh(self.pooler(first)))"))
    wrong("every_token", "You return logits for every token. One row for each sentence is wanted: take the first token's vector, `hidden[:, 0]`, before you classify.",
          breaks=("shape", *NUMBERS), old="self.dropout(first)", new="self.dropout(hidden)")
    wrong("first_sentence", "`hidden[0]` is the first sentence of the batch with all its tokens; the first token of every sentence is `hidden[:, 0]`.",
          breaks=("shape", *NUMBERS), old=CLS, new="hidden[0]")
    wrong("argmax", "You return the index of the largest logit, a decision. Return the logits: the loss needs to know how close the decision was.",
          breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(first))", new="self.dropout(first)).argmax(dim=-1)")
    wrong("max", "You return the largest logit of each sentence. Return all N of them: each label has one.",
          breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(first))", new="self.dropout(first)).amax(dim=-1)")
    wrong("squeezed", "A `squeeze` without a dim takes away every axis of size 1: with one sentence, or one label, your result loses an axis. (B, N) is wanted, whatever B and N are.",
          breaks=("shape", "values", "gradients"), old="self.dropout(first))", new="self.dropout(first)).squeeze()")
    wrong("squeezed_labels", "For a single label you take the last axis away; (B, N) is wanted, whatever N is.",
          breaks=("shape", "values", "gradients"), old="self.dropout(first))", new="self.dropout(first)).squeeze(-1)")
    wrong("squeezed_batch", "For a single sentence you take the first axis away; (B, N) is wanted, whatever B is.",
          breaks=("shape", "values", "gradients"), old="self.dropout(first))", new="self.dropout(first)).squeeze(0)")


# ---- both_heads ----
for right, (vector, everything) in ALL_OF_BOTH.items():
    wrong = MISTAKES.mistakes_in(right)
    parameters = tuple(name for name in everything if name == "parameters")
    dropped = f"self.dropout({vector})"
    wrong("no_dropout", "`dropout` is made but not used: no number is dropped in training. It belongs between the encoder and `classifier`.",
          breaks="dropout", old=dropped, new=vector)
    wrong("dropout_on_logits", "Your dropout comes after the classifier: in training it sets whole logits to 0. It belongs before it, on the D numbers of each vector.",
          breaks="dropout", old=f"self.classifier({dropped})", new=f"self.dropout(self.classifier({vector}))")
    wrong("dropout_of_a_tenth", "You drop with the probability 0.1. That is a usual value, but the config's need not be: take `config.hidden_dropout_prob`.",
          breaks="dropout", old=CHANCE, new="nn.Dropout(0.1)")
    wrong("dropout_of_a_half", "You drop with the probability 0.5, which `nn.Dropout()` takes when it is told none. The config's is wanted: `config.hidden_dropout_prob`.",
          breaks="dropout", old=CHANCE, new="nn.Dropout()")
    wrong("dropout_of_attention", "Your probability is the config's other one, `attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`.",
          breaks="dropout", old=CHANCE, new="nn.Dropout(config.attention_probs_dropout_prob)")
    wrong("dropout_keeps", "You drop with the probability 1 − p: `nn.Dropout` is told how likely a number is to be *dropped*, not kept.",
          breaks="dropout", old=CHANCE, new="nn.Dropout(1 - config.hidden_dropout_prob)")
    wrong("dropout_twice", "Dropout acts twice in a row: more numbers are dropped than the config says. Once is enough.",
          breaks="dropout", old=dropped, new=f"self.dropout({dropped})")
    wrong("dropout_of_vectors", "In training you drop whole vectors, all D numbers at once (as `nn.Dropout1d` does). Each number is to be dropped by itself: `nn.Dropout`.",
          breaks="dropout", old=CHANCE, new="nn.Dropout1d(config.hidden_dropout_prob)")
    wrong("dropout_alike", "In training every sentence loses the same numbers. Each number of each sentence is to be dropped by itself: `nn.Dropout` on all of them.",
          breaks="dropout", old=dropped, new=f"{vector} * self.dropout(torch.ones_like({vector}[:1]))")
    wrong("dropout_unscaled", "Your dropout doesn't divide the numbers that it keeps by 1 − p: in training they are then smaller, on average, than afterwards.",
          breaks="dropout", old=dropped,
          new=f"{vector} * ((torch.rand_like({vector}) >= self.dropout.p) | (not self.training))")
    wrong("dropout_in_eval", "Your dropout acts in eval mode too: the same sentence gets other logits at every call. An `nn.Dropout` made in `__init__` knows the mode by itself; one made in `forward` is always in training mode, and `F.dropout` has to be told: `training=self.training`.",
          breaks=(*NUMBERS, "dropout"), old=dropped, new=f"F.dropout({vector}, self.dropout.p)")
    wrong("dropout_is_a_number", "`self.dropout` is a number, the probability, and you call it. The layer is `nn.Dropout(config.hidden_dropout_prob)`.",
          breaks=everything, old=CHANCE, new="config.hidden_dropout_prob")
    wrong("no_super", "`super().__init__()` is missing, or comes after the first layer: only from there on can an `nn.Module` take in layers. It is the first line of `__init__`.",
          breaks=everything, old="super().__init__()\n        ", new="")
    wrong("two_labels", "Your classifier always has two outputs; the number of labels is in `config.num_labels`.",
          breaks=("shape", *NUMBERS, *parameters, "dropout"), old="config.num_labels)", new="2)")
    wrong("fixed_width", "What your classifier takes and what it is given have different sizes. It takes vectors of D numbers, and D is `config.hidden_size` (a fixed 384 or 768 fits one model only).",
          breaks=everything, old="nn.Linear(config.hidden_size", new="nn.Linear(384")
    wrong("as_wide_as_before", "Your classifier has D outputs; it has one for each label, `config.num_labels`.",
          breaks=everything, old="config.num_labels)", new="config.hidden_size)")
    wrong("one_label_more", "Your classifier has one output too many: there are `config.num_labels` labels, and none besides.",
          breaks=("shape", *NUMBERS, *parameters, "dropout"), old="config.num_labels)", new="config.num_labels + 1)")
    wrong("two_layers", "Your classifier has two linear layers. A fine head, with more parameters than are asked for: here it is a single one, D to N.",
          breaks=(*NUMBERS, *parameters, "dropout"), old=OUT_OF, new=f"nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.Tanh(), {OUT_OF})")
    wrong("dropout_inside", "Your classifier is an `nn.Sequential` with the linear layer as its second part: the weights are then called `classifier.1.weight`. Make `dropout` and `classifier` two attributes.",
          breaks=(*NUMBERS, *parameters, "dropout"), old=(OUT_OF, dropped), new=(f"nn.Sequential(self.dropout, {OUT_OF})", vector))
    wrong("made_in_forward", "PyTorch finds no `classifier` among your layers: it is made in `forward`, anew and at random in each call, or sits in a list. Make it once, in `__init__`, as `self.classifier`.",
          breaks=(*NUMBERS, *parameters, "dropout"), old=(f"        self.classifier = {OUT_OF}\n", "self.classifier("),
          new=("        self.sizes = config.hidden_size, config.num_labels\n", "nn.Linear(*self.sizes)("))
    wrong("mask_widened", "You give the mask more axes before you hand it on. The encoder does that by itself: it takes the tokenizer's (B, T).",
          breaks=tuple(name for name in everything if name != "no mask"), old=MASK,
          new="self.encoder(input_ids, None if attention_mask is None else attention_mask[:, None, None, :])")
    wrong("linear_turned", "Your classifier goes from N to D. `nn.Linear` is told the size of what comes in first: D, then N.",
          breaks=everything, old=OUT_OF, new="nn.Linear(config.num_labels, config.hidden_size)")
    wrong("no_bias", "Your classifier has no bias. `nn.Linear` brings one unless told otherwise, and the contract keeps it.",
          breaks=(*NUMBERS, *parameters, "dropout"), old="config.num_labels)", new="config.num_labels, bias=False)")
    wrong("frozen_body", "The encoder runs under `torch.no_grad()` (or its result is detached): no gradient can reach it, so it could never be fine-tuned. Freezing is decided outside, when the optimizer is made.",
          breaks="gradients", old="hidden = self", new="with torch.no_grad():\n            hidden = self")
    wrong("encoder_in_a_list", "PyTorch doesn't find your encoder among the layers: a plain list (or dict) hides it. It is then not trained, not saved, and not switched to eval mode. Make it an attribute of its own.",
          breaks=(*NUMBERS, *parameters, "dropout"), old=("TransformerEncoder(config)", "self.encoder("),
          new=("[TransformerEncoder(config)]", "self.encoder[0]("))
    for layer, others in {"encoder": ("bert", "body", "transformer", "model", "backbone"), "classifier": ("linear", "head", "fc", "output", "out")}.items():
        for other in others:
            wrong(f"called_{other}", f"The names are part of the contract: your {layer} is called `{other}`, and `{layer}` is expected, so that weights can be copied in by name.",
                  breaks=(*NUMBERS, *parameters, "dropout"), old=f"self.{layer}", new=f"self.{other}", times=2)
    wrong("needs_a_mask", "`attention_mask` may be left out, and yours must be given: write `attention_mask=None` in the first line of `forward`.",
          breaks="no mask", old="attention_mask: Tensor | None = None", new="attention_mask: Tensor")
    wrong("ignores_the_mask", "You don't hand `attention_mask` on to the encoder: tokens then attend to padding, and what is said of a sentence depends on how long its neighbors in the batch are.",
          breaks=("values", "gradients"), old=MASK, new="self.encoder(input_ids)")
    wrong("mask_inverted", "You hand on the mask the wrong way round: 1 is for tokens, 0 for padding, and the encoder takes it as it is.",
          breaks=("values", "gradients"), old=MASK, new="self.encoder(input_ids, None if attention_mask is None else 1 - attention_mask)")
    wrong("embedding_only", "You classify the embeddings, before any layer: there each token knows nothing of its neighbors, and [CLS] is the same vector in every sentence. Call the whole encoder.",
          breaks=NUMBERS, old=MASK, new="self.encoder.embeddings(input_ids)")
    wrong("softmax", "Your forward ends with a softmax. It should return logits, any real numbers: the loss brings the softmax with it, and a second one would flatten its gradients.",
          breaks=(*NUMBERS, "dropout"), old=f"{dropped})", new=f"{dropped}).softmax(dim=-1)")
    wrong("log_softmax", "Your forward ends with a log-softmax. It should return logits, just what the linear layer gives; the loss does the rest.",
          breaks=(*NUMBERS, "dropout"), old=f"{dropped})", new=f"{dropped}).log_softmax(dim=-1)")
    wrong("sigmoid", "Your forward ends with a sigmoid. It should return logits, any real numbers; here the labels compete, and the loss brings the softmax that lets them.",
          breaks=(*NUMBERS, "dropout"), old=f"{dropped})", new=f"{dropped}).sigmoid()")
    wrong("relu", "Your forward ends with a ReLU: all logits below 0 become 0. Return what the linear layer gives.",
          breaks=(*NUMBERS, "dropout"), old=f"{dropped})", new=f"{dropped}).relu()")
    wrong("with_hidden", "You return more than the logits. One tensor is wanted; whoever needs the hidden states calls the encoder.",
          breaks=("shape", *NUMBERS, "dropout"), old=f"return self.classifier({dropped})", new=f"return self.classifier({dropped}), hidden")


@MISTAKES.of(cross_entropy)
def in_cross_entropy(wrong):
    LOSS = ("values", "large logits", "gradients")

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


    @MISTAKES.mistake("Right for moderate logits, but the exponential overflows or a probability is rounded to 0 before its logarithm is taken. Take each row's largest logit off first, and write log(softmax) as a difference: x − log Σ exp(x).",
                   breaks="large logits")
    def cross_entropy__naive(logits, labels):
        exponentials = logits.exp()
        right = exponentials.gather(-1, labels[:, None]).squeeze(-1)
        return -(right / exponentials.sum(dim=-1)).log().mean()


    wrong("exp_overflows", "You take `exp` of the logits as they come: from 89 on it is ∞, and far below zero it is rounded to 0. Take each row's largest logit off first.",
          breaks="large logits", old="logits - logits.amax(dim=-1, keepdim=True)", new="logits")
    wrong("log_of_softmax", "The softmax is stable, but then its logarithm is taken: a probability below 1e-45 has been rounded to 0 by then, and log 0 is −∞. Don't form the probability; log(softmax) is the difference x − log Σ exp(x).",
          breaks="large logits", old="return (log_total - right).mean()",
          new="probabilities = (right - log_total).exp()  # (B,)\n    return -probabilities.log().mean()")


    @MISTAKES.mistake("Right for moderate logits; where a probability has been rounded to 0, its logarithm is −∞, and 0 · (−∞) from your one-hot rows is NaN. Don't form the probability: log(softmax) is x − log Σ exp(x).",
                   breaks="large logits")
    def cross_entropy__zero_times_infinity(logits, labels):
        wanted = torch.eye(logits.size(1))[labels]
        return -(wanted * logits.softmax(dim=-1).log()).sum(dim=-1).mean()


    wrong("labels_from_one", "You shift the labels by one. They count from 0 already: label 0 is the first column.",
          breaks=LOSS, old="shifted.gather(-1, labels[:, None]).squeeze(-1)",
          new="shifted[torch.arange(len(labels)), labels - 1]")
    wrong("shifted_by_another", "You take another number off each row than its largest (its mean, its smallest): what is left can still be far above 0, and `exp` overflows from 89 on. Take off `amax(dim=-1, keepdim=True)`.",
          breaks="large logits", old="logits.amax(dim=-1, keepdim=True)", new="logits.mean(dim=-1, keepdim=True)")
    for smallest, most in {"1e-5": 11.5, "1e-6": 13.8, "torch.finfo(torch.float32).eps": 15.9, "1e-7": 16.1, "1e-8": 18.4, "1e-9": 20.7, "1e-10": 23.0, "1e-12": 27.6, "1e-15": 34.5, "1e-16": 36.8, "1e-20": 46.1, "1e-30": 69.1}.items():
        name = "clamped" if smallest == "1e-9" else f"clamped_at_{most}"
        wrong(name, f"A small constant under the logarithm (or a clamp) hides the infinity, but not the error: a confident wrong answer then costs {most} at most, and its gradient vanishes. Write log(softmax) as x − log Σ exp(x).",
              breaks="large logits", old="return (log_total - right).mean()",
              new=f"probabilities = (right - log_total).exp()  # (B,)\n    return -probabilities.clamp(min={smallest}).log().mean()")
    wrong("shifted_sum_only", "You take the largest logit off in the sum, but not from the right logit: the two terms no longer belong together. Use `shifted` in both.",
          breaks=LOSS, old="shifted.gather(", new="logits.gather(")
    wrong("shifted_right_only", "You take the largest logit off the right one, but not in the sum: the two terms no longer belong together. Use `shifted` in both.",
          breaks=LOSS, old="shifted.exp().sum(dim=-1).log()", new="logits.logsumexp(dim=-1)")
    wrong("one_maximum", "You take off the largest logit of the whole batch. Rows that lie far below it underflow: take off each row's own largest, `amax(dim=-1, keepdim=True)`.",
          breaks="large logits", old=("amax(dim=-1, keepdim=True)", "(B,): between 0 and log N"), new=("amax()", "(B,)"))
    wrong("over_the_batch", "You normalize over the batch (dim 0): the sentences compete for a label. The labels should compete within each sentence: the last dim.",
          breaks=LOSS, old=("amax(dim=-1, keepdim=True)", "sum(dim=-1).log()  # (B,): between 0 and log N"),
          new=("amax(dim=0)", "sum(dim=0).log()[labels]  # (B,)"))
    wrong("over_everything", "You normalize over all entries at once, sentences and labels together; each sentence's probabilities must sum to 1 by themselves.",
          breaks=LOSS, old=("amax(dim=-1, keepdim=True)", "sum(dim=-1).log()  # (B,): between 0 and log N"),
          new=("amax()", "sum().log()"))


    @MISTAKES.mistake("The softmax's denominator is missing: minus the right logit can be made as small as one likes by raising all logits. Add log Σ exp(x).",
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


    @MISTAKES.mistake("This is a yes-or-no loss for each label on its own (sigmoid, binary cross-entropy). Here exactly one label is right, and the softmax lets them compete.",
                   breaks=LOSS)
    def cross_entropy__binary(logits, labels):
        wanted = torch.eye(logits.size(1))[labels]
        return (F.softplus(logits) - wanted * logits).mean()


    wrong("bits", "Your logarithm has base 2: the loss is in bits. In this course, and in the library, it is in nats (base e): smaller by the factor ln 2 = 0.693.",
          breaks=LOSS, old=".mean()", new=".mean() / math.log(2)")
    wrong("perplexity", "This is the perplexity, the exponential of the loss. The loss itself is wanted.",
          breaks=LOSS, old=".mean()", new=".mean().exp()")
    wrong("base_ten", "Your logarithm has base 10. In this course, and in the library, the loss is in nats (base e): larger by the factor ln 10 = 2.303.",
          breaks=LOSS, old=".mean()", new=".mean() / math.log(10)")
    wrong("divided_by_labels", "You divide by the number of labels, N = {N}; the mean is over the batch: divide by B = {B}.",
          breaks=LOSS, old=".mean()", new=".sum() / logits.size(-1)")
    wrong("keeps_an_axis", "Your result has shape (1,); a single number, shape (), is wanted: no `keepdim`, and no brackets around it.",
          breaks=("shape", *LOSS), old=".mean()", new=".mean(dim=0, keepdim=True)")
    wrong("no_keepdim", "`amax(dim=-1)` is (B,), one number for each sentence, and doesn't fit to (B, N). With `keepdim=True` it is (B, 1), and each row loses its own largest. (Where B = N it runs, and is wrong.)",
          breaks=("shape", *LOSS), old="amax(dim=-1, keepdim=True)", new="amax(dim=-1)")
    wrong("labels_normalized_over_batch", "Your sum of exponentials runs over the batch (dim 0) and leaves one number for each label. It belongs over the labels, the last dim, one number for each sentence.",
          breaks=("shape", *LOSS), old=("amax(dim=-1, keepdim=True)", "sum(dim=-1).log()  # (B,): between 0 and log N"),
          new=("amax(dim=0)", "sum(dim=0).log()  # (N,)"))
    wrong("picks_rows", "`logits[labels]` picks whole rows, as if labels were sentences. One entry a row is wanted: `logits[torch.arange(B), labels]`, or `gather`.",
          breaks=("shape", *LOSS), old="shifted.gather(-1, labels[:, None]).squeeze(-1)  # (B,)", new="shifted[labels]")
    wrong("first_column", "You take the first column, label 0, for every sentence; each has its own right label: `logits[torch.arange(B), labels]`.",
          breaks=LOSS, old="shifted.gather(-1, labels[:, None]).squeeze(-1)", new="shifted[:, 0]")
    wrong("labels_seen_only", "Your one-hot rows are only as long as the largest label of this batch asks for: where the last labels don't occur, they don't fit. Tell `F.one_hot` how many labels there are: `logits.size(-1)`.",
          breaks=("shape", "values", "gradients"), old="shifted.gather(-1, labels[:, None]).squeeze(-1)", new="(shifted * F.one_hot(labels)).sum(dim=-1)")
    wrong("no_log_of_sum", "The logarithm of the sum is missing: −ln p is log Σ exp(x) − x.",
          breaks=LOSS, old="sum(dim=-1).log()", new="sum(dim=-1)")
    wrong("no_sum", "The sum of exponentials is missing: what you return measures how far the right logit lies below the largest one, and is 0 as soon as it is the largest. Add log Σ exp(x).",
          breaks=LOSS, old="(log_total - right)", new="(-right)")
    wrong("sum_of_logits", "You take the logarithm of Σ x, without `exp`: it is log Σ exp(x).",
          breaks=LOSS, old="shifted.exp().sum(dim=-1)", new="logits.sum(dim=-1)")
    wrong("one_minus_p", "You return the mean of 1 − p. It never exceeds 1, and its gradient vanishes where the model is sure and wrong: take −ln p.",
          breaks=LOSS, old="(log_total - right).mean()", new="(1 - (right - log_total).exp()).mean()")
    wrong("worst_of_the_batch", "You return the largest loss of the batch; the mean is asked for.",
          breaks=LOSS, old=".mean()", new=".max()")
    SQUARES = "You compare probabilities with one-hot rows by squared distances. That loss can't exceed 2, however sure and wrong the model is. Asked for is the cross-entropy: the mean of −ln p of the right label."
    for name, reduced in {"squared_error": ".mean()", "squared_error_summed": ".sum(dim=-1).mean()"}.items():
        wrong(name, SQUARES, breaks=LOSS, old="return (log_total - right).mean()",
              new=f"return (logits.softmax(dim=-1) - F.one_hot(labels, logits.size(-1))).square(){reduced}")
    wrong("its_gradient", "You return the mean of softmax minus one-hot. That difference is the loss's *gradient*, and its mean is 0 whatever the model says. The loss is the mean of −ln p of the right label.",
          breaks=LOSS, old="return (log_total - right).mean()", new="return (logits.softmax(dim=-1) - F.one_hot(labels, logits.size(-1))).mean()")
    wrong("entropy", "You return the entropy of the model's own probabilities: how unsure it is, whatever the labels say. The right label's −ln p is wanted.",
          breaks=LOSS, old="return (log_total - right).mean()", new="return torch.special.entr(logits.softmax(dim=-1)).sum(dim=-1).mean()")
    wrong("plain_number", "You return a plain number (`.item()`, `float`). The value is right, but nothing can learn from it: return the tensor, which knows how it came about.",
          breaks=("shape", "gradients"), old=".mean()", new=".mean().item()")
    wrong("divided_twice", "You divide by B twice (by B² in all, B = {B}): a mean has taken the mean already.",
          breaks=LOSS, old=".mean()", new=".mean() / len(labels)")


@MISTAKES.of(train_step)
def in_train_step(wrong):
    STEPS = ("update", "fresh gradients")

    wrong("no_zero_grad", "`zero_grad` is missing: `backward` *adds* to the gradients that are there, so each step also repeats all earlier ones. Only the very first step of a model is right.",
          breaks="fresh gradients", old="    optimizer.zero_grad()\n", new="")
    wrong("zero_grad_at_the_end", "You clear the gradients after the step only. What the model holds when you are called, from some other `backward`, then goes into your step: clear before `backward`.",
          breaks="fresh gradients", old=("    optimizer.zero_grad()\n", "optimizer.step()\n"), new=("", "optimizer.step()\n    optimizer.zero_grad()\n"))
    wrong("zero_grad_too_late", "`zero_grad` stands between `backward` and `step`: the gradients are wiped out before the optimizer sees them, and nothing ever changes. Call it before `backward`.",
          breaks=STEPS, old=("    optimizer.zero_grad()\n", "loss.backward()\n"),
          new=("", "loss.backward()\n    optimizer.zero_grad()\n"))
    wrong("step_before_backward", "`step` comes before `backward`: at the first step the optimizer has no gradient to go by, and later it changes the weights that `backward` still needs as they were. First `backward`, which computes the gradients, then `step`, which uses them.",
          breaks=STEPS, old=("    optimizer.zero_grad()\n", "loss.backward()\n    optimizer.step()\n"),
          new=("", "optimizer.step()\n    optimizer.zero_grad()\n    loss.backward()\n"))
    wrong("step_with_cleared_gradients", "`step` comes before `backward`, and the gradients have just been cleared: the optimizer has nothing to go by, and nothing changes. First `backward`, which computes the gradients, then `step`, which uses them.",
          breaks=STEPS, old="loss.backward()\n    optimizer.step()\n", new="optimizer.step()\n    loss.backward()\n")
    wrong("two_steps", "The optimizer takes two steps with one gradient. One call of `optimizer.step()` is wanted.",
          breaks=STEPS, old="optimizer.step()", new="optimizer.step()\n    optimizer.step()")
    wrong("changes_gradients", "Between `backward` and `step` you change the gradients (clipping, dividing): another step than asked for. `step` takes them as they are.",
          breaks=STEPS, old="loss.backward()\n", new="loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n")
    wrong("no_backward", "`backward` is missing: no gradient is ever computed, so `step` has nothing to go by.",
          breaks=STEPS, old="    loss.backward()\n", new="")
    wrong("trains_in_eval", "The model is in eval mode when it is called, and stays there: dropout is off. Begin with `model.train()` (with its parentheses).",
          breaks="training mode", old="    model.train()\n", new="")
    wrong("train_after_forward", "`model.train()` comes after the model was called: the step is taken from what it said in eval mode, with dropout off. Begin with it.",
          breaks="training mode", old=("    model.train()\n", "    loss.backward()\n"), new=("", "    model.train()\n    loss.backward()\n"))
    wrong("extra_pass_in_eval", "You call the model twice, in eval mode and then in training mode. One call in training mode is enough: its loss is the one to step from, and the one to return.",
          breaks="training mode", old="    model.train()\n",
          new="    model.eval()\n    with torch.no_grad():\n        model(input_ids, attention_mask)\n    model.train()\n")
    wrong("eval_pass_at_the_end", "You call the model twice, in training mode and then in eval mode. One call in training mode is enough: its loss is the one to step from, and the one to return.",
          breaks="training mode", old="    optimizer.step()\n",
          new="    model.eval()\n    with torch.no_grad():\n        model(input_ids, attention_mask)\n    optimizer.step()\n")
    wrong("returns_tensor", "You return the loss as a tensor; a plain number is wanted: `loss.item()`. (A tensor that isn't detached drags its whole computation along.)",
          breaks="loss", old="loss.item()", new="loss")
    for digits in (1, 2, 3, 4):
        wrong(f"rounded_to_{digits}", f"You round the loss that you return, to {digits} digits behind the point. Return it as it is; rounding is for printing.",
              breaks="loss", old="loss.item()", new=f"round(loss.item(), {digits})")
    wrong("returns_numpy", "You return the loss as NumPy has it; a plain number is wanted: `loss.item()`.",
          breaks="loss", old="loss.item()", new="loss.detach().numpy()")
    wrong("returns_accuracy", "You return the share of right answers. The loss is wanted, as it was before the step.",
          breaks="loss", old=("loss = cross_entropy(model(input_ids, attention_mask), labels)", "loss.item()"),
          new=("logits = model(input_ids, attention_mask)\n    loss = cross_entropy(logits, labels)", "(logits.argmax(dim=-1) == labels).float().mean().item()"))
    wrong("returns_perplexity", "You return the exponential of the loss, the perplexity. The loss itself is wanted.",
          breaks="loss", old="loss.item()", new="loss.exp().item()")
    wrong("loss_turned", "Logits and labels have changed places in the loss: `cross_entropy(logits, labels)`.",
          breaks=("loss", *STEPS, "training mode"), old="cross_entropy(model(input_ids, attention_mask), labels)", new="cross_entropy(labels, model(input_ids, attention_mask))")
    wrong("returns_model", "You return the model. It is changed in place, so the caller has it already; the loss is wanted.",
          breaks="loss", old="loss.item()", new="model")
    wrong("returns_sum", "You return the loss times the number of sentences; the mean over the batch, as `cross_entropy` gives it, is wanted.",
          breaks="loss", old="loss.item()", new="loss.item() * len(labels)")
    wrong("returns_share", "You divide the loss by the number of sentences; `cross_entropy` has taken the mean already.",
          breaks="loss", old="loss.item()", new="loss.item() / len(labels)")
    wrong("no_way_back", "`backward` finds no way back from your loss to the model: it was computed under `torch.no_grad()`, or cut off by `detach`, `.data` or a new tensor made of numbers.",
          breaks=("loss", *STEPS, "training mode"), old="loss = cross_entropy(model(input_ids, attention_mask), labels)",
          new="with torch.no_grad():\n        loss = cross_entropy(model(input_ids, attention_mask), labels)")
    wrong("argmax_before", "You take the `argmax` of the logits before the loss: a decision has no slope, and nothing can be learned from it. Hand the logits to the loss as they are.",
          breaks=("loss", *STEPS, "training mode"), old="model(input_ids, attention_mask)", new="model(input_ids, attention_mask).argmax(dim=-1)")
    wrong("argmax_before_the_library's", "You take the `argmax` of the logits before the loss: a decision has no slope, and nothing can be learned from it. Hand the logits to the loss as they are.",
          breaks=("loss", *STEPS, "training mode"), old="cross_entropy(model(input_ids, attention_mask), labels)",
          new="F.cross_entropy(model(input_ids, attention_mask).argmax(dim=-1), labels)")
    wrong("batch_is_a_dict", "`batch` is a tuple of three tensors, and you ask it for a name, like a dict. Take it apart: `input_ids, attention_mask, labels = batch`.",
          breaks=("loss", *STEPS, "training mode"), old="input_ids, attention_mask, labels = batch",
          new='input_ids, attention_mask, labels = batch["input_ids"], batch["attention_mask"], batch["labels"]')
    for attribute in ("logits", "loss"):
        wrong(f"asks_for_{attribute}", f"You ask the model's result for `.{attribute}`, as models of the library have it. This model returns the logits themselves, a tensor.",
              breaks=("loss", *STEPS, "training mode"), old="model(input_ids, attention_mask)", new=f"model(input_ids, attention_mask).{attribute}")
    BY_NAME = "You hand the model its arguments by name. They have other names in other models (`features` in the next section): hand them over by position, `model(input_ids, attention_mask)`."
    wrong("by_name", BY_NAME, breaks=("loss", *STEPS, "training mode"), old="model(input_ids, attention_mask)",
          new="model(input_ids=input_ids, attention_mask=attention_mask)")
    wrong("mask_by_name", BY_NAME, breaks=("loss", *STEPS, "training mode"), old="model(input_ids, attention_mask)",
          new="model(input_ids, attention_mask=attention_mask)")
    wrong("no_mask", "You call the model without the attention mask; it is called with both, `model(input_ids, attention_mask)`.",
          breaks=("loss", *STEPS, "training mode"), old="model(input_ids, attention_mask)", new="model(input_ids)")
    wrong("whole_batch", "You hand the model all three parts of the batch, or the tuple itself. It takes two, `model(input_ids, attention_mask)`; the labels are for the loss.",
          breaks=("loss", *STEPS, "training mode"), old="model(input_ids, attention_mask)", new="model(*batch)")
    wrong("swapped_arguments", "Ids and mask have changed places: the model is called as `model(input_ids, attention_mask)`.",
          breaks=("loss", *STEPS), old="model(input_ids, attention_mask)", new="model(attention_mask, input_ids)")
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
    wrong("own_means", "The parameters change, but not by the optimizer that you are given: you step by hand, or with one of your own. It was chosen for this model, with its learning rates and with what may move: call its `step()`.",
          breaks=STEPS, old="optimizer.step()", new="torch.optim.SGD(model.parameters(), lr=0.01).step()")
    wrong("no_step", "`step` is missing: the gradients are computed, but nobody walks along them.",
          breaks=STEPS, old="    optimizer.step()\n", new="")


@MISTAKES.of(train_classifier)
def in_train_classifier(wrong):
    STEP = "loss = train_step(model, batch, optimizer)"
    WRITTEN_OUT = """*inputs, labels = batch
            model.train()
            optimizer.zero_grad()
            loss = cross_entropy(model(*inputs), labels)
            loss.backward()
            optimizer.step()"""
    IN_ITS_MODE = WRITTEN_OUT.replace("            model.train()\n", "")
    TELLING = """            if on_step is not None:
                on_step(loss)
"""

    wrong("one_epoch", "You go through the batches once, whatever `epochs` says. Either the outer loop is missing, or an iterator made before it (`iter(batches)`, `enumerate`, `zip`) is used up after the first epoch: loop over `batches` anew in each.",
          breaks=("learns", "losses", "all batches"), old="losses = []", new="losses = []\n    batches = iter(batches)")
    wrong("one_epoch_short", "You train for one epoch too few: `range(1, epochs)` has epochs − 1 rounds. `range(epochs)` has as many as asked for.",
          breaks=("losses", "all batches"), old="range(epochs)", new="range(1, epochs)")
    wrong("one_epoch_long", "You train for one epoch too many: as many as asked for are `range(epochs)`.",
          breaks=("losses", "all batches"), old="range(epochs)", new="range(epochs + 1)")
    wrong("asks_for_the_length", "You ask `batches` for its length. It may be anything that can be looped over again and again, and need not have one: `for batch in batches` is enough.",
          breaks="all batches", old="losses = []", new="losses, count = [], len(batches)")
    wrong("indexes", "You pick batches by their number. `batches` may be anything that can be looped over again and again, and need not have an index: `for batch in batches` is enough.",
          breaks="all batches", old="losses = []", new="losses, first = [], batches[0]")
    wrong("shuffles", "You take the batches in another order in each epoch; take them in the order given. (Shuffling is a good habit, and the business of whoever makes the batches.)",
          breaks="all batches", old="for batch in batches:", new="batches = list(batches)\n        for batch in (batches[place] for place in torch.randperm(len(batches)).tolist()):")
    wrong("backwards", "You go through the batches from the last to the first; take them in the order given.",
          breaks="all batches", old="for batch in batches:", new="for batch in list(batches)[::-1]:")
    wrong("returns_early", "`return` stands inside the outer loop: training ends after the first epoch.",
          breaks=("learns", "losses", "all batches", "modes"), old="    model.eval()\n",
          new="        return losses\n    model.eval()\n")
    wrong("first_batch_only", "You train on the first batch only, again and again. The inner loop goes through all of them.",
          breaks=("learns", "losses", "all batches"), old="in batches:", new="in list(batches)[:1]:")
    wrong("returns_at_once", "`return` stands inside the inner loop: training ends after the first batch. It belongs behind both loops.",
          breaks=("learns", "losses", "all batches", "modes"), old="    model.eval()\n", new="            return losses\n    model.eval()\n")
    wrong("returns_at_once_in_eval_mode", "`return` stands inside the inner loop: training ends after the first batch. It belongs behind both loops.",
          breaks=("learns", "losses", "all batches"), old="    model.eval()\n", new="            model.eval()\n            return losses\n    model.eval()\n")
    wrong("trains_a_copy", "You train a copy of the model. Train the one that you are given: it is what the caller goes on with.",
          breaks=("learns", "all batches", "modes", "on_step"), old="losses = []", new="from copy import deepcopy\n    losses, model = [], deepcopy(model)")
    wrong("one_batch_left_out", "You leave out the first batch of each epoch; all of them are to be trained on.",
          breaks=("losses", "all batches"), old="in batches:", new="in list(batches)[1:]:")
    wrong("last_batch_left_out", "You leave out the last batch of each epoch; all of them are to be trained on.",
          breaks=("losses", "all batches"), old="in batches:", new="in list(batches)[:-1]:")
    wrong("cleared_once_an_epoch", "You clear the gradients once an epoch. `backward` adds to what is there, so each step of an epoch also repeats the earlier ones: clear them for every batch, as `train_step` does.",
          breaks="learns", old=("range(epochs):\n", "loss = train_step(model, batch, optimizer)"),
          new=("range(epochs):\n        optimizer.zero_grad()\n",
               "model.train()\n            result = cross_entropy(model(*batch[:2]), batch[2])\n            result.backward()\n"
               "            optimizer.step()\n            loss = result.item()"))
    wrong("append_returned", "`append` changes the list and returns None: after `losses = losses.append(…)` the list is gone. Write `losses.append(…)` alone.",
          breaks=("learns", "losses", "all batches", "modes", "on_step"), old="losses.append(loss)", new="losses = losses.append(loss)")
    wrong("two_steps_a_batch", "Each batch is trained on twice: `train_step` is called once to keep the loss and once more to tell it. Call it once and keep what it returns.",
          breaks=("all batches", "on_step"), old="on_step(loss)", new="on_step(train_step(model, batch, optimizer))")
    wrong("last_epoch_only", "The list of losses is emptied at the beginning of each epoch: only the last epoch's are returned. Make it before the loops.",
          breaks="losses", old="losses = []\n    for _ in range(epochs):",
          new="for _ in range(epochs):\n        losses = []")
    EPOCH = ("losses = []\n    for _ in range(epochs):", "    model.eval()\n    return losses")
    for name, words, made in (("mean", "the mean loss", "sum(losses) / len(losses)"), ("sum", "the sum of the losses", "sum(losses)"), ("last", "the last loss", "losses[-1]")):
        wrong(f"{name}_per_epoch", f"You return {words} of each epoch. Asked for is the loss of every step: whatever one wants of each epoch can be made from these later.",
              breaks="losses", old=EPOCH,
              new=("made = []\n    for _ in range(epochs):\n        losses = []", f"        made.append({made})\n    model.eval()\n    return made"))
    wrong("list_per_epoch", "You return a list of lists, one for each epoch. Wanted is one list with all losses, one after the other.",
          breaks="losses", old=EPOCH, new=("made = []\n    for _ in range(epochs):\n        losses = []", "        made.append(losses)\n    model.eval()\n    return made"))
    wrong("numpy_losses", "You return the losses as a NumPy array; a list is wanted.",
          breaks="losses", old="return losses", new="return np.array(losses)")
    wrong("tensor_of_losses", "You return the losses as a tensor; a list of plain numbers is wanted.",
          breaks="losses", old="return losses", new="return torch.tensor(losses)")
    wrong("losses_and_model", "You return more than the losses. The list alone is wanted: the caller has everything else.",
          breaks="losses", old="return losses", new="return losses, model")
    wrong("last_loss", "You return the last loss alone; the list of all losses is wanted.",
          breaks="losses", old="return losses", new="return loss")
    wrong("mean_loss", "You return one number, the mean of all losses; the list of all of them is wanted.",
          breaks="losses", old="return losses", new="return sum(losses) / len(losses)")
    wrong("returns_nothing", "Nothing is returned: end with `return losses`.",
          breaks="losses", old="    return losses\n", new="")
    wrong("returns_model", "You return the model. It is changed in place, so the caller has it already; the losses are wanted.",
          breaks="losses", old="return losses", new="return model")
    wrong("tensors", "You keep and pass on the losses as tensors. Each holds on to its whole computation, and memory fills up: `loss.item()` is the number.",
          breaks=("losses", "on_step"), old=STEP, new=WRITTEN_OUT)
    wrong("left_in_training_mode", "The model is left in training mode: the next prediction would drop numbers at random. End with `model.eval()`.",
          breaks="modes", old="    model.eval()\n", new="")
    wrong("trains_in_eval", "It trains in eval mode from beginning to end: dropout never acts. `train_step` switches to training mode; if you write the step out again, so must you.",
          breaks="modes", old=(STEP, "losses.append(loss)"), new=(IN_ITS_MODE, "loss = loss.item()\n            losses.append(loss)"))
    wrong("eval_after_the_first_epoch", "After the first epoch the model stays in eval mode: it is switched there at the epoch's end and never back. Put `model.train()` inside the loop.",
          breaks="modes", old=("losses = []", STEP, "losses.append(loss)", "    model.eval()"),
          new=("losses = []\n    model.train()", IN_ITS_MODE, "loss = loss.item()\n            losses.append(loss)",
               "        model.eval()"))
    wrong("never_tells", "`on_step` is never called: after each step, if it is not None, tell it the loss.",
          breaks="on_step", old=TELLING, new="")
    wrong("calls_none", "`on_step` is called even when there is none: None can't be called. Ask first: `if on_step is not None`.",
          breaks="on_step", old=TELLING, new="            on_step(loss)\n")
    wrong("needs_on_step", "`on_step` may be left out, and yours must be given: write `on_step=None` in the first line.",
          breaks="on_step", old="on_step: Callable[[float], object] | None = None", new="on_step: Callable[[float], object] | None")
    wrong("tells_once_an_epoch", "`on_step` is called once an epoch; it should hear of every step: the call belongs into the inner loop.",
          breaks="on_step", old=TELLING, new="        if on_step is not None:\n            on_step(loss)\n")
    wrong("tells_the_number", "You tell `on_step` the number of the step; it expects the loss.",
          breaks="on_step", old="on_step(loss)", new="on_step(len(losses))")
    wrong("tells_the_list", "You tell `on_step` the whole list of losses; it expects one number, the loss of the step just taken.",
          breaks="on_step", old="on_step(loss)", new="on_step(losses)")
    wrong("tells_the_mean", "You tell `on_step` the mean of all losses so far; it expects the loss of the step just taken.",
          breaks="on_step", old="on_step(loss)", new="on_step(sum(losses) / len(losses))")
    wrong("tells_nothing", "You call `on_step` without an argument; tell it the loss: `on_step(loss)`.",
          breaks=("learns", "losses", "all batches", "modes"), old="on_step(loss)", new="on_step()")
    wrong("tells_too_much", "You call `on_step` with more than one argument; it takes one, the loss.",
          breaks=("learns", "losses", "all batches", "modes"), old="on_step(loss)", new="on_step(loss, len(losses))")
    wrong("own_optimizer", "You make an optimizer of your own; the one that you are given never takes a step. It was chosen for this model, with its learning rates and with what may change: use it.",
          breaks="learns", old="losses = []",
          new="losses = []\n    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)")
    wrong("only_measures", "The losses are computed, but no step is taken: without `backward` and `optimizer.step()` nothing is learned.",
          breaks=("learns", "modes"), old=("losses = []", STEP),
          new=("losses = []\n    model.eval()", """*inputs, labels = batch
            with torch.no_grad():
                loss = cross_entropy(model(*inputs), labels).item()"""))


    @MISTAKES.mistake("You add all losses of an epoch up and step once at its end, so most steps are missing. One step for each batch is wanted.",
                   breaks=("learns", "losses", "all batches"))
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


@MISTAKES.of(TokenClassifier)
def in_TokenClassifier(wrong):
    wrong("cls_only", "You still pick out [CLS]: one row of logits for each sentence. Here every token gets its own: classify all of `hidden`.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden)", new="self.dropout(hidden[:, 0])")
    wrong("without_special_tokens", "You cut off the special tokens. Return logits for all T tokens; which of them count is decided where the loss is computed.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden))[:, 1:-1]")
    wrong("argmax", "You return a label for each token (argmax). Return the logits: the loss, and whoever wants to know how sure the model is, need them.",
          breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(hidden))", new="self.dropout(hidden)).argmax(dim=-1)")
    wrong("layer_per_place", "You have a layer for each place in the sentence. All tokens share one layer: a name is a name wherever it stands, and a sentence may be longer than any before.",
          breaks=(*NUMBERS, "dropout"),
          old=("self.classifier = nn.Linear(config.hidden_size, config.num_labels)",
               "return self.classifier(self.dropout(hidden))"),
          new=("""places = range(config.max_position_embeddings)
        self.classifiers = nn.ModuleList(nn.Linear(config.hidden_size, config.num_labels) for _ in places)""",
               """places = zip(self.classifiers, self.dropout(hidden).unbind(dim=1))
        return torch.stack([classifier(x) for classifier, x in places], dim=1)"""))
    wrong("list_of_layers", "You have a layer for each place in the sentence. All tokens share one layer: a name is a name wherever it stands, and a sentence may be longer than any before.",
          breaks=(*NUMBERS, "dropout"),
          old=(" nn.Linear(config.hidden_size, config.num_labels)", "return self.classifier(self.dropout(hidden))"),
          new=(" nn.ModuleList(nn.Linear(config.hidden_size, config.num_labels) for _ in range(config.max_position_embeddings))",
               """places = zip(self.classifier, self.dropout(hidden).unbind(dim=1))
        return torch.stack([classifier(x) for classifier, x in places], dim=1)"""))
    wrong("labels_first", "Your logits come as (B, N, T), the order that PyTorch's own cross-entropy likes; wanted is (B, T, N), one row for each token.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden)).transpose(1, 2)")
    wrong("flattened", "You flatten sentences and tokens into one axis, (B·T, N). That is what the loss will do; keep (B, T, N) here.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden)).flatten(0, 1)")
    wrong("padding_to_zero", "You set the logits of padding to 0. Leave them as they are: the loss decides what counts, and a logit of 0 is not “no label”, it is an even bet.",
          breaks=("values", "gradients"), old="return self.classifier(self.dropout(hidden))",
          new="""logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits * attention_mask.unsqueeze(-1)""")
    wrong("squeezed", "A `squeeze` without a dim takes away every axis of size 1: with one sentence, one token or one label your result loses an axis. (B, T, N) is wanted, whatever these are.",
          breaks=("shape", "values", "gradients"), old="self.dropout(hidden))", new="self.dropout(hidden)).squeeze()")
    wrong("squeezed_labels", "For a single label you take the last axis away; (B, T, N) is wanted, whatever N is.",
          breaks=("shape", "values", "gradients"), old="self.dropout(hidden))", new="self.dropout(hidden)).squeeze(-1)")
    wrong("squeezed_batch", "For a single sentence you take the first axis away; (B, T, N) is wanted, whatever B is.",
          breaks=("shape", "values", "gradients"), old="self.dropout(hidden))", new="self.dropout(hidden)).squeeze(0)")
    wrong("tokens_first", "Your logits come as (T, B, N), tokens before sentences: where you stack them, `dim=1` is missing. Wanted is (B, T, N).",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden)).transpose(0, 1)")
    wrong("list_of_tokens", "You return a Python list with one tensor (B, N) for each token. Wanted is one tensor, (B, T, N): `torch.stack(…, dim=1)` makes it; or hand all of `hidden` to the layer at once.",
          breaks=("shape", *NUMBERS, "dropout"), old="self.classifier(self.dropout(hidden))",
          new="[self.classifier(one) for one in self.dropout(hidden).unbind(dim=1)]")
    wrong("concatenated_tokens", "You join the logits of all tokens in one long row, (B, T·N). Wanted is (B, T, N), one row for each token: `torch.stack(…, dim=1)`.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden)).flatten(1)")
    wrong("mean_of_tokens", "You average over the tokens before you classify: one row of logits for each sentence. Here every token gets its own.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden)", new="self.dropout(hidden.mean(dim=1))")
    wrong("without_cls", "You leave out the first token, [CLS]. Return logits for all T tokens; which of them count is decided where the loss is computed.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden))[:, 1:]")
    wrong("without_sep", "You leave out the last token. Return logits for all T tokens; which of them count is decided where the loss is computed.",
          breaks=("shape", *NUMBERS), old="self.dropout(hidden))", new="self.dropout(hidden))[:, :-1]")
    wrong("loop_ends_early", "Your loop leaves out the last token: `range` ends one before its number by itself, so it is `range(T)`.",
          breaks=("shape", *NUMBERS), old="self.classifier(self.dropout(hidden))",
          new="torch.stack([self.classifier(self.dropout(hidden[:, place])) for place in range(hidden.size(1) - 1)], dim=1)")
    wrong("places_for_labels", "Your classifier has an output for each place in the text. It has one for each label, `config.num_labels`, at every place.",
          breaks=("shape", *NUMBERS, "dropout"), old="config.num_labels)", new="config.max_position_embeddings)")
    wrong("softmax_over_tokens", "Your forward ends with a softmax over the tokens, dim 1: they compete for each label. Return the logits as they are.",
          breaks=(*NUMBERS, "dropout"), old="self.dropout(hidden))", new="self.dropout(hidden)).softmax(dim=1)")
    wrong("dropout_alike_for_tokens", "In training all tokens of a sentence lose the same numbers. Each number of each token is to be dropped by itself: `nn.Dropout` on all of `hidden`.",
          breaks="dropout", old="self.dropout(hidden)", new="hidden * self.dropout(torch.ones_like(hidden[:, :1]))")
    wrong("real_tokens_only", "You return the logits of the real tokens alone, in one long list. Wanted are those of all T tokens, (B, T, N); which of them count is decided where the loss is computed.",
          breaks=("shape", "values", "gradients"), old="return self.classifier(self.dropout(hidden))",
          new="""logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits[attention_mask.bool()]""")
    wrong("hidden_to_zero", "You set the *vectors* of padding to 0 before you classify; their logits are then the classifier's bias. Leave them as they are: the loss decides what counts.",
          breaks=("values", "gradients"), old="return self.classifier(",
          new="""hidden = hidden if attention_mask is None else hidden * attention_mask.unsqueeze(-1)
        return self.classifier(""")
    wrong("padding_to_minus_infinity", "You set the logits of padding to −∞. Leave them as they are: the loss decides what counts, and −∞ for every label is no answer at all.",
          breaks=("values", "gradients"), old="return self.classifier(self.dropout(hidden))",
          new="""logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits.masked_fill(attention_mask.unsqueeze(-1) == 0, -torch.inf)""")
    wrong("ids_alone", "What goes into your classifier is (B, T), the ids of the tokens. It wants their hidden states, (B, T, D).",
          breaks=("shape", *NUMBERS, "dropout"), old="self.dropout(hidden)", new="self.dropout(input_ids)")
    wrong("one_level_deeper", "Your layers lie one level deeper, in `self.model`: their names are then `model.encoder` and `model.classifier`. Expected are `encoder`, `dropout` and `classifier`, attributes of your class itself.",
          breaks=(*NUMBERS, "dropout"),
          old=("""self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)""",
               "self.encoder(input", "self.classifier(self.dropout("),
          new=("self.model = TransformerForSequenceClassification(config)", "self.model.encoder(input", "self.model.classifier(self.model.dropout("))


@MISTAKES.of(span_scores)
def in_span_scores(wrong):
    SCORES = ("values", "mask", "gradients")
    MASKING = """    if mask is not None:
        start = start.masked_fill(mask == 0, -torch.inf)
        end = end.masked_fill(mask == 0, -torch.inf)
"""

    wrong("swapped", "Start and end have changed places: row 0 of `w` is the start vector, row 1 the end vector, and the start scores come first.",
          breaks=SCORES, old="start, end = (hidden", new="end, start = (hidden")
    wrong("one_vector", "You use the start vector for both: the end scores need row 1 of `w`.",
          breaks=SCORES, old="start, end = (hidden @ w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)",
          new="start = end = hidden @ w[0]  # (B, T)")
    wrong("end_vector_twice", "You use the end vector for both: the start scores need row 0 of `w`.",
          breaks=SCORES, old="start, end = (hidden @ w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)", new="start = end = hidden @ w[1]  # (B, T)")
    wrong("mask_as_places", "You turn whole numbers round with `~`: `~1` is −2 and `~0` is −1, and as an index that means the last two sentences, which are then −∞ from end to end. Compare: `mask == 0`.",
          breaks="mask", old=MASKING, new="""    if mask is not None:
        start, end = start.clone(), end.clone()
        start[~mask.long()] = -torch.inf
        end[~mask.long()] = -torch.inf
""")
    wrong("reshaped", "`reshape` (or `view`) to (2, B, T) turns no axes: it reads the numbers in the order in which they lie, and start and end scores get mixed. `unbind(dim=-1)` takes the last axis apart.",
          breaks=SCORES, old=".unbind(dim=-1)", new=".reshape(2, *hidden.shape[:2])")
    wrong("unpacks_the_batch", "`start, end = …` takes a tensor apart along its *first* axis, the batch (it runs only where B is 2). The two scores lie along the last: `unbind(dim=-1)`.",
          breaks=("shape", *SCORES), old=".unbind(dim=-1)", new="")
    wrong("keeps_an_axis", "Your scores have shape (B, T, 1); wanted is (B, T). `unbind(dim=-1)` takes the last axis away, a slice or `split` keeps it.",
          breaks=("shape", *SCORES), old=".unbind(dim=-1)", new=".split(1, dim=-1)")
    wrong("squeezed", "A `squeeze` without a dim takes away every axis of size 1: with a single text, or a single token, your scores lose an axis. (B, T) is wanted, whatever these are.",
          breaks=("shape", "values", "gradients"), old="return start, end", new="return start.squeeze(), end.squeeze()")
    wrong("squeezed_batch", "For a single text your scores lose their first axis; (B, T) is wanted, whatever B is.",
          breaks=("shape", "values", "gradients"), old="return start, end", new="return start.squeeze(0), end.squeeze(0)")
    wrong("places", "You return places (argmax), the best start and the best end. Return the scores of all tokens: which pair is best is the next exercise.",
          breaks=("shape", *SCORES), old="return start, end", new="return start.argmax(dim=-1), end.argmax(dim=-1)")
    wrong("added", "You add start and end scores of the same token. They are to be kept apart: a pair, start scores and end scores.",
          breaks=("shape", *SCORES), old="return start, end", new="return start + end")
    wrong("log_softmax", "You turn the scores into log-probabilities. Return them as they are: the loss brings its own softmax.",
          breaks=SCORES, old="return start, end", new="return start.log_softmax(dim=-1), end.log_softmax(dim=-1)")
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
    wrong("masked_to_plus_infinity", "Where the mask is 0 your scores are +∞ or NaN, not −∞: they win, or spoil the whole row. (Hidden states of ±∞ don't help: times a negative weight the sign turns.) Set the scores themselves to −∞.",
          breaks="mask", old="-torch.inf", new="torch.inf", times=2)
    wrong("adds_a_penalty", "You add a fixed penalty, −10,000, where the mask is 0. Where scores lie farther apart, such a token still wins: set it to −∞.",
          breaks="mask", old=MASKING, new="""    if mask is not None:
        penalty = (1 - mask.long()) * -10000.0
        start, end = start + penalty, end + penalty
""")
    wrong("masked_to_a_low_number", "Masked scores become a fixed number such as −100 or −10,000: where all others are lower still, it wins. −∞ never does.",
          breaks="mask", old="-torch.inf", new="-100.0", times=2)
    wrong("adds_the_mask", "You add the mask to the scores: a 1 more or less decides little. Set the scores to −∞ where it is 0.",
          breaks="mask", old=MASKING, new="""    if mask is not None:
        start, end = start + mask, end + mask
""")
    for name, condition in {"turns_the_bits": "~mask", "minus_the_mask": "1 - mask"}.items():
        wrong(name, {"~mask": "`~mask` means “not” for True and False only; of 1 and 0 it makes −2 and −1. `mask == 0` serves both kinds.",
                     "1 - mask": "`1 - mask` is no condition: `masked_fill` wants True and False. `mask == 0` serves both kinds of masks."}[condition],
              breaks="mask", old="mask == 0", new=condition, times=2)
    wrong("asks_the_mask", "`if mask:` asks a whole tensor whether it is true. What you want to know is whether there is one: `if mask is not None`.",
          breaks="mask", old="mask is not None", new="mask")
    wrong("no_none", "`mask` may be None: ask before you use it, `if mask is not None`.",
          breaks=("shape", "values", "gradients"), old="mask is not None", new="True")
    wrong("masks_end_only", "You mask the end scores only; an answer may then begin in the padding. Mask both.",
          breaks="mask", old=MASKING, new=MASKING.replace("        start = start.masked_fill(mask == 0, -torch.inf)\n", ""))
    wrong("mask_inverted", "You have it the wrong way round: the tokens that may be chosen get −∞, and padding keeps its scores. The mask is 1 where an answer may lie.",
          breaks="mask", old="mask == 0", new="mask != 0", times=2)
    wrong("ignores_the_mask", "The mask has no effect: padding keeps its scores, and an answer may end in it. Set both scores to −∞ where the mask is 0.",
          breaks="mask", old=MASKING, new="")
    wrong("masks_start_only", "You mask the start scores only; an answer may then end in the padding. Mask both.",
          breaks="mask", old=MASKING, new=MASKING.replace("        end = end.masked_fill(mask == 0, -torch.inf)\n", ""))
    wrong("mask_in_place", "You set the *vectors* of masked tokens to 0: their scores are then 0, which is a good score where others are negative. Set the scores to −∞.",
          breaks="mask", old=("start, end = (hidden", MASKING),
          new=("""if mask is not None:
        hidden.masked_fill_(mask.unsqueeze(-1) == 0, 0.0)
    start, end = (hidden""", ""))


@MISTAKES.of(best_span)
def in_best_span(wrong):
    ALL = ("values", "length", "ties", "batch")
    ROWS = "return [best_span(one, other, max_len) for one, other in zip(start, end, strict=True)]"
    SEARCH = """total = start[:, None] + end[None, :]  # (T, T): row i is the first token, column j the last
    allowed = torch.ones_like(total, dtype=torch.bool).triu().tril(max_len - 1)
    best = int(total.masked_fill(~allowed, -torch.inf).argmax())  # counts row by row; the first of equals
    return divmod(best, start.size(0))"""

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
    TOP = """T, best, top = start.size(0), (0, 0), -torch.inf
    for i in sorted(start.topk(min(5, T)).indices.tolist()):
        for j in sorted(end.topk(min(5, T)).indices.tolist()):
            if i <= j < i + max_len and start[i] + end[j] > top:
                best, top = (i, j), start[i] + end[j]
    return best"""
    wrong("top_five", "You try the best few starts with the best few ends only. Where these don't go together, the best allowed pair is missed: try them all.",
          breaks="values", old=SEARCH, new=TOP)
    wrong("probabilities", "You turn the scores into probabilities and add these: another pair can win. Add the scores themselves.",
          breaks=("values", "length"), old="start[:, None] + end[None, :]", new="start.softmax(dim=-1)[:, None] + end.softmax(dim=-1)[None, :]")
    wrong("multiplied", "You multiply the scores; their sum is to be as large as possible. (Two negative scores have a positive product.)",
          breaks="values", old="start[:, None] + end[None, :]", new="start[:, None] * end[None, :]")
    wrong("either_way", "The end may not lie before the start. You limit how far they lie apart, not which comes first: keep only the pairs with i ≤ j.",
          breaks="values", old=".triu().tril(max_len - 1)", new=".tril(max_len - 1).triu(1 - max_len)")
    wrong("times_allowed", "You multiply the table by 0 where a pair is not allowed: where all scores are negative, 0 wins, and −∞ times 0 is NaN. Set these places to −∞.",
          breaks="values", old="total.masked_fill(~allowed, -torch.inf)", new="(total * allowed)")
    wrong("mask_turned", "You have it the wrong way round: the pairs that are allowed get −∞. `masked_fill` fills where the condition is True: `~allowed`.",
          breaks=ALL, old="~allowed", new="allowed")
    wrong("with_the_score", "You return the score as well; the pair alone is wanted.",
          breaks=ALL, old="return divmod(best, start.size(0))", new="return divmod(best, start.size(0)), total.flatten()[best].item()")
    wrong("numpy_places", "The two places are numbers of NumPy; plain ints are wanted, as for JSON: `int(…)` or `.tolist()`.",
          breaks=(*ALL, "refusal"), old="int(total.masked_fill(~allowed, -torch.inf).argmax())", new="total.masked_fill(~allowed, -torch.inf).argmax().numpy()[()]")
    wrong("table_turned", "Your table is turned: rows are the ends and columns the starts, so i and j change their roles. Rows belong to `start`: `start[:, None] + end[None, :]`.",
          breaks=ALL, old="start[:, None] + end[None, :]", new="start[None, :] + end[:, None]")
    wrong("end_first", "Your pair is in the wrong order: first the place where the span begins, then where it ends.",
          breaks=ALL, old="return divmod(best, start.size(0))", new="return divmod(best, start.size(0))[::-1]")
    wrong("no_return", "Your function returns nothing (None) for one text: `return` is missing where the pair is found.",
          breaks=(*ALL, "refusal"), old="return divmod(best", new="divmod(best")
    wrong("place_in_the_table", "You return one number, the place in the (T, T) table. `divmod(place, T)` makes a row and a column of it, i and j.",
          breaks=ALL, old="return divmod(best, start.size(0))", new="return best")
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
    wrong("both_bounds_open", "Your spans may have at most max_len − 2 tokens and more than one; allowed are i ≤ j ≤ i + max_len − 1, both bounds included.",
          breaks=("values", "length"), old=".triu().tril(max_len - 1)", new=".triu(1).tril(max_len - 2)")
    wrong("exact_length", "Only spans of exactly max_len tokens are considered; max_len is the most that is allowed.",
          breaks=ALL, old=".triu()", new=".triu(max_len - 1)")
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
    wrong("starts_from_zero_at_zero", "Your search begins with a best score of 0 and never finds anything better where all scores are negative. Begin with −∞.",
          breaks="values", old=SEARCH, new="""top, best = 0.0, (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if start[i] + end[j] > top:
                top, best = start[i] + end[j], (i, j)
    return best""")
    LOOPS = (
        ("last_token_never", "range(len(start))", "range(i, min(i + max_len, len(start) - 1))", ("values", "length", "batch"),
         "Your spans never end at the last token: `range` leaves its last number out by itself, so it goes up to T, not T − 1."),
        ("last_start_never", "range(len(start) - 1)", "range(i, min(i + max_len, len(start)))", ("values",),
         "Your spans never start at the last token: `range` leaves its last number out by itself, so it goes up to T, not T − 1."),
        ("first_start_never", "range(1, len(start))", "range(i, min(i + max_len, len(start)))", ALL,
         "Your spans never start at the first token: places count from 0."),
        ("over_the_end", "range(len(start))", "range(i, i + max_len)", ALL,
         "Your loop over the ends runs past the text: j is at most T − 1, so it goes up to `min(i + max_len, T)`."),
    )
    for name, starts, ends, broken, words in LOOPS:
        wrong(name, words, breaks=broken, old=SEARCH, new=f"""top, best = -torch.inf, (0, 0)
    for i in {starts}:
        for j in {ends}:
            if start[i] + end[j] > top:
                top, best = start[i] + end[j], (i, j)
    return best""")
    wrong("longest_of_ties", "Where several spans tie you take the longest; the contract wants the first, that is the smallest i and then the smallest j.",
          breaks="ties", old=SEARCH,
          new="""spans = [(i, j) for i in range(len(start)) for j in range(i, min(i + max_len, len(start)))]
    return max(spans, key=lambda span: (float(start[span[0]] + end[span[1]]), span[1] - span[0]))""")
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
          breaks="values", old=("int(total.masked_fill(~allowed, -torch.inf).argmax())", "divmod(best, start.size(0))"),
          new=("total.masked_fill(~allowed, -torch.inf).argmax()", "best // start.size(0), best % start.size(0)"))
    wrong("divmod_of_a_tensor", "`divmod` doesn't take tensors: make the place a plain number first, `int(…)` or `.item()`.",
          breaks=(*ALL, "refusal"), old="int(total.masked_fill(~allowed, -torch.inf).argmax())", new="total.masked_fill(~allowed, -torch.inf).argmax()")
    wrong("batch_as_a_tensor", "For a batch you return one tensor (B, 2). Wanted is a list of pairs of plain numbers: `.tolist()` makes it.",
          breaks="batch", old=ROWS, new=ROWS.replace("return ", "return torch.tensor(") + ")")
    wrong("whole_batch", "For a batch you look for the largest sum in all rows at once, and take its place in the whole table. Each row has a best span of its own.",
          breaks="batch", old=(f"if start.dim() == 2:\n        {ROWS}\n    ", "start[:, None] + end[None, :]", "start.size(0)"),
          new=("", "start[..., :, None] + end[..., None, :]", "start.size(-1)"))
    BATCHES = "Scores of shape (B, T) are not provided for: where `start.dim()` is 2, each row needs a search of its own, and a list of pairs is returned."
    wrong("no_batches", BATCHES, breaks="batch", old=f"if start.dim() == 2:\n        {ROWS}\n    ", new="")
    wrong("no_batches_of_t", BATCHES, breaks="batch", old=(f"if start.dim() == 2:\n        {ROWS}\n    ", "torch.ones_like(total, dtype=torch.bool)"),
          new=("", "torch.ones(len(start), len(start), dtype=torch.bool)"))
    wrong("no_batches_in_loops", BATCHES, breaks="batch", old=(f"if start.dim() == 2:\n        {ROWS}\n    ", SEARCH),
          new=("", """top, best = -torch.inf, None
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if start[i] + end[j] > top:
                top, best = start[i] + end[j], (i, j)
    return best"""))
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
    REFUSAL = 'raise ValueError(f"a span has at least one token; max_len is {max_len}")'
    wrong("accepts_zero", "A `max_len` of 0 allows no span at all: refuse it with a ValueError that says so. Yours returns one all the same.",
          breaks="refusal", old=REFUSAL, new="max_len = 1")
    wrong("prints", "A `max_len` below 1 allows no span at all: refuse it with `raise ValueError(…)`. Yours goes on and returns a span (printing a message stops nobody).",
          breaks="refusal", old=REFUSAL, new="pass")
    wrong("returns_none", "For a `max_len` below 1 you return None. Refuse it with `raise ValueError(…)`: whoever calls you would stumble over a None later, far from here.",
          breaks="refusal", old=REFUSAL, new="return None")
    wrong("accepts_negative", "You refuse a `max_len` of 0, but not one below it.",
          breaks="refusal", old="max_len < 1", new="max_len == 0")
    wrong("refuses_one", "You refuse max_len = 1. A span of one token is a span: refuse what is *below* 1.",
          breaks=("values", "length"), old="max_len < 1", new="max_len <= 1")
    wrong("refuses_more_than_the_text", "You refuse a `max_len` that is larger than the text. It only says how long a span may be at most.",
          breaks=("length"), old="total = start[:, None]",
          new='if max_len > len(start):\n        raise ValueError("too long")\n    total = start[:, None]')


@MISTAKES.of(count_head_parameters)
def in_count_head_parameters(wrong):
    LINEAR = {
        "no_bias": ("width * labels", "You left out the biases: a linear layer from D = {D} to N = {N} has D·N + N numbers."),
        "bias_of_inputs": ("width * labels + width", "Your bias has D = {D} numbers; a linear layer has one for each *output*, here N = {N}."),
        "one_bias": ("width * labels + 1", "You count one bias for the whole layer; it has one for each output, N = {N}."),
        "both_biases": ("(width + 1) * (labels + 1)", "You count (D + 1)·(N + 1) numbers. The bias is one more number for each *output*: (D + 1)·N, that is D·N + N."),
        "sum_of_sizes": ("width + labels", "You add D = {D} and N = {N}. Each of the N outputs has a weight for each of the D inputs, and a bias: D·N + N."),
        "two_labels": ("2 * width + 2", "You count two labels, whatever the config says; their number is `config.num_labels`, here {N}."),
        "one_output": ("width + 1", "You count one output, D + 1 numbers; there is one for each label, N = {N}."),
        "only_width": ("width", "You count one vector of D = {D} numbers; the layer has one for each label, and N biases: D·N + N."),
        "squared": ("width * width + width", "You count a layer from D to D, as BERT's pooler is. This one goes from D = {D} to N = {N}."),
        "squared_labels": ("labels * labels + labels", "You count a layer from N to N; it goes from D = {D} to N = {N}."),
        "times_labels": ("labels * (width * labels + labels)", "You count the layer once for each label. It is one layer with N = {N} outputs."),
        "times_length": ("config.max_position_embeddings * (width * labels + labels)", "You count the layer once for every position. It is one layer, and the length of the text doesn't matter."),
        "pooler": ("width * width + width + width * labels + labels", "You include BERT's pooler, D² + D numbers; the heads of this notebook have none."),
        "fixed_width": ("384 * labels + labels", "You count with a fixed width, 384, whatever the config says: D is `config.hidden_size`, here {D}."),
        "fixed_width_768": ("768 * labels + labels", "You count with a fixed width, 768, whatever the config says: D is `config.hidden_size`, here {D}."),
        "transposed_bias": ("(labels + 1) * width + labels", "You count two biases, of D and of N numbers. A linear layer has one, with a number for each output, N = {N}."),
        "only_labels": ("labels", "You count the outputs, N = {N}. Asked for are the learned numbers: D weights and a bias for each output."),
        "body": ("config.vocab_size * width + width * labels + labels", "You count a table of embeddings too. That belongs to the body; asked for are the *new* numbers of the head."),
    }
    for name, (formula, sentence) in LINEAR.items():
        wrong(name, sentence, breaks=("sequence", "token"), old="width * labels + labels", new=formula)
        for head in ("sequence", "token"):
            wrong(f"{head}_{name}", f"The {head} head: {sentence[0].lower()}{sentence[1:]}", breaks=head, old=f'"{head}": linear', new=f'"{head}": {formula}')
    SPAN = {
        "one_span_vector": ("width", "You count one vector for the span head; it has two, one for the start and one for the end."),
        "span_with_bias": ("2 * width + 2", "The span head of this notebook is two vectors without a bias: 2·D. (One bias for all tokens would shift all scores alike and change no choice.)"),
        "span_with_one_bias": ("2 * width + 1", "The span head of this notebook is two vectors without a bias: 2·D. (One bias for all tokens would shift all scores alike and change no choice.)"),
        "span_by_labels": ("linear", "A span head has nothing to do with the number of labels: it is one start vector and one end vector, 2·D."),
        "span_of_labels": ("2 * labels", "Your span head has 2·N numbers. It has nothing to do with the labels: one start vector and one end vector of D = {D} numbers each, 2·D."),
        "two_linear_layers": ("2 * linear", "You count two layers with N = {N} outputs for the span head. It has nothing to do with the labels: one start vector and one end vector, 2·D."),
        "span_times_labels": ("2 * width * labels", "You count a start and an end vector for each label. A span head has nothing to do with the labels: 2·D."),
        "span_times_length": ("2 * width * config.max_position_embeddings", "You count the span head once for every position. All tokens are compared with the same two vectors: 2·D."),
        "span_scores": ("2 * config.max_position_embeddings", "You count the scores, two for each place. Asked for are the learned numbers: two vectors of D = {D}."),
        "span_squared": ("width**2", "You square D; the span head has two vectors of D = {D} numbers each, 2·D."),
        "span_fixed_width": ("2 * 384", "You count with a fixed width, 384, whatever the config says: D is `config.hidden_size`, here {D}."),
        "span_fixed_width_768": ("2 * 768", "You count with a fixed width, 768, whatever the config says: D is `config.hidden_size`, here {D}."),
        "span_like_pooler": ("width * width + width", "You count a layer from D to D. The span head has two vectors of D = {D} numbers each, 2·D."),
        "span_three": ("3 * width", "You count three vectors for the span head; it has two, one for the start and one for the end."),
        "span_four": ("4 * width", "You count four vectors for the span head; it has two, one for the start and one for the end."),
        "span_two": ("2", "You count two vectors as two numbers; each has D = {D}."),
    }
    for name, (formula, sentence) in SPAN.items():
        wrong(name, sentence, breaks="span", old="2 * width", new=formula)
    KEYS = '{"sequence": linear, "token": linear, "span": 2 * width}'
    wrong("one_key_more", "Your dict has keys that nobody asked for. Whoever adds up or lists its values would count them in.",
          breaks="sequence", old='"span": 2 * width', new='"span": 2 * width, "total": 2 * linear + 2 * width')
    wrong("texts", "Your counts are texts; whole numbers are wanted.",
          breaks=("sequence", "token", "span"), old=KEYS, new='{"sequence": str(linear), "token": str(linear), "span": str(2 * width)}')
    wrong("tensors", "Your counts are tensors; plain whole numbers are wanted: `.item()` or `int(…)`.",
          breaks=("sequence", "token", "span"), old=KEYS, new='{"sequence": torch.tensor(linear), "token": torch.tensor(linear), "span": torch.tensor(2 * width)}')
    wrong("floats", "Your counts are floats; whole numbers are wanted (`//` divides without one, and `int(…)` makes one).",
          breaks=("sequence", "token", "span"), old=KEYS, new='{"sequence": float(linear), "token": float(linear), "span": 2.0 * width}')
    wrong("in_a_row", "You return the three numbers in a row. Wanted is a dict that names them: `dict(sequence=…, token=…, span=…)`.",
          breaks=("sequence", "token", "span"), old=KEYS, new="linear, linear, 2 * width")
    wrong("one_number", "You return one number, the sum of all heads. Wanted is a dict with a number for each of the three.",
          breaks=("sequence", "token", "span"), old=KEYS, new="2 * linear + 2 * width")


@MISTAKES.of_quiz("quiz_tasks", quiz_tasks)
def in_quiz_tasks(wrong):
    wrong("does B follow from A", "one label for each sentence",
                 "whether B follows is a property of both together: the pair gets one label, read off the one [CLS] before it.")
    wrong("does B follow from A", "a start and an end",
                 "the answer is no passage of the text but one of a few words (yes, no, can't tell): one label for the pair.")
    wrong("all names of people", "one label for the text",
                 "a text may hold no name or ten; each token has to be told whether it belongs to one.")
    wrong("all names of people", "a start and an end",
                 "that points at a single passage; names may occur many times, so every token gets a label.")
    wrong("the passage that answers", "one label for the pair",
                 "a label can say that there is an answer, not where it is; two places, first and last token, say where.")
    wrong("the passage that answers", "a label for each passage",
                 "with 300 tokens there are 45,150 passages; a score for each start and each end is enough.")
    wrong("frozen body", "only the body changes",
                 "frozen means that its weights stay; what is trained is the new layer on top.")
    wrong("frozen body", "nothing changes",
                 "the head begins with random weights, and those are trained even when the body is frozen.")
