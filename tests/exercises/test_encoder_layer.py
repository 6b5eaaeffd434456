"""05-encoder-layer: what its cases ask for beyond the reference's numbers."""

from __future__ import annotations

from anatomy import exercises
from anatomy.judging.judge import judge
from anatomy.observing.observe import observe
from anatomy.reference.encoder_layer import TransformerEncoderLayer


def test_a_mask_counts_in_training_too() -> None:
    class Layer(TransformerEncoderLayer):
        def forward(self, x, mask=None):
            return super().forward(x, None if self.training else mask)

    asked = exercises.find("TransformerEncoderLayer")
    verdict = judge(asked, observe(asked, Layer))
    assert [result.property for result in verdict.results if not result.passed] == ["mask"]
    assert "in training mode as if there were no mask" in verdict.diagnoses[0].headline
