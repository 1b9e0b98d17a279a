"""What to change: ``advice`` is the result.

``findings`` is what rules take and return; ``input_advice`` has the rules about input, ``advice`` the others.
"""
