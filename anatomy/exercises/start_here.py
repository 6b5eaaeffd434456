"""What 00-start-here asks."""
