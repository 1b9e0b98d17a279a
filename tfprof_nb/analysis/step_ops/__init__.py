"""What the ops of the typical steps do, for advice.

``step_ops`` has the ops, and the time that they cover. From it, and from the graphs of the functions that ran, follow
``layers`` (the cost of each), ``small_ops`` (many of them made by few lines) and ``repeated`` (values that are the same
in every step).
"""
