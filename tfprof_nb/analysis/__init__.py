"""Columns to results: the numbers of each feature, as frames with headline figures and notes.

In: decoded `Host` columns. Out: one `Result` per feature. Pure numpy and pandas: nothing here draws, reads or writes.

A feature is a module or a package of its name; ``events`` is what all of them build on.
"""
