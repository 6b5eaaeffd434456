"""Wrong answers to the exercises of 07-encoder."""
