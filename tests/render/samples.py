"""Panels as views make them, with every kind in it, and names as hostile as names of ops can be."""

import zlib

import numpy as np
import pandas as pd

from tfprof_nb.render import theme
from tfprof_nb.render.panels import (
    Bars,
    Box,
    Column,
    Figure,
    KeyFigures,
    Lines,
    Link,
    Network,
    Note,
    Part,
    Series,
    Split,
    StackedBars,
    Tab,
    Table,
    Tabs,
    Timeline,
)

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\x00\x1b 🚀"
COLUMNS = [
    Column("op_name", "name", "code"),
    Column("op_type", "type"),
    Column("occurrences", "count", "count"),
    Column("self_us", "self time", "us", meaning="without the ops inside"),
    Column("self_share", "share", "share", bar=True),
    Column("eager", "eager", "flag"),
]


class Events:
    """Two tracks over two seconds, busy in turn; step 7 is the second half."""

    def header(self):
        return {
            "version": 1,
            "unit_ps": 1,
            "span_ps": 2_000_000_000_000,
            "events": 0,
            "names": ["train_step", "model/dense/MatMul:MatMul"],
            "colors": [],
            "groups": [],
            "tracks": [],
            "steps": [{"step": 7, "start_ps": 1_000_000_000_000, "duration_ps": 1_000_000_000_000}],
            "notes": [],
        }

    def payload(self):
        return zlib.compress(b"")

    def overview(self, bins):
        first_half = np.arange(bins) < bins // 2
        return np.array([first_half, ~first_half], dtype=np.float64), ["python", HOSTILE]

    def event_name(self, op):
        return "model/dense/MatMul:MatMul" if op == "model/dense/MatMul" else op

    def event_of(self, op, start_ps, end_ps):
        """Events of train_step from 5 to 9 ps begin with event 41."""
        return {"event": 41} if (op, start_ps, end_ps) == ("train_step", 5, 9) else None

    def details(self, event):
        return {}


def steps(count, marked=(0.0, 1.0)):
    """Every step: 2 ms of input on 1 ms of host compute; the first step compiles for 9 ms more."""
    compiled = np.zeros(count)
    compiled[:1] = 9.0
    series = [
        Series("host compute", np.full(count, 1.0), theme.BLUE),
        Series("input", np.full(count, 2.0), theme.VERMILLION),
        Series("compilation", compiled, theme.YELLOW),
    ]
    return StackedBars(
        "Steps", np.arange(count, dtype=np.float64), series, "step", "ms", marked, "warm-up", selects="step"
    )


def ops(count):
    names = [HOSTILE, "n" * 10_000, *(f"model/block_{k}/" + "scope/" * 48 for k in range(count - 2))]
    frame = pd.DataFrame(
        {
            "op_name": names,
            "op_type": "Conv2D",
            "occurrences": np.arange(count),
            "self_us": np.linspace(1e6, 1, count),
            "self_share": 1 / count,
            "eager": False,
        }
    )
    return Table("Ops", frame, COLUMNS, selects="op_name")


def memory(count=500, stacked=True):
    x = np.linspace(0, 10, count)
    heap = np.zeros(count)
    heap[count // 2] = 8.0
    series = [Series("stack", np.full(count, 2.0), theme.WINE), Series("heap", heap, theme.TEAL)]
    return Lines("Memory in use", x, series, "time, ms", "MiB", stacked)


def split():
    parts = [Part("input", 75.0, theme.VERMILLION), Part("host compute", 24.0, theme.BLUE)]
    return Split("Average step", [*parts, Part("other", 1.0, theme.GREY)])


def bars():
    return Bars("Self time by type", [Part("MatMul", 3000.0, theme.BLUE), Part(HOSTILE, 1000.0, theme.VERMILLION)])


def pipeline():
    """Two sources into one stage into the end; the first source is slow."""
    boxes = [
        Box(HOSTILE, ("total 7 ms",), 0.7, (), "bottleneck"),
        Box("Range", ("total 1 ms",), 0.1, ()),
        Box("Zip", ("total 8 ms",), 0.1, (0, 1)),
        Box("Root", ("total 9 ms",), 0.1, (2,)),
    ]
    return Network("Pipeline", boxes, theme.GREY)


def chooser(shown=1):
    choices = [Tab(f"call {k}", [Note(f"details of {k}")].copy) for k in range(9)]
    return Tabs(choices, "menu", "call", shown=shown)


def dashboard(count=40):
    """A dashboard as large as they get: the answer, then a page per feature."""
    pages = {
        "Overview": [KeyFigures([Figure("step time", "3.00 ms", "mean")]), steps(count), ops(2000)],
        "Steps": [steps(400)],
        "Ops": [bars(), ops(2000)],
        "tf.data": [pipeline(), chooser()],
        "Memory": [memory(3000)],
        "Kernels": [
            Note("This profile has no device events.", "empty"),
            Table("Kernels", ops(2).frame.head(0), COLUMNS),
        ],
        "Trace": [Timeline("Trace", Events())],
    }
    answer = [
        Note("HIGHLY input-bound: 75% of each step waits for data.", "answer"),
        Note("Prefetch.", "advice", [Link("See tf.data", "tf.data"), Link("See trace", "Trace", HOSTILE, (5, 9))]),
        split(),
    ]
    return [*answer, Tabs([Tab(name, panels.copy) for name, panels in pages.items()])]
