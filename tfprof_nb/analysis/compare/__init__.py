"""Two profiles: ``compare`` is the result.

``work`` says whether both did the same work, ``renumbered`` pairs ops that changed their numbers, ``between_runs``
tells a difference from chance.
"""
