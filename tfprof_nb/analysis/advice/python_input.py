"""What makes steps wait for data that Python makes: a generator, a Python function of the pipeline, a PyDataset."""

from __future__ import annotations

import re

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.cause import Cause, in_parallel
from tfprof_nb.analysis.advice.findings import Evidence
from tfprof_nb.analysis.source.calls import read_anew
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_GENERATE_BATCHES = (
    "Yield whole batches from the generator, made by NumPy in one call each, and drop .batch(); or move the work to "
    "`.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with TensorFlow ops."
)
_GENERATE_IN_WORKERS = (
    "Let several workers make batches: write a keras.utils.PyDataset whose `__getitem__` makes one batch, and pass "
    "`workers=4` (with `use_multiprocessing=True` if Python computes, without if it waits for a disk or network)."
)
_ROW_BY_ROW = re.compile(r"\.(?:iterrows|itertuples)\(|\.i?loc\[\w+\]|\brow\[[\"']")
_WHOLE_COLUMNS = (
    "Make the dataset of whole columns, without a generator: "
    '`tf.data.Dataset.from_tensor_slices((df[features].to_numpy("float32"), df[label].to_numpy()))`.'
)
_MAP_OPS = (
    "Put these ops into a function, and pass that to the dataset: `tf.data.Dataset.from_tensor_slices((x, y)).map(f, "
    "num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)`. They then run as a graph, on all cores."
)
_TRACE_OPS = (
    "Put these ops into one function with @tf.function, and call it with a whole batch: they then run as a graph, "
    "which uses all cores and needs no Python."
)
_ROWS_OF_ARRAYS = (
    'Turn the columns into arrays once, in __init__: `self.x = df[features].to_numpy("float32")`, and the same for the '
    "labels. Take all rows of a batch at once by their numbers: `self.x[numbers]`."
)
_READ_ONCE = (
    "`{0}` reads and decompresses the whole array each time. Read each file once, and take its rows from there: "
    "loop over the files, load an array into a variable, and yield its rows or batches."
)
_BATCHING = re.compile(r"::(ParallelBatch|Batch(V2)?|PaddedBatch(V2)?|MapAndBatch)(::|$)")
_IN_PYTHON = "Where it computes in Python instead of waiting, they also need `use_multiprocessing=True`."
_PASSED_TO_PYTHON = re.compile(
    r"\b(?:from_generator|py_function|numpy_function)\(\s*(?:func *= *)?((?!lambda\b)[\w.]+)?"
)
_WAITING_CODE = re.compile(r"\bsleep\(|\brequests\.|urlopen|urllib|\bhttpx?\.|socket|\.recv\(|boto3|\bs3\.|bigquery")
PYTHON_OPS, _PYTHON_SHARE, _AS_LONG = ("EagerPyFunc", "PyFunc", "PyFuncStateless"), 0.5, 0.99


def python_source(evidence: Evidence) -> Cause | None:
    """Find a function of the user's in Python that makes the data."""
    ops, waited_ms = evidence.ops.table, float(evidence.steps.table["input_ms"].sum())
    python_ms = ops.loc[ops["op_type"].isin(PYTHON_OPS), "self_us"].sum() / _units.US_PER_MS
    table = evidence.python.table
    table = table[(table["thread"] == "tf.data") & (table["line"] > 0)]
    generates = "Generator" in {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    # The op waits less than the workers of a PyDataset work.
    worked_ms = float(table["waiting_ms"].sum()) if generates and len(table) else 0.0
    if max(python_ms, worked_ms) < _PYTHON_SHARE * waited_ms:
        return None
    called = f"Python functions in the pipeline ran for {_units.milliseconds(python_ms)}"
    dataset = _dataset_class(evidence, table)
    if dataset:
        return _slow_dataset(evidence, dataset, table, called)
    if table.empty:  # functions shorter than the interval of sampling are seldom met
        return _passed_to_python(evidence, called)
    totals = table.groupby("function", sort=False)["total_ms"].max()
    longest = totals.index[totals > _AS_LONG * totals.max()]
    function = str(longest[-1])  # of nested calls, the outer one has the least time of its own
    of_function = table[table["function"] == function]
    file, number = str(of_function.iloc[0]["file"]), int(of_function.iloc[0]["line"])
    place, code = place_of(file, number), evidence.code.line(file, number)
    total_ms = float(of_function["total_ms"].max())
    shown = f"{function} ({place}{f', `{_units.shorten(code, 80)}`' if code else ''}) ran for "
    shown += f"{_units.milliseconds(total_ms)}: Python runs one such call at a time"
    reader, inner = function, table.nlargest(1, "self_ms").iloc[0]
    if inner["function"] != function and inner["self_ms"] > _PYTHON_SHARE * total_ms > 0:
        reader, file, number = str(inner["function"]), str(inner["file"]), int(inner["line"])
        place, code = place_of(file, number), evidence.code.line(file, number)
        shown += f". {_units.share(inner['self_ms'] / total_ms)} of that is in {reader} ({place}"
        shown += f"{f', `{_units.shorten(code, 80)}`' if code else ''})"
    if archive := read_anew(evidence.code, file, number):
        name, fix = f"{reader} reads an .npz file anew for each element", _READ_ONCE.format(archive)
        return Cause(name, shown, fix, place=place, least_saved=0.5)
    if any(evidence.code.line(*at) and _ROW_BY_ROW.search(evidence.code.line(*at)) for at in _lines(of_function)):
        return Cause(
            f"{function} goes through a DataFrame row by row", shown, _WHOLE_COLUMNS, place=place, least_saved=0.5
        )
    if (running := _runs_ops(table)) and not any(evidence.code.find(r"(py_function|numpy_function)\(")):
        return Cause(f"{running[0]} runs TensorFlow ops one by one, in Python", shown, _MAP_OPS, place=running[1])
    name = f"{function} {_does(code)}"
    if any(evidence.code.find(r"(py_function|numpy_function)\(")):
        fix, change, mapped = _beside_python(evidence, function)
        return Cause(name, shown, fix, change, mapped or place, least_saved=0.2)
    return Cause(name, shown, _generating(evidence), place=place)


def _runs_ops(table: pd.DataFrame) -> tuple[str, str] | None:
    """Return the function that spends most time in TensorFlow's ops, and its line; None if they take less than half."""
    of_ops = table[table["library"] == "TensorFlow"]
    if not of_ops["self_ms"].sum() > _PYTHON_SHARE * table["self_ms"].sum() > 0:
        return None
    function = str(of_ops.groupby("function", sort=False)["self_ms"].sum().idxmax())
    longest = of_ops[of_ops["function"] == function].nlargest(1, "self_ms").iloc[0]
    return function, place_of(str(longest["file"]), int(longest["line"]))


def _lines(rows: pd.DataFrame) -> list[tuple[str, int]]:
    return [(str(file), int(line)) for file, line in zip(rows["file"], rows["line"], strict=True)]


def _does(code: str) -> str:
    return "waits for a disk or network" if _WAITING_CODE.search(code) else "makes the data in Python"


def _passed_to_python(evidence: Evidence, called: str) -> Cause:
    """Name the function that the program passes to a generator's or a Python function's dataset."""
    place = evidence.code.place_with(_PASSED_TO_PYTHON.pattern)
    passed = _PASSED_TO_PYTHON.search(evidence.code.at(place))
    function = passed[1] if passed and passed[1] else ""
    name = f"{function or 'Python'} makes the data{' in Python' * bool(function)}"
    if "py_function" in evidence.code.at(place) or "numpy_function" in evidence.code.at(place):
        fix, change, mapped = _beside_python(evidence, function or "the function")
        return Cause(name, called, fix, change, mapped or place, least_saved=0.2)
    return Cause(name, called, _generating(evidence), place=place)


def _dataset_class(evidence: Evidence, table: pd.DataFrame) -> str:
    """Return the class of the program whose ``__getitem__`` makes the batches; empty if that is unknown."""
    stages = {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    if "Generator" not in stages or any(evidence.code.find(_PASSED_TO_PYTHON.pattern)):
        return ""
    classes = [name for name in evidence.code.dataset_classes() if any(evidence.code.find(rf"(?<!class )\b{name}\("))]
    owners = [str(name).partition(".")[0] for name in table["function"]]
    return next((name for name in owners if name in classes), classes[0] if len(classes) == 1 else "")


def _slow_dataset(evidence: Evidence, dataset: str, table: pd.DataFrame, called: str) -> Cause:
    """Name a PyDataset's method, with the line in it, or in what it calls, that takes the longest."""
    function = f"{dataset}.__getitem__"
    file, defined, _ = evidence.code.method(function)
    rows = table[table["self_ms"] > 0]
    at = (str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else (file, defined)
    place, code = place_of(*at) if at[1] else "", evidence.code.line(*at)
    if rowwise := next((one for one in _lines(rows) if _ROW_BY_ROW.search(evidence.code.line(*one))), None):
        place, code = place_of(*rowwise), evidence.code.line(*rowwise)
        return Cause(
            f"{function} goes through a DataFrame row by row",
            f"{function} ({place}) takes single rows: `{_units.shorten(code, 80)}`",
            _ROWS_OF_ARRAYS,
            place=place,
            least_saved=0.5,
        )
    if running := _runs_ops(table):
        return Cause(
            f"{running[0]} runs TensorFlow ops one by one, in Python",
            f"{function}{f' ({place})' if place else ''} makes the batches",
            _TRACE_OPS,
            place=running[1],
            least_saved=0.2,
        )
    ran = f"most of its time goes into `{_units.shorten(code, 80)}`" if len(rows) and code else called
    fix, change, made = _more_workers(evidence, file, dataset)
    return Cause(
        f"{function} {_does(code)}",
        f"{function}{f' ({place})' if place else ''} makes the batches: {ran}",
        fix,
        change,
        made or place,
        least_saved=0.2,
    )


def _generating(evidence: Evidence) -> str:
    """Say how to make data faster that a generator yields, depending on whether it yields batches."""
    names = evidence.tf_data.table["long_name"].astype(str)
    generators = [name for name in names if iterator_type(name) == "Generator"]
    batched = any(_BATCHING.search(name.rpartition("::")[0]) for name in generators)
    return _GENERATE_BATCHES if batched or not generators else _GENERATE_IN_WORKERS


def _more_workers(evidence: Evidence, file: str, dataset: str) -> tuple[str, str, str]:
    """Return how to let several workers make a PyDataset's batches: words, and where it is certain code and place."""
    made = _made(evidence, dataset)
    given = re.search(r"\bworkers *= *(\d+)", evidence.code.line(*made)) if made else None
    if made and given:
        change = evidence.code.with_number(*made, "workers", 2 * max(int(given[1]), 2))
        more = f": `{_units.shorten(change, 120)}`" if change else ""
        return f"Let more workers make the batches{more}. {_IN_PYTHON}", change, place_of(*made)
    if made and re.search(r"\bmax_queue_size *=", evidence.code.line(*made)):
        return f"Let several workers make the batches: pass `workers=4` where {dataset} is made. {_IN_PYTHON}", "", ""
    change = evidence.code.with_argument(*made, dataset, "workers=4, max_queue_size=16") if made else ""
    if not evidence.code.takes_keywords(file, dataset):
        fix = (
            f"Let several workers make the batches: give {dataset}.__init__ a **kwargs, pass it on with "
            f"`super().__init__(**kwargs)`, and call `{dataset}(..., workers=4, max_queue_size=16)`. "
            f"{_IN_PYTHON}"
        )
        return fix, "", ""
    told = _units.shorten(change or f"{dataset}(..., workers=4, max_queue_size=16)", 120)
    return (
        f"Let several workers make the batches: `{told}`. {_IN_PYTHON}",
        change,
        place_of(*made) if made and change else "",
    )


def _made(evidence: Evidence, dataset: str) -> tuple[str, int] | None:
    """Return the file and line where a dataset is made; of several lines, the one that ran, if that is only one."""
    found = list(evidence.code.find(rf"(?<!class )\b{re.escape(dataset)}\("))
    if len(found) > 1:
        ran = evidence.python.table
        ran = ran[ran["thread"] == "main"]
        found = [place for place in found if place in set(zip(ran["file"], ran["line"], strict=True))]
    return found[0] if len(found) == 1 else None


def _beside_python(evidence: Evidence, function: str) -> tuple[str, str, str]:
    """Return how to run a Python function for several elements at once, or without Python: words, code and place."""
    maps = list(evidence.code.find(r"\.map\("))
    # With several it is not certain which of them calls the function.
    place = place_of(*maps[0]) if len(maps) == 1 else ""
    change = in_parallel(evidence, place)
    if change:
        fix = (
            f"Let it work on several elements at once: `{_units.shorten(change, 120)}`. That helps as far as "
            f"{function} waits for a disk or a network; to compute on all cores, write it with TensorFlow ops."
        )
        return fix, change, place
    fix = (
        f"Write {function} with TensorFlow ops and pass it to .map() itself, with num_parallel_calls=tf.data.AUTOTUNE: "
        "TensorFlow ops run on all cores."
    )
    return fix, "", ""
