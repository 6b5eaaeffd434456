"""Right answers of 03-softmax."""
