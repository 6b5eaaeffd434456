"""08 · Classification heads."""
