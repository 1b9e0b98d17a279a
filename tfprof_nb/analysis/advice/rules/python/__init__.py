"""Rules about Python that runs in, between or beside the steps."""
