"""The cell's wall time as a tree that adds up."""
