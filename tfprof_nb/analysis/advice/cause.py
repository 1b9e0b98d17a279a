"""What makes steps wait for their data (`Cause`), as a rule found it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import Severity
from tfprof_nb.analysis.advice.rule import ChangesResults, Rule
from tfprof_nb.analysis.events.python_ops import PYTHON_OPS
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import with_argument
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

ROW_BY_ROW = re.compile(r"\.(?:iterrows|itertuples)\(|\.i?loc\[\w+\]|\brow\[[\"']")
_MOST = 0.5
_BUSY, _HALF = 0.7, 0.5  # of the cores; of the time in which the work may take them from the model
_SLEEPING_CODE = re.compile(r"\bsleep\(")
_WAITING_CODE = re.compile(r"\brequests\.|urlopen|urllib|\bhttpx?\.|socket|\.recv\(|boto3|\bs3\.|bigquery")


@dataclass(frozen=True)
class Cause:
    """What makes steps wait; the parts of the waiting that the change saves at least and at most; its top severity.

    ``percent`` is the share of the steps that the cause takes where it costs more than the waiting, ``beside_percent``
    the share of the time between the steps that the change may save too. ``rule`` is the id of its rule; it is empty of
    a cause that is unknown. ``instead_of`` are cases that say less about the same time: the rule, and the subject.
    """

    name: str = ""
    evidence: str = ""
    fix: str = ""
    change: str = ""
    place: str = ""
    least_saved: float = 0.3
    most_saved: float = 1.0
    severity: Severity = "high"
    percent: float = 0.0
    beside_percent: float = 0.0
    rule: str = ""
    instead_of: tuple[tuple[str, str], ...] = ()


def cause_rule(
    name: str,
    title: str,
    what: str,
    why: str,
    saved: tuple[float, float] = (0.3, 1.0),
    results: ChangesResults = "none",
) -> Rule:
    """Return the rule on a cause of waiting; ``saved`` is a part of the waiting."""
    return Rule(
        name,
        title,
        what,
        why,
        group="input",
        page="tf_data",
        moderate=MODERATELY_PERCENT,
        high=HIGHLY_PERCENT,
        saved=saved,
        part_of="input-bound",
        results=results,
    )


EAGER_OPS_IN_INPUT = cause_rule(
    "eager-ops-in-input",
    "Python runs TensorFlow's ops one by one to make the data",
    "Looks for generators and datasets of Keras that spend most of their time in ops that run eagerly.",
    "Python starts each op. In a function that tf.data maps, they run as one graph, on all cores.",
)
ROWS_OF_DATAFRAME = cause_rule(
    "dataframe-row-by-row",
    "The data is taken from a DataFrame row by row",
    "Looks for `iterrows`, `itertuples` and single rows of `loc` in functions that make the data.",
    "pandas makes an object for each row. Whole columns are arrays, of which a batch is a slice.",
    saved=(0.5, 1.0),
)


def generates(evidence: Evidence) -> bool:
    """Whether the slowest pipeline takes its data from a generator in Python."""
    return "Generator" in {iterator_type(name) for name in evidence.tf_data.table["long_name"]}


def in_python_ms(evidence: Evidence) -> float:
    """Return for how long Python functions ran in pipelines, and not in graphs."""
    ops, table = evidence.ops.table, evidence.python.table
    all_ms = float(ops.loc[ops["op_type"].isin(PYTHON_OPS), "self_us"].sum()) / _units.US_PER_MS
    return max(0.0, all_ms - float(table.loc[table["thread"] == "graph", "self_ms"].sum()))


def from_busy_cores(evidence: Evidence, work_ms: float) -> float:
    """Return the share of the steps, in percent, in which work of the pipeline may take cores that the model needs.

    It may where the program keeps the cores busy, on the whole or in the steps: at their ends it may sleep for long.
    """
    (busy, cores), steps = evidence.own_cores, evidence.steps.table
    steps_ms = float(steps["step_ms"].sum())
    computing = (work_ms + float(steps["host_compute_ms"].sum())) / steps_ms if steps_ms else 0.0
    return _HALF * 100 * work_ms / cores / steps_ms if cores and max(busy, computing) >= _BUSY * cores else 0.0


def in_parallel(evidence: Evidence, line: str) -> str:
    """Return the map at a line with parallel calls; empty if it has some, or is unknown."""
    change = with_argument(evidence.code, *line_at(line), "map", "num_parallel_calls=tf.data.AUTOTUNE")
    return change if change.count("num_parallel_calls") == 1 else ""


def does(code: str) -> str:
    """Say what Python does in a line that makes data, as far as its text shows it."""
    if _SLEEPING_CODE.search(code):
        return "sleeps"
    return "waits for a disk or network" if _WAITING_CODE.search(code) else "makes the data in Python"


def waits(code: str) -> bool:
    """Whether Python waits in a line that makes data, as far as its text shows it."""
    return any(pattern.search(code) for pattern in (_SLEEPING_CODE, _WAITING_CODE))


def runs_ops(table: pd.DataFrame) -> tuple[str, str] | None:
    """Return the function that spends most time in TensorFlow's ops, and its line; None if they take less than half."""
    of_ops = table[table["library"] == "TensorFlow"]
    if not of_ops["self_ms"].sum() > _MOST * table["self_ms"].sum() > 0:
        return None
    function = str(of_ops.groupby("function", sort=False)["self_ms"].sum().idxmax())
    longest = of_ops[of_ops["function"] == function].nlargest(1, "self_ms").iloc[0]
    return function, place_of(str(longest["file"]), int(longest["line"]))
