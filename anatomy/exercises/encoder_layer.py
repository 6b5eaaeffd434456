"""What 05-encoder-layer asks."""
