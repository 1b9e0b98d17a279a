"""Calls of tf.functions: ``functions`` is the result, ``retracing`` says why a function was traced again."""
