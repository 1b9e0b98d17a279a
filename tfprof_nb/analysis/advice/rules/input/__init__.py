"""Rules about how the program gets its data."""
