"""07 · The encoder with real weights."""
