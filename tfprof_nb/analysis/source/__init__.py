"""Time by line of code: ``source`` is the result.

``cell`` reads how long lines of the profiled cell took, ``placed_ops`` finds the line and the layer of each op,
``gradients`` the forward node of each gradient.
"""
