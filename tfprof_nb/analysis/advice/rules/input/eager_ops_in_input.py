import pandas as pd

from tfprof_nb.analysis.advice import Evidence, at
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._python import dataset_class, makes_data, python_source
from tfprof_nb.analysis.source.code import place_of

_MOST = 0.5
_MAP_OPS = (
    "Put these ops into a function, and pass that to the dataset: `tf.data.Dataset.from_tensor_slices((x, y)).map(f, "
    "num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)`. They then run as a graph, on all cores."
)
_TRACE_OPS = (
    "Put these ops into one function with @tf.function, and call it with a whole batch: they then run as a graph, "
    "which uses all cores and needs no Python."
)

RULE = cause_rule(
    "eager-ops-in-input",
    "Python runs TensorFlow's ops eagerly to make the data",
    "Looks for generators and datasets of Keras that spend most of their time in ops that run eagerly.",
    "Python starts each op. In a function that tf.data maps, they run as one graph, on all cores.",
    action="Let tf.data run these ops",
    saved=(0.2, 1.0),
    after="dataframe-row-by-row",
)


def cause(evidence: Evidence) -> Cause | None:
    table = makes_data(evidence)
    running = _runs_ops(table) if table is not None else None
    if running is None or table is None:
        return None
    name = f"{running[0]} runs TensorFlow ops eagerly, in Python"
    if dataset := dataset_class(evidence):
        rows = table[table["self_ms"] > 0]
        file, defined, _ = evidence.code.method(f"{dataset}.__getitem__")
        first = (str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else (file, defined)
        place = place_of(*first) if first[1] else ""
        shown = f"{dataset}.__getitem__{at(place)} makes the batches"
        return Cause(name, shown, _TRACE_OPS, place=running[1])
    source = python_source(evidence)
    if not source or not source.is_met or any(evidence.code.find(r"(py_function|numpy_function)\(")):
        return None
    return Cause(name, source.shown, _MAP_OPS, place=running[1])


def _runs_ops(table: pd.DataFrame) -> tuple[str, str] | None:
    """Return the function that spends most time in TensorFlow's ops, and its line; None if they take less than half."""
    of_ops = table[table["library"] == "TensorFlow"]
    if not of_ops["self_ms"].sum() > _MOST * table["self_ms"].sum() > 0:
        return None
    function = str(of_ops.groupby("function", sort=False)["self_ms"].sum().idxmax())
    longest = of_ops[of_ops["function"] == function].nlargest(1, "self_ms").iloc[0]
    return function, place_of(str(longest["file"]), int(longest["line"]))
