"""Right answers, written differently."""
