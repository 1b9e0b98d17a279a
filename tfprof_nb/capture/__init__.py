"""A running program to profile files: the only folder that imports TensorFlow, and only when something is captured.

In: a block of code, a cell, batches of a Keras model, programs on other machines, sessions of TensorFlow 1. Out: a run
folder with one ``.xplane.pb`` and one sidecar per host.

==================  ===================================================================================================
one capture         ``recording`` runs it: ``window`` decides when, ``options`` what, ``run_folder`` where;
                    ``profiler`` is TensorFlow's, ``foreign_profilers`` are those that the program starts itself;
                    ``interrupts`` wait while a capture starts and ends
steps               ``marks`` for custom loops, ``keras`` for Keras models, ``step_marker`` for foreign profilers
beside it           ``sidecar`` is written from ``lines`` (with ``line_clock``), ``notebook``, ``metrics``,
                    ``tensorflow`` and ``graphs``
other processes     ``server`` answers in a program, ``remote`` asks it
sessions            ``sessions`` records the runs of a TensorFlow 1 session, ``session_graph`` its graph
one call            ``profile_call`` records tensors and ops
preflight           ``check`` looks at the machine
==================  ===================================================================================================
"""
