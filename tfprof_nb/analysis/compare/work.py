"""The work of a profiled program, as far as a profile records it: what was changed, and what cannot be compared."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.pace import Pace
from tfprof_nb.analysis.events.devices import device_cores, device_type
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.analysis.ops.flops import float_ops_of_events
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.xspace import DATASET_OPS

# Float ops differ even for the same model: by another metric, and by what tf.data happens to compute in a step.
_SAME_FLOAT_OPS = 0.25


@dataclass(frozen=True)
class Work:
    """What is known of a profile's work.

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
    batch
        Examples in a batch, where that is known.
    per_execution
        Batches per step, as Keras' ``steps_per_execution`` says.
    functions
        The functions that the steps call, by name.
    """

    hosts: int
    device: str
    tensorflow: str = ""
    phase: str = ""
    inputs: frozenset[str] = frozenset()
    float_ops: float = float("nan")
    batch: int | None = None
    per_execution: int = 1
    functions: frozenset[str] = frozenset()


def work(
    forests: Sequence[Forest],
    graphs: Sequence[Graphs],
    steps: Steps,
    groupings: Sequence[Grouping],
    versions: Iterable[str],
    pace: Pace,
    functions: Functions,
) -> Work:
    """Return the work that a profile records.

    Parameters
    ----------
    versions
        TensorFlow's, of all hosts; empty texts if they are unknown.
    """
    cores = device_cores(forests)
    device = f"{cores} × {device_type(forests)}" if cores > 1 else device_type(forests)
    phase = str(steps.measured["phase"].iloc[0]) if len(steps.measured) else ""
    inputs = frozenset(shapes for host in graphs for shapes in _inputs(host))
    measured = dict(list(steps.recorded.groupby("host", sort=False)))
    by_group = [
        forest.once(float_ops_by_group, own, grouping)
        for forest, own, grouping in zip(forests, graphs, groupings, strict=True)
    ]
    flops = [
        _float_ops(steps, place, by_group[place], measured[forest.host.name].index)
        for place, forest in enumerate(forests)
        if forest.host.name in measured
    ]
    per_step = float(np.median(np.concatenate(flops))) if any(map(len, flops)) else 0.0
    return Work(
        len(forests),
        device,
        ", ".join(sorted(set(versions) - {""})),
        phase,
        inputs,
        per_step or float("nan"),
        pace.batch,
        pace.per_execution,
        _called(functions, len(steps.measured)),
    )


def _called(functions: Functions, steps: int) -> frozenset[str]:
    """Return the functions that are called in at least every other step; a few calls belong to other things."""
    calls = functions.table.groupby("function")["calls"].sum()
    return frozenset(calls.index[calls >= max(steps / 2, 2)].astype(str))


def _inputs(graphs: Graphs) -> Iterator[str]:
    taken = graphs.nodes.loc[graphs.nodes["op"].isin(DATASET_OPS), "outputs"].astype(str)
    for outputs in taken.unique():
        yield " ".join(output[output.find("[") :] for output in outputs.split(";") if "[" in output)


def float_ops_by_group(forest: Forest, graphs: Graphs, grouping: Grouping) -> pd.Series | None:
    """Return the float ops of each group of one host; None if XLA fused ops, whose float ops are unknown."""
    if len(forest.host.texts("hlo_op").rows):
        return None
    events = np.flatnonzero(forest.on_host & (grouping.group >= 0))
    return pd.Series(float_ops_of_events(forest, graphs, events)).groupby(grouping.group[events]).sum()


def _float_ops(steps: Steps, host: int, by_group: pd.Series | None, measured: pd.Index) -> Floats:
    """Return the float ops of each measured step of one host, given by its place."""
    if by_group is None:
        return np.zeros(0)
    of_step = pd.Series(by_group.to_numpy(), steps.of_groups(host, by_group.index.to_numpy(np.int64)))
    return np.asarray(of_step[of_step.index >= 0].reindex(measured, fill_value=0.0), dtype=np.float64)


def why_not_same(before: Work, after: Work) -> list[str]:
    """Return what shows that two profiles cannot be compared as one program and its change; empty if nothing does."""
    differing = [
        ("hosts", str(before.hosts), str(after.hosts)),
        ("device", before.device, after.device),
        ("TensorFlow", before.tensorflow, after.tensorflow),
        ("kind of step", before.phase, after.phase),
    ]
    return [f"{what}: {old} before, {new} after" for what, old, new in differing if old and new and old != new]


def changes(before: Work, after: Work) -> list[str]:
    """Return how the program was changed, as far as two profiles show it; empty if they do not.

    Float ops are compared only where steps are alike: those of an optimizer do not depend on the batch size.
    """
    found = [*_changed("batch size", before.batch, after.batch)]
    found += _changed("steps per execution", before.per_execution, after.per_execution)
    # One of the two may have run more functions, such as an evaluation.
    if not found and not (before.inputs <= after.inputs or after.inputs <= before.inputs):
        found += _changed("shapes of a batch", *(" and ".join(sorted(side.inputs)) for side in (before, after)))
    if before.functions and after.functions and before.functions != after.functions:
        return found + _changed("functions", *(", ".join(sorted(side.functions)) for side in (before, after)))
    if not found and abs(before.float_ops - after.float_ops) > _SAME_FLOAT_OPS * max(before.float_ops, after.float_ops):
        found += _changed("float ops per step", *(_units.number(side.float_ops) for side in (before, after)))
    return found


def _changed(what: str, before: object, after: object) -> list[str]:
    return [f"{what}: {before} before, {after} after"] if before and after and before != after else []


def unknown(before: Work, after: Work) -> list[str]:
    """Return the parts of the work that not both profiles record."""
    known = {
        "TensorFlow's version": before.tensorflow and after.tensorflow,
        "the size of a batch": (before.batch and after.batch) or (before.inputs and after.inputs),
        "float ops": not np.isnan(before.float_ops + after.float_ops),
    }
    return [name for name, in_both in known.items() if not in_both]
