"""Run a notebook cell as it is and changed, in turns, and leave the user's objects as they were.

``cell`` compiles both and says why one cannot be repeated; ``state`` keeps the Python objects that they can reach and
``framework_state`` what TensorFlow and Keras keep elsewhere; ``scratch`` is the folder that they write to; ``steps``
counts steps and ends a run; ``outcomes`` takes along what a run made, and the examples; ``turns`` lets both
take turns.
"""
