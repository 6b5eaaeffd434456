"""Wrong answers to the exercises of 05-encoder-layer."""
