"""Time by line of code: ``source`` is the result.

``placed_ops`` has the line and the layer of each op, from ``cell_lines`` (which line of the cell ran when) and
``gradients`` (the forward node of each gradient).
"""
