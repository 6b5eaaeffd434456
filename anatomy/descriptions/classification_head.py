"""What the judge says of the results of 08-classification-head."""

from __future__ import annotations

from anatomy.descriptions import Description
from anatomy.exercises.classification_head import _all_batches, _learns, _losses, _modes, _on_step

DESCRIPTIONS = {
    "train_classifier": Description(
        rules={
            "learns": _learns,
            "losses": _losses,
            "all batches": _all_batches,
            "modes": _modes,
            "on_step": _on_step,
        }
    )
}
