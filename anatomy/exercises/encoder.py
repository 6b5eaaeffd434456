"""What 07-encoder asks."""
