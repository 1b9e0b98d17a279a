"""The work of a profiled program per step, as far as a profile records it: only the same work can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.analysis.events.devices import device_cores, device_type
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.ops.flops import float_ops_of_events
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.xspace import DATASET_OPS

# Float ops differ a little even for the same model: by a smaller last batch, or another metric.
_SAME_FLOAT_OPS = 0.01


@dataclass(frozen=True)
class Work:
    """What two profiles of the same work have in common.

    Attributes
    ----------
    hosts, device
        The number of hosts, and the devices of all of them: ``2 × Nvidia GPU (Hopper)``.
    tensorflow
        TensorFlow's version; empty if the profile does not record it.
    phase
        The phase of the measured steps: ``train``, ``test``, ``predict``, a mark's name; empty without steps.
    inputs
        The shapes that the functions take from their datasets, as ``[32,10] [32]``; empty if they are unknown.
    float_ops
        Floating-point operations of the median measured step; NaN if they are unknown, and if XLA fused ops.
    """

    hosts: int
    device: str
    tensorflow: str = ""
    phase: str = ""
    inputs: frozenset[str] = frozenset()
    float_ops: float = float("nan")


def work(
    forests: Sequence[Forest], graphs: Sequence[Graphs], steps: Steps, of_events: Sequence[Int64], tensorflow: str
) -> Work:
    """Return the work that a profile records.

    Parameters
    ----------
    forests, graphs, of_events
        Per host: its events, the functions that ran, and the step of every event.
    steps
        The steps of all hosts.
    tensorflow
        The version, empty if it is unknown.
    """
    cores = device_cores(forests)
    device = f"{cores} × {device_type(forests)}" if cores > 1 else device_type(forests)
    phase = str(steps.measured["phase"].iloc[0]) if len(steps.measured) else ""
    inputs = frozenset(shapes for host in graphs for shapes in _inputs(host))
    flops = [_float_ops(*host, steps.measured) for host in zip(forests, graphs, of_events, strict=True)]
    per_step = float(np.median(np.concatenate(flops))) if any(map(len, flops)) else 0.0
    return Work(len(forests), device, tensorflow, phase, inputs, per_step or float("nan"))


def _inputs(graphs: Graphs) -> Iterator[str]:
    taken = graphs.nodes.loc[graphs.nodes["op"].isin(DATASET_OPS), "outputs"].astype(str)
    for outputs in taken.unique():
        yield " ".join(output[output.find("[") :] for output in outputs.split(";") if "[" in output)


def _float_ops(forest: Forest, graphs: Graphs, step: Int64, measured: pd.DataFrame) -> Floats:
    """Return the float ops of each measured step of one host; none if XLA fused ops, whose float ops are unknown."""
    if len(forest.host.texts("hlo_op").rows):
        return np.zeros(0)
    events = np.flatnonzero(forest.on_host)
    mine = measured.index[(measured["host"] == forest.host.name).to_numpy()]
    float_ops = pd.Series(float_ops_of_events(forest, graphs, events)).groupby(step[events]).sum()
    return np.asarray(float_ops.reindex(mine, fill_value=0.0), dtype=np.float64)


def why_not_same(before: Work, after: Work) -> list[str]:
    """Return what shows that the work of two profiles differs; empty if nothing does."""
    differing = [
        ("hosts", str(before.hosts), str(after.hosts)),
        ("device", before.device, after.device),
        ("TensorFlow", before.tensorflow, after.tensorflow),
        ("kind of step", before.phase, after.phase),
    ]
    differences = [f"{what}: {old} before, {new} after" for what, old, new in differing if old and new and old != new]
    # One of the two may have run more functions, such as an evaluation.
    if not (before.inputs <= after.inputs or after.inputs <= before.inputs):
        shapes = (" and ".join(sorted(side.inputs)) for side in (before, after))
        differences.append("shapes of a batch: {} before, {} after".format(*shapes))
    if abs(before.float_ops - after.float_ops) > _SAME_FLOAT_OPS * max(before.float_ops, after.float_ops):
        counts = (_units.number(side.float_ops) for side in (before, after))
        differences.append("float ops per step: {} before, {} after".format(*counts))
    return differences


def unknown(before: Work, after: Work) -> list[str]:
    """Return the parts of the work that not both profiles record."""
    known = {
        "TensorFlow's version": before.tensorflow and after.tensorflow,
        "the shapes of a batch": before.inputs and after.inputs,
        "float ops": not np.isnan(before.float_ops + after.float_ops),
    }
    return [name for name, in_both in known.items() if not in_both]
