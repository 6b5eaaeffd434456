"""09 · The causal mask: a model that writes."""
