"""The user's Python that makes the data which steps wait for: functions, generators, and methods of PyDatasets."""

import ast
import re
from typing import NamedTuple

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, at, quoted, trainings
from tfprof_nb.analysis.advice.rules.input._cause import does, generates, in_python_ms
from tfprof_nb.analysis.advice.rules.input._stages import stage_of
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.syntax import first_given

_TAKING_PYTHON = ("from_generator", "py_function", "numpy_function")
_FROM_GENERATOR, _IN_MAPS = r"\bfrom_generator\(", r"\b(?:py_function|numpy_function)\("
_PYTHON_SHARE, _AS_LONG = 0.5, 0.99
_MET_SHARE = 0.1  # of the time of Python's functions, from which on samples tell which of them it is


class PythonSource(NamedTuple):
    """A function that makes the data: how causes call it and what it took, and its slowest line.

    ``reader`` is the function of that line, ``rows`` the samples of all that makes data, and ``own`` those of the
    function, where samples met it. It is the program's own: of a PyDataset there are other rules.
    """

    function: str
    name: str
    shown: str
    place: str
    reader: str
    file: str
    line: int
    rows: pd.DataFrame
    own: pd.DataFrame

    @property
    def is_met(self) -> bool:
        """Whether samples met the function."""
        return len(self.own) > 0


def makes_data(evidence: Evidence) -> pd.DataFrame | None:
    """Return the samples of Python that makes data; None if it is not what steps wait for.

    A generator is slow as a whole: it also waits for its turn, between the calls of its function.
    """
    table = evidence.python.table
    table = table[(table["thread"] == "tf.data") & (table["line"] > 0)]
    if stage_of(evidence) == "Generator":
        return table
    # The op waits less than the workers of a PyDataset work.
    worked_ms = float(table["waiting_ms"].sum()) if generates(evidence) and len(table) else 0.0
    waited_ms = float(evidence.steps.table["input_ms"].sum())
    return table if max(in_python_ms(evidence), worked_ms) >= _PYTHON_SHARE * waited_ms else None


def in_words(evidence: Evidence) -> str:
    """Say how long Python ran in the pipeline."""
    return f"Python functions in the pipeline ran for {_units.milliseconds(in_python_ms(evidence))}"


def dataset_class(evidence: Evidence) -> str:
    """Return the class of the program whose ``__getitem__`` makes the batches; empty if that is unknown."""
    table = makes_data(evidence)
    to_python = any(evidence.code.find(f"{_FROM_GENERATOR}|{_IN_MAPS}"))
    if table is None or to_python or not generates(evidence):
        return ""
    classes = [name for name in evidence.code.dataset_classes() if any(evidence.code.find(rf"(?<!class )\b{name}\("))]
    owners = [str(name).partition(".")[0] for name in table["function"]]
    owners += [evidence.code.class_at(*line_at(str(caller))) for caller in table["called_from"]]
    return next((name for name in owners if name in classes), classes[0] if len(classes) == 1 else "")


def python_source(evidence: Evidence) -> PythonSource | None:
    """Return the function that makes the data; None if it is no Python, or that of a PyDataset."""
    table = makes_data(evidence)
    if table is None or dataset_class(evidence):
        return None
    totals = table.groupby("function", sort=False)["total_ms"].max()
    python_ms = in_python_ms(evidence)
    if not totals.max() >= _MET_SHARE * python_ms:  # functions shorter than the interval of sampling are seldom met
        return _passed_to_python(evidence, table)
    longest = totals.index[totals > _AS_LONG * totals.max()]
    function = str(longest[-1])  # of nested calls, the outer one has the least time of its own
    own = table[table["function"] == function]
    file, line = str(own.iloc[0]["file"]), int(own.iloc[0]["line"])
    place, code = place_of(file, line), evidence.code.line(file, line)
    total_ms = float(own["total_ms"].max())
    shown = f"{function} ({place}{f', {quoted(code)}' if code else ''}) ran for "
    shown += f"{_units.milliseconds(total_ms)}: Python runs one such call at a time"
    reader, inner = function, table.nlargest(1, "self_ms").iloc[0]
    if inner["function"] != function and inner["self_ms"] > _PYTHON_SHARE * total_ms > 0:
        reader, file, line = str(inner["function"]), str(inner["file"]), int(inner["line"])
        place, code = place_of(file, line), evidence.code.line(file, line)
        shown += f". {_units.share(inner['self_ms'] / total_ms)} of that is in {reader} ({place}"
        shown += f"{f', {quoted(code)}' if code else ''})"
    return PythonSource(function, f"{function} {does(code)}", shown, place, reader, file, line, table, own)


def _passed_to_python(evidence: Evidence, table: pd.DataFrame) -> PythonSource:
    """Return the function that the program passes to a generator's or a Python function's dataset."""
    generated = generates(evidence)
    found = list(evidence.code.find(_FROM_GENERATOR if generated else _IN_MAPS))
    only = place_of(*found[0]) if len(found) == 1 else ""
    place = (generated and evidence.line_of("Dataset_from_generator_")) or only
    fits = trainings(evidence)
    if len(fits) and evidence.code.call_at(*line_at(place), "fit"):
        place = str(fits["place"].iloc[0])  # Keras made the dataset; it may have done so first in an earlier cell
    function = _given(evidence, place) or _met(table)
    name = f"{function or 'Python'} makes the data{' in Python' * bool(function)}"
    return PythonSource(function, name, in_words(evidence), place, function, *line_at(place), table, table.iloc[:0])


def _met(table: pd.DataFrame) -> str:
    """Return the function that few samples met; empty if they met several, or none."""
    functions = table["function"].unique()
    return str(functions[0]) if len(functions) == 1 else ""


def _given(evidence: Evidence, place: str) -> str:
    """Return the name of the function that a line passes to Python's part of a pipeline; empty if it has none."""
    calls = (evidence.code.call_at(*line_at(place), name) for name in _TAKING_PYTHON)
    given = map(first_given, calls)
    return next((ast.unparse(one) for one in given if isinstance(one, ast.Name | ast.Attribute)), "")


class SlowDataset(NamedTuple):
    """The method that makes the batches, in words, its file, its slowest line, and where the dataset is made."""

    function: str
    name: str
    shown: str
    file: str
    defined: int
    place: str
    code: str
    made: tuple[str, int] | None

    def by_processes(self, evidence: Evidence) -> bool:
        """Whether processes make the batches."""
        return self.made is not None and "use_multiprocessing" in evidence.code.line(*self.made)


def slow_dataset(evidence: Evidence, dataset: str) -> SlowDataset:
    """Return a PyDataset's method, with the line in it, or in what it calls, that takes the longest."""
    function, table = f"{dataset}.__getitem__", makes_data(evidence)
    file, defined, _ = evidence.code.method(function)
    rows = table[table["self_ms"] > 0] if table is not None else pd.DataFrame()
    slowest = (str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else (file, defined)
    place, code = place_of(*slowest) if slowest[1] else "", evidence.code.line(*slowest)
    ran = f"most of its time goes into {quoted(code)}" if len(rows) and code else in_words(evidence)
    shown = f"{function}{at(place)} makes the batches: {ran}"
    return SlowDataset(
        function, f"{function} {does(code)}", shown, file, defined, place, code, _made(evidence, dataset)
    )


def _made(evidence: Evidence, dataset: str) -> tuple[str, int] | None:
    """Return the file and line that make a dataset: where several do, the only one that ran."""
    found = list(evidence.code.find(rf"(?<!class )\b{re.escape(dataset)}\("))
    if len(found) > 1:
        ran = evidence.python.table
        ran = ran[ran["thread"] == "main"]
        found = [place for place in found if place in set(zip(ran["file"], ran["line"], strict=True))]
    return found[0] if len(found) == 1 else None
