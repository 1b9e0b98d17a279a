"""When steps begin and end, and what each spent its time on: ``steps`` is the result.

==================  ==================================================================================================
events to steps     ``groups`` assigns events to steps: by marks, or by repetitions (``unmarked``)
times               ``spans`` (with devices), ``activities`` (classes of work), ``breakdown`` (time by category)
texts               ``marks`` (names, phases, epochs), ``capture_notes`` (how the program was captured)
==================  ==================================================================================================
"""
