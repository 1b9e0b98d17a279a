"""Measure a training step on a batch in memory, as it is and changed, on a copy of the model.

``keras_copy`` copies a model and its optimizer; ``variants`` makes what is measured; ``measure`` lets them take turns.
"""
