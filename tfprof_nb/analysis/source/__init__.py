"""Time by line of code: ``source`` is the result.

``placed_ops`` has the line and the layer of each op, from ``cell_lines`` (which line of the cell ran when) and
``gradients`` (the forward node of each gradient).

``code`` has what stands where in the program's text. Files beside it answer one question each about that text, in
functions that take the code: ``loops`` and ``calls`` what these do, ``uses`` what a statement is for,
``traceable`` what keeps a function from being a graph, ``pipelines`` and ``mapped`` how a dataset is made and what its
map calls.
"""
