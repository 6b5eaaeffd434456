"""Wrong answers as people wrote them, without knowing what the check expects, and what a true card must say of each."""
