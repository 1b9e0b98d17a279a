"""Measure an input pipeline by itself: each of its stages, and what a change would gain.

``stages`` reads a pipeline and makes copies of it, which share no state with it; ``what_ifs`` changes copies;
``draws`` times them; ``untouched`` keeps what they could change; ``code`` writes a change as code; ``measure`` puts
it together.
"""
