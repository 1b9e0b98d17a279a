"""``profile_call``: what one call of a function costs in memory and time."""

import tempfile
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import suppress
from typing import ParamSpec, TypeVar

import numpy as np
import pandas as pd

from tfprof_nb._errors import CaptureError
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.profile_call import CallProfile, RecordedCall, call_profile
from tfprof_nb.capture.graphs import graphs
from tfprof_nb.capture.marks import Mark
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.profile_call import CallRecord, Change, EagerOp, recorded_call
from tfprof_nb.capture.recording import Recording
from tfprof_nb.capture.window import Window
from tfprof_nb.decode import load_hosts
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs
from tfprof_nb.decode.sidecar import read_sidecar
from tfprof_nb.formats.files import XSPACE
from tfprof_nb.formats.marks import CALL
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.render.content import Content
from tfprof_nb.views import profile_call as call_view

P = ParamSpec("P")
R = TypeVar("R")


_NOT_DONE = (
    "The function returned a generator or a coroutine, whose work comes later and is not measured here. Profile a "
    "function that does the work: tfprof_nb.profile_call(list, generator)."
)


def profile_call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> CallProfile:
    """Call a function and measure what the call costs in memory and time, kernel by kernel.

    Parameters
    ----------
    function
        The function. Its exceptions propagate.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    CallProfile
        Its ``result`` is the function's. ``new_bytes`` is the memory of the ``new_tensors``: eager tensors and
        variables that the call made and that are still alive after it. ``peak_bytes`` is the most that what it made
        took at one time, with what tf.functions held meanwhile as far as the allocator tells. ``table`` has one row per
        kernel: ``name op_name function bytes_added total_bytes input_shapes output_shapes time_us``.

    Raises
    ------
    CaptureActiveError
        If a profiler is running in this process already.
    MissingDependencyError
        If TensorFlow is not installed.

    Notes
    -----
    Tensors that share memory (`tf.reshape`, the value of a variable) count it once, and not at all where it was there
    before the call. Datasets, iterators and numpy arrays are not counted; of strings, only their text. A function that
    traces in this call makes the constants that its graph keeps: call it once before, to leave tracing out.

    Examples
    --------
    >>> import tensorflow as tf
    >>> import tfprof_nb as tp
    >>> call = tp.profile_call(tf.constant, [[[[1.0, 2.0, 3.0, 4.0]]]])
    >>> call.new_bytes, call.new_tensors
    (16, 1)
    """
    __tracebackhide__ = True
    with tempfile.TemporaryDirectory(prefix="tfprof_nb-") as folder:
        recording = Recording(folder, Options(), {Section.GRAPHS: graphs()}, Window(record_all=True)).start()
        try:
            with recorded_call() as record:
                result = _marked_call(function, *args, **kwargs)
        except BaseException:
            with suppress(CaptureError):
                recording.stop()
            raise
        run = recording.stop()
        (file,) = run.glob(f"*{XSPACE}")
        (host,) = load_hosts([file])
        told = read_sidecar(file).read(Section.GRAPHS, read_graphs)
        profile = _profiled(result, record, Forest(host), told)
    name = getattr(function, "__name__", type(function).__name__)
    profile.shown_by(lambda: Content(f"{name} · one call", call_view.panels(profile)))
    if isinstance(result, Generator | Coroutine | AsyncGenerator):
        profile.notes.append(_NOT_DONE)
    return profile


def _marked_call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    __tracebackhide__ = True
    mark = Mark.of_step(CALL, 0)
    try:
        return function(*args, **kwargs)
    finally:
        mark.close()


def _profiled(result: object, record: CallRecord, forest: Forest, told: Graphs) -> CallProfile:
    changes = pd.DataFrame(record.changes, columns=Change._fields, dtype=np.int64)
    ops = pd.DataFrame(record.ops, columns=EagerOp._fields)
    return call_profile(RecordedCall(result, changes, record.shared, ops), forest, told)
