"""What 03-softmax asks."""
