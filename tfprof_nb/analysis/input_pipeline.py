"""How the program gets its data: reading files, preprocessing, copying to the device.

The classes of input ops are XProf's (`op_stats_to_input_pipeline_analysis.cc`). A file read counts as advanced if a
stage between it and the end of the pipeline reads ahead or in parallel; a prefetch at the very end, which TensorFlow
adds by itself, does not count. Times are as measured: XProf scales them to the share of an infeed.
"""

from dataclasses import dataclass
from itertools import dropwhile

import pandas as pd

from tfprof_nb._units import US_PER_MS
from tfprof_nb.analysis.events.framework import Framework
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.tf_data.iterators import FILE_READERS, RUNTIME_STAGES, iterator_type, stage_of
from tfprof_nb.analysis.verdict import are_session_runs

COLUMNS = ["op_name", "count", "total_ms", "total_share", "self_ms", "self_share", "category"]
CATEGORIES = {
    "demanded_file_read_ms": "Demanded file read",
    "advanced_file_read_ms": "Advanced file read",
    "preprocessing_ms": "Preprocessing",
    "enqueue_ms": "Enqueue",
    "other_ms": "Other",
}

# The kinds of PyGrain's stages.
_STAGES = {
    "enqueue": CATEGORIES["enqueue_ms"],
    "read": CATEGORIES["demanded_file_read_ms"],
    "preprocessing": CATEGORIES["preprocessing_ms"],
    "unknown": CATEGORIES["other_ms"],
}
# Stages that read ahead or in parallel.
_AHEAD = frozenset(
    {"Interleave", "ParallelInterleave", "LegacyParallelInterleave", "Prefetch", "ParallelMap"}
    | {"MemoryReader", "MemoryWriter", "MemoryCache", "MemoryCacheImpl"}
)
_STEP_COLUMNS = ["host", "phase", "warm_up", "step_ms", "input_ms"]

_OF_SESSIONS = "A record of session.run does not tell how the program gets its data."
_NO_INPUT_OPS: dict[Framework, str] = {
    "tensorflow": (
        "No input op was recorded: the program does not read its data with tf.data, or host_level is below 2."
    ),
    "jax": ("This page lists the ops of tf.data and Grain: this JAX program ran none during the capture."),
    "pytorch": (
        "This page lists the ops of tf.data: a PyTorch program has none. The wait for its DataLoader and copies to the "
        "device appear as `input` in the steps."
    ),
}

_OF_OVERVIEW = ("input_percent", "input_between_steps_percent", "verdict", "verdict_reason", "framework")


@dataclass(eq=False, kw_only=True)
class InputPipeline(Result):
    """Input ops by self time, one row per stage; ``total_share`` and ``self_share`` are of the self time of all.

    Attributes
    ----------
    steps
        Per step: ``host phase warm_up step_ms input_ms input_percent``.
    """

    steps: pd.DataFrame


def input_pipeline(steps: Steps, ops: Ops, overview: Overview) -> InputPipeline:
    """Measure how long the program waits for data, and the ops that get it, from the other results of a profile.

    Returns
    -------
    InputPipeline
        Its summary has the overview's ``input_percent`` (of the time of the measured steps),
        ``input_between_steps_percent`` (of the time from the first step to the last), ``verdict``,
        ``verdict_reason`` and ``framework``; the self time of each
        class of input op, summed over threads; ``other_ms``, the time for which steps waited for data if no input op
        was recorded; ``step_ms_`` and ``input_ms_``, each with ``mean``, ``std``, ``min`` and ``max``, of the
        measured steps; and ``largest``, the key of the class with the most time, None without any.
    """
    table = _input_ops(ops)
    spent = table.groupby("category")["self_ms"].sum()
    times = {key: float(spent.get(category, 0.0)) for key, category in CATEGORIES.items()}
    if not len(table):
        times["other_ms"] = float(steps.table["input_ms"].sum())
    used: Framework = overview.summary["framework"]
    summary: dict[str, object] = {
        **{name: overview.summary[name] for name in _OF_OVERVIEW},
        **times,
        **{
            f"{column}_{name}": steps.timed[column].agg(name)
            for column in ("step_ms", "input_ms")
            for name in ("mean", "std", "min", "max")
        },
        "largest": max(times, key=lambda key: times[key]) if any(times.values()) else None,
    }
    in_session = len(steps.table) > 0 and are_session_runs(steps)
    notes = steps.notes if len(table) else [_OF_SESSIONS if in_session else _NO_INPUT_OPS[used], *steps.notes]
    return InputPipeline(table, summary, list(notes), steps=_steps(steps))


def _input_ops(ops: Ops) -> pd.DataFrame:
    host = ops.table[ops.table["side"] == "host"]
    kinds = zip(host["op_type"], host["op_name"], strict=True)
    category = pd.Series([_category(op_type, op_name) for op_type, op_name in kinds], index=host.index, dtype=object)
    mine = _by_stage(host.assign(category=category)[category.notna()])
    whole = mine["self_us"].sum()
    table = pd.DataFrame(
        {
            "op_name": mine["op_name"],
            "count": mine["occurrences"],
            "total_ms": mine["total_us"] / US_PER_MS,
            "total_share": (mine["total_us"] / whole).fillna(0.0),
            "self_ms": mine["self_us"] / US_PER_MS,
            "self_share": (mine["self_us"] / whole).fillna(0.0),
            "category": mine["category"],
        }
    )
    return table.sort_values(["self_ms", "op_name"], ascending=[False, True], ignore_index=True)[COLUMNS]


def _by_stage(ops: pd.DataFrame) -> pd.DataFrame:
    """Add up the iterators of one stage: each file and each repetition has its own. An only one keeps its name."""
    names = ops["op_name"].astype(object)
    stage = names.where(ops["op_type"] != "Dataset", names.map(stage_of))
    one = stage.groupby(stage).transform("size") == 1
    keys = ops.assign(op_name=names.where(one, stage)).groupby(["op_name", "category"], as_index=False, sort=False)
    return keys[["occurrences", "total_us", "self_us"]].sum()


def _category(op_type: str, op_name: str) -> str | None:
    """Return the class of an input op, None for other ops."""
    if op_type == "Dataset":
        return _iterator_category(op_name)
    if op_type.startswith("InfeedEnqueue") or op_type == "MemcpyHToD":
        return CATEGORIES["enqueue_ms"]
    return _STAGES.get(op_type.lower())


def _iterator_category(op_name: str) -> str:
    kinds = [iterator_type(part) for part in stage_of(op_name).split("::")[1:]]
    if not kinds or kinds[-1] not in FILE_READERS:
        return CATEGORIES["preprocessing_ms"]
    above = list(dropwhile(RUNTIME_STAGES.__contains__, kinds[:-1]))
    ahead = _AHEAD.intersection(above[1:] if above[:1] == ["Prefetch"] else above)
    return CATEGORIES["advanced_file_read_ms" if ahead else "demanded_file_read_ms"]


def _steps(steps: Steps) -> pd.DataFrame:
    table = steps.table[_STEP_COLUMNS].copy()
    table["input_percent"] = 100 * (table["input_ms"] / table["step_ms"].where(table["step_ms"] > 0)).fillna(0.0)
    return table
