"""05-encoder-layer: what its cases ask for beyond the reference's numbers."""

from __future__ import annotations

from anatomy.course import COURSE
from anatomy.course.nb05_encoder_layer.right import TransformerEncoderLayer
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observe import observe


def test_a_mask_counts_in_training_too() -> None:
    class Layer(TransformerEncoderLayer):
        def forward(self, x, mask=None):
            return super().forward(x, None if self.training else mask)

    asked = COURSE.exercise("TransformerEncoderLayer")
    verdict = judge(asked, observe(asked, Layer))
    assert [result.property for result in verdict.results if not result.passed] == ["mask"]
    assert "in training mode as if there were no mask" in verdict.diagnoses[0].headline
