"""Where steps begin and end, and what each spent its time on.

``steps`` is the result. ``groups`` assigns events to steps: by marks, by ``loops`` of TensorFlow, or by
``repeated_calls``. ``activities`` says what the program did at each moment, ``gaps`` what it did between steps,
``capture_notes`` why there are no steps.
"""
