"""Stands in for TensorFlow under ``pytest --check``: a test that gets here needs the mark ``tensorflow``."""

raise RuntimeError("TensorFlow is imported by a test without the mark `tensorflow`")
