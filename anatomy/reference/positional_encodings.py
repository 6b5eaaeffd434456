"""Right answers of 06-positional-encodings."""
