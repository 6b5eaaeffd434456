"""Right answers of 08-classification-head."""
