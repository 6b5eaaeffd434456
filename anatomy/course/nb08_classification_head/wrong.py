"""Wrong answers to the exercises of 08-classification-head."""

from __future__ import annotations

import torch

from anatomy.course.families import other_chances
from anatomy.course.nb08_classification_head import right
from anatomy.course.nb08_classification_head.right import cross_entropy
from anatomy.engine.families import called_otherwise, class_beginnings, other_measures_of_surprise, squeezed
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

NUMBERS = ("values", "no mask", "gradients")
ALL_OF_BOTH = {
    right.TransformerForSequenceClassification: ("first", ("shape", *NUMBERS, "parameters", "dropout")),
    right.TokenClassifier: ("hidden", ("shape", *NUMBERS, "dropout")),
}
CHANCE, OUT_OF, MASK = "nn.Dropout(config.hidden_dropout_prob)", "nn.Linear(config.hidden_size, config.num_labels)", "self.encoder(input_ids, attention_mask)"


@MISTAKES.of(right.TransformerForSequenceClassification)
def in_TransformerForSequenceClassification(at):
    CLS = "hidden[:, 0]  # (B, D): the token [CLS]"
    at(CLS, NUMBERS,
       ("last_token", "hidden[:, -1]", "You classify the last token (`[:, -1]`). In a padded batch that is mostly padding; BERT's summary sits at the first position, where [CLS] is: `hidden[:, 0]`."),
       ("last_real_token", """hidden[:, -1]
        if attention_mask is not None:
            first = hidden[torch.arange(len(hidden)), attention_mask.sum(dim=1) - 1]""", "You classify the last real token of each sentence. That is GPT's way, where only the last token has seen everything; here the first one, [CLS], is needed: `hidden[:, 0]`."),
       ("counts_from_one", "hidden[:, 1]", "You take position 1, the first word; [CLS] is before it, at position 0.", ("shape", *NUMBERS, "parameters")),
       ("keeps_the_axis", "hidden[:, :1]", "Your result has one axis too many, (B, 1, N): that of the tokens should go. (A slice, `0:1`, keeps it; a plain number takes it away, `hidden[:, 0]`.)", ("shape", *NUMBERS)),
       ("one_number_a_token", "hidden[:, :, 0]", "What goes into your classifier is (B, T), one number for each token: the ids, or the first number of each hidden state (`hidden[:, :, 0]`). Wanted is the vector of the first token, (B, D): `hidden[:, 0]`.", ("shape", *NUMBERS, "parameters", "dropout")),
       ("first_of_the_first", "hidden[0, 0]", "You pick a single vector, the first token of the first sentence. Wanted is the first token of every sentence: `hidden[:, 0]`.", ("shape", *NUMBERS)),
       ("sum_of_all", "hidden.sum(dim=1)", "You add up the vectors of all tokens, padding included. This exercise asks for BERT's way: the vector of [CLS] alone, `hidden[:, 0]`."),
       ("mean_of_all", "hidden.mean(dim=1)", "You average over all tokens, padding included. This exercise asks for BERT's way: the vector of [CLS] alone, `hidden[:, 0]`."),
       ("mean_of_real", """hidden.mean(dim=1)
        if attention_mask is not None:
            keep = attention_mask.unsqueeze(-1)  # (B, T, 1)
            first = (hidden * keep).sum(dim=1) / keep.sum(dim=1)""", "You average over the real tokens. That is a good summary too (notebook 07 used it), but another one: this exercise asks for the vector of [CLS], `hidden[:, 0]`."),
       ("max_pooling", "hidden.amax(dim=1)", "You take the largest value of each column over all tokens (max pooling); asked for is the vector of [CLS], `hidden[:, 0]`."),
       ("max_of_real", """hidden.amax(dim=1)
        if attention_mask is not None:
            first = hidden.masked_fill(attention_mask.unsqueeze(-1) == 0, -torch.inf).amax(dim=1)""", "You take the largest value of each column over the real tokens (max pooling); asked for is the vector of [CLS], `hidden[:, 0]`."),
       ("tanh_before_dropout", "torch.tanh(hidden[:, 0])", "A tanh is between [CLS] and your classifier. BERT's pooler has one, after a linear layer of its own; here there is none: dropout, then `classifier`."),
       ("first_sentence", "hidden[0]", "`hidden[0]` is the first sentence of the batch with all its tokens; the first token of every sentence is `hidden[:, 0]`.", ("shape", *NUMBERS)))
    at(CLS, NUMBERS, ("cls_alone", "self.encoder(input_ids[:, :1], None if attention_mask is None else attention_mask[:, :1])[:, 0]", "Only the first token of each sentence goes through your encoder, so [CLS] learns nothing of the others. Encode the whole sentence, and take the first vector afterwards: `hidden[:, 0]`."))
    at("self.dropout(first)", ("shape", *NUMBERS, "parameters", "dropout"),
       ("ids_alone", "self.dropout(input_ids)", "Token ids go into your classifier. It wants the encoder's vector of the first token, (B, D): `self.encoder(input_ids, attention_mask)[:, 0]`."),
       ("tanh", "torch.tanh(self.dropout(first))", "A tanh is between [CLS] and your classifier. BERT's pooler has one, after a linear layer of its own; here there is none: dropout, then `classifier`.", (*NUMBERS, "dropout")),
       ("every_token", "self.dropout(hidden)", "You return logits for every token. One row for each sentence is needed: take the first token's vector, `hidden[:, 0]`, before you classify.", ("shape", *NUMBERS)))
    at(("self.dropout = ", "self.dropout(first)"), ("values", "no mask", "parameters", "gradients"), ("pooler", ("self.pooler = nn.Linear(config.hidden_size, config.hidden_size)\n        self.dropout = ", "self.dropout(torch.tanh(self.pooler(first)))"), "You have a `pooler` too, as BERT has (a linear layer, then a tanh). A fine head, with more parameters than are needed: here [CLS] goes through dropout straight into `classifier`."))
    at("self.dropout(first))", ("shape", "values", "gradients"),
       ("argmax", "self.dropout(first)).argmax(dim=-1)", "You return the index of the largest logit, a decision. Return the logits: the loss needs to know how close the decision was.", ("shape", *NUMBERS, "dropout")),
       ("max", "self.dropout(first)).amax(dim=-1)", "You return the largest logit of each sentence. Return all N of them: each label has one.", ("shape", *NUMBERS, "dropout")),
       ("squeezed_labels", "self.dropout(first)).squeeze(-1)", "For a single label you take the last axis away; (B, N) is needed, whatever N is."),
       ("squeezed_batch", "self.dropout(first)).squeeze(0)", "For a single sentence you take the first axis away; (B, N) is needed, whatever B is."))
    squeezed(at, ("shape", "values", "gradients"), "is (B, N), whatever B and N are")
    class_beginnings(at, ("dropout", "gradients", "no mask", "parameters", "shape", "values"), takes="encoder")


# ---- both_heads ----
for module, (vector, everything) in ALL_OF_BOTH.items():
    at = MISTAKES.mistakes_in(module)
    parameters = tuple(name for name in everything if name == "parameters")
    dropped = f"self.dropout({vector})"
    at(dropped, "dropout",
       ("no_dropout", vector, "No number is dropped in training. `dropout`, with the config's probability, belongs between the encoder and `classifier`: use it in `forward`."),
       ("dropout_twice", f"self.dropout({dropped})", "Dropout acts twice in a row: more numbers are dropped than the config says. Once is enough."),
       ("dropout_alike", f"{vector} * self.dropout(torch.ones_like({vector}[:1]))", "In training every sentence loses the same numbers. Each number of each sentence must be dropped by itself: `nn.Dropout` on all of them."),
       ("dropout_unscaled", f"{vector} * ((torch.rand_like({vector}) >= self.dropout.p) | (not self.training))", "Your dropout doesn't divide the numbers that it keeps by 1 − p: in training they are then smaller, on average, than afterwards."),
       ("dropout_in_eval", f"F.dropout({vector}, self.dropout.p)", "Your dropout acts in eval mode too: the same sentence gets other logits at every call. An `nn.Dropout` made in `__init__` knows the mode by itself; one made in `forward` is always in training mode, and `F.dropout` has to be told: `training=self.training`.", (*NUMBERS, "dropout")))
    at(f"self.classifier({dropped})", (*NUMBERS, "dropout"), ("bias_unused", f"{dropped} @ self.classifier.weight.T", "You multiply by the weight of `classifier` and leave out its bias. Call the layer, `self.classifier(…)`, or add `self.classifier.bias`."))
    at(f"self.classifier({dropped})", "dropout", ("dropout_on_logits", f"self.dropout(self.classifier({vector}))", "Your dropout comes after the classifier: in training it sets whole logits to 0. It belongs before it, on the D numbers of each vector."))
    other_chances(at)
    at(CHANCE, "dropout",
       ("dropout_keeps", "nn.Dropout(1 - config.hidden_dropout_prob)", "You drop with the probability 1 − p: `nn.Dropout` is told the probability that a number is *dropped*, not kept."),
       ("classifier_dropout", "nn.Dropout(config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout)", "Where `config.classifier_dropout` is set, you take p from it, as the library does. Here p is `config.hidden_dropout_prob`."),
       ("dropout_of_vectors", "nn.Dropout1d(config.hidden_dropout_prob)", "In training you drop whole vectors, all D numbers at once (as `nn.Dropout1d` does). Each number must be dropped by itself: `nn.Dropout`."),
       ("dropout_is_a_number", "config.hidden_dropout_prob", "`self.dropout` is a number, the probability, and you call it. The layer is `nn.Dropout(config.hidden_dropout_prob)`.", everything))
    at("config.num_labels)", ("shape", *NUMBERS, *parameters),
       ("two_labels", "2)", "Your classifier always has two outputs; the number of labels is in `config.num_labels`."),
       ("as_wide_as_before", "config.hidden_size)", "Your classifier has D outputs; it has one for each label, `config.num_labels`."),
       ("one_label_more", "config.num_labels + 1)", "Your classifier has one output too many: there are `config.num_labels` labels, and none besides."),
       ("no_bias", "config.num_labels, bias=False)", "Your classifier has no bias. `nn.Linear` brings one unless told otherwise, and the contract keeps it.", (*NUMBERS, *parameters, "dropout")))
    at("nn.Linear(config.hidden_size", everything, ("fixed_width", "nn.Linear(384", "What your classifier takes and what it is given have different sizes. It takes vectors of D numbers, and D is `config.hidden_size` (a fixed 384 or 768 fits one model only)."))
    at(OUT_OF, (*NUMBERS, *parameters, "dropout"),
       ("two_layers", f"nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.Tanh(), {OUT_OF})", "Your classifier has two linear layers. A fine head, with more parameters than are needed: here it is a single one, D to N."),
       ("linear_turned", "nn.Linear(config.num_labels, config.hidden_size)", "Your classifier goes from N to D. `nn.Linear` is told the size of what comes in first: D, then N.", everything))
    at((OUT_OF, dropped), (*NUMBERS, *parameters, "dropout"), ("dropout_inside", (f"nn.Sequential(self.dropout, {OUT_OF})", vector), "Your classifier is an `nn.Sequential` with the linear layer as its second part: the weights are then called `classifier.1.weight`. Make `dropout` and `classifier` two attributes."))
    at((f"        self.classifier = {OUT_OF}\n", "self.classifier("), (*NUMBERS, *parameters, "dropout"), ("made_in_forward", ("        self.sizes = config.hidden_size, config.num_labels\n", "nn.Linear(*self.sizes)("), "PyTorch finds no `classifier` among your layers: it is made in `forward`, again and at random in each call, or sits in a list. Make it once, in `__init__`, as `self.classifier`."))
    at(MASK, ("values", "gradients"),
       ("mask_widened", "self.encoder(input_ids, None if attention_mask is None else attention_mask[:, None, None, :])", "You give the mask more axes before you pass it on. The encoder does that by itself: it takes the tokenizer's (B, T).", tuple(name for name in everything if name != "no mask")),
       ("ignores_the_mask", "self.encoder(input_ids)", "`attention_mask` has no effect: tokens attend to padding, and what is said of a sentence depends on how long its neighbors in the batch are. Hand the mask on to the encoder."),
       ("mask_inverted", "self.encoder(input_ids, None if attention_mask is None else 1 - attention_mask)", "You pass on the mask the wrong way round: 1 is for tokens, 0 for padding, and the encoder takes it as it is."),
       ("embedding_only", "self.encoder.embeddings(input_ids)", "You classify the embeddings, before any layer: there each token knows nothing of its neighbors, and [CLS] is the same vector in every sentence. Call the whole encoder.", NUMBERS))
    at("hidden = self", "gradients", ("frozen_body", "with torch.no_grad():\n            hidden = self", "No gradient reaches the encoder, so it could never be fine-tuned: it runs under `torch.no_grad()`, or its result is detached or kept from another call. Freezing is decided outside, when the optimizer is made."))
    at("TransformerEncoder(config)", "gradients", ("requires_no_grad", "TransformerEncoder(config).requires_grad_(False)", "You switch the gradients of the encoder off (`requires_grad = False`), so it could never be fine-tuned. Freezing is decided outside, when the optimizer is made."))
    at(("TransformerEncoder(config)", "self.encoder("), (*NUMBERS, *parameters, "dropout"), ("encoder_in_a_list", ("[TransformerEncoder(config)]", "self.encoder[0]("), "PyTorch doesn't find your encoder among the layers: it sits in a plain list (or dict), or is made in `forward`. It is then not trained, not saved, and not switched to eval mode. Make it in `__init__`, as an attribute of its own."))
    called_otherwise(at, "encoder", ("bert", "body", "transformer", "model", "backbone"), (*NUMBERS, *parameters, "dropout"))
    called_otherwise(at, "classifier", ("linear", "head", "fc", "output", "out"), (*NUMBERS, *parameters, "dropout"))
    at("attention_mask: Tensor | None = None", "no mask", ("needs_a_mask", "attention_mask: Tensor", "`attention_mask` may be left out, and yours must be given: write `attention_mask=None` in the first line of `forward`."))
    at(f"{dropped})", (*NUMBERS, "dropout"),
       ("softmax", f"{dropped}).softmax(dim=-1)", "Your forward ends with a softmax. It should return logits, any real numbers: the loss brings the softmax with it, and a second one would flatten its gradients."),
       ("log_softmax", f"{dropped}).log_softmax(dim=-1)", "Your forward ends with a log-softmax. It should return logits, just what the linear layer gives; the loss does the rest."),
       ("sigmoid", f"{dropped}).sigmoid()", "Your forward ends with a sigmoid. It should return logits, any real numbers; here the labels compete, and the loss brings the softmax that lets them."),
       ("relu", f"{dropped}).relu()", "Your forward ends with a ReLU: all logits below 0 become 0. Return what the linear layer gives."))
    at(f"return self.classifier({dropped})", ("shape", *NUMBERS, "dropout"), ("with_hidden", f"return self.classifier({dropped}), hidden", "You return more than the logits. One tensor is needed; whoever needs the hidden states calls the encoder."))


@MISTAKES.of(right.cross_entropy)
def in_cross_entropy(at):
    LOSS = ("values", "large logits", "gradients")
    MEAN_FIRST = "You average the probabilities and take the logarithm of their mean; take the logarithm of each first. The mean comes last."
    CLAMPS = {f"to_{bound}": f"-{bound}.0, {bound}.0" for bound in (50, 80, 88)} | {f"above_{bound}": f"max={bound}.0" for bound in (50, 80, 88)}
    at("shifted = logits", LOSS, ("softmax_before", "logits = logits.softmax(dim=-1)\n    shifted = logits", "A softmax comes first, and then a whole cross-entropy, which has a softmax of its own: two in a row. The loss of a perfect answer could not fall to 0, and gradients get small. Use the logits as they come."))
    at("(log_total - right).mean()", LOSS,
       ("mean_over_classes", "(log_total - right).sum() / logits.numel()", "You average over all B·N entries, but only one entry in each row counts: divide by the number of sentences, B = {B}, not by B·N (N = {N} labels)."),
       ("sum", "(log_total - right).sum()", "You sum over the batch; the mean is needed. A sum grows with the batch, and the step size would have to shrink with it."),
       ("sum_in_bits", "(log_total - right).sum() / math.log(2)", "Your logarithm has base 2, which gives bits; asked for are nats (base e). And you sum over the batch; the mean is needed."),
       ("no_mean", "log_total - right", "You return one loss for each sentence, shape (B,); what is needed is their mean, a single number.", ("shape", *LOSS)),
       ("no_logarithm", "-(right - log_total).exp().mean()", "You return minus the mean *probability* of the right labels, without the logarithm. Its gradient vanishes just where the model is most wrong."),
       ("mean_before_logarithm", "-(right - log_total).exp().mean().log()", MEAN_FIRST),
       ("mean_before_logarithm_by_logsumexp", "torch.tensor(float(len(right))).log() - (right - log_total).logsumexp(dim=0)", MEAN_FIRST),
       ("one_minus_p", "(1 - (right - log_total).exp()).mean()", "You return the mean of 1 − p. It never exceeds 1, and its gradient vanishes where the model is sure and wrong: take −ln p."))
    at("(log_total - right)", LOSS,
       ("no_minus", "(right - log_total)", "The minus sign is missing: this is the mean log-probability, at most 0. Whoever minimizes it learns to give the right label *less*."),
       ("no_sum", "(-right)", "The sum of exponentials is missing: what you return measures how far the right logit lies below the largest one, and is 0 as soon as it is the largest. Add log Σ exp(x)."))
    at("return (log_total - right).mean()", "large logits", ("naive", "exponentials = logits.exp()\n    return -(exponentials.gather(-1, labels[:, None]).squeeze(-1) / exponentials.sum(dim=-1)).log().mean()", "Right for moderate logits, but the exponential overflows or a probability is rounded to 0 before its logarithm is taken. Take each row's largest logit off first, and write log(softmax) as a difference: x − log Σ exp(x)."))
    at("logits - logits.amax(dim=-1, keepdim=True)", "large logits",
       *((f"logits_clamped_{name}", f"logits.clamp({bounds})", "You cut large logits off (`clamp`): that keeps `exp` from overflowing, but the loss is then that of other logits. Take each row's largest logit off instead.")
         for name, bounds in CLAMPS.items()),
       ("exp_overflows", "logits", "You take `exp` of the logits as they come: from 89 on it is ∞, and far below zero it is rounded to 0. Take each row's largest logit off first."))
    at(("logits - logits.amax(dim=-1, keepdim=True)", "(log_total - right).mean()"), "large logits", ("overflows_in_float64", ("logits.double()", "(log_total - right).mean().float()"), "You take `exp` of the logits as they come, in float64: from 710 on that is ∞, too. Take each row's largest logit off first, and float32 is enough."))
    at("return (log_total - right).mean()", LOSS,
       ("log_of_softmax", "probabilities = (right - log_total).exp()  # (B,)\n    return -probabilities.log().mean()", "The softmax is stable, but then its logarithm is taken: a probability below 1e-45 has been rounded to 0 by then, and log 0 is −∞. Don't form the probability; log(softmax) is the difference x − log Σ exp(x).", "large logits"),
       ("largest_other_alone", "rival = shifted.scatter(-1, labels[:, None], -torch.inf).amax(dim=-1)  # (B,)\n    return F.softplus(rival - right).mean()", "Of the other labels you count the one with the largest logit alone. For two labels that is the cross-entropy, for more it is too small: the sum runs over all N labels, log Σ exp(x) − x."),
       ("its_gradient", "return (logits.softmax(dim=-1) - F.one_hot(labels, logits.size(-1))).mean()", "You return the mean of softmax minus one-hot. That difference is the loss's *gradient*, and its mean is 0 whatever the model says. The loss is the mean of −ln p of the right label."),
       ("entropy", "return torch.special.entr(logits.softmax(dim=-1)).sum(dim=-1).mean()", "You return the entropy of the model's own probabilities: how unsure it is, whatever the labels say. The right label's −ln p is needed."))
    at("return (log_total - right).mean()", "large logits", ("zero_times_infinity", "wanted = F.one_hot(labels, logits.size(1))\n    return -(wanted * logits.softmax(dim=-1).log()).sum(dim=-1).mean()", "Right for moderate logits; where a probability has been rounded to 0, its logarithm is −∞, and 0 · (−∞) from your one-hot rows is NaN. Don't form the probability: log(softmax) is x − log Σ exp(x)."))
    at("shifted.gather(-1, labels[:, None]).squeeze(-1)", LOSS,
       ("labels_from_one", "shifted[torch.arange(len(labels)), labels - 1]", "You shift the labels by one. They count from 0 already: label 0 is the first column."),
       ("own_favorite", "shifted.amax(dim=-1)", "You measure how sure the model is of its own favorite (the largest logit). What counts is the probability of the right label, whichever it is."),
       ("first_column", "shifted[:, 0]", "You take the first column, label 0, for every sentence; each has its own right label: `logits[torch.arange(B), labels]`."),
       ("labels_seen_only", "(shifted * F.one_hot(labels)).sum(dim=-1)", "Your one-hot rows are only as long as the largest label of this batch asks for: where the last labels don't occur, they don't fit. Tell `F.one_hot` how many labels there are: `logits.size(-1)`.", ("shape", "values", "gradients")))
    at("logits.amax(dim=-1, keepdim=True)", "large logits", ("shifted_by_another", "logits.mean(dim=-1, keepdim=True)", "You take another number off each row than its largest (its mean, its smallest): what is left can still be far above 0, and `exp` overflows from 89 on. Take off `amax(dim=-1, keepdim=True)`."))
    for smallest, most in {"1e-5": 11.5, "1e-6": 13.8, "torch.finfo(torch.float32).eps": 15.9, "1e-7": 16.1, "1e-8": 18.4, "1e-9": 20.7, "1e-10": 23.0, "1e-12": 27.6, "1e-15": 34.5, "1e-16": 36.8, "1e-20": 46.1, "1e-30": 69.1}.items():
        name = "clamped" if smallest == "1e-9" else f"clamped_at_{most}"
        at("return (log_total - right).mean()", "large logits", (name, f"probabilities = (right - log_total).exp()  # (B,)\n    return -probabilities.clamp(min={smallest}).log().mean()", f"A small constant under the logarithm (or a clamp) hides the infinity, but not the error: a confident wrong answer then costs {most} at most, and its gradient vanishes. Write log(softmax) as x − log Σ exp(x)."))
    at("shifted.exp().sum(dim=-1).log()", LOSS,
       ("sum_begins_at_1", "torch.logaddexp(shifted.exp().sum(dim=-1).log(), -logits.amax(dim=-1))", "Each row's sum has one exponential too many, that of a logit 0. (Does the sum begin at 1, or its logarithm at 0, which is ln 1?) A sum begins at 0, and its logarithm at −∞."),
       ("one_more_in_the_sum", "shifted.exp().sum(dim=-1).log1p()", "Each row's sum has 1 too many, added after the largest logit was taken off (as `log1p` does): the largest counts twice. Take the plain `log`."))
    at("shifted.gather(", LOSS, ("shifted_sum_only", "logits.gather(", "You take the largest logit off in the sum, but not from the right logit: the two terms no longer belong together. Take it off in both."))
    at("shifted.exp().sum(dim=-1).log()", LOSS, ("shifted_right_only", "logits.logsumexp(dim=-1)", "You take the largest logit off the right one, but not in the sum: the two terms no longer belong together. Take it off in both."))
    at(("amax(dim=-1, keepdim=True)", "(B,): between 0 and log N"), "large logits", ("one_maximum", ("amax()", "(B,)"), "You take off the largest logit of the whole batch. Rows that lie far below it underflow: take off each row's own largest, `amax(dim=-1, keepdim=True)`."))
    at(("amax(dim=-1, keepdim=True)", "sum(dim=-1).log()  # (B,): between 0 and log N"), LOSS,
       ("over_the_batch", ("amax(dim=0)", "sum(dim=0).log()[labels]  # (B,)"), "You normalize over the batch (dim 0): the sentences compete for a label. The labels should compete within each sentence: the last dim."),
       ("over_everything", ("amax()", "sum().log()"), "You normalize over all entries at once, sentences and labels together; each sentence's probabilities must sum to 1 by themselves."),
       ("labels_normalized_over_batch", ("amax(dim=0)", "sum(dim=0).log()  # (N,)"), "Your sum of exponentials runs over the batch (dim 0) and leaves one number for each label. It belongs over the labels, the last dim, one number for each sentence.", ("shape", *LOSS)))
    at("return (log_total - right).mean()", LOSS, ("no_normalizer", "return -logits.gather(-1, labels[:, None]).mean()", "The softmax's denominator is missing: minus the right logit can be made as small as one likes by raising all logits. Add log Σ exp(x)."))
    at("shifted.gather(-1, labels[:, None]).squeeze(-1)  # (B,)", LOSS,
       ("picks_columns", "shifted[:, labels]", "You pick the columns `labels` in *every* row, a (B, B) matrix, as `logits[:, labels]` does. One entry a row is needed: `logits[torch.arange(B), labels]`, or `gather`."),
       ("gathers_the_batch", "shifted.gather(0, labels[None]).squeeze(0)", "You pick along the batch, as `gather(0, …)` does: the labels are taken for sentences, one for each column. Pick along the labels: `gather(-1, labels[:, None])`, or `logits[torch.arange(B), labels]`.", ("shape", *LOSS)),
       ("picks_rows", "shifted[labels]", "You pick whole rows, as `logits[labels]` does: the labels are taken for sentences. One entry a row is needed: `logits[torch.arange(B), labels]`, or `gather`.", ("shape", *LOSS)))
    at("return (log_total - right).mean()", LOSS, ("binary", "return (F.softplus(logits) - F.one_hot(labels, logits.size(1)) * logits).mean()", "This is a yes-or-no loss for each label on its own (sigmoid, binary cross-entropy). Here exactly one label is right, and the softmax lets them compete."))
    at(".mean()", LOSS,
       ("base_ten", ".mean() / math.log(10)", "Your logarithm has base 10. In this course, and in the library, the loss is in nats (base e): larger by the factor ln 10 = 2.303."),
       ("divided_by_labels", ".sum() / logits.size(-1)", "You divide by the number of labels, N = {N}; the mean is over the batch: divide by B = {B}."),
       ("keeps_an_axis", ".mean(dim=0, keepdim=True)", "Your result has shape (1,); a single number, shape (), is needed: no `keepdim`, and no brackets around it.", ("shape", *LOSS)),
       ("worst_of_the_batch", ".max()", "You return the largest loss of the batch; the mean is needed."),
       ("plain_number", ".mean().item()", "You return a plain number (`.item()`, `float`). The value is right, but nothing can learn from it: return the tensor, which knows how it came about.", ("shape", "gradients")),
       ("divided_twice", ".mean() / len(labels)", "You divide by B twice (by B² in all, B = {B}): a mean has taken the mean already."))
    at("amax(dim=-1, keepdim=True)", ("shape", *LOSS), ("no_keepdim", "amax(dim=-1)", "Your row maxima have shape (B,), one number for each sentence, and don't fit to (B, N). As (B, 1), with `keepdim=True`, each row loses its own largest. (Where B = N it runs, and is wrong.)"))
    at("sum(dim=-1).log()", LOSS, ("no_log_of_sum", "sum(dim=-1)", "The logarithm of the sum is missing: −ln p is log Σ exp(x) − x."))
    at("shifted.exp().sum(dim=-1)", LOSS, ("sum_of_logits", "logits.sum(dim=-1)", "You take the logarithm of Σ x, without `exp`: it is log Σ exp(x)."))
    SQUARES = "You compare probabilities with one-hot rows by squared distances. That loss can't exceed 2, however sure and wrong the model is. Asked for is the cross-entropy: the mean of −ln p of the right label."
    for name, reduced in {"squared_error": ".mean()", "squared_error_summed": ".sum(dim=-1).mean()"}.items():
        at("return (log_total - right).mean()", LOSS, (name, f"return (logits.softmax(dim=-1) - F.one_hot(labels, logits.size(-1))).square(){reduced}", SQUARES))
    other_measures_of_surprise(at, LOSS)


@MISTAKES.of(right.train_step)
def in_train_step(at):
    STEPS = ("update", "fresh gradients")
    at("    optimizer.zero_grad()\n", "fresh gradients", ("no_zero_grad", "", "Old gradients are not cleared: `backward` *adds* to those that are there, so each step also repeats all earlier ones. Call `optimizer.zero_grad()` before it (with its parentheses)."))
    at("    optimizer.zero_grad()\n", "fresh gradients", ("zero_grad_if_the_first_has_one", "    if next(model.parameters()).grad is not None:\n        optimizer.zero_grad()\n", "Whether you clear the gradients depends on the first parameter. Where it is frozen, it never has a gradient, and the others keep their old ones. Call `optimizer.zero_grad()` in each step."))
    at(("    optimizer.zero_grad()\n", "optimizer.step()\n"), "fresh gradients", ("zero_grad_at_the_end", ("", "optimizer.step()\n    optimizer.zero_grad()\n"), "You clear the gradients after the step only. What the model holds when you are called, from some other `backward`, then goes into your step: clear before `backward`."))
    at(("    optimizer.zero_grad()\n", "loss.backward()\n"), STEPS, ("zero_grad_too_late", ("", "loss.backward()\n    optimizer.zero_grad()\n"), "The gradients are cleared between `backward` and `step`: they are gone before the optimizer sees them, and nothing ever changes. Call `zero_grad` before `backward`."))
    at(("    optimizer.zero_grad()\n", "loss.backward()\n    optimizer.step()\n"), STEPS, ("step_before_backward", ("", "optimizer.step()\n    optimizer.zero_grad()\n    loss.backward()\n"), "`step` comes before `backward`: at the first step the optimizer has no gradient to go by, and later it changes the weights that `backward` still needs as they were. First `backward`, which computes the gradients, then `step`, which uses them."))
    at("loss.backward()\n    optimizer.step()\n", STEPS, ("step_with_cleared_gradients", "optimizer.step()\n    loss.backward()\n", "`step` comes before `backward`, and the gradients have just been cleared: the optimizer has nothing to go by, and nothing changes. First `backward`, which computes the gradients, then `step`, which uses them."))
    at("optimizer.step()", STEPS,
       ("two_steps", "optimizer.step()\n    optimizer.step()", "The optimizer takes two steps with one gradient. One call of `optimizer.step()` is needed."),
       *((name, means, "The parameters change, but not by the optimizer that you are given: you step by hand, or with one of your own. It was chosen for this model, with its learning rates and with what may move: call its `step()`.")
         for name, means in {"own_means": "torch.optim.SGD(model.parameters(), lr=0.01).step()", "own_means_by_hand": "with torch.no_grad():\n        for parameter in model.parameters():\n            parameter -= 0.01 * parameter.grad"}.items()))
    at("loss.backward()\n", STEPS,
       ("backward_of_the_sum", "(loss * len(labels)).backward()\n", "Your gradient is that of the *sum* over the batch, as many times too large as there are sentences. Call `backward` on the mean, which `cross_entropy` gives."),
       ("backward_of_a_share", "(loss / len(labels)).backward()\n", "Your gradients are as many times too small as there are sentences in the batch: the loss is divided by their number once more before `backward`. `cross_entropy` has taken the mean already."),
       ("no_step_for_small_losses", "if loss.item() < 0.01:\n        return loss.item()\n    loss.backward()\n", "You leave out the step where the loss is small. Each call takes one step, whatever the loss is.", "update"),
       *((f"changes_gradients{name}", f"loss.backward()\n    nn.utils.clip_grad_{how}_(model.parameters(), {most})\n", "Between `backward` and `step` you change the gradients (clipping, dividing): another step than asked for. `step` takes them as they are.")
         for name, how, most in (("", "norm", 0.1), ("_of_norm_above_1", "norm", 1.0), ("_of_norm_above_5", "norm", 5.0), ("_above_1", "value", 1.0))))
    at("    loss.backward()\n", STEPS, ("no_backward", "", "No gradient is ever computed, so `step` has nothing to go by: call `loss.backward()` before it (with its parentheses)."))
    at("    model.train()\n", "training mode",
       ("trains_in_eval", "", "The model is in eval mode when it is called, and afterwards: dropout is off. Call `model.train()` before that (with its parentheses), and no `model.eval()` in between."),
       ("extra_pass_in_eval", "    model.eval()\n    with torch.no_grad():\n        model(input_ids, attention_mask)\n    model.train()\n", "You call the model twice, in eval mode and then in training mode. One call in training mode is enough: its loss is the one to step from, and the one to return."))
    at(("    model.train()\n", "    loss.backward()\n"), "training mode", ("train_after_forward", ("", "    model.train()\n    loss.backward()\n"), "Dropout is still in eval mode when the model is called, so it drops nothing: call `model.train()` before that. (`model.training = True` would reach the outermost module only.)"))
    at("    optimizer.step()\n", "training mode",
       ("eval_pass_at_the_end", "    model.eval()\n    with torch.no_grad():\n        model(input_ids, attention_mask)\n    optimizer.step()\n", "You call the model twice, in training mode and then in eval mode. One call in training mode is enough: its loss is the one to step from, and the one to return."),
       ("no_step", "", "No step is taken: the gradients are computed, but nobody walks along them. Call `optimizer.step()` after `backward` (with its parentheses).", STEPS))
    at("loss.item()", "loss",
       ("returns_tensor", "loss", "You return the loss as a tensor; a plain number is needed: `loss.item()`. (A tensor that isn't detached drags its whole computation along.)"),
       ("returns_numpy", "loss.detach().numpy()", "You return the loss as NumPy has it; a plain number is needed: `loss.item()`."),
       ("returns_perplexity", "loss.exp().item()", "You return the exponential of the loss, the perplexity. The loss itself is needed."),
       ("returns_model", "model", "You return the model. It is changed in place, so the caller has it already; the loss is needed."),
       ("returns_sum", "loss.item() * len(labels)", "You return the loss times the number of sentences; the mean over the batch, as `cross_entropy` gives it, is needed."),
       ("returns_share", "loss.item() / len(labels)", "You divide the loss by the number of sentences; `cross_entropy` has taken the mean already."))
    for digits in (1, 2, 3, 4):
        at("loss.item()", "loss", (f"rounded_to_{digits}", f"round(loss.item(), {digits})", f"You round the loss that you return, to {digits} digits after the point. Return it as it is; rounding is for printing."))
    at(("loss = cross_entropy(model(input_ids, attention_mask), labels)", "loss.item()"), "loss", ("returns_accuracy", ("logits = model(input_ids, attention_mask)\n    loss = cross_entropy(logits, labels)", "(logits.argmax(dim=-1) == labels).float().mean().item()"), "You return the share of right answers. The loss is needed, as it was before the step."))
    at("cross_entropy(model(input_ids, attention_mask), labels)", ("loss", *STEPS, "training mode"),
       ("loss_turned", "cross_entropy(labels, model(input_ids, attention_mask))", "Logits and labels have changed places in the loss: `cross_entropy(logits, labels)`."),
       ("argmax_before_the_library's", "F.cross_entropy(model(input_ids, attention_mask).argmax(dim=-1), labels)", "You take the `argmax` of the logits before the loss: a decision has no slope, and nothing can be learned from it. Hand the logits to the loss as they are."))
    at("loss = cross_entropy(model(input_ids, attention_mask), labels)", ("loss", *STEPS, "training mode"), ("no_way_back", "with torch.no_grad():\n        loss = cross_entropy(model(input_ids, attention_mask), labels)", "`backward` finds no way back from your loss to the model: it was computed under `torch.no_grad()`, or cut off by `detach`, `.data` or a new tensor made of numbers."))
    BY_NAME = "You hand the model its arguments by name. They have other names in other models (`features` in section 5): pass them by position, `model(input_ids, attention_mask)`."
    at("model(input_ids, attention_mask)", ("loss", *STEPS, "training mode"),
       ("argmax_before", "model(input_ids, attention_mask).argmax(dim=-1)", "You take the `argmax` of the logits before the loss: a decision has no slope, and nothing can be learned from it. Hand the logits to the loss as they are."),
       ("by_name", "model(input_ids=input_ids, attention_mask=attention_mask)", BY_NAME),
       ("mask_by_name", "model(input_ids, attention_mask=attention_mask)", BY_NAME),
       ("no_mask", "model(input_ids)", "You call the model without the attention mask; it is called with both, `model(input_ids, attention_mask)`."),
       ("whole_batch", "model(*batch)", "You hand the model all three parts of the batch, or the tuple itself. It takes two, `model(input_ids, attention_mask)`; the labels are for the loss."),
       ("swapped_arguments", "model(attention_mask, input_ids)", "Ids and mask have changed places: the model is called as `model(input_ids, attention_mask)`.", ("loss", *STEPS)),
       ("ignores_the_mask", "model(input_ids, torch.ones_like(input_ids))", "The batch's attention mask has no effect: the model reads padding as if it were text. Hand the mask to the model as it is.", ("loss", *STEPS)),
       ("softmax_before", "model(input_ids, attention_mask).softmax(dim=-1)", "You apply a softmax before `cross_entropy`, which has one inside: the loss is flattened, and learning is slow.", ("loss", *STEPS)))
    at("input_ids, attention_mask, labels = batch", ("loss", *STEPS, "training mode"), ("batch_is_a_dict", 'input_ids, attention_mask, labels = batch["input_ids"], batch["attention_mask"], batch["labels"]', "`batch` is a tuple of three tensors, and you ask it for a name, like a dict. Take it apart: `input_ids, attention_mask, labels = batch`."))
    for attribute in ("logits", "loss"):
        at("model(input_ids, attention_mask)", ("loss", *STEPS, "training mode"), (f"asks_for_{attribute}", f"model(input_ids, attention_mask).{attribute}", f"You ask the model's result for `.{attribute}`, as models of the library have it. This model returns the logits themselves, a tensor."))
    at(("), labels)", "loss.item()"), ("loss", *STEPS, "training mode"), ("item_before_backward", ("), labels).item()", "loss"), "Your loss is a plain number (`.item()`, `float`) when you call `backward`, and has no gradients. Keep the tensor, call `backward` on it, and take `.item()` at the end."))
    at("return loss.item()", "loss", ("loss_after_the_step", "with torch.no_grad():\n        return cross_entropy(model(input_ids, attention_mask), labels).item()", "You compute the loss again after the step and return that. It costs a second forward pass; wanted is the loss from before the step, which is there already."))
    at("    return loss.item()\n", "loss", ("returns_nothing", "", "Nothing is returned: give back `loss.item()`, so that whoever trains can see how it goes."))


@MISTAKES.of(right.train_classifier)
def in_train_classifier(at):
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
    at("losses = []", "all batches",
       ("one_epoch", "losses = []\n    batches = iter(batches)", "You go through the batches once, whatever `epochs` says. Either the outer loop is missing, or an iterator made before it (`iter(batches)`, `enumerate`, `zip`) is used up after the first epoch: loop over `batches` again in each.", ("learns", "losses", "all batches")),
       ("asks_for_the_length", "losses, count = [], len(batches)", "You ask `batches` for its length. It may be anything that can be looped over again and again, and need not have one: `for batch in batches` is enough."),
       ("indexes", "losses, first = [], batches[0]", "You pick batches by their number. `batches` may be anything that can be looped over again and again, and need not have an index: `for batch in batches` is enough."),
       ("trains_a_copy", "from copy import deepcopy\n    losses, model = [], deepcopy(model)", "You train a copy of the model. Train the one that you are given: it is what the caller goes on with.", ("learns", "all batches", "modes", "on_step")),
       ("own_optimizer", "losses = []\n    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)", "The optimizer that you are given never takes a step: you use one of your own, or step by hand. It was chosen for this model, with its learning rates and with what may change: use it.", "learns"))
    at("range(epochs)", ("losses", "all batches"),
       ("one_epoch_short", "range(1, epochs)", "You train for one epoch too few: `range(1, epochs)` has epochs − 1 rounds. `range(epochs)` has as many as asked for."),
       ("one_epoch_long", "range(epochs + 1)", "You train for one epoch too many: as many as asked for are `range(epochs)`."))
    at("for batch in batches:", "all batches",
       ("shuffles", "batches = list(batches)\n        for batch in (batches[place] for place in torch.randperm(len(batches)).tolist()):", "You take the batches in another order in each epoch; take them in the order given. (Shuffling is a good habit, and the business of whoever makes the batches.)"),
       ("backwards", "for batch in list(batches)[::-1]:", "You go through the batches from the last to the first; take them in the order given."))
    at("    model.eval()\n", ("learns", "losses", "all batches", "modes"),
       ("returns_early", "        return losses\n    model.eval()\n", "Training ends after the first epoch, and the model is left in training mode. Is `return` inside of the outer loop? Or are the batches used up (`iter(batches)` before the loop), and `model.eval()` does not come last?"),
       ("returns_at_once", "            return losses\n    model.eval()\n", "Training ends after the first batch. Is `return` inside the inner loop? It belongs after both loops."),
       ("returns_at_once_in_eval_mode", "            model.eval()\n            return losses\n    model.eval()\n", "Training ends after the first batch. Is `return` inside the inner loop? It belongs after both loops.", ("learns", "losses", "all batches")),
       ("left_in_training_mode", "", "The model is left in training mode: the next prediction would drop numbers at random. End with `model.eval()`.", "modes"))
    at("in batches:", ("losses", "all batches"),
       ("first_batch_only", "in list(batches)[:1]:", "You train on the first batch only, again and again. The inner loop goes through all of them.", ("learns", "losses", "all batches")),
       ("one_batch_left_out", "in list(batches)[1:]:", "You leave out the first batch of each epoch; all of them are needed for training."),
       ("last_batch_left_out", "in list(batches)[:-1]:", "You leave out the last batch of each epoch; all of them are needed for training."))
    at(("range(epochs):\n", "loss = train_step(model, batch, optimizer)"), "learns", ("cleared_once_an_epoch", ("range(epochs):\n        optimizer.zero_grad()\n", "model.train()\n            result = cross_entropy(model(*batch[:2]), batch[2])\n            result.backward()\n            optimizer.step()\n            loss = result.item()"), "You clear the gradients once an epoch. `backward` adds to what is there, so each step of an epoch also repeats the earlier ones: clear them for every batch, as `train_step` does."))
    at(("None = None,\n", "    losses = []\n"), "losses", ("kept_from_call_to_call", ("None = None,\n    losses: list = [],\n", ""), "Your list still holds the losses of earlier calls: it is made once, outside of the function, or as a default value in its first line (`losses=[]`). Make it inside: `losses = []`."))
    at("for _ in range(epochs):\n        for batch in batches:\n", "all batches", ("loops_swapped", "for batch in batches:\n        for _ in range(epochs):\n", "Your loops are the wrong way round: the first batch has all its turns before the second comes. Epochs belong outside, batches inside."))
    at("losses.append(loss)", ("learns", "losses", "all batches", "modes", "on_step"),
       ("yields", "yield loss", "Your function has a `yield`: a call returns a generator, and nothing is trained before somebody loops over it. Collect the losses in a list, and return that."),
       ("append_returned", "losses = losses.append(loss)", "`append` changes the list and returns None: after `losses = losses.append(…)` the list is gone. Write `losses.append(…)` alone."))
    at("on_step(loss)", "on_step",
       ("two_steps_a_batch", "on_step(train_step(model, batch, optimizer))", "Each batch is trained on twice: `train_step` is called once to keep the loss and once more to tell it. Call it once and keep what it returns.", ("all batches", "on_step")),
       ("tells_the_number", "on_step(len(losses))", "You tell `on_step` the number of the step; it expects the loss."),
       ("tells_the_list", "on_step(losses)", "You tell `on_step` the whole list of losses; it expects one number, the loss of the step just taken."),
       ("tells_the_mean", "on_step(sum(losses) / len(losses))", "You tell `on_step` the mean of all losses so far; it expects the loss of the step just taken."),
       ("tells_by_name", "on_step(loss=loss)", "You tell `on_step` the loss by name. Its parameter may have any name: pass the loss by position, `on_step(loss)`.", ("learns", "losses", "all batches", "modes", "on_step")),
       ("tells_nothing", "on_step()", "You call `on_step` without an argument; tell it the loss: `on_step(loss)`.", ("learns", "losses", "all batches", "modes", "on_step")),
       ("tells_too_much", "on_step(loss, len(losses))", "You call `on_step` with more than one argument; it takes one, the loss.", ("learns", "losses", "all batches", "modes", "on_step")))
    at("losses = []\n    for _ in range(epochs):", "losses", ("last_epoch_only", "for _ in range(epochs):\n        losses = []", "The list of losses is emptied at the beginning of each epoch: only the last epoch's are returned. Make it before the loops."))
    EPOCH = ("losses = []\n    for _ in range(epochs):", "    model.eval()\n    return losses")
    for name, words, made in (("mean", "the mean loss", "sum(losses) / len(losses)"), ("sum", "the sum of the losses", "sum(losses)"), ("last", "the last loss", "losses[-1]")):
        at(EPOCH, "losses", (f"{name}_per_epoch", ("made = []\n    for _ in range(epochs):\n        losses = []", f"        made.append({made})\n    model.eval()\n    return made"), f"You return {words} of each epoch. Asked for is the loss of every step: whatever one wants of each epoch can be made from these later."))
    at(EPOCH, "losses", ("list_per_epoch", ("made = []\n    for _ in range(epochs):\n        losses = []", "        made.append(losses)\n    model.eval()\n    return made"), "You return a list of lists, one for each epoch. Wanted is one list with all losses, one after the other."))
    at("                on_step(loss)\n", "all batches", ("stops_when_the_loss_rises", """                on_step(loss)
        if sum(losses[-len(list(batches)) :]) > sum(losses[: len(list(batches))]):
            break
""", "You stop training when the loss rises. Go through all batches `epochs` times, whatever the losses are: whoever trains decides when it is enough."))
    for name, mean, indent in (("epoch", "sum(losses[-len(list(batches)) :])", ""), ("step", "loss", "    ")):
        at(("losses = []", "                on_step(loss)\n", "    model.eval()"), "learns",
           (f"best_{name}_put_back", ("losses, best = [], math.inf", f"""                on_step(loss)
        {indent}if {mean} < best:
            {indent}best, kept = {mean}, {{name: value.clone() for name, value in model.state_dict().items()}}
""", "    model.load_state_dict(kept)\n    model.eval()"), f"At the end you put the weights of an earlier {name} back, the one with the lowest loss. The parameters must stay as the last step has left them: whoever trains decides which to keep."))
    at("return losses", "losses",
       ("numpy_losses", "return np.array(losses)", "You return the losses as a NumPy array; a list is needed."),
       ("tensor_of_losses", "return torch.tensor(losses)", "You return the losses as a tensor; a list of plain numbers is needed."),
       ("losses_and_model", "return losses, model", "You return more than the losses. The list alone is needed: the caller has everything else."),
       ("last_loss", "return loss", "You return the last loss alone; the list of all losses is needed."),
       ("mean_loss", "return sum(losses) / len(losses)", "You return one number, the mean of all losses; the list of all of them is needed."),
       ("returns_model", "return model", "You return the model. It is changed in place, so the caller has it already; the losses are needed."))
    at("    return losses\n", "losses", ("returns_nothing", "", "Nothing is returned: end with `return losses`."))
    at(STEP, ("losses", "on_step"), ("tensors", WRITTEN_OUT, "You keep and pass on the losses as tensors. Each holds on to its whole computation, and memory fills up: `loss.item()` is the number."))
    at((STEP, "losses.append(loss)"), "modes", ("trains_in_eval", (IN_ITS_MODE, "loss = loss.item()\n            losses.append(loss)"), "It trains in eval mode from beginning to end: dropout never acts. `train_step` switches to training mode; if you write the step out again, so must you."))
    at(("losses = []", STEP, "losses.append(loss)", "    model.eval()"), "modes", ("eval_after_the_first_epoch", ("losses = []\n    model.train()", IN_ITS_MODE, "loss = loss.item()\n            losses.append(loss)", "        model.eval()"), "After the first epoch the model stays in eval mode: it is switched there at the epoch's end and never back. Put `model.train()` inside the loop."))
    at(TELLING, "on_step",
       ("never_tells", "", "`on_step` is never called: after each step, if it is not None, tell it the loss."),
       ("stops_on_true", "            if on_step is not None and on_step(loss):\n                model.eval()\n                return losses\n", "Training ends as soon as `on_step` returns something that counts as true. What it returns means nothing here: call it, and go on.", ("learns", "losses", "all batches")),
       ("stops_on_false", "            if on_step is not None and on_step(loss) is False:\n                model.eval()\n                return losses\n", "Training ends as soon as `on_step` returns False. What it returns means nothing here: call it, and go on.", "all batches"),
       ("calls_none", "            on_step(loss)\n", "`on_step` is called even when there is none: None can't be called. Ask first: `if on_step is not None`."),
       ("tells_once_an_epoch", "        if on_step is not None:\n            on_step(loss)\n", "`on_step` is called once an epoch; it should hear of every step: the call belongs into the inner loop."))
    at(("        for batch in batches:\n", TELLING), "on_step", ("tells_at_the_epochs_end", ("        before = len(losses)\n        for batch in batches:\n", "        for loss in losses[before:] if on_step is not None else ():\n            on_step(loss)\n"), "You keep the losses of an epoch back and tell `on_step` all of them at its end. It should hear of each step as soon as it is taken: the call belongs into the inner loop."))
    at(TELLING + "    model.eval()\n", "on_step", ("tells_in_the_end", "    for loss in losses if on_step is not None else ():\n        on_step(loss)\n    model.eval()\n", "You tell `on_step` all losses when training is over. It should hear of each step as soon as it is taken: the call belongs into the inner loop."))
    at((STEP, TELLING), "on_step", ("tells_before_the_step", (WRITTEN_OUT.replace("loss = cross", "result = cross").replace("loss.backward()", f"loss = result.item()\n{TELLING}            result.backward()"), ""), "You call `on_step` before `optimizer.step()`. It should hear of a step after it is taken."))
    at("on_step is not None", "on_step", ("asks_whether_it_is_true", "on_step", "You ask whether `on_step` counts as true (`if on_step:`, `on_step or …`). What can be called may count as false, such as an empty list with a `__call__`, and is then never called. Ask whether there is one: `if on_step is not None`."))
    at("on_step: Callable[[float], object] | None = None", "on_step", ("needs_on_step", "on_step: Callable[[float], object] | None", "`on_step` may be left out, and yours must be given: write `on_step=None` in the first line."))
    at(("losses = []", STEP), ("learns", "modes"),
       ("only_measures", ("losses = []\n    model.eval()", """*inputs, labels = batch
            with torch.no_grad():
                loss = cross_entropy(model(*inputs), labels).item()"""), "The losses are computed, but no step is taken: without `backward` and `optimizer.step()` nothing is learned."))

    @MISTAKES.mistake("You take one step for a whole epoch, at its end, so most steps are missing. One step for each batch is needed.",
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


@MISTAKES.of(right.TokenClassifier)
def in_TokenClassifier(at):
    at("self.dropout(hidden)", ("shape", *NUMBERS),
       ("cls_only", "self.dropout(hidden[:, 0])", "You still pick out [CLS]: one row of logits for each sentence. Here every token gets its own: classify all of `hidden`."),
       ("mean_of_tokens", "self.dropout(hidden.mean(dim=1))", "You average over the tokens before you classify: one row of logits for each sentence. Here every token gets its own."),
       ("dropout_alike_for_tokens", "hidden * self.dropout(torch.ones_like(hidden[:, :1]))", "In training all tokens of a sentence lose the same numbers. Each number of each token must be dropped by itself: `nn.Dropout` on all of `hidden`.", "dropout"),
       ("ids_alone", "self.dropout(input_ids)", "What goes into your classifier is (B, T), the ids of the tokens. It wants their hidden states, (B, T, D).", ("shape", *NUMBERS, "dropout")))
    at("self.dropout(hidden))", ("shape", *NUMBERS),
       ("without_special_tokens", "self.dropout(hidden))[:, 1:-1]", "You cut off the special tokens. Return logits for all T tokens; which of them count is decided where the loss is computed."),
       ("argmax", "self.dropout(hidden)).argmax(dim=-1)", "You return a label for each token (argmax). Return the logits: the loss, and whoever wants to know how sure the model is, need them.", ("shape", *NUMBERS, "dropout")),
       ("labels_first", "self.dropout(hidden)).transpose(1, 2)", "Your logits come as (B, N, T), the order that PyTorch's own cross-entropy likes; wanted is (B, T, N), one row for each token."),
       ("flattened", "self.dropout(hidden)).flatten(0, 1)", "You flatten sentences and tokens into one axis, (B·T, N). That is what the loss will do; keep (B, T, N) here."),
       ("squeezed_labels", "self.dropout(hidden)).squeeze(-1)", "For a single label you take the last axis away; (B, T, N) is needed, whatever N is.", ("shape", "values", "gradients")),
       ("squeezed_batch", "self.dropout(hidden)).squeeze(0)", "For a single sentence you take the first axis away; (B, T, N) is needed, whatever B is.", ("shape", "values", "gradients")),
       ("tokens_first", "self.dropout(hidden)).transpose(0, 1)", "Your logits come as (T, B, N), tokens before sentences. Wanted is (B, T, N). (If you stack one tensor for each token, do it with `dim=1`.)"),
       *((name, f"self.dropout(hidden)).{mixed}", "Logits are exchanged between the sentences: you join B and T in one order, and split them in another. Rows joined from (B, T, D) lie sentence by sentence: split them as (B, T, N), without a `transpose`, or don't join them.", NUMBERS)
         for name, mixed in {"split_as_tokens_first": "reshape(hidden.size(1), len(hidden), -1).transpose(0, 1)", "joined_as_tokens_first": "transpose(0, 1).reshape(len(hidden), hidden.size(1), -1)"}.items()),
       ("concatenated_tokens", "self.dropout(hidden)).flatten(1)", "You join the logits of all tokens in one long row, (B, T·N). Wanted is (B, T, N), one row for each token: `torch.stack(…, dim=1)` for `torch.cat`, and no `flatten`."),
       ("without_cls", "self.dropout(hidden))[:, 1:]", "You leave out the first token, [CLS]. Return logits for all T tokens; which of them count is decided where the loss is computed."),
       ("without_sep", "self.dropout(hidden))[:, :-1]", "You leave out the last token. Return logits for all T tokens; which of them count is decided where the loss is computed."),
       ("softmax_over_tokens", "self.dropout(hidden)).softmax(dim=1)", "Your forward ends with a softmax over the tokens, dim 1: they compete for each label. Return the logits as they are.", (*NUMBERS, "dropout")))
    at(("self.classifier = nn.Linear(config.hidden_size, config.num_labels)", "return self.classifier(self.dropout(hidden))"), (*NUMBERS, "dropout"),
       ("layer_per_place", ("""places = range(config.max_position_embeddings)
        self.classifiers = nn.ModuleList(nn.Linear(config.hidden_size, config.num_labels) for _ in places)""",
               """places = zip(self.classifiers, self.dropout(hidden).unbind(dim=1))
        return torch.stack([classifier(x) for classifier, x in places], dim=1)"""), "You have a layer for each place in the sentence. All tokens share one layer: a name is a name wherever it is, and a sentence may be longer than any before."))
    at((" nn.Linear(config.hidden_size, config.num_labels)", "return self.classifier(self.dropout(hidden))"), (*NUMBERS, "dropout"), ("list_of_layers", (" nn.ModuleList(nn.Linear(config.hidden_size, config.num_labels) for _ in range(config.max_position_embeddings))", """places = zip(self.classifier, self.dropout(hidden).unbind(dim=1))
        return torch.stack([classifier(x) for classifier, x in places], dim=1)"""), "You have a layer for each place in the sentence. All tokens share one layer: a name is a name wherever it is, and a sentence may be longer than any before."))
    at("return self.classifier(self.dropout(hidden))", ("values", "gradients"),
       ("padding_to_zero", """logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits * attention_mask.unsqueeze(-1)""", "You set the logits of padding to 0. Leave them as they are: the loss decides what counts, and a logit of 0 is not “no label”, it is an even bet."),
       ("real_tokens_only", """logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits[attention_mask.bool()]""", "You return the logits of the real tokens alone, in one long list. Wanted are those of all T tokens, (B, T, N); which of them count is decided where the loss is computed.", ("shape", "values", "gradients")),
       ("padding_to_minus_infinity", """logits = self.classifier(self.dropout(hidden))
        return logits if attention_mask is None else logits.masked_fill(attention_mask.unsqueeze(-1) == 0, -torch.inf)""", "You set the logits of padding to −∞. Leave them as they are: the loss decides what counts, and −∞ for every label is no answer at all."))
    at("self.classifier(self.dropout(hidden))", ("shape", *NUMBERS, "dropout"),
       ("list_of_tokens", "[self.classifier(one) for one in self.dropout(hidden).unbind(dim=1)]", "You return a Python list with one tensor (B, N) for each token. Wanted is one tensor, (B, T, N): `torch.stack(…, dim=1)` makes it; or hand all of `hidden` to the layer at once."),
       ("loop_ends_early", "torch.stack([self.classifier(self.dropout(hidden[:, place])) for place in range(hidden.size(1) - 1)], dim=1)", "Your loop leaves out the last token: it should run over all T. (`range(T)` ends before T by itself.)", ("shape", *NUMBERS)))
    at("config.num_labels)", ("shape", *NUMBERS), ("places_for_labels", "config.max_position_embeddings)", "Your classifier has an output for each position in the text. It has one for each label, `config.num_labels`, at every position."))
    at("return self.classifier(", ("values", "gradients"),
       ("hidden_to_zero", """hidden = hidden if attention_mask is None else hidden * attention_mask.unsqueeze(-1)
        return self.classifier(""", "You set the *vectors* of padding to 0 before you classify; their logits are then the classifier's bias. Leave them as they are: the loss decides what counts."))
    at(("""self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)""",
               "self.encoder(input", "self.classifier(self.dropout("), (*NUMBERS, "dropout"),
       ("one_level_deeper", ("self.model = TransformerForSequenceClassification(config)", "self.model.encoder(input", "self.model.classifier(self.model.dropout("), "Your layers lie one level deeper, in `self.model`: their names are then `model.encoder` and `model.classifier`. Expected are `encoder`, `dropout` and `classifier`, attributes of your class itself."))
    ENCODED = "hidden = self.encoder(input_ids, attention_mask)  # (B, T, D)"
    ALONE = "You send each token through the encoder by itself: it sees none of the others, and each sits at position 0. Encode the whole text once, then classify every vector."
    at(ENCODED, NUMBERS,
       ("tokens_alone", """pairs = [(input_ids[:, t : t + 1], None if attention_mask is None else attention_mask[:, t : t + 1]) for t in range(input_ids.size(1))]
        hidden = torch.cat([self.encoder(ids, mask) for ids, mask in pairs], dim=1)""", ALONE),
       ("tokens_alone_without_mask", "hidden = torch.cat([self.encoder(ids[:, None]) for ids in input_ids.unbind(dim=1)], dim=1)", ALONE),
       ("cut_to_the_longest", """hidden = self.encoder(input_ids, attention_mask)
        if attention_mask is not None:
            hidden = hidden[:, : int(attention_mask.sum(dim=1).max())]""", "Where every sentence is padded you cut off what lies behind the longest. Return logits for all T tokens, padding included; which of them count is decided where the loss is computed.", ("shape", "values", "gradients")))
    squeezed(at, ("shape", "values", "gradients"), "is (B, T, N), whatever B, T and N are")
    class_beginnings(at, ("dropout", "gradients", "no mask", "shape", "values"), takes="encoder")


@MISTAKES.of(right.span_scores)
def in_span_scores(at):
    SCORES = ("values", "mask", "gradients")
    MASKING = """    if mask is not None:
        start = start.masked_fill(mask == 0, -torch.inf)
        end = end.masked_fill(mask == 0, -torch.inf)
"""
    IF_MASK = "    if mask is not None:\n        "
    ADDED = IF_MASK + "penalty = {}\n        start, end = start + penalty, end + penalty\n"
    HIDDEN = "if mask is not None:\n        hidden = hidden.masked_fill(mask.unsqueeze(-1) == 0, {})\n    start, end = (hidden"
    at("start, end = (hidden", SCORES, ("swapped", "end, start = (hidden", "Start and end have changed places: row 0 of `w` is the start vector, row 1 the end vector, and the start scores come first."))
    at("start, end = (hidden @ w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)", SCORES,
       ("one_vector", "start = end = hidden @ w[0]  # (B, T)", "You use the start vector for both: the end scores need row 1 of `w`."),
       ("end_vector_twice", "start = end = hidden @ w[1]  # (B, T)", "You use the end vector for both: the start scores need row 0 of `w`."))
    at(MASKING, "mask",
       ("mask_as_places", IF_MASK + "start, end = start.clone(), end.clone()\n        start[~mask.long()] = -torch.inf\n        end[~mask.long()] = -torch.inf\n", "You turn whole numbers round with `~`: `~1` is −2 and `~0` is −1, and as an index that means the last two sentences, which are then −∞ from end to end. Compare: `mask == 0`."),
       ("turned_as_places", IF_MASK + "start, end = start.clone(), end.clone()\n        start[~mask] = end[~mask] = -torch.inf\n", "You use `~mask` as an index. That is right for True and False; of 1 and 0 it makes −2 and −1, and these mean the last two texts, which are then −∞ from end to end. Compare: `mask == 0`."),
       *((name, ADDED.format(f"(1 - {numbers}) * -torch.inf"), "You add (1 − mask) · (−∞): where the mask is 1 that is 0 · ∞, which is NaN. Set the scores to −∞ where it is 0: `masked_fill(mask == 0, -torch.inf)`.")
         for name, numbers in {"zero_times_infinity": "mask.long()", "zero_times_infinity_of_a_mask": "mask"}.items()),
       ("penalty_for_numbers_only", ADDED.format("(1 - mask) * -1e9"), "`1 - mask` works for a mask of numbers only: PyTorch subtracts no mask of True and False. `mask == 0` serves both kinds: `masked_fill(mask == 0, -torch.inf)`."),
       ("penalty_inverted", IF_MASK + "start, end = start + mask * -1e9, end + mask * -1e9\n", "You lower the scores where the mask is 1. That is where an answer may lie: lower those where it is 0."),
       *((name, ADDED.format(f"(1 - mask.long()) * -{number}"), "You add a fixed penalty where the mask is 0, such as −100 or −10,000. Where scores lie farther apart, such a token still wins: set it to −∞.")
         for name, number in {"adds_a_penalty": "10000.0", "adds_a_hundred": "100.0", "adds_a_thousand": "1000.0", "adds_a_million": "1e6"}.items()),
       ("adds_the_mask", IF_MASK + "start, end = start + mask, end + mask\n", "You add the mask to the scores: a 1 more or less decides little. Set the scores to −∞ where it is 0."),
       ("masks_end_only", MASKING.replace("        start = start.masked_fill(mask == 0, -torch.inf)\n", ""), "You mask the end scores only; an answer may then begin in the padding. Mask both."),
       ("ignores_the_mask", "", "The mask has no effect: padding keeps its scores, and an answer may end in it. Set both scores to −∞ where the mask is 0."),
       ("masks_start_only", MASKING.replace("        end = end.masked_fill(mask == 0, -torch.inf)\n", ""), "You mask the start scores only; an answer may then end in the padding. Mask both."))
    at(".unbind(dim=-1)", ("shape", *SCORES),
       ("reshaped", ".reshape(2, *hidden.shape[:2])", "`reshape` (or `view`) to (2, B, T) turns no axes: it reads the numbers in the order in which they lie, and start and end scores get mixed. `unbind(dim=-1)` takes the last axis apart.", SCORES),
       ("unpacks_the_batch", "", "`start, end = …` takes a tensor apart along its *first* axis, the batch (it runs only where B is 2). The two scores lie along the last: `unbind(dim=-1)`."),
       ("unpacks_the_tokens", ".unbind(dim=1)", "You take the axis of the tokens apart (it runs only where T is 2). The two scores lie along the last axis: `unbind(dim=-1)`."),
       ("keeps_an_axis", ".split(1, dim=-1)", "Your scores have shape (B, T, 1); wanted is (B, T). `unbind(dim=-1)` takes the last axis away, a slice or `split` keeps it."))
    at("return start, end", ("shape", *SCORES),
       ("squeezed", "return start.squeeze(), end.squeeze()", "A `squeeze` without a dim takes away every axis of size 1: with a single text, or a single token, your scores lose an axis. (B, T) is needed, whatever these are.", ("shape", "values", "gradients")),
       ("squeezed_batch", "return start.squeeze(0), end.squeeze(0)", "For a single text your scores lose their first axis; (B, T) is needed, whatever B is.", ("shape", "values", "gradients")),
       ("places", "return start.argmax(dim=-1), end.argmax(dim=-1)", "You return positions (argmax), the best start and the best end. Return the scores of all tokens: which pair is best is the next exercise."),
       ("added", "return start + end", "You add start and end scores of the same token. Keep them apart: a pair, start scores and end scores."),
       ("log_softmax", "return start.log_softmax(dim=-1), end.log_softmax(dim=-1)", "You turn the scores into log-probabilities. Return them as they are: the loss brings its own softmax.", SCORES),
       ("one_tensor", "return torch.stack((start, end), dim=-1)", "You return one tensor (B, T, 2). A pair is needed, start scores (B, T) and end scores (B, T): `unbind(dim=-1)` takes it apart."),
       ("softmax", "return start.softmax(dim=-1), end.softmax(dim=-1)", "You turn the scores into probabilities. Return them as they are: `best_span` adds them, and the loss brings its own softmax.", SCORES))
    at("w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)", ("shape", *SCORES), ("not_transposed", "w).unbind(dim=-1)", "You multiply with `w` as it is, (2, D); the axis D of both must meet: `hidden @ w.T`. (Where D is 2 it runs and gives other numbers.)"))
    at("hidden @ w.T", SCORES,
       ("reshape_for_transpose", "hidden @ w.reshape(-1, 2)", "`reshape` (or `view`) of `w` to (D, 2) does not transpose it: it keeps the order in memory, so that numbers of the start vector and of the end vector get mixed. `w.T` makes the axes trade places."),
       ("scaled", "hidden @ w.T / hidden.size(-1) ** 0.5", "You divide the scores by √D. That belongs to attention; here the vectors of `w` are learned and find their own length."),
       ("cosine", "F.normalize(hidden, dim=-1) @ F.normalize(w, dim=-1).T", "You compare directions (cosines): the lengths of the vectors count too. Take plain dot products."))
    at("-torch.inf", "mask",
       ("masked_to_zero", "0.0", "You set masked scores to 0. Zero is a good score where the others are negative; −∞ is never chosen."),
       ("masked_to_plus_infinity", "torch.inf", "Where the mask is 0 your scores are +∞, not −∞: they win everywhere."),
       ("masked_to_nan", "torch.nan", "Where the mask is 0 your scores are NaN, which ruins the whole row: 0 · ∞ is no number. Set the scores themselves to −∞."),
       *((name, number, "Masked scores become a fixed number such as −100 or −10,000: where all others are lower still, it wins. −∞ never does.")
         for name, number in {"masked_to_a_low_number": "-100.0", "masked_to_minus_one": "-1.0", "masked_to_minus_ten": "-10.0", "masked_to_a_thousand": "-1e3", "masked_to_ten_thousand": "-1e4", "masked_to_a_hundred_thousand": "-1e5", "masked_to_a_million": "-1e6"}.items()), times=2)
    for name, condition in {"turns_the_bits": "~mask", "minus_the_mask": "1 - mask"}.items():
        at("mask == 0", "mask", (name, condition, {"~mask": "`~mask` means “not” for True and False only; of 1 and 0 it makes −2 and −1. `mask == 0` serves both kinds.", "1 - mask": "`1 - mask` is no condition: `masked_fill` wants True and False. `mask == 0` serves both kinds of masks."}[condition]), times=2)
    at("mask is not None", "mask",
       ("asks_the_mask", "mask", "`if mask:` asks a whole tensor whether it is true. What you want to know is whether there is one: `if mask is not None`."),
       ("no_none", "True", "`mask` may be None: ask before you use it, `if mask is not None`.", ("shape", "values", "gradients")))
    at("mask == 0", "mask", ("mask_inverted", "mask != 0", "You have it the wrong way round: the tokens that may be chosen get −∞, and padding keeps its scores. The mask is 1 where an answer may lie."), times=2)
    at(("start, end = (hidden", MASKING), "mask",
       ("mask_in_place", ("if mask is not None:\n        hidden.masked_fill_(mask.unsqueeze(-1) == 0, 0.0)\n    start, end = (hidden", ""), "You set the *vectors* of masked tokens to 0: their scores are then 0, which is a good score where others are negative. Set the scores to −∞."),
       *((name, (HIDDEN.format(number), ""), "You set the *vectors* of masked tokens to a large negative number. Times a negative weight that is a high score, and it wins. Set the scores to −∞.")
         for name, number in {"hidden_to_a_low_number": "-1e9", "hidden_to_ten_thousand": "-1e4", "hidden_to_the_lowest": "torch.finfo(hidden.dtype).min"}.items()),
       ("hidden_to_minus_infinity", (HIDDEN.format("-torch.inf"), ""), "You set the *vectors* of masked tokens to −∞: times a negative weight that is +∞, and −∞ and +∞ together are NaN. Set the scores to −∞."))


@MISTAKES.mistake("You go through the text once and keep one start. Where it gets too far away, the token itself takes its place; another start that is still near enough may be better.", breaks="length")
def best_span__one_start_kept(start, end, max_len):
    if max_len < 1:
        raise ValueError(f"a span has at least one token; max_len is {max_len}")
    if start.dim() == 2:
        return [best_span__one_start_kept.given(one, other, max_len) for one, other in zip(start, end, strict=True)]
    i, best, top = 0, (0, 0), float(start[0] + end[0])
    for j in range(len(start)):
        if start[j] > start[i] or j - i + 1 > max_len:
            i = j
        if start[i] + end[j] > top:
            best, top = (i, j), float(start[i] + end[j])
    return best


@MISTAKES.of(right.best_span)
def in_best_span(at):
    ALL = ("values", "length", "ties", "batch")
    ROWS = "return [best_span(one, other, max_len) for one, other in zip(start, end, strict=True)]"
    SEARCH = """total = start[:, None] + end[None, :]  # (T, T): row i is the first token, column j the last
    allowed = torch.ones_like(total, dtype=torch.bool).triu().tril(max_len - 1)
    best = int(total.masked_fill(~allowed, -torch.inf).argmax())  # counts row by row; the first of equals
    return divmod(best, start.size(0))"""
    TOP = """T, best, top = start.size(0), (0, 0), -torch.inf
    for i in sorted(start.topk(min(5, T)).indices.tolist()):
        for j in sorted(end.topk(min(5, T)).indices.tolist()):
            if i <= j < i + max_len and start[i] + end[j] > top:
                best, top = (i, j), start[i] + end[j]
    return best"""

    def in_loops(top="-torch.inf, (0, 0)", starts="range(len(start))", ends="range(i, min(i + max_len, len(start)))", better=">"):
        return f"""top, best = {top}
    for i in {starts}:
        for j in {ends}:
            if start[i] + end[j] {better} top:
                top, best = start[i] + end[j], (i, j)
    return best"""

    MOVED = "You choose the best start and the best end independently, and move the end to the start where it comes before. Nobody has looked at the score there: look for the best *pair* with i ≤ j."
    at(SEARCH, ("values", "length"),
       ("independent", "return int(start.argmax()), int(end.argmax())", "You choose the best start and the best end independently of each other. The end can then lie before the start: look for the best *pair* with i ≤ j."),
       ("swapped_into_order", "first, last = int(start.argmax()), int(end.argmax())\n    return min(first, last), max(first, last)", "You choose the best start and the best end independently, and swap them where they come in the wrong order. But a good start is no good end: look for the best *pair* with i ≤ j."),
       ("first_token_where_they_do_not_fit", "first, last = int(start.argmax()), int(end.argmax())\n    return (first, last) if first <= last < first + max_len else (0, 0)", "You choose the best start and the best end independently, and return (0, 0) where they make no passage. Other pairs do: look for the best *pair* with i ≤ j that is short enough."),
       ("greedy_start", "first = int(start.argmax())\n    return first, first + int(end[first : first + max_len].argmax())", "You fix the best start first and then look for an end after it. A slightly worse start with a much better end can win: compare pairs."),
       ("greedy_end", """last = int(end.argmax())
    low = max(0, last - max_len + 1)
    return low + int(start[low : last + 1].argmax()), last""", "You fix the best end first and then look for a start before it. A slightly worse end with a much better start can win: compare pairs."),
       ("moved_into_order", "first, last = int(start.argmax()), int(end.argmax())\n    return first, max(first, last)", MOVED),
       ("moved_into_reach", "first, last = int(start.argmax()), int(end.argmax())\n    return first, min(max(first, last), first + max_len - 1)", MOVED),
       ("top_five", TOP, "You try the best few starts with the best few ends only. Where these don't go together, the best allowed pair is missed: try them all.", "values"),
       ("starts_from_zero", in_loops("0.0, None"), "Your search begins with a best score of 0 and never finds anything better where all scores are negative. Begin with −∞.", ("values", "ties")),
       ("starts_from_zero_at_zero", in_loops("0.0, (0, 0)"), "Your search begins with a best score of 0 and never finds anything better where all scores are negative. Begin with −∞.", "values"),
       ("starts_from_none", in_loops("-torch.inf, None"), "Where all scores are −∞ you return None: your search has found no pair. All allowed pairs tie there, and the first is wanted: begin with (0, 0).", "ties"),
       ("cut_to_length", """total = (start[:, None] + end[None, :]).masked_fill(torch.ones(len(start), len(start)).tril(-1).bool(), -torch.inf)
    first, last = divmod(int(total.argmax()), len(start))
    return first, min(last, first + max_len - 1)""", "You look for the best span of any length, and then cut it to `max_len`. Another one that is short enough can be better than what is left: leave the long ones out of the search.", "length"),
       ("longest_of_ties", """spans = [(i, j) for i in range(len(start)) for j in range(i, min(i + max_len, len(start)))]
    return max(spans, key=lambda span: (float(start[span[0]] + end[span[1]]), span[1] - span[0]))""", "Where several spans tie you take the longest; the contract wants the first, that is the smallest i and then the smallest j.", "ties"),
       ("last_of_ties", in_loops("-torch.inf, None", better=">="), "Of equally good spans you take the last; wanted is the first, that is the smallest i and then the smallest j. (`>=` in a loop takes the last, and so does `max` over tuples that hold the positions.)", "ties"),
       ("shortest_of_ties", """spans = [(i, j) for i in range(len(start)) for j in range(i, min(i + max_len, len(start)))]
    return max(spans, key=lambda span: (float(start[span[0]] + end[span[1]]), span[0] - span[1]))""", "Where several spans tie you take the shortest; the contract wants the first, that is the smallest i and then the smallest j.", "ties"))
    at("start[:, None] + end[None, :]", ("values", "length"),
       ("probabilities", "start.softmax(dim=-1)[:, None] + end.softmax(dim=-1)[None, :]", "You turn the scores into probabilities and add these: another pair can win. Add the scores themselves."),
       ("probabilities_multiplied", "start.softmax(dim=-1)[:, None] * end.softmax(dim=-1)[None, :]", "You multiply probabilities. Where scores lie far apart these are rounded to 0, and one pair looks like another. Add the scores themselves; pairs that are not allowed get −∞.", "values"),
       ("multiplied", "start[:, None] * end[None, :]", "You multiply the scores; their sum should be as large as possible. (Two negative scores have a positive product.)", "values"),
       ("table_turned", "start[None, :] + end[:, None]", "i and j have changed their roles: you add start[j] and end[i]. Wanted is start[i] + end[j]. In a table whose rows are i, rows belong to `start`: `start[:, None] + end[None, :]`.", ALL))
    at(".triu().tril(max_len - 1)", "values",
       ("either_way", ".tril(max_len - 1).triu(1 - max_len)", "The end may not lie before the start. You limit how far they lie apart, not which comes first: keep only the pairs with i ≤ j."),
       ("lower_half", ".tril().triu(1 - max_len)", "You kept the other half of the table: the end lies before the start, or on it. Rows are starts, columns are ends: i ≤ j is on and *above* the diagonal (`triu`).", ALL),
       ("both_bounds_open", ".triu(1).tril(max_len - 2)", "Your spans may have at most max_len − 2 tokens and more than one; allowed are i ≤ j ≤ i + max_len − 1, both bounds included.", ("values", "length")))
    at("total.masked_fill(~allowed, -torch.inf)", "values", ("times_allowed", "(total * allowed)", "You multiply the table by 0 where a pair is not allowed: where all scores are negative, 0 wins, and −∞ times 0 is NaN. Set these positions to −∞.", ("values", "ties")))
    at("~allowed", ALL, ("mask_turned", "allowed", "You have it the wrong way round: the pairs that are allowed get −∞, and the others compete. (`masked_fill` fills where the condition is True: `~allowed`.)"))
    at("return divmod(best, start.size(0))", ALL,
       ("with_the_score", "return divmod(best, start.size(0)), total.flatten()[best].item()", "You return the score as well; the pair alone is needed."),
       ("end_first", "return divmod(best, start.size(0))[::-1]", "Your pair is in the wrong order: first the position where the span begins, then where it ends."),
       ("place_in_the_table", "return best", "You return one number, the position in the (T, T) table. `divmod(position, T)` makes a row and a column of it, i and j."),
       ("end_excluded", "first, last = divmod(best, start.size(0))\n    return first, last + 1", "Your second number is one after the last token, as in a slice. Here both ends belong to the span."),
       ("length_for_end", "first, last = divmod(best, start.size(0))\n    return first, last - first + 1", "Your second number is the span's length; the place of its last token is needed."))
    at("int(total.masked_fill(~allowed, -torch.inf).argmax())", (*ALL, "refusal"),
       ("numpy_places", "total.masked_fill(~allowed, -torch.inf).argmax().numpy()[()]", "The two positions are numbers of NumPy; plain ints are needed, as for JSON: `int(…)` or `.tolist()`."),
       ("divmod_of_a_tensor", "total.masked_fill(~allowed, -torch.inf).argmax()", "`divmod` doesn't take tensors: make the position a plain number first, `int(…)` or `.item()`."))
    at("return divmod(best", (*ALL, "refusal"), ("no_return", "divmod(best", "Your function returns nothing (None) for one text: `return` is missing where the pair is found."))
    at(".triu().tril", ("values", "length"), ("any_order", ".tril", "The end may not lie before the start: keep only the pairs with i ≤ j (on and above the diagonal of the T × T table)."))
    at(".triu()", ("values", "length", "ties"),
       ("no_single_token", ".triu(1)", "You ask for an end *after* the start; a span of one token, i = j, is allowed too."),
       ("exact_length", ".triu(max_len - 1)", "Only spans of exactly max_len tokens are considered; max_len is the most that is allowed.", ALL))
    at("max_len - 1", "length",
       ("one_too_long", "max_len", "Your spans may be one token too long: from i to j, both included, are j − i + 1 tokens, so j − i is at most max_len − 1."),
       ("one_too_short", "max_len - 2", "Your spans may have at most max_len − 1 tokens; a span of exactly max_len is allowed."))
    at(".tril(max_len - 1)", "length", ("any_length", "", "`max_len` has no effect: spans of any length are considered."))
    at("-torch.inf", ("values", "ties"), ("masked_to_zero", "0.0", "Forbidden pairs are set to 0, not to −∞: where all scores are negative, 0 wins."))
    for name, number, broken in (("low", "-1e9", "ties"), ("smaller", "-100.0", ("values", "ties"))):
        at("-torch.inf", broken, (f"masked_to_a_{name}_number", number, "Forbidden pairs are set to a fixed number such as −1e9: where all allowed pairs are lower, or −∞, it wins. Set them to −∞."))
    at(SEARCH, ALL,
       ("last_token_never", in_loops(ends="range(i, min(i + max_len, len(start) - 1))"), "You look at no span that ends at the last token: ends go up to T − 1. (`range` leaves its last number out by itself: it takes T.)", ("values", "length", "batch")),
       ("last_start_never", in_loops(starts="range(len(start) - 1)"), "You look at no span that starts at the last token: starts go up to T − 1. (`range` leaves its last number out by itself: it takes T.)", "values"),
       ("first_start_never", in_loops(starts="range(1, len(start))"), "You look at no span that starts at the first token: positions count from 0."),
       ("over_the_end", in_loops(ends="range(i, i + max_len)"), "Your loop over the ends runs past the text: j is at most T − 1, so it goes up to `min(i + max_len, T)`."))
    at(("int(total.masked_fill(~allowed, -torch.inf).argmax())", "divmod(best, start.size(0))"), "values", ("tensors", ("total.masked_fill(~allowed, -torch.inf).argmax()", "best // start.size(0), best % start.size(0)"), "The two positions are tensors; plain ints are needed, as for slices and JSON: `.item()` or `.tolist()`."))
    at(ROWS, "batch",
       ("batch_as_a_tensor", ROWS.replace("return ", "return torch.tensor(") + ")", "For a batch you return one tensor (B, 2). Wanted is a list of pairs of plain numbers: `.tolist()` makes it."),
       ("generator", ROWS.replace("[", "(").replace("]", ")"), "For a batch you return a generator, which searches nothing before somebody loops over it. Wanted is a list: square brackets, or `list(…)`."),
       ("one_row_is_a_pair", ROWS.replace("return ", "pairs = ") + "\n        return pairs if len(pairs) > 1 else pairs[0]", "For a batch of one row you return the pair itself. Where scores are (B, T) a list is needed, with one pair in it if B is 1."),
       ("best_of_the_batch", """spans = [best_span(one, other, max_len) for one, other in zip(start, end, strict=True)]
        totals = [float(start[row, i] + end[row, j]) for row, (i, j) in enumerate(spans)]
        return [spans[totals.index(max(totals))]] * len(spans)""", "For a batch you return the one best span of all sentences together; each row of (B, T) has its own."),
       ("first_row", "start, end = start[0], end[0]", "For a batch only the first row is searched; a list with one pair for each row is needed."),
       ("two_lists", """firsts, lasts = zip(*[best_span(one, other, max_len) for one, other in zip(start, end, strict=True)])
        return list(firsts), list(lasts)""", "For a batch you return two lists, all starts and all ends. Wanted is a list of pairs, one for each row: `zip` turns one into the other."))
    at((f"if start.dim() == 2:\n        {ROWS}\n    ", "start[:, None] + end[None, :]", "start.size(0)"), "batch", ("whole_batch", ("", "start[..., :, None] + end[..., None, :]", "start.size(-1)"), "For a batch you look for the largest sum in all rows at once, and take its place in the whole table. Each row has a best span of its own."))
    BATCHES = "Scores of shape (B, T) are not provided for: where `start.dim()` is 2, each row needs a search of its own, and a list of pairs is returned."
    at(f"if start.dim() == 2:\n        {ROWS}\n    ", "batch", ("no_batches", "", BATCHES))
    at((f"if start.dim() == 2:\n        {ROWS}\n    ", "torch.ones_like(total, dtype=torch.bool)"), "batch", ("no_batches_of_t", ("", "torch.ones(len(start), len(start), dtype=torch.bool)"), BATCHES))
    at((f"if start.dim() == 2:\n        {ROWS}\n    ", SEARCH), "batch",
       ("no_batches_in_loops", ("", in_loops()), BATCHES))

    @MISTAKES.mistake("You refuse a `max_len` below 1 for a single text, but not for a batch: look at it before you look at the scores' shape.", breaks="refusal")
    def best_span__unchecked_batch(start, end, max_len):
        if max_len < 1 and start.dim() == 1:
            raise ValueError(f"a span has at least one token; max_len is {max_len}")
        total = start.unsqueeze(-1) + end.unsqueeze(-2)  # (..., T, T)
        allowed = torch.ones_like(total, dtype=torch.bool).triu().tril(max_len - 1)
        best = total.masked_fill(~allowed, -torch.inf).flatten(-2).argmax(dim=-1).tolist()
        T = start.size(-1)
        return divmod(best, T) if start.dim() == 1 else [divmod(one, T) for one in best]

    REFUSAL = 'raise ValueError(f"a span has at least one token; max_len is {max_len}")'
    at(REFUSAL, "refusal",
       ("accepts_zero", "max_len = 1", "A `max_len` below 1 allows no span at all: refuse it with a ValueError that says so. Yours returns one, as for max_len = 1."),
       ("prints", "pass", "A `max_len` below 1 allows no span at all: refuse it with `raise ValueError(…)`. Yours goes on and returns a span (printing a message stops nobody)."),
       ("returns_none", "return None", "For a `max_len` below 1 you return None. Refuse it with `raise ValueError(…)`: whoever calls you would stumble over a None later, far from here."))
    at("max_len < 1", "refusal",
       ("accepts_negative", "max_len == 0", "You refuse a `max_len` of 0, but not one below it."),
       ("refuses_one", "max_len <= 1", "You refuse max_len = 1. A span of one token is a span: refuse what is *below* 1.", ("values", "length")))
    at("start[:, None] + end[None, :]", "values", ("rounds", "(start[:, None] + end[None, :]).round(decimals=2)", "You round the scores (`round`, `int`, `half`): of two spans whose scores differ by less, the first wins. Compare them as they are."))
    at("total = start[:, None]", "length", ("refuses_more_than_the_text", 'if max_len > len(start):\n        raise ValueError("too long")\n    total = start[:, None]', "You refuse a `max_len` that is larger than the text. It only says how long a span may be at most."))


@MISTAKES.of(right.count_head_parameters)
def in_count_head_parameters(at):
    LINEAR = {
        "no_bias": ("width * labels", "You left out the biases: a linear layer from D = {D} to N = {N} has D·N + N numbers."),
        "bias_of_inputs": ("width * labels + width", "Your bias has D = {D} numbers; a linear layer has one for each *output*, here N = {N}."),
        "one_bias": ("width * labels + 1", "You count one bias for the whole layer; it has one for each output, N = {N}."),
        "both_biases": ("(width + 1) * (labels + 1)", "You count (D + 1)·(N + 1) numbers. The layer has N outputs, none besides, each with D weights and one bias: (D + 1)·N, that is D·N + N."),
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
        at("width * labels + labels", ("sequence", "token"), (name, formula, sentence))
        for head in ("sequence", "token"):
            at(f'"{head}": linear', head, (f"{head}_{name}", f'"{head}": {formula}', f"The {head} head: {sentence[0].lower()}{sentence[1:]}"))
    SPAN = {
        "one_span_vector": ("width", "You count one vector for the span head; it has two, one for the start and one for the end."),
        "span_with_bias": ("2 * width + 2", "The span head of this notebook is two vectors without a bias: 2·D. (One bias for all tokens would shift all scores alike and change no choice.)"),
        "span_with_one_bias": ("2 * width + 1", "The span head of this notebook is two vectors without a bias: 2·D. (One bias for all tokens would shift all scores alike and change no choice.)"),
        "span_weights_by_labels": ("width * labels", "You count a vector for each of the N = {N} labels. A span head has nothing to do with the labels: one start vector and one end vector, 2·D."),
        "span_by_labels": ("linear", "A span head has nothing to do with the number of labels: it is one start vector and one end vector, 2·D."),
        "span_of_labels": ("2 * labels", "Your span head has 2·N numbers. It has nothing to do with the labels: one start vector and one end vector of D = {D} numbers each, 2·D."),
        "two_linear_layers": ("2 * linear", "You count two layers with N = {N} outputs for the span head. It has nothing to do with the labels: one start vector and one end vector, 2·D."),
        "span_times_labels": ("2 * width * labels", "You count a start and an end vector for each label. A span head has nothing to do with the labels: 2·D."),
        "span_times_length": ("2 * width * config.max_position_embeddings", "You count the span head once for every position. All tokens are compared with the same two vectors: 2·D."),
        "span_scores": ("2 * config.max_position_embeddings", "You count the scores, two for each position. Asked for are the learned numbers: two vectors of D = {D}."),
        "span_squared": ("width**2", "You square D; the span head has two vectors of D = {D} numbers each, 2·D."),
        "span_fixed_width": ("2 * 384", "You count with a fixed width, 384, whatever the config says: D is `config.hidden_size`, here {D}."),
        "span_fixed_width_768": ("2 * 768", "You count with a fixed width, 768, whatever the config says: D is `config.hidden_size`, here {D}."),
        "span_like_pooler": ("width * width + width", "You count a layer from D to D. The span head has two vectors of D = {D} numbers each, 2·D."),
        "span_three": ("3 * width", "You count three vectors for the span head; it has two, one for the start and one for the end."),
        "span_four": ("4 * width", "You count four vectors for the span head; it has two, one for the start and one for the end."),
        "span_two": ("2", "You count two vectors as two numbers; each has D = {D}."),
    }
    for name, (formula, sentence) in SPAN.items():
        at("2 * width", "span", (name, formula, sentence))
    KEYS = '{"sequence": linear, "token": linear, "span": 2 * width}'
    at('"span": 2 * width', "sequence", ("one_key_more", '"span": 2 * width, "total": 2 * linear + 2 * width', "Your dict has keys that nobody asked for. Whoever adds up or lists its values would count them in."))
    at(KEYS, ("sequence", "token", "span"),
       ("texts", '{"sequence": str(linear), "token": str(linear), "span": str(2 * width)}', "Your counts are texts; whole numbers are needed."),
       ("tensors", '{"sequence": torch.tensor(linear), "token": torch.tensor(linear), "span": torch.tensor(2 * width)}', "Your counts are tensors; plain whole numbers are needed: `.item()` or `int(…)`."),
       ("floats", '{"sequence": float(linear), "token": float(linear), "span": 2.0 * width}', "Your counts are floats; whole numbers are needed (`//` divides without one, and `int(…)` makes one)."),
       ("in_a_row", "linear, linear, 2 * width", "You return the three numbers in a row. Wanted is a dict that names them: `dict(sequence=…, token=…, span=…)`."),
       ("one_number", "2 * linear + 2 * width", "You return one number, the sum of all heads. Wanted is a dict with a number for each of the three."))


@MISTAKES.of_quiz("quiz_tasks", right.quiz_tasks)
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
