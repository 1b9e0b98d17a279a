"""Rules about memory that grows."""
