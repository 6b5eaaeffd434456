"""Right answers of 05-encoder-layer."""
