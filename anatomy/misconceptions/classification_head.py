"""Wrong answers to the exercises of 08-classification-head."""
