"""Rules about how the program uses its devices."""
