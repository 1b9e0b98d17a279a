"""Rules about sessions of TensorFlow 1."""

SESSION_RUN = "BaseSession.run"  # what Python calls to run one
