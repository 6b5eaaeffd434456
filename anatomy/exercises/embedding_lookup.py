"""What 01-embedding-lookup asks."""
