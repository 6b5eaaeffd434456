"""00 · Start here."""
