"""Recognizing mistakes: in all the cases they claim, in the parts of an answer, and two at once."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from anatomy.course import COURSE
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging import recognize as recognizing
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.mistakes import inherited, pairs
from anatomy.engine.observing.observe import observe
from tests.plenty import one_in


def verdict_on(name: str, answer: object) -> Verdict:
    exercise = COURSE.exercise(name)
    return judge(exercise, observe(exercise, answer))


@pytest.mark.parametrize("whole", one_in(2, ["attention_weights", "FeedForward"]))
@pytest.mark.slow
def test_mistakes_of_parts_are_named_in_the_whole(whole: str) -> None:
    """By their own name, or by one that the whole has for the same numbers; none goes without."""
    exercise = COURSE.exercise(whole)
    expectations = Expectations(exercise, SEEDS)
    in_parts = 0
    for wrong in inherited(COURSE.exercise(whole)):
        seen = observe(exercise, wrong.answer)
        if any(case.outcome == "raised" for case in seen.cases):
            continue  # of an error, the line says more than what a part may have done
        verdict = judge(exercise, seen, SEEDS, lambda *_: expectations)
        broken = {result.property for result in verdict.results if not result.passed}
        if broken - {"gradients"}:  # some mistakes of a part never show in the whole, or by a gradient alone
            assert verdict.mistakes, f"{wrong.name}: {verdict.diagnoses[0].headline}"
            said = verdict.diagnoses[0].headline
            assert "{" not in said
            in_parts += " A wrong `" in said
    assert in_parts > 3


def test_two_mistakes_at_once_are_named_as_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anatomy.engine.judging.recognize.SEARCH_TIME", 60.0)  # on any machine

    class Norm(nn.Module):  # squares are divided by D − 1, and the bias is scaled, too
        def __init__(self, dim, eps):
            super().__init__()
            self.eps = eps
            self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

        def forward(self, x):
            variance = x.var(dim=-1, keepdim=True, unbiased=True)
            centered = x - x.mean(dim=-1, keepdim=True)
            return (centered / (variance + self.eps).sqrt() + self.bias) * self.weight

    verdict = verdict_on("LayerNorm", Norm)
    assert len(verdict.mistakes) == 2
    assert verdict.diagnoses[0].headline.startswith("Two mistakes at once. (1) ")
    assert verdict.diagnoses[1].headline.startswith("(2) ")


def test_of_two_mistakes_no_property_is_said_to_differ_for_the_other_one_s_reason() -> None:
    def softmax_first(logits, labels):
        return torch.nn.functional.cross_entropy(logits.softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=-100)

    verdict = verdict_on("mlm_loss", softmax_first)
    assert verdict.mistakes == ["mlm_loss__nan_without_labels", "mlm_loss__softmax_first"]
    assert {one.property: one.detail for one in verdict.results}["no labels"] == "different"


def test_what_one_mistake_does_not_explain_is_not_said_to_have_its_reason() -> None:
    right = COURSE.exercise("Llama").right

    class Tied(right):
        def __init__(self, config):
            super().__init__(config)
            self.rms_norm.eps = 1e-5
            self.lm_head.weight = self.token_embeddings.weight

    verdict = verdict_on("Llama", Tied)
    assert "More may be wrong: what “eps” looks at" in verdict.diagnoses[1].headline
    assert {one.property: one.detail for one in verdict.results}["eps"] == "different"


def test_a_mistake_is_not_named_for_a_part_of_what_it_claims() -> None:
    """Large scores overflow as in the known mistake; elsewhere the answer does something else."""
    overflows = COURSE.exercise("softmax").mistakes
    known = next(
        wrong for name, wrong in overflows.items() if "large scores" in wrong.breaks and "values" not in wrong.breaks
    )

    def half_known(x, dim):
        return known.answer(x, dim) * (1.0 if x.abs().max() > 500 and x.dim() == 3 and x.shape[1] != 5 else 0.5)

    verdict = verdict_on("softmax", half_known)
    assert verdict.mistakes[:1] != [known.name]


def test_rounding_does_not_hide_a_mistake() -> None:
    """Scores far apart make much of the last digit: a sum in another order is the same mistake all the same."""
    exercise, seeds = COURSE.exercise("attention_weights"), (1001, 1002)

    def over_queries(query, key):
        return torch.softmax(torch.einsum("btd,bsd->bts", query, key) / query.size(-1) ** 0.5, dim=-2)

    assert judge(exercise, observe(exercise, over_queries, seeds), seeds).mistakes == [
        "attention_weights__over_queries"
    ]


def test_what_an_answer_calls_and_is_right_is_not_blamed() -> None:
    """The answer's own mistake may give the numbers that a part's would: with the part known to be right, silence."""
    exercise = COURSE.exercise("attention_weights")
    for wrong in inherited(COURSE.exercise("attention_weights")):
        seen = observe(exercise, wrong.answer)
        verdict = judge(exercise, seen)
        if verdict.mistakes and verdict.diagnoses[0].headline.endswith("A wrong `softmax` gives the same."):
            break
    seen.called = ["softmax"]
    assert not judge(exercise, seen).mistakes


@pytest.mark.slow
def test_two_mistakes_are_looked_for_only_where_they_cost_nothing_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not at all for an answer that returns nothing: what it computes, nobody can see."""
    known = COURSE.exercise("TransformerEncoderLayer").mistakes
    tried: list[set[str]] = []

    def pairs(name, among):
        tried.append({wrong.name for wrong in among})
        return iter(())

    monkeypatch.setattr(recognizing, "pairs", pairs)

    class Halved(known["TransformerEncoderLayer__parallel"].base):
        def forward(self, x, mask=None):
            return super().forward(x, mask) * 0.5

    verdict_on("TransformerEncoderLayer", Halved)
    assert tried
    assert known["TransformerEncoderLayer__parallel"].name in set().union(*tried)

    class Shifted(known["TransformerEncoderLayer__parallel"].base):  # dropout and mask hold
        def forward(self, x, mask=None):
            y = super().forward(x, mask)
            return y + 0.5 if mask is None and not self.training and len(x) > 1 else y

    tried.clear()
    verdict = verdict_on("TransformerEncoderLayer", Shifted)
    right = {result.property for result in verdict.results if result.passed} & {"dropout", "mask", "eps"}
    assert right
    assert not any(right & set(known[name].breaks) for name in set().union(*tried))

    class Silent(Halved):
        def forward(self, x, mask=None):
            super().forward(x, mask)

    tried.clear()
    verdict_on("TransformerEncoderLayer", Silent)
    assert not tried


class _Network(nn.Module):
    """A feed-forward network without its first bias, and with something else that is wrong."""

    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)


class _WithRelu(_Network):
    def forward(self, x):
        return self.dropout(self.linear_2(self.linear_1(x).relu()))


class _Shrunk(_Network):
    def forward(self, x):
        return self.dropout(self.linear_2(nn.functional.gelu(self.linear_1(x) * 0.37)))


class _OnlyWithoutBias(_Network):
    def forward(self, x):
        return self.dropout(self.linear_2(nn.functional.gelu(self.linear_1(x))))


@pytest.mark.slow
def test_parameters_that_are_wrong_do_not_hide_a_second_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognizing, "SEARCH_TIME", 60.0)
    monkeypatch.setattr(recognizing, "LEAST_SEARCH_TIME", 60.0)
    alone, two, more = (verdict_on("FeedForward", answer) for answer in (_OnlyWithoutBias, _WithRelu, _Shrunk))
    assert len(alone.mistakes) == 1 and len(alone.diagnoses) == 1
    assert len(two.mistakes) == 2 and set(alone.mistakes) < set(two.mistakes)
    assert more.mistakes == alone.mistakes
    assert more.diagnoses[-1].headline == "More may be wrong: your values are not what this mistake alone gives."


def test_two_mistakes_are_found_from_the_one_that_gives_the_first_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are turned, too, and the last layer gets a bias where the config asks for biases: one case shows that."""
    monkeypatch.setattr("anatomy.engine.judging.recognize.SEARCH_TIME", 60.0)  # on any machine
    tried: list[str] = []
    claims = recognizing._Sight.claims

    def noting(sight, mistake, likeness):
        tried.append(mistake.name)
        return claims(sight, mistake, likeness)

    monkeypatch.setattr(recognizing._Sight, "claims", noting)
    exercise = COURSE.exercise("GroupedQueryAttention")
    names = ("GroupedQueryAttention__output_bias_by_the_config", "GroupedQueryAttention__values_turned")
    (_, _, both), *_ = pairs(exercise, [exercise.mistakes[name] for name in names])
    verdict = judge(exercise, observe(exercise, both.answer))
    assert set(verdict.mistakes) == set(names)
    assert sum("__and__" in name for name in tried) < 4, "other pairs were not run in all cases"


def test_numbers_of_another_type_do_not_hide_a_mistake() -> None:
    right = COURSE.exercise("sinusoidal_encoding").right

    def from_one_in_float64(num_positions, dim):
        return right(num_positions + 1, dim)[1:].double()

    verdict = verdict_on("sinusoidal_encoding", from_one_in_float64)
    assert verdict.mistakes == ["sinusoidal_encoding__from_one"]
    assert verdict.diagnoses[1].headline == "The values have type float64, expected is float32."
    assert not verdict.diagnoses[1].detail


def test_another_kind_of_result_is_told_once_and_beside_what_is_needed() -> None:
    def generated(config):
        return {name: (size for size in (1, 2)) for name in ("sequence", "token", "span")}

    assert [one.headline for one in verdict_on("count_head_parameters", generated).diagnoses] == [
        "You return a generator; a whole number is needed."
    ]
    counts = verdict_on("cache_bytes", lambda config, tokens, bytes_per_number=2: (2, tokens))
    assert [one.headline for one in counts.diagnoses] == ["You return a list or tuple; a whole number is needed."]


def test_a_layer_under_two_names_is_told_as_a_layer() -> None:
    class Head(nn.Module):
        def __init__(self, embed_dim, head_dim):
            super().__init__()
            self.q = nn.Linear(embed_dim, head_dim)
            self.k = self.v = nn.Linear(embed_dim, head_dim)

        def forward(self, x):
            weights = (self.q(x) @ self.k(x).mT / self.q.out_features**0.5).softmax(-1)
            return weights @ self.v(x)

    assert verdict_on("AttentionHead", Head).diagnoses[0].headline == "`k` and `v` are one and the same layer."


def test_where_an_answer_stops_in_a_property_of_its_own_another_mistake_keeps_its_name() -> None:
    """The root of another width; and axes counted from the front, with which more axes stop."""

    def attend(query, key, value):
        return (query @ key.transpose(1, 2) / value.size(-1) ** 0.5).softmax(-1) @ value

    name = "scaled_dot_product_attention__"
    assert verdict_on("scaled_dot_product_attention", attend).mistakes == [
        f"{name}by_root_of_value_width", f"{name}axes_from_the_front",
    ]  # fmt: skip


def test_where_rounding_decides_a_drawn_case_says_nothing_of_a_mistake() -> None:
    """Squared cosines in the place of their sizes: rows that are equally near come in another order."""

    def by_squares(query_id, weight, k):
        score = (weight @ weight[query_id]).square() / weight.square().sum(dim=-1)
        score[query_id] = -torch.inf
        return score.topk(k).indices

    assert verdict_on("nearest_tokens", by_squares).mistakes == ["nearest_tokens__drops_the_sign"]
