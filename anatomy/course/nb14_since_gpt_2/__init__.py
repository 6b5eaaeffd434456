"""14-since-gpt-2."""
