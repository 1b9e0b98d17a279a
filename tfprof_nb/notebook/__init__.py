"""The notebook's commands: ``magics``, with ``arguments``.

``cell_code`` compiles and runs a cell as IPython does, ``profiled_cell`` under a capture, with ``live`` below it. The
``outcome`` is shown. ``completion`` offers the options.
"""
