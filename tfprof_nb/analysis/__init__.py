"""Columns to results: each feature's numbers, as frames with headline figures and notes.

In: decoded `Host` columns. Out: one `Result` per feature. Pure numpy and pandas; nothing here draws.
"""
