"""What makes steps wait for their data: a function, a stage of the pipeline, or what is missing there."""

from __future__ import annotations

import re

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.cause import Cause
from tfprof_nb.analysis.advice.findings import Evidence
from tfprof_nb.analysis.advice.per_element import per_element
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.tf_data.iterators import FILE_READERS, iterator_type
from tfprof_nb.analysis.verdict import MOST_WAITING, rare_waits

_PASSES_WORTH_CACHING = 3
_QUICK_SHARE = 0.3
_UNPREFETCHED, _OPENING = ("Map", "Batch", "PaddedBatch"), ("Interleave", "ParallelInterleave", "FlatMap")
# Keras makes a pipeline of its own for arrays that its methods take.
_OF_KERAS = re.compile(r"\.(fit|evaluate|predict|train_on_batch|test_on_batch|predict_on_batch)\(")
_SLICE_LESS = (
    "Make the pipeline yourself, and let it run ahead: `tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))"
    ".batch(n).prefetch(tf.data.AUTOTUNE)`."
)
_GENERATE_BATCHES = (
    "Yield whole batches from the generator, made by NumPy in one call each, and drop .batch(); or move the work to "
    "`.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with TensorFlow ops."
)
_GENERATE_IN_WORKERS = (
    "Let several workers make batches: write a keras.utils.PyDataset whose `__getitem__` makes one batch, and pass "
    "`workers=4` (with `use_multiprocessing=True` if Python computes, without if it waits for a disk or network)."
)
_RANDOM = (
    "{function} draws random numbers, which a cache would freeze. Cache what comes before it, if that fits in memory, "
    "and do the random part on whole batches: in the model, for example with keras.layers.RandomFlip."
)
_BATCHING = re.compile(r"::(ParallelBatch|Batch(V2)?|PaddedBatch(V2)?|MapAndBatch)(::|$)")
_IN_PYTHON = "Where it computes in Python instead of waiting, they also need `use_multiprocessing=True`."
_PASSED_TO_PYTHON = re.compile(
    r"\b(?:from_generator|py_function|numpy_function)\(\s*(?:func *= *)?((?!lambda\b)[\w.]+)?"
)
_MAKING_ITERATORS = ("MakeIterator", "AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3")
_MANY_STEPS, _NEARLY_EACH, _SEVERAL_DATASETS = 10, 0.8, 3
_WAITING_CODE = re.compile(r"\bsleep\(|\brequests\.|urlopen|urllib|\bhttpx?\.|socket|\.recv\(|boto3|\bs3\.|bigquery")
PYTHON_OPS, _PYTHON_SHARE = ("EagerPyFunc", "PyFunc", "PyFuncStateless"), 0.5
# tf.data names functions after the method that takes them, e.g. `__inference_Dataset_map_decode_42`.
_FUNCTIONS = {
    **dict.fromkeys(("Map", "ParallelMap", "MapAndBatch"), "Dataset_map_"),
    **dict.fromkeys(("Filter", "ParallelFilter"), "Dataset_filter_"),
    **dict.fromkeys(("Interleave", "ParallelInterleave", "LegacyParallelInterleave"), "Dataset_interleave_"),
    "FlatMap": "Dataset_flat_map_",
}


def cause_of_waiting(evidence: Evidence) -> Cause:
    """Find what makes the steps wait for their data; the cause has no name if that is unknown."""
    stage = iterator_type(str(evidence.tf_data.summary["bottleneck_long_name"] or ""))
    cause = _new_iterators(evidence) or _new_datasets(evidence, stage) or _python_source(evidence)
    cause = cause or _windows(evidence, stage) or per_element(evidence, stage) or _repeated_work(evidence, stage)
    return cause or _filled_buffer(evidence, stage) or _stage(evidence, stage)


def _new_iterators(evidence: Evidence) -> Cause | None:
    """Find loops that make an iterator for each batch: its pipeline starts anew each time."""
    steps, ops = len(evidence.steps.table), evidence.ops.table
    made = max(ops.loc[ops["op_type"].isin(_MAKING_ITERATORS), "occurrences"].tolist(), default=0)
    by_keras = evidence.steps.table["phase"].isin(["predict", "test"]) | evidence.steps.table["epoch"].notna()
    if steps < _MANY_STEPS or made < _NEARLY_EACH * steps or by_keras.any():
        return None
    place = _line_with(evidence, r"next\(iter\(") or _line_with(evidence, r"\biter\(|\.take\(1\)")
    code, percent = evidence.code.at(place), _percent_of_line(evidence, place)
    takes = f"; the line takes {_units.percent(percent)} of the steps" if percent else ""
    return Cause(
        "a new iterator is made for each batch",
        f"{_units.count(made)} iterators were made for {_units.count(steps)} steps"
        f"{f': `{_units.shorten(code, 80)}` ({place})' if code else ''}. Each starts the pipeline from its beginning, "
        f"and fills its buffers for a single batch{takes}",
        "Make one iterator before the loop, `batches = iter(dataset.repeat())`, and take all batches from it: "
        "`next(batches)`.",
        place=place,
        least_saved=0.5,
        percent=percent,
    )


def _new_datasets(evidence: Evidence, stage: str) -> Cause | None:
    """Find datasets with caches that are built anew for each pass, so that the caches never serve."""
    ops = evidence.ops.table
    eager = ops[ops["eager"].astype(bool) & ops["op_type"].astype(str).str.startswith("CacheDataset")]
    made = max(eager["occurrences"].tolist(), default=0)
    cached = any("Cache" in str(name) for name in evidence.tf_data.table["long_name"])
    if not cached or made < _SEVERAL_DATASETS:
        return None
    place, mapped = _line_with(evidence, r"\.cache\("), _mapped(evidence, evidence.line_of("Dataset_map_"))
    return Cause(
        f"the dataset with its cache is built anew {_units.count(made)} times",
        f"a new cache is empty{f' ({place})' if place else ''}, so each pass runs again what comes before it"
        f"{f', such as {mapped},' if mapped else ''} and fills it; the slowest stage is {stage}",
        "Build the dataset once, before the loop, and train on the same object in each pass.",
        place=place,
        least_saved=0.4,
        beside_percent=evidence.percent("between_steps"),
        instead_of=(f"{mapped} (",) if mapped else (),
    )


def _python_source(evidence: Evidence) -> Cause | None:
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
    function = str(table.groupby("function", sort=False)["total_ms"].max().idxmax())
    of_function = table[table["function"] == function]
    file, number = str(of_function.iloc[0]["file"]), int(of_function.iloc[0]["line"])
    place, code = place_of(file, number), evidence.code.line(file, number)
    shown = f"{function} ({place}{f', `{_units.shorten(code, 80)}`' if code else ''}) ran for "
    shown += f"{_units.milliseconds(float(of_function['total_ms'].max()))}: Python runs one such call at a time"
    name = f"{function} {_does(code)}"
    if any(evidence.code.find(r"(py_function|numpy_function)\(")):
        fix, change, mapped = _beside_python(evidence, function)
        return Cause(name, shown, fix, change, mapped or place, least_saved=0.2)
    return Cause(name, shown, _generating(evidence), place=place)


def _does(code: str) -> str:
    return "waits for a disk or network" if _WAITING_CODE.search(code) else "makes the data in Python"


def _passed_to_python(evidence: Evidence, called: str) -> Cause:
    """Name the function that the program passes to a generator's or a Python function's dataset."""
    place = _line_with(evidence, _PASSED_TO_PYTHON.pattern)
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


def _windows(evidence: Evidence, stage: str) -> Cause | None:
    """Find windows of a series of which each is a dataset of its own."""
    stages = {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    if stage not in _OPENING or "Window" not in stages:
        return None
    place = evidence.line_of(_FUNCTIONS[stage]) or _line_with(evidence, r"\.window\(")
    return Cause(
        "each window is a dataset of its own",
        f"the slowest stage of the input pipeline is {stage}{f' ({place})' if place else ''}, which opens a dataset "
        "for each window",
        "Cut the windows from one array instead of .window() and .flat_map(): "
        "`keras.utils.timeseries_dataset_from_array(series[:-n], series[n:], sequence_length=n, batch_size=b)`.",
        place=place,
        least_saved=0.4,
    )


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
    change = _in_parallel(evidence, place)
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


def _filled_buffer(evidence: Evidence, stage: str) -> Cause | None:
    """Find a shuffle buffer that fills with finished elements while the first step of each pass waits."""
    waits = evidence.steps.table["input_ms"]
    slow = rare_waits(waits)
    stages = str(evidence.tf_data.summary["bottleneck_long_name"] or "").split("::")
    above = [k for k, stage in enumerate(stages[:-1]) if iterator_type(stage).startswith("Shuffle")]
    if not above or waits[slow].sum() < MOST_WAITING * waits.sum() or _filling_cache(evidence):
        return None
    made_by = _placed(stage, evidence)
    shuffle = _line_with(evidence, r"\.shuffle\(")
    count = int(slow.sum())
    waited = f"{count} step{'s' * (count != 1)} {'have' if count != 1 else 'has'} "
    return Cause(
        "the shuffle buffer is filled before each pass over the data",
        f"{waited}{_units.share(float(waits[slow].sum() / waits.sum()))} of all waiting, up to "
        f"{_units.milliseconds(float(waits.max()))}: before the first batch, {made_by} makes every element of the "
        f"shuffle buffer{f' ({shuffle})' if shuffle else ''}",
        "Shuffle first and work afterwards: move `.shuffle(...)` before `.map(...)`, so that the buffer fills with "
        "file names or raw records, which is quick.",
        place=shuffle,
        least_saved=0.4,
    )


def _filling_cache(evidence: Evidence) -> bool:
    """Whether a cache stands between the slow stage and the end: then only the first pass is slow."""
    return "Cache" in str(evidence.tf_data.summary["bottleneck_long_name"] or "")


def _repeated_work(evidence: Evidence, stage: str) -> Cause | None:
    """Find a map that does the same work in each of several epochs, where its results could be kept."""
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    code, passes = evidence.code.at(line), int(evidence.steps.table["epoch"].nunique())
    mapped = _mapped(evidence, line)
    change = evidence.code.with_call(*line_at(line), "map", ".cache()")
    may_cache = not (_filling_cache(evidence) or _random_ops(evidence) or _reordered_before(evidence))
    if not change or passes < _PASSES_WORTH_CACHING or not may_cache:
        return None
    earlier = any("Cache" in name for name in evidence.tf_data.table["long_name"])
    so_far = "the cache stands before it" if earlier else "there is no cache"
    return Cause(
        f"{mapped} runs anew in each of {passes} epochs, since {so_far}",
        f"the slowest stage of the input pipeline is {stage} ({line}, `{_units.shorten(code, 80)}`)",
        f"Cache what {mapped} returns, if it fits in memory: `{_units.shorten(change, 120)}`. Then only the first "
        "epoch runs it.",
        change,
        place=line,
        least_saved=0.6 * (passes - 1) / passes,
        most_saved=(passes - 1) / passes,
    )


def _stage(evidence: Evidence, stage: str) -> Cause:
    """Name the slowest stage, and what to change about it."""
    if stage == "Prefetch":
        return _starved(evidence)
    if not stage:
        return Cause()
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    code, mapped = evidence.code.at(line), _mapped(evidence, line)
    at = f" ({line}{f', `{_units.shorten(code, 80)}`' if code else ''})" if line else ""
    shown = f"the slowest stage of the input pipeline is {_units.shorten(stage, 80)}{at}"
    stages = {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    if _OF_KERAS.search(code) and "Generator" not in stages:
        return Cause("slicing the arrays is slow", shown, _SLICE_LESS, place=line)
    if stage in _UNPREFETCHED and "Prefetch" not in str(evidence.tf_data.summary["bottleneck_long_name"]):
        return _unprefetched(evidence, line, shown)
    if mapped and stage in ("Map", "MapAndBatch") and (change := _in_parallel(evidence, line)):
        return Cause(
            f"{mapped} works on one element at a time",
            shown,
            f"Let it work on several at once: `{_units.shorten(change, 120)}`.",
            change,
            place=line,
            least_saved=0.2,
            most_saved=0.8,
        )
    reads = stage in _OPENING and not stages.isdisjoint(FILE_READERS)
    name = f"{mapped} is slow" if mapped else "reading the files is slow" if reads else f"{stage} is slow"
    random = mapped and _is_random(evidence, line)
    fix = _RANDOM.format(function=mapped) if random else str(evidence.tf_data.summary["suggestion"])
    return Cause(name, shown, fix, place=line)


def _is_random(evidence: Evidence, line: str) -> bool:
    """Whether the function given to the map at a line draws random numbers."""
    ops, (first, last) = evidence.source().all_ops, evidence.code.lines_mapped(*line_at(line))
    mine = (ops["file"] == line_at(line)[0]) & ops["line"].between(first, last)
    return bool(ops.loc[mine, "op_type"].str.contains("Random").any())


def _starved(evidence: Evidence) -> Cause:
    """Say that the stages are quick, if all below the prefetch take much less than its caller waits."""
    slow, table = str(evidence.tf_data.summary["bottleneck_long_name"]), evidence.tf_data.table
    below_ms = float(table.loc[table["long_name"].str.startswith(f"{slow}::"), "self_ms"].sum())
    waited_ms = float(evidence.tf_data.summary["bottleneck_ms"])
    if not 0 < below_ms < _QUICK_SHARE * waited_ms:
        return Cause()
    return Cause(
        "its stages are quick, but seem to get no core",
        f"in a typical slow call the stages before the prefetch work for {_units.milliseconds(below_ms)}, and the "
        f"caller waits {_units.milliseconds(waited_ms)}",
        "Look for what keeps the cores busy: other programs, other kernels, or more threads than cores "
        "(tf.config.threading). The pipeline itself needs no change.",
        least_saved=0.0,
        severity="medium",
    )


def _unprefetched(evidence: Evidence, line: str, shown: str) -> Cause:
    """Name the end of the pipeline as the place for a prefetch, as far as the program's text shows it."""
    file = line_at(line)[0]
    end, method = evidence.code.end_of_pipeline(*line_at(line))
    change = evidence.code.with_call(file, end, method, ".prefetch(tf.data.AUTOTUNE)")
    return Cause(
        "the pipeline has no prefetch, so it and the step take turns",
        shown,
        f"End the pipeline with prefetch: `{_units.shorten(change or '.prefetch(tf.data.AUTOTUNE)', 120)}`.",
        change,
        place=place_of(file, end) if change else line,
        least_saved=0.2,
    )


def _mapped(evidence: Evidence, line: str) -> str:
    """Return what the map at a line calls: the name of a function, or "the lambda"; empty if that is unknown."""
    return _units.shorten(evidence.code.mapped(*line_at(line)), 40)


def _in_parallel(evidence: Evidence, line: str) -> str:
    """Return the map at a line with parallel calls; empty if it has some, or is unknown."""
    change = evidence.code.with_argument(*line_at(line), "map", "num_parallel_calls=tf.data.AUTOTUNE")
    return change if change.count("num_parallel_calls") == 1 else ""


def _reordered_before(evidence: Evidence) -> bool:
    """Whether elements are shuffled or repeated before they reach the slow stage: a cache would keep that."""
    slow = str(evidence.tf_data.summary["bottleneck_long_name"])
    before = [name.removeprefix(slow) for name in evidence.tf_data.table["long_name"] if name.startswith(f"{slow}::")]
    return any("Shuffle" in name or "Repeat" in name for name in before)


def _random_ops(evidence: Evidence) -> bool:
    """Whether random ops run on the host, perhaps in the pipeline: what a cache keeps is random no more."""
    ops = evidence.ops.table
    return bool((ops["op_type"].str.contains("Random") & (ops["side"] == "host")).any())


def _line_with(evidence: Evidence, pattern: str) -> str:
    """Return the first line of the program with a pattern, as a place; empty if there is none."""
    return evidence.code.place(next(evidence.code.find(pattern), None))


def _percent_of_line(evidence: Evidence, place: str) -> float:
    """Return the share of the steps that a line of the program takes, with all that it calls; 0 if unknown."""
    calls, steps_ms = evidence.python.calls, float(evidence.steps.table["step_ms"].sum())
    file, line = line_at(place)
    of_line = calls[(calls["file"] == file) & (calls["line"] == line) & (calls["thread"] == "main")]
    return min(100.0, 100 * float(of_line["in_steps_ms"].sum()) / steps_ms) if line and steps_ms else 0.0


def _placed(stage: str, evidence: Evidence) -> str:
    """Return a stage's name, with the line that gave it its function."""
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    return _units.shorten(stage, 80) + (f" ({line})" if line else "")
