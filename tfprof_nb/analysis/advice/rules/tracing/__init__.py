"""Rules about functions that are traced again and again, or never."""
