"""Which events ran eagerly, op by op, rather than inside a compiled `tf.function`."""

import numpy as np

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.names import Category, Op
from tfprof_nb.formats.xspace import DISPATCH


def ran_eagerly(forest: Forest) -> Bools:
    """Return per event whether it ran eagerly: inside the eager execution of an op, or launched from there.

    An execution without the stat `is_func` counts as that of a function. Iterators of tf.data are never eager; the op
    that fetches from them may be.
    """
    host = forest.host
    kind = host.ints("is_func")
    kernels = kind.rows[forest.named("EagerKernelExecute")[kind.rows]]
    executes = np.union1d(np.flatnonzero(forest.named("EagerExecute")), kernels)
    is_func = kind.at(executes, missing=1)
    eager = np.zeros(len(host), dtype=bool)
    iterators = forest.with_names(forest.names.category == Category.TF_DATA)
    # Most events are outermost, and so in no execution.
    inner = np.flatnonzero((forest.nesting.depth > 0) & forest.on_host & ~iterators)
    nearest = forest.nearest_ancestor(inner, executes)
    inside = nearest >= 0
    eager[inner[inside]] = is_func[nearest[inside]] == 0
    _pass_to_devices(forest, eager)
    saved = host.ints("is_eager")
    eager[saved.rows] = saved.values == 1
    return eager


def unnamed_eager_ops(forest: Forest, ops: Int64, eager: Bools) -> Int64:
    """Return the eager dispatches in which none of the events ``ops`` lies; ``eager`` has one entry per event.

    TensorFlow 2.9 and later record no event of the op itself for most ops that run eagerly on the CPU.
    """
    dispatches = np.flatnonzero(forest.name_starts(DISPATCH) & forest.on_host & eager)
    around = forest.nearest_ancestor(ops, dispatches)
    return np.delete(dispatches, np.unique(around[around >= 0]))


def dispatched_op(name: str) -> Op:
    """Return the op that a dispatch names; of an eager op only the type is known."""
    op_type = name.removeprefix(DISPATCH)
    return Op(Category.TENSORFLOW, op_type, op_type)


def _pass_to_devices(forest: Forest, eager: Bools) -> None:
    """Mark, in place, the kernels of calls that ran eagerly."""
    stat = forest.host.ints("correlation_id")
    launches = forest.on_host[stat.rows]
    eager_ids = stat.values[launches][eager[stat.rows[launches]]]
    eager[stat.rows[~launches]] = np.isin(stat.values[~launches], eager_ids)
