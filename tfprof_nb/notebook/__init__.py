"""The notebook's commands: ``magics``, and ``cell_code``, which compiles and runs a cell as IPython does."""
