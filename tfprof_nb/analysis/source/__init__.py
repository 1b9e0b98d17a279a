"""Time by line of code: ``source`` is the result.

``cell`` has the times of the profiled cell's lines, ``placed_ops`` the line and the layer of each op, ``gradients`` the
forward node of each gradient.
"""
