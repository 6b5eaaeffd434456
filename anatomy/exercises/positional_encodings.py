"""What 06-positional-encodings asks."""
