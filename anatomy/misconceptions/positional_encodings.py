"""Wrong answers to the exercises of 06-positional-encodings."""
