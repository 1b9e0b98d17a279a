"""What to change: ``advice`` is the result. It applies every rule, and orders what they find.

``findings`` is what rules take and return. Each file ``…_advice`` has the rules of one subject; ``no_findings`` says
what stands where none of them applies.
"""
