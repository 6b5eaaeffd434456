"""Wrong answers to the exercises of 11-bertviz."""
