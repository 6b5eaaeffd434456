"""05 · The encoder layer."""
