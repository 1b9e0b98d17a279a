"""Rules about what the graph of a step computes."""
