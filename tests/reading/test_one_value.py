"""The expression that goes wrong, found by lending it a value of a right answer."""

from __future__ import annotations

from textwrap import dedent

import pytest

pytestmark = pytest.mark.slow


def cell(source):
    return dedent(source).strip() + "\n"


WRONG = {
    "much is wrong inside one expression": (
        "scaled_scores",
        "def scaled_scores(query, key):\n"
        "    size = query.size(-1) * 3 - 1\n"
        "    scale = size / 4 + 2\n"
        "    return query @ key.mT / scale\n",
        "`size / 4 + 2` in line 3",
    ),
    "the first line that goes wrong, not one that follows from it": (
        "softmax",
        cell("""
            def softmax(x, dim):
                largest = x.amax(dim, keepdim=True)
                moved = (x - largest) * 0.3 + x.cos()
                e = torch.exp(moved)
                return e / e.sum(dim, keepdim=True)
        """),
        "`(x - largest) * 0.3 + x.cos()` in line 3",
    ),
    "a size that is read of an argument, not the argument": (
        "weighted_values",
        cell("""
            def weighted_values(weights, value):
                out = torch.zeros(weights.size(0), weights.size(1), value.size(2))
                for b in range(weights.shape[0]):
                    for t in range(weights.shape[1]):
                        for s in range(weights.shape[1]):
                            out[b, t] = out[b, t] + weights[b, t, s] * value[b, s]
                return out
        """),
        "`weights.shape[1]` in line 5",
    ),
    "a tensor is lent to what is passed in as a number": (
        "sinusoidal_encoding",
        cell("""
            def sinusoidal_encoding(num_positions, dim):
                if dim % 2:
                    raise ValueError("dim must be even")
                column = dim
                angles = torch.arange(num_positions)[:, None] / 10000 ** (2 * (column // 2) / dim)
                return torch.where(torch.tensor(column % 2 == 0), angles.sin(), angles.cos())
        """),
        "Line 4 does something else with `dim` than what is needed",
    ),
    "a name that is set twice": (
        "softmax",
        cell("""
            def softmax(x, dim):
                x = x - x.amax(dim, keepdim=True)
                x = torch.exp(x * 0.3 + x.cos())
                return x / x.sum(dim, keepdim=True)
        """),
        "in line 3",
    ),
    "a method of a module": (
        "LayerNorm",
        cell("""
            class LayerNorm(nn.Module):
                def __init__(self, dim, eps=1e-12):
                    super().__init__()
                    self.eps = eps
                    self.weight = nn.Parameter(torch.ones(dim))
                    self.bias = nn.Parameter(torch.zeros(dim))

                def forward(self, x):
                    mean = x.mean(-1, keepdim=True)
                    variance = (x - mean).abs().mean(-1, keepdim=True) * 2 + 0.5
                    return self.weight * (x - mean) / torch.sqrt(variance + self.eps) + self.bias
        """),
        "in line 10 is not what is needed there",
    ),
    "a value that is right elsewhere": (
        "softmax",
        cell("""
            def softmax(x, dim):
                e = torch.exp(x - x.amax(dim, keepdim=True))
                return e / e
        """),
        "`e` in line 3",
    ),
    "what a name is set to, where the name stands as in a right answer": (
        "apply_rotary",
        cell("""
            def apply_rotary(x, positions, base=10000.0):
                width = x.size(-1)
                if width % 2:
                    raise ValueError(f"K must be even, and is {width}")
                rate = -torch.arange(0, width, 2, dtype=torch.float64) / width
                angle = positions[:, None] * base ** rate
                cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
                one, two = x[..., 1::2], x[..., 1::2]
                both = (one * cos - two * sin, one * sin + two * cos)
                return torch.stack(both, dim=-1).flatten(start_dim=-2)
        """),
        "`x[..., 1::2]` in line 8",
    ),
    "a type, where it is made": (
        "nearest_centroid",
        cell("""
            def nearest_centroid(train, labels, test):
                member = F.one_hot(labels)
                centroids = member.T @ train / member.sum(0)[:, None]
                return ((test[:, None] - centroids) ** 2).sum(-1).argmin(-1)
        """),
        "`F.one_hot(labels)` in line 2",
    ),
    "another shape": (
        "softmax",
        cell("""
            def softmax(x, dim):
                e = torch.exp(x - x.amax(dim, keepdim=True))
                total = e.sum() / 7 + 3
                return e / total
        """),
        "`e.sum() / 7 + 3` in line 3",
    ),
    "a small number that is added, not the lengths that it is added to": (
        "nearest_tokens",
        cell("""
            def nearest_tokens(query_id, weight, k):
                lengths = weight.norm(dim=-1)
                dots = weight @ weight[query_id]
                cosines = dots / (lengths * lengths[query_id] + 1e-6)
                cosines[query_id] = -torch.inf
                return cosines.topk(k).indices
        """),
        "`lengths * lengths[query_id] + 1e-06` in line 4",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("exercise, source, expected", WRONG.values(), ids=WRONG)
def test_the_first_expression_that_goes_wrong_is_pointed_at(exercise, source, expected, notebook, reading):
    said = [one.headline for one in reading(exercise, notebook(source)).diagnoses]
    assert any(expected in sentence for sentence in said), said


def test_a_name_that_was_changed_in_place_leads_to_the_line_that_did(notebook, reading):
    source = cell("""
        def softmax(x, dim):
            moved = x - x.amax(dim, keepdim=True)
            moved *= 0.3
            moved += x.cos()
            e = torch.exp(moved)
            return e / e.sum(dim, keepdim=True)
    """)
    (said,) = [one for one in reading("softmax", notebook(source)).diagnoses if "is not what" in one.headline]
    assert "`moved` in line 5" in said.headline
    assert "It comes from line 4: `moved += x.cos()`" in said.detail


def test_an_argument_is_not_blamed_for_what_is_done_with_it(notebook, reading):
    source = cell("""
        def embedding_lookup(ids, weight):
            vectors = torch.take(weight, ids)
            return vectors
    """)
    said = [one.headline for one in reading("embedding_lookup", notebook(source)).diagnoses]
    assert any(one.startswith("Line 2 does something else with `ids` than what is needed") for one in said), said


def test_one_argument_in_the_place_of_another_is_blamed(notebook, reading):
    source = cell("""
        def dot_product_scores(query, key):
            turned = key.transpose(-1, -2)
            return key @ turned + 0 * (query.sin() @ turned)
    """)
    said = [one.headline for one in reading("dot_product_scores", notebook(source)).diagnoses]
    assert not any("does something else with" in one for one in said), said


def test_a_test_that_could_always_go_one_way_is_not_blamed(notebook, reading):
    source = cell("""
        def softmax(x, dim):
            axis = dim if dim >= 0 else x.dim() - 1 + dim
            e = torch.exp(x - x.amax(axis, keepdim=True))
            return e / e.sum(axis, keepdim=True)
    """)
    said = [one.headline for one in reading("softmax", notebook(source)).diagnoses]
    assert any(one.startswith("Where `dim >= 0` in line 2 is false, something else is done") for one in said), said


def test_a_number_that_only_avoids_the_branch_that_is_wrong_is_not_blamed(notebook, reading):
    source = cell("""
        def dot_product_scores(query, key):
            b, t, _ = query.shape
            s = key.size(1)
            if t != s:
                return query @ key.mT
            i, j = torch.triu_indices(t, t)
            half = (query[:, i] * key[:, j]).sum(dim=-1)
            scores = query.new_zeros(b, t, t)
            scores[:, i, j] = half
            scores[:, j, i] = half
            return scores
    """)
    verdict = reading(
        "dot_product_scores", notebook(source)
    )  # with `key.size(0)` it would be right wherever B is not T
    assert verdict.diagnoses[0].headline.startswith("Where `t != s` in line 4 is false, something else is done")


def test_a_return_is_not_blamed_for_what_it_is_given(notebook, reading):
    source = cell("""
        def sinusoidal_encoding(num_positions, dim):
            if dim % 2:
                raise ValueError(f"dim must be even, not {dim}")
            position = torch.arange(num_positions, dtype=torch.float64)[:, None, None]
            omega = 10000 ** (-torch.arange(0, dim, 2).double() / dim)
            angles = (position * omega).squeeze()
            return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
    """)
    verdict = reading("sinusoidal_encoding", notebook(source))
    assert not any("line 7" in one.headline for one in verdict.diagnoses)


def test_no_number_is_said_to_be_needed_where_others_do_as_well(notebook, reading):
    source = cell("""
        def embedding_lookup(ids, weight):
            padding_id = 0
            keep = (ids != padding_id).unsqueeze(-1)
            return weight[ids] * keep
    """)
    verdict = reading("embedding_lookup", notebook(source))
    (said,) = [one.headline for one in verdict.diagnoses if "line 2" in one.headline]
    assert "with another value in its place, all results are right" in said
    assert not verdict.example.there


def test_all_lines_that_set_a_name_are_quoted(notebook, reading):
    source = cell("""
        def nearest_tokens(query_id, weight, k):
            dot, squared = weight @ weight[query_id], weight.square().sum(1)
            score = dot.square() / squared
            score[query_id] = float("-inf")
            return score.sort(descending=True).indices[:k]
    """)
    (said,) = [one for one in reading("nearest_tokens", notebook(source)).diagnoses if "is not what" in one.headline]
    assert said.headline.startswith("The value of `score` in line 5")
    assert "It comes from lines 3 and 4: `score = dot.square() / squared` and `score[" in said.detail


def test_a_list_that_nothing_fills_leads_to_the_line_that_does_nothing(notebook, reading):
    source = cell("""
        def sinusoidal_encoding(num_positions, dim):
            if dim % 2:
                raise ValueError(f"{dim} is odd")
            rows = []
            for pos in range(num_positions):
                row = []
                for i in range(dim // 2):
                    angle = pos / 10000 ** (2 * i / dim)
                    row += [math.sin(angle), math.cos(angle)]
                rows
            return torch.tensor(rows)
    """)
    (said,) = [
        one for one in reading("sinusoidal_encoding", notebook(source)).diagnoses if "is not what" in one.headline
    ]
    assert "`rows` in line 11" in said.headline
    assert "Line 10 does nothing: its result is not kept." in said.detail


def test_a_good_input_that_is_refused_leads_to_the_test_before_it(notebook, reading):
    source = cell("""
        def sinusoidal_encoding(num_positions, dim):
            if num_positions % 2 or dim % 2:
                raise ValueError(f"{dim} is odd")
            position = torch.arange(num_positions, dtype=torch.float64)[:, None]
            rate = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
            return torch.stack([(position * rate).sin(), (position * rate).cos()], -1).flatten(1).float()
    """)
    said = [one.headline for one in reading("sinusoidal_encoding", notebook(source)).diagnoses]
    assert said[0].startswith("It refuses a good input in your line 3")
    assert "`num_positions % 2 or dim % 2` in line 2 is true of a good input." in said


def test_a_list_leads_to_the_line_that_fills_it(notebook, reading):
    source = cell("""
        class AttentionHead(nn.Module):
            def __init__(self, dim, head_dim):
                super().__init__()
                self.q, self.k, self.v = (nn.Linear(dim, head_dim) for _ in range(3))

            def forward(self, x):
                rows = []
                for one in x:
                    q, k, v = self.q(one), self.k(one), self.v(one)
                    rows.append(torch.cat([torch.softmax(k @ row / len(row) ** 0.5, 0) @ v for row in q]))
                return torch.stack(rows)
    """)
    said = [one for one in reading("AttentionHead", notebook(source)).diagnoses if "is not what" in one.headline]
    assert said[0].headline.startswith("The value of `rows` in line 11")
    assert "It comes from line 10: `rows.append(" in said[0].detail


def test_where_more_is_wrong_before_it_the_card_says_where_to_look(notebook, reading):
    source = cell("""
        def softmax(x, dim):
            low = x.sin() - 0.1
            high = x.cos() + 2
            e = low * 0.3 + high
            return e / e.sum(dim, keepdim=True)
    """)
    (said,) = [one for one in reading("softmax", notebook(source)).diagnoses if "is not what" in one.headline]
    goes_into_it = "or of what goes into it (`low`, set in line 2, and `high`, set in line 3), is not what"
    assert said.headline.startswith(f"The value of `low * 0.3 + high` in line 4, {goes_into_it}")


def test_what_a_name_was_set_to_in_a_branch_is_followed(notebook, reading):
    source = cell("""
        def scaled_scores(query, key):
            scores = query @ key.mT
            if query.dim() > 0:
                root = query.size(-1) / 2 + scores.abs().amax()
                scale = root * 1
                scores = scores / scale
            return scores
    """)
    (said,) = [one for one in reading("scaled_scores", notebook(source)).diagnoses if "is not what" in one.headline]
    assert said.headline.startswith("The value of `query.size(-1) / 2 + scores.abs().amax()` in line 4")


NOT_ONE = {
    "what has another order in memory alone": (
        "relative_position_bias",
        cell("""
            def relative_position_bias(length, table):
                heads, width = table.shape
                extra = length - 1 - width // 2
                if extra > 0:
                    left, right = table[:, :1].expand(heads, extra), table[:, -1:].expand(heads, extra)
                    band = torch.cat((left, table, right), dim=1).contiguous()
                else:
                    band = table[:, -extra : width + extra]
                return torch.as_strided(band, (heads, length, length), (band.stride(0), 1, 1)).flip(1)
        """),
    ),
    "what only begins what is filled": (
        "causal_mask",
        cell("""
            def causal_mask(length):
                mask = torch.zeros(length, length, dtype=torch.bool)
                for t in range(length):
                    mask[t, :t] = True
                return mask
        """),
    ),
    "two places": (
        "softmax",
        cell("""
            def softmax(x, dim):
                e = torch.exp(x * 1.5)
                return e / (e.sum(dim, keepdim=True) + 1)
        """),
    ),
    "the result itself": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    return (query @ key.mT).tanh() * 3 + 1\n",
    ),
}


@pytest.mark.parametrize("exercise, source", NOT_ONE.values(), ids=NOT_ONE)
def test_nothing_is_said_where_no_single_value_mends_it(exercise, source, notebook, reading):
    said = " ".join(one.headline for one in reading(exercise, notebook(source)).diagnoses)
    assert "is not what is needed there" not in said and "than what is needed" not in said


def test_a_value_of_other_axes_that_makes_up_for_a_reshape_is_not_lent(notebook, reading):
    source = cell("""
        def project(x, w_q, w_k):
            columns = x.transpose(1, 2)
            turned = [(w.T @ columns).reshape(len(x), -1, w.size(1)) for w in (w_q, w_k)]
            return tuple(turned)
    """)
    assert not any("line 2" in one.headline for one in reading("project", notebook(source)).diagnoses)


def test_a_value_that_is_right_in_most_cases_only_is_not_enough(notebook, reading):
    """With T equal to S the two sizes are the same number: other cases refute the wrong one."""
    source = cell("""
        def softmax(x, dim):
            e = torch.exp(x - x.amax(dim, keepdim=True))
            if x.dim() > 2:
                e = e * torch.linspace(1, 2, e.size(-1))
            return e / e.sum(dim, keepdim=True) / (1 + x.abs().max())
    """)
    said = " ".join(one.headline for one in reading("softmax", notebook(source)).diagnoses)
    assert "is not what is needed there" not in said


def test_where_a_line_fills_what_it_reads_no_other_line_is_quoted(notebook, reading):
    source = cell("""
        def dot_product_scores(query, key):
            mixed = query.clone()
            for d in range(query.size(-1)):
                mixed[..., d] = mixed.flip(-1)[..., d]
            return mixed @ key.mT
    """)
    assert not any("It comes from" in one.detail for one in reading("dot_product_scores", notebook(source)).diagnoses)


def test_the_example_shows_what_stands_there_and_what_is_needed(notebook, reading):
    source = cell("""
        def masked_mean(hidden, attention_mask):
            weights = attention_mask.float().softmax(dim=1)
            return (weights[..., None] * hidden).sum(1)
    """)
    example = reading("masked_mean", notebook(source)).example
    assert example.there.startswith("There, `attention_mask.float().softmax(dim=1)` is [[0.")
    assert "needed is [[" in example.there


def test_where_more_is_wrong_before_it_the_card_says_where_that_is_set(notebook, reading):
    source = cell("""
        def clip_loss(image_emb, text_emb, temperature):
            images = image_emb / (image_emb.norm(dim=-1, keepdim=True) + 0.1)
            texts = text_emb / (text_emb.norm(dim=-1, keepdim=True) + 0.1)
            logits = images @ texts.T / temperature
            both = torch.arange(len(logits))
            return (F.cross_entropy(logits, both) + F.cross_entropy(logits.T, both)) / 2
    """)
    (said,) = [
        one.headline for one in reading("clip_loss", notebook(source)).diagnoses if "is not what" in one.headline
    ]
    assert "what goes into it (`images`, set in line 2, and `texts`, set in line 3)" in said
