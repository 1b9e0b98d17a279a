"""A running program to profile files: the only folder that imports TensorFlow, and only when something is captured.

In: a block of code, a cell, a Keras model's batches, programs on other machines, sessions of TensorFlow 1. Out: a run
folder with one ``.xplane.pb`` and one sidecar per host.

==================  ===================================================================================================
one capture         ``recording`` runs it: ``window`` says when, ``profiler`` records, ``options`` what,
                    ``run_folder`` is where; ``other_profilers`` are those that the program starts itself;
                    ``interrupts`` wait while it begins and ends
steps               ``marks`` of the program's own, ``keras`` for Keras models, ``step_marker`` for others' profilers
beside it           ``sidecar`` holds what ``lines`` (with ``line_clock``), ``notebook``, ``metrics``, ``graphs`` tell
graphs              ``graph_section`` puts together ``function_nodes``, ``keras_layers`` and ``source_lines``
other processes     ``server`` answers there, ``remote`` asks here: ``workers`` are who, ``rpc`` is how
sessions            ``sessions`` records runs of TensorFlow 1, ``session_graph`` their graph
one call            ``call`` watches tensors and ops for ``profile_call``
preflight           ``environment`` looks, ``diagnosis`` judges
==================  ===================================================================================================
"""
