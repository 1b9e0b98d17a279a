"""What makes steps wait for their data (`Cause`), and what several rules on that look at."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from graphlib import TopologicalSorter

from tfprof_nb import _units
from tfprof_nb.analysis.advice import ChangesResults, Evidence, Order, Rule, Severity, catalogue
from tfprof_nb.analysis.events.python_ops import PYTHON_OPS
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.rewriting import with_argument
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

# The training and the thread that makes the batches keep as many busy by themselves.
_FEW_CORES = 2
_BUSY, _HALF = 0.7, 0.5  # of the cores; of the time in which the work may take them from the model
_SAVED = 0.3, 1.0  # of the waiting, where a rule does not know more
_SLEEPING_CODE = re.compile(r"\bsleep\(")
_WAITING_CODE = re.compile(r"\brequests\.|urlopen|urllib|\bhttpx?\.|socket|\.recv\(|boto3|\bs3\.|bigquery")


@dataclass(frozen=True)
class Cause:
    """What makes steps wait, its top severity, and the share of the waiting that its rule's ``saved`` is a part of.

    ``percent`` is the share of the steps that the cause takes where it costs more than the waiting, ``beside_percent``
    the share of the time between the steps that the change may save too. ``rule`` is the id of its rule, empty
    where the cause is unknown. ``without_change`` is the fix in other words, where the code cannot be shown, and
    ``instead_of`` are cases that say less about the same time: the rule, and the subject.
    """

    name: str = ""
    evidence: str = ""
    fix: str = ""
    change: str = ""
    place: str = ""
    share: float = 1.0
    severity: Severity = "high"
    percent: float = 0.0
    beside_percent: float = 0.0
    rule: str = ""
    instead_of: tuple[tuple[str, str], ...] = ()
    without_change: str = ""

    @property
    def saved(self) -> tuple[float, float]:
        """The parts of the waiting that the change saves at least and at most."""
        least, most = (catalogue.rules()[self.rule].saved if self.rule else None) or _SAVED
        return self.share * least, self.share * (1.0 if most is None else most)


def cause_rule(
    name: str,
    title: str,
    what: str,
    why: str,
    action: str = "",
    saved: tuple[float, float] = _SAVED,
    results: ChangesResults = "none",
    after: str = "",
    order: Order = "usual",
) -> Rule:
    """Return the rule on a cause of waiting that is looked for after another; ``saved`` is a part of the waiting."""
    return Rule(
        name,
        title,
        what,
        why,
        action=action,
        page="tf_data",
        moderate=MODERATELY_PERCENT,
        high=HIGHLY_PERCENT,
        saved=saved,
        part_of="input-bound",
        after=(after,) if after else (),
        order=order,
        results=results,
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


def without_cores(evidence: Evidence) -> str:
    """Say how few cores there are, if processes that compute beside the training would find none; else empty."""
    _, cores = evidence.own_cores
    if not 0 < cores <= _FEW_CORES:
        return ""
    return "one core" if cores == 1 else f"{cores} cores"


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


@cache
def _causes() -> Sequence[tuple[str, Callable[[Evidence], Cause | None]]]:
    """Return the rules on causes, in the order in which they are looked for, with their functions."""
    modules = catalogue.modules("rules.input")
    found = {module.RULE.id: module for module in modules if hasattr(module, "cause")}
    order = TopologicalSorter({name: module.RULE.after for name, module in found.items()})
    return [(name, found[name].cause) for name in order.static_order()]


def cause_of_waiting(evidence: Evidence) -> Cause:
    """Return what makes the steps wait for their data; the cause has no name if that is unknown."""
    for name, look in _causes():
        if cause := look(evidence):
            return replace(cause, rule=name)
    return Cause()
