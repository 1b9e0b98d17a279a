"""What is fast and what is not: `python -m benchmarks`, or one of its modules."""
