"""Right answers of 07-encoder."""
