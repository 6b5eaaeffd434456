"""Wrong answers to the exercises of 00-start-here."""
