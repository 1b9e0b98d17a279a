import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, waits, without_cores
from tfprof_nb.analysis.advice.rules.input._python import dataset_class, slow_dataset
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.rewriting import with_argument, with_number

_THREADS = "workers=4, max_queue_size=16"
_PROCESSES = "workers=4, use_multiprocessing=True, max_queue_size=16"
# Measured: threads that compute in Python take turns, and each process of a worker starts anew in every epoch.
_START_MS, _WORKERS = 100.0, 4
_STARTS = " Each epoch restarts them, which takes a tenth of a second per worker: short epochs become no faster."
_ONCE = (
    "Do once, in __init__, what each epoch repeats: read and prepare the data there, if it fits in memory, and leave "
    "to __getitem__ what differs from epoch to epoch. Worker processes are no help here: {}."
)
_STARTS_LONG = "to start them takes longer than the {} that an epoch waits"
_NO_CORES = "this machine has {} for them and the training"

RULE = cause_rule(
    "slow-pydataset",
    "A PyDataset makes its batches too slowly",
    "Looks for a `__getitem__` that steps wait for.",
    "By default one thread makes the batches. Threads help where it waits for a disk or network, processes where it "
    "computes.",
    action="Make the batches in several workers",
    saved=(0.1, 1.0),
    results="equal",
    after="pydataset-repeated-each-epoch",
)


def cause(evidence: Evidence) -> Cause | None:
    dataset = dataset_class(evidence)
    if not dataset:
        return None
    found = slow_dataset(evidence, dataset)
    computes = not waits(found.code)
    if computes and not found.by_processes(evidence) and (why_not := _no_help(evidence, found.made)):
        return Cause(found.name, found.shown, _ONCE.format(why_not), place=found.place)
    fix, change = _more_workers(evidence, found.file, dataset, found.made, computes=computes)
    place = place_of(*found.made) if found.made and change else found.place
    return Cause(found.name, found.shown, fix, change, place)


def _no_help(evidence: Evidence, made: tuple[str, int] | None) -> str:
    """Say why processes that compute would not make the batches faster; empty if they may."""
    if few := without_cores(evidence):
        return _NO_CORES.format(few)
    waited_ms = _short_waits(evidence, made)
    return _STARTS_LONG.format(_units.milliseconds(waited_ms)) if waited_ms else ""


def _short_waits(evidence: Evidence, made: tuple[str, int] | None) -> float:
    """Return for how long an epoch waits, if that is shorter than the start of processes; 0 if it is not, or unknown.

    Of several epochs at least one was captured whole.
    """
    epochs = evidence.steps.table.groupby("epoch")["input_ms"].sum()
    given = re.search(r"\bworkers *= *(\d+)", evidence.code.line(*made)) if made else None
    longest_ms = float(epochs.max()) if len(epochs) > 1 else 0.0
    return longest_ms if longest_ms < _START_MS * (int(given[1]) if given else _WORKERS) else 0.0


def _more_workers(
    evidence: Evidence, file: str, dataset: str, made: tuple[str, int] | None, *, computes: bool
) -> tuple[str, str]:
    """Return how to let several workers make a PyDataset's batches: words, and where it is certain code."""
    what, starts = ("processes", _STARTS) if computes else ("workers", "")
    arguments = _PROCESSES if computes else _THREADS
    given = re.search(r"\bworkers *= *(\d+)", evidence.code.line(*made)) if made else None
    if made and given and computes and "use_multiprocessing" not in evidence.code.line(*made):
        change = with_argument(evidence.code, *made, dataset, "use_multiprocessing=True")
        fix = "Its workers are threads, of which Python runs one at a time. Use processes: `use_multiprocessing=True`."
        return f"{fix}{starts}", change
    if made and given:
        change = with_number(evidence.code, *made, "workers", 2 * max(int(given[1]), 2))
        return f"Let more {what} make the batches.", change
    if made and re.search(r"\b(max_queue_size|use_multiprocessing) *=", evidence.code.line(*made)):
        return f"Let several {what} make the batches: pass `workers=4` where {dataset} is made.{starts}", ""
    if not evidence.code.takes_keywords(file, dataset):
        fix = (
            f"Let several {what} make the batches: give {dataset}.__init__ a **kwargs, pass it on with "
            f"`super().__init__(**kwargs)`, and call `{dataset}(..., {arguments})`.{starts}"
        )
        return fix, ""
    change = with_argument(evidence.code, *made, dataset, arguments) if made else ""
    return f"Let several {what} make the batches: `{dataset}(..., {arguments})`.{starts}", change
