"""Right answers of 01-embedding-lookup."""
