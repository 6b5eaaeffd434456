"""10 · Encoder and decoder: reading one, writing another."""
