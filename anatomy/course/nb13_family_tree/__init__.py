"""13 · The family tree."""
