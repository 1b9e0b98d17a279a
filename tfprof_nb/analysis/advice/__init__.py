"""What to change: ``advice`` is the result, ``findings`` defines its rows, ``input_advice`` is about the input."""
