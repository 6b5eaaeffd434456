"""02 · Attention scores."""
