"""What 08-classification-head asks."""
