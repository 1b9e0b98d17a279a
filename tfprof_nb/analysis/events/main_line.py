"""Which line of the host has the events of the thread that runs the program."""

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode.session_runs import RUNS
from tfprof_nb.formats.marks import CALLBACK, CELL_LINE, KERAS_CALL, LOOP_LINE, SESSION_CALL, STEP_NUMBER
from tfprof_nb.formats.xspace import DISPATCH

_OF_THE_PROGRAM = (CELL_LINE, KERAS_CALL, LOOP_LINE, CALLBACK)


def main_line(forest: Forest) -> int:
    """Return the line of the main thread, -1 if none is known.

    It has the events of the cell's lines and of Keras' calls; else the marks of steps, else it dispatches most ops, or
    runs a session.
    """
    host, named = forest.host, forest.name_starts
    for chosen in (named(*_OF_THE_PROGRAM), _marks(forest), named(DISPATCH), named(SESSION_CALL, "SessionRun")):
        on_lines = np.bincount(host.line[chosen & forest.on_host], minlength=len(host.lines))
        if on_lines.any():
            return int(on_lines.argmax())
    return -1


def _marks(forest: Forest) -> Bools:
    marks = np.zeros(len(forest.host), dtype=bool)
    marks[forest.host.ints(STEP_NUMBER).rows] = True
    runs = np.array([line.name == RUNS for line in forest.host.lines], dtype=bool)  # which show no thread
    of_threads: Bools = marks & ~runs[forest.host.line]
    return of_threads
