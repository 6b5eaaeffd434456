"""Right answers of 00-start-here."""
