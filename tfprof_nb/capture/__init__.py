"""Making profiles: the only folder that imports TensorFlow, and only when something is captured."""
