"""Wrong answers to the exercises of 04-heads."""
