"""03 · Softmax and weighted values."""
