"""What makes steps wait for the batches of a PyDataset, and how to make them sooner: once, or by several workers."""

from __future__ import annotations

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
    runs_ops,
    waits,
)
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.source.caching import kept_batches
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import with_argument, with_number
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_PASSES_WORTH_KEEPING = 3
_THREADS = "workers=4, max_queue_size=16"
_PROCESSES = "workers=4, use_multiprocessing=True, max_queue_size=16"
# Measured: threads that compute in Python take turns, and each process of a worker starts anew in every epoch.
_START_MS, _WORKERS = 100.0, 4
_STARTS = " Each epoch starts them anew, which takes a tenth of a second per worker: short epochs become no faster."
_ONCE = (
    "Do once, in __init__, what each epoch repeats: read and prepare the data there, if it fits in memory, and leave "
    "to __getitem__ what differs from epoch to epoch. Worker processes are no help here: to start them takes longer "
    "than the {} that an epoch waits."
)
_TRACE_OPS = (
    "Put these ops into one function with @tf.function, and call it with a whole batch: they then run as a graph, "
    "which uses all cores and needs no Python."
)
_ROWS_OF_ARRAYS = (
    'Turn the columns into arrays once, in __init__: `self.x = df[features].to_numpy("float32")`, and the same for the '
    "labels. Take all rows of a batch at once by their numbers: `self.x[numbers]`."
)

BATCHES_REPEATED = cause_rule(
    "pydataset-repeated-each-epoch",
    "A PyDataset makes the same batches in each epoch",
    "Looks for a `__getitem__` that gives the same in each of three epochs and more.",
    "Kept batches are made in the first epoch only.",
    saved=(0.35, 1.0),
    results="equal",
)
SLOW_DATASET = cause_rule(
    "slow-pydataset",
    "A PyDataset makes its batches too slowly",
    "Looks for a `__getitem__` that steps wait for.",
    "By default one thread makes the batches. Threads help where it waits for a disk or network, processes where it "
    "computes.",
    saved=(0.1, 1.0),
    results="equal",
)


def dataset_class(evidence: Evidence, table: pd.DataFrame) -> str:
    """Return the class of the program whose ``__getitem__`` makes the batches; empty if that is unknown."""
    if "Generator" not in {iterator_type(name) for name in evidence.tf_data.table["long_name"]}:
        return ""
    classes = [name for name in evidence.code.dataset_classes() if any(evidence.code.find(rf"(?<!class )\b{name}\("))]
    owners = [str(name).partition(".")[0] for name in table["function"]]
    owners += [evidence.code.class_at(*line_at(str(caller))) for caller in table["called_from"]]
    return next((name for name in owners if name in classes), classes[0] if len(classes) == 1 else "")


def slow_dataset(evidence: Evidence, dataset: str, table: pd.DataFrame, called: str) -> Cause:
    """Name a PyDataset's method, with the line in it, or in what it calls, that takes the longest."""
    function = f"{dataset}.__getitem__"
    file, defined, _ = evidence.code.method(function)
    rows = table[table["self_ms"] > 0]
    at = (str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else (file, defined)
    place, code = place_of(*at) if at[1] else "", evidence.code.line(*at)
    if quicker := _by_single_rows(evidence, function, rows) or _by_single_ops(function, place, table):
        return quicker
    ran = f"most of its time goes into `{_units.shorten(code, 80)}`" if len(rows) and code else called
    shown = f"{function}{f' ({place})' if place else ''} makes the batches: {ran}"
    name, passes = f"{function} {does(code)}", int(evidence.steps.table["epoch"].nunique())
    made = _made(evidence, dataset)
    by_processes = made is not None and "use_multiprocessing" in evidence.code.line(*made)
    kept = kept_batches(evidence.code, file, dataset) if passes >= _PASSES_WORTH_KEEPING and not by_processes else ""
    if kept:
        return Cause(
            f"{name}, anew in each of {passes} epochs",
            shown,
            f"Keep the batches, if all of them fit in memory: put `@functools.cache` above {function}. Then only the "
            "first epoch makes them.",
            kept,
            place_of(file, defined),
            least_saved=0.35 * (passes - 1) / passes,
            most_saved=(passes - 1) / passes,
            rule=BATCHES_REPEATED.id,
        )
    computes = not waits(code)
    if computes and not by_processes and (waited_ms := _short_waits(evidence, made)):
        once = _ONCE.format(_units.milliseconds(waited_ms))
        return Cause(name, shown, once, place=place, least_saved=0.1, rule=SLOW_DATASET.id)
    fix, change = _more_workers(evidence, file, dataset, made, computes=computes)
    place = place_of(*made) if made and change else place
    return Cause(name, shown, fix, change, place, least_saved=0.1, rule=SLOW_DATASET.id)


def _short_waits(evidence: Evidence, made: tuple[str, int] | None) -> float:
    """Return for how long an epoch waits, if that is shorter than the start of processes; 0 if it is not, or unknown.

    Of several epochs at least one was captured whole.
    """
    epochs = evidence.steps.table.groupby("epoch")["input_ms"].sum()
    given = re.search(r"\bworkers *= *(\d+)", evidence.code.line(*made)) if made else None
    longest_ms = float(epochs.max()) if len(epochs) > 1 else 0.0
    return longest_ms if longest_ms < _START_MS * (int(given[1]) if given else _WORKERS) else 0.0


def _by_single_rows(evidence: Evidence, function: str, rows: pd.DataFrame) -> Cause | None:
    """Find a line that takes single rows of a DataFrame."""
    for file, line in zip(rows["file"], rows["line"], strict=True):
        code, place = evidence.code.line(str(file), int(line)), place_of(str(file), int(line))
        if ROW_BY_ROW.search(code):
            return Cause(
                f"{function} goes through a DataFrame row by row",
                f"{function} ({place}) takes single rows: `{_units.shorten(code, 80)}`",
                _ROWS_OF_ARRAYS,
                place=place,
                least_saved=0.5,
                rule=ROWS_OF_DATAFRAME.id,
            )
    return None


def _by_single_ops(function: str, place: str, table: pd.DataFrame) -> Cause | None:
    """Find TensorFlow's ops that Python starts one by one."""
    running = runs_ops(table)
    if running is None:
        return None
    return Cause(
        f"{running[0]} runs TensorFlow ops one by one, in Python",
        f"{function}{f' ({place})' if place else ''} makes the batches",
        _TRACE_OPS,
        place=running[1],
        least_saved=0.2,
        rule=EAGER_OPS_IN_INPUT.id,
    )


def _more_workers(
    evidence: Evidence, file: str, dataset: str, made: tuple[str, int] | None, *, computes: bool
) -> tuple[str, str]:
    """Return how to let several workers make a PyDataset's batches: words, and where it is certain code."""
    what, starts = ("processes", _STARTS) if computes else ("workers", "")
    arguments = _PROCESSES if computes else _THREADS
    given = re.search(r"\bworkers *= *(\d+)", evidence.code.line(*made)) if made else None
    if made and given and computes and "use_multiprocessing" not in evidence.code.line(*made):
        change = with_argument(evidence.code, *made, dataset, "use_multiprocessing=True")
        told = _units.shorten(change or "use_multiprocessing=True", 120)
        return f"Its workers are threads, of which Python runs one at a time. Use processes: `{told}`.{starts}", change
    if made and given:
        change = with_number(evidence.code, *made, "workers", 2 * max(int(given[1]), 2))
        return f"Let more {what} make the batches{f': `{_units.shorten(change, 120)}`' if change else ''}.", change
    if made and re.search(r"\b(max_queue_size|use_multiprocessing) *=", evidence.code.line(*made)):
        return f"Let several {what} make the batches: pass `workers=4` where {dataset} is made.{starts}", ""
    if not evidence.code.takes_keywords(file, dataset):
        fix = (
            f"Let several {what} make the batches: give {dataset}.__init__ a **kwargs, pass it on with "
            f"`super().__init__(**kwargs)`, and call `{dataset}(..., {arguments})`.{starts}"
        )
        return fix, ""
    change = with_argument(evidence.code, *made, dataset, arguments) if made else ""
    told = _units.shorten(change or f"{dataset}(..., {arguments})", 140)
    return f"Let several {what} make the batches: `{told}`.{starts}", change


def _made(evidence: Evidence, dataset: str) -> tuple[str, int] | None:
    """Return the file and line where a dataset is made; of several lines, the one that ran, if that is only one."""
    found = list(evidence.code.find(rf"(?<!class )\b{re.escape(dataset)}\("))
    if len(found) > 1:
        ran = evidence.python.table
        ran = ran[ran["thread"] == "main"]
        found = [place for place in found if place in set(zip(ran["file"], ran["line"], strict=True))]
    return found[0] if len(found) == 1 else None
