"""Rules about sessions of TensorFlow 1."""
