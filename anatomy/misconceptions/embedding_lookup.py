"""Wrong answers to the exercises of 01-embedding-lookup."""
