"""What 04-heads asks."""
