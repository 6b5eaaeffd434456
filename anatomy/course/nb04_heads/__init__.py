"""04 · Heads."""
