"""12 · Pretraining: text as its own teacher."""
