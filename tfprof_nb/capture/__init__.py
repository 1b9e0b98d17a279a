"""A running program to profile files: the only folder that imports TensorFlow, and only when something is captured.

In: a block of code, a cell, a Keras model's batches. Out: a run folder with one ``.xplane.pb`` per host.
"""
