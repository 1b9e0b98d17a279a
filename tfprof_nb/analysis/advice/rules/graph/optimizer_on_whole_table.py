import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.graph._tables import has_moments, in_optimizer, name_and_place, on_all_rows, tables

RULE = Rule(
    "optimizer-on-whole-table",
    "The optimizer updates all rows of a large table",
    "Looks for optimizers with moments (Adam, SGD with momentum) on embeddings of 100,000 numbers or more, of which "
    "a step looks up at most a tenth.",
    "The moments of every row change in each step, so every row is read and written, even those not in the batch.",
    action="Use an optimizer that updates single rows",
    page="ops",
    moderate=30.0,
    high=60.0,
    saved=(0.6, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    after=("penalty-on-whole-table",),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    kept = [table for table in tables(ops.graphs) if has_moments(ops.graphs, table)] if ops.steps else []
    if not kept or earlier["penalty-on-whole-table"]:
        return
    own = np.logical_or.reduce([on_all_rows(ops.graphs, table.shape) for table in kept])
    percent = ops.percent(own & in_optimizer(ops.graphs))
    name, place = name_and_place(ops, kept[0])
    more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
    yield Case(
        percent,
        finding=f"The optimizer updates all {_units.count(kept[0].shape[0])} rows of {name}{more} in each step",
        evidence=f"A step looks up {_units.count(kept[0].rows_used)} rows. The optimizer's ops on whole tables "
        f"run in {_units.percent(percent)} of each step: it keeps moments of every row, and these change in each "
        "step.",
        fix="Use keras.optimizers.SGD without momentum, which updates only the rows of the batch; it needs "
        "another, often larger learning rate. Or reduce input_dim: let rare values share a row.",
        place=place,
    )
