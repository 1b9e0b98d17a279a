"""Stands in for scikit-learn, which Keras wraps where it is installed: 1 s of each process with TensorFlow."""

raise ImportError("No test needs scikit-learn")
