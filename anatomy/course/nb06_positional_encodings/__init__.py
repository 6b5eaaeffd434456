"""06 · Positional encodings."""
