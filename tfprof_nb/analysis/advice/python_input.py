"""What makes steps wait for data that Python makes: a generator, a Python function of the pipeline, a PyDataset."""

from __future__ import annotations

import ast
import re

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.cause import (
    EAGER_OPS_IN_INPUT,
    ROW_BY_ROW,
    ROWS_OF_DATAFRAME,
    Cause,
    cause_rule,
    does,
    generates,
    in_parallel,
    in_python_ms,
    runs_ops,
)
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.kept_results import kept_python
from tfprof_nb.analysis.advice.py_dataset_input import dataset_class, slow_dataset
from tfprof_nb.analysis.source.calls import read_anew
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.syntax import first_given
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_GENERATE_BATCHES = (
    "Yield whole batches from the generator, made by NumPy in one call each, and drop .batch(); or move the work to "
    "`.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with TensorFlow ops."
)
_GENERATE_IN_WORKERS = (
    "Let several workers make batches: write a keras.utils.PyDataset whose `__getitem__` makes one batch, and pass "
    "`workers=4` (with `use_multiprocessing=True` if Python computes, without if it waits for a disk or network)."
)
_WHOLE_COLUMNS = (
    "Make the dataset of whole columns, without a generator: "
    '`tf.data.Dataset.from_tensor_slices((df[features].to_numpy("float32"), df[label].to_numpy()))`.'
)
_MAP_OPS = (
    "Put these ops into a function, and pass that to the dataset: `tf.data.Dataset.from_tensor_slices((x, y)).map(f, "
    "num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)`. They then run as a graph, on all cores."
)
_READ_ONCE = (
    "`{0}` reads and decompresses the whole array each time. Read each file once, and take its rows from there: "
    "loop over the files, load an array into a variable, and yield its rows or batches."
)
_BATCHING = re.compile(r"::(ParallelBatch|Batch(V2)?|PaddedBatch(V2)?|MapAndBatch)(::|$)")
_TAKING_PYTHON = ("from_generator", "py_function", "numpy_function")
_FROM_GENERATOR, _IN_MAPS = r"\bfrom_generator\(", r"\b(?:py_function|numpy_function)\("
_PYTHON_SHARE, _AS_LONG = 0.5, 0.99
_MET_SHARE = 0.1  # of the time of Python's functions, from which on samples tell which of them it is

READ_ANEW = cause_rule(
    "npz-read-per-element",
    "An .npz file is read anew for each element",
    "Looks for functions of a pipeline that take an array from an .npz file for each element.",
    "NumPy reads and decompresses the whole array each time.",
    saved=(0.5, 1.0),
)
PYTHON_MAP = cause_rule(
    "python-map",
    "A map calls a function in Python",
    "Looks for `tf.py_function` and `tf.numpy_function` in the map that steps wait for.",
    "Python runs one such call at a time. TensorFlow's ops run on all cores.",
    saved=(0.2, 1.0),
    results="order",
)
GENERATOR = cause_rule(
    "slow-generator",
    "A generator in Python makes the data",
    "Looks for generators, as of `from_generator`, that steps wait for.",
    "One generator runs on one core, and hands over its elements one by one.",
)


def python_source(evidence: Evidence) -> Cause | None:
    """Find a function of the user's in Python that makes the data."""
    waited_ms = float(evidence.steps.table["input_ms"].sum())
    python_ms = in_python_ms(evidence)
    table = evidence.python.table
    table = table[(table["thread"] == "tf.data") & (table["line"] > 0)]
    # The op waits less than the workers of a PyDataset work.
    worked_ms = float(table["waiting_ms"].sum()) if generates(evidence) and len(table) else 0.0
    if max(python_ms, worked_ms) < _PYTHON_SHARE * waited_ms:
        return None
    called = f"Python functions in the pipeline ran for {_units.milliseconds(python_ms)}"
    to_python = any(evidence.code.find(f"{_FROM_GENERATOR}|{_IN_MAPS}"))
    if not to_python and (dataset := dataset_class(evidence, table)):
        return slow_dataset(evidence, dataset, table, called)
    totals = table.groupby("function", sort=False)["total_ms"].max()
    if not totals.max() >= _MET_SHARE * python_ms:  # functions shorter than the interval of sampling are seldom met
        return _passed_to_python(evidence, called)
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
        return Cause(name, shown, fix, place=place, least_saved=0.5, rule=READ_ANEW.id)
    if any(evidence.code.line(*at) and ROW_BY_ROW.search(evidence.code.line(*at)) for at in _lines(of_function)):
        return Cause(
            f"{function} goes through a DataFrame row by row",
            shown,
            _WHOLE_COLUMNS,
            place=place,
            least_saved=0.5,
            rule=ROWS_OF_DATAFRAME.id,
        )
    if (running := runs_ops(table)) and not any(evidence.code.find(r"(py_function|numpy_function)\(")):
        name = f"{running[0]} runs TensorFlow ops one by one, in Python"
        return Cause(name, shown, _MAP_OPS, place=running[1], rule=EAGER_OPS_IN_INPUT.id)
    name = f"{function} {does(code)}"
    if kept := kept_python(evidence, name, shown, function):
        return kept
    if any(evidence.code.find(r"(py_function|numpy_function)\(")):
        fix, change, mapped = _beside_python(evidence, function)
        return Cause(name, shown, fix, change, mapped or place, least_saved=0.2, rule=PYTHON_MAP.id)
    return Cause(name, shown, _generating(evidence), place=place, rule=GENERATOR.id)


def _lines(rows: pd.DataFrame) -> list[tuple[str, int]]:
    return [(str(file), int(line)) for file, line in zip(rows["file"], rows["line"], strict=True)]


def _passed_to_python(evidence: Evidence, called: str) -> Cause:
    """Name the function that the program passes to a generator's or a Python function's dataset."""
    generated = generates(evidence)
    found = list(evidence.code.find(_FROM_GENERATOR if generated else _IN_MAPS))
    only = place_of(*found[0]) if len(found) == 1 else ""
    place = (generated and evidence.line_of("Dataset_from_generator_")) or only
    function = _given(evidence, place)
    name = f"{function or 'Python'} makes the data{' in Python' * bool(function)}"
    if kept := kept_python(evidence, name, called, function):
        return kept
    if "py_function" in evidence.code.at(place) or "numpy_function" in evidence.code.at(place):
        fix, change, mapped = _beside_python(evidence, function or "the function")
        return Cause(name, called, fix, change, mapped or place, least_saved=0.2, rule=PYTHON_MAP.id)
    return Cause(name, called, _generating(evidence), place=place, rule=GENERATOR.id)


def _given(evidence: Evidence, place: str) -> str:
    """Return the name of the function that a line passes to Python's part of a pipeline; empty if it has none."""
    calls = (evidence.code.call_at(*line_at(place), name) for name in _TAKING_PYTHON)
    given = [first_given(call) for call in calls if call]
    return next((ast.unparse(one) for one in given if isinstance(one, ast.Name | ast.Attribute)), "")


def _generating(evidence: Evidence) -> str:
    """Say how to make data faster that a generator yields, depending on whether it yields batches."""
    names = evidence.tf_data.table["long_name"].astype(str)
    generators = [name for name in names if iterator_type(name) == "Generator"]
    batched = any(_BATCHING.search(name.rpartition("::")[0]) for name in generators)
    return _GENERATE_BATCHES if batched or not generators else _GENERATE_IN_WORKERS


def _beside_python(evidence: Evidence, function: str) -> tuple[str, str, str]:
    """Return how to run a Python function for several elements at once, or without Python: words, code and place."""
    maps = list(evidence.code.find(r"\.map\("))
    # With several it is not certain which of them calls the function.
    place = place_of(*maps[0]) if len(maps) == 1 else ""
    change = in_parallel(evidence, place)
    if change:
        fix = (
            f"Let it work on several elements at once: `{_units.shorten(change, 120)}`. That helps as far as "
            f"{function} waits, as for a disk or network; to compute on all cores, write it with TensorFlow ops."
        )
        return fix, change, place
    fix = (
        f"Write {function} with TensorFlow ops and pass it to .map() itself, with num_parallel_calls=tf.data.AUTOTUNE: "
        "TensorFlow ops run on all cores."
    )
    return fix, "", ""
