"""Calls of tf.functions: ``functions`` is the result, ``retracing`` finds why a function was traced again."""
