"""Measure an input pipeline by itself: each of its stages, and what a change would gain.

``pipelines`` reads a pipeline as stages above a source and makes copies of it, which share no state with it: ``stages``
has what a stage is, ``dataset_kinds`` reads each kind of dataset, and the source below them all. ``what_ifs`` changes
copies, ``copies`` compares their elements; ``draws`` times them; ``untouched`` keeps what they could change; ``code``
writes a change as code; ``measure`` puts it together.
"""
