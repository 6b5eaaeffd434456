"""Right answers of 04-heads."""
