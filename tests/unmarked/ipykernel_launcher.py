"""Stands in for Jupyter's kernel under ``pytest --check``: a test that gets here needs the mark ``kernel``."""

raise RuntimeError("A kernel is started by a test without the mark `kernel`")
