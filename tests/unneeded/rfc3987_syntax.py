"""Stands in for a check of addresses that jsonschema makes where it can: 3 s of each process that imports nbformat."""

raise ImportError("No test needs rfc3987-syntax")
