"""What a profiled program did per step, as far as a profile tells: only times of the same work are to be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.analysis.events.devices import device_cores, device_type
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.op_labels import label_all_ops
from tfprof_nb.analysis.ops.flops import float_ops_of_events
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.graphs import Graphs

_TAKES_INPUT = ("IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue")
# Float ops differ a little without another model: a last batch that is cut, a metric more.
_SAME_FLOAT_OPS = 0.01


@dataclass(frozen=True)
class Work:
    """What is the same in two profiles of the same work.

    Attributes
    ----------
    hosts, device
        How many hosts, and the devices of all of them: ``2 × Nvidia GPU (Hopper)``.
    tensorflow
        TensorFlow's version; empty where the profile does not tell.
    phase
        Of the measured steps: ``train``, ``test``, ``predict``, a mark's name; empty without steps.
    inputs
        The shapes that the functions take from their datasets, as ``[32,10] [32]``; empty where they are not known.
    float_ops
        Floating-point operations of the median measured step; NaN where they are not known, and where XLA fused ops.
    """

    hosts: int
    device: str
    tensorflow: str = ""
    phase: str = ""
    inputs: frozenset[str] = frozenset()
    float_ops: float = float("nan")


def read_tensorflow(section: Mapping[str, Any]) -> str:
    """Return what a sidecar's section ``versions`` says of TensorFlow."""
    return str(section.get("tensorflow", ""))


def work(
    forests: Sequence[Forest], graphs: Sequence[Graphs], steps: Steps, of_events: Sequence[Int64], tensorflow: str
) -> Work:
    """Gather what a profile tells of the work that was done.

    Parameters
    ----------
    forests, graphs, of_events
        Per host: its events, the functions that ran, and the step of every event.
    steps
        The steps of all hosts.
    tensorflow
        The version, empty where it is not known.
    """
    cores = device_cores(forests)
    device = f"{cores} × {device_type(forests)}" if cores > 1 else device_type(forests)
    phase = str(steps.measured["phase"].iloc[0]) if len(steps.measured) else ""
    inputs = frozenset(shapes for host in graphs for shapes in _inputs(host))
    flops = [_float_ops(*host, steps.measured) for host in zip(forests, graphs, of_events, strict=True)]
    per_step = float(np.median(np.concatenate(flops))) if any(map(len, flops)) else 0.0
    return Work(len(forests), device, tensorflow, phase, inputs, per_step or float("nan"))


def _inputs(graphs: Graphs) -> Iterator[str]:
    taken = graphs.nodes.loc[graphs.nodes["op"].isin(_TAKES_INPUT), "outputs"].astype(str)
    for outputs in taken.unique():
        yield " ".join(output[output.find("[") :] for output in outputs.split(";") if "[" in output)


def _float_ops(forest: Forest, graphs: Graphs, step: Int64, measured: pd.DataFrame) -> Floats:
    """Float ops of each measured step of one host; none where XLA fused ops, which then tell nothing of theirs."""
    if len(forest.host.texts("hlo_op").rows):
        return np.zeros(0)
    ops = np.where(forest.on_host, float_ops_of_events(forest, graphs, forest.once(label_all_ops)), 0.0)
    mine = measured.index[(measured["host"] == forest.host.name).to_numpy()]
    return np.asarray(pd.Series(ops).groupby(step).sum().reindex(mine, fill_value=0.0), dtype=np.float64)


def why_not_same(before: Work, after: Work) -> list[str]:
    """Return what tells that two profiles are not of the same work; empty where nothing does."""
    differing = [
        ("hosts", str(before.hosts), str(after.hosts)),
        ("device", before.device, after.device),
        ("TensorFlow", before.tensorflow, after.tensorflow),
        ("kind of step", before.phase, after.phase),
    ]
    found = [f"{what}: {old} before, {new} after" for what, old, new in differing if old and new and old != new]
    # One of the two may have run something more, such as an evaluation.
    if not (before.inputs <= after.inputs or after.inputs <= before.inputs):
        shapes = (" and ".join(sorted(side.inputs)) for side in (before, after))
        found.append("shapes of a batch: {} before, {} after".format(*shapes))
    if abs(before.float_ops - after.float_ops) > _SAME_FLOAT_OPS * max(before.float_ops, after.float_ops):
        counts = (_units.number(side.float_ops) for side in (before, after))
        found.append("float ops per step: {} before, {} after".format(*counts))
    return found


def unknown(before: Work, after: Work) -> list[str]:
    """Return what the profiles do not tell, or one of them does not, of the work that was done."""
    told = {
        "TensorFlow's version": before.tensorflow and after.tensorflow,
        "the shapes of a batch": before.inputs and after.inputs,
        "float ops": not np.isnan(before.float_ops + after.float_ops),
    }
    return [name for name, known in told.items() if not known]
