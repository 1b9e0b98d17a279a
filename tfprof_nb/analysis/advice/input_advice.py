"""What to change about how the program gets its data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.tf_data.iterators import FILE_READERS, iterator_type
from tfprof_nb.analysis.tf_data.tf_data import TfData
from tfprof_nb.analysis.verdict import FETCH_COSTS_MS, HIGHLY_PERCENT, MODERATELY_PERCENT

WAITING = "Steps wait for their data"

# From these shares of the input time on, advice is also, or only, about copies to the device
# (`kHostToDeviceTimePercent` in `op_stats_to_input_pipeline_analysis.h`).
_SOME_COPYING, _ONLY_COPYING = 0.1, 0.9
_PREPARE = (
    "Prepare batches while the model trains: end the pipeline with .prefetch(tf.data.AUTOTUNE), give .map() "
    "and .interleave() num_parallel_calls=tf.data.AUTOTUNE, and .cache() data that fits in memory."
)
_COPY_LESS = (
    "Copy less, in larger pieces: send uint8 and cast on the device, keep constant tensors there, and let "
    "tf.data copy ahead (tf.data.experimental.prefetch_to_device as the pipeline's last stage)."
)
# A pass begins with a long wait: so much longer than the median, in so few of the steps, for so much of all waiting.
_LONG_WAIT, _RARE_SHARE, _MOST_WAITING = 10.0, 0.15, 0.5
_PASSES_WORTH_CACHING = 3
_UNPREFETCHED, _OPENING = ("Map", "Batch", "PaddedBatch"), ("Interleave", "ParallelInterleave", "FlatMap")
# Keras makes a pipeline of its own for arrays that its methods take.
_OF_KERAS = re.compile(r"\.(fit|evaluate|predict|train_on_batch|test_on_batch|predict_on_batch)\(")
_SLICE_LESS = (
    "Make the pipeline yourself, and let it run ahead: `tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))"
    ".batch(n).prefetch(tf.data.AUTOTUNE)`."
)
_MAPPED = re.compile(r"\.map\(\s*([A-Za-z_][\w.]*)(?:\s*,\s*[\w.]+\s*=\s*[\w.]+)*\s*\)")
_GENERATE_BATCHES = (
    "Yield whole batches from the generator, made by NumPy in one call each, and drop .batch(); or move the work to "
    "`.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with TensorFlow ops."
)
_PASSED_TO_PYTHON = re.compile(
    r"\b(?:from_generator|py_function|numpy_function)\(\s*(?:func *= *)?((?!lambda\b)[\w.]+)?"
)
_PYTHON_OPS, _PYTHON_SHARE = ("EagerPyFunc", "PyFunc", "PyFuncStateless"), 0.5
# tf.data names functions after the method that takes them, e.g. `__inference_Dataset_map_decode_42`.
_FUNCTIONS = {
    **dict.fromkeys(("Map", "ParallelMap", "MapAndBatch"), "Dataset_map_"),
    **dict.fromkeys(("Filter", "ParallelFilter"), "Dataset_filter_"),
    **dict.fromkeys(("Interleave", "ParallelInterleave", "LegacyParallelInterleave"), "Dataset_interleave_"),
    "FlatMap": "Dataset_flat_map_",
}


def input_bound(evidence: Evidence) -> Finding | None:
    """Report steps that wait for their data, for longer than copying it explains, and what makes them wait."""
    percent = evidence.percent("input")
    short = percent < HIGHLY_PERCENT and float(evidence.steps.summary["input_ms_mean"]) < FETCH_COSTS_MS
    if percent < MODERATELY_PERCENT or short or _only_starts(evidence) or _copying_share(evidence) > _ONLY_COPYING:
        return None
    percent *= _training_share(evidence)
    stage = iterator_type(str(evidence.tf_data.summary["bottleneck_long_name"] or ""))
    cause = _python_source(evidence) or _repeated_work(evidence) or _filled_buffer(evidence) or _stage(evidence, stage)
    return Finding(
        severity_of(percent, MODERATELY_PERCENT, HIGHLY_PERCENT),
        f"{WAITING}{cause.name and ': '}{cause.name}",
        f"{evidence.of_step('input_ms')} is spent waiting for the next batch{cause.evidence and '; '}{cause.evidence}. "
        f"{_bound(evidence)}",
        cause.fix or _PREPARE,
        percent,
        place=cause.place,
        gain_low_percent=cause.least_saved * percent,
        gain_high_percent=cause.most_saved * percent,
        change=cause.change,
        **_longest_wait(evidence.tf_data),
    )


def _only_starts(evidence: Evidence) -> bool:
    """Whether a few steps, which start the pipeline, make the others' average: these hardly wait."""
    waits, step_ms = evidence.steps.table["input_ms"], evidence.steps.table["step_ms"]
    others = ~_rare_waits(evidence)
    rest = 100 * float(waits[others].sum()) / max(float(step_ms[others].sum()), 1e-9)
    started = float(waits[~others].sum()) > _MOST_WAITING * float(waits.sum())
    first = float(waits.iloc[0]) > _MOST_WAITING * float(waits.sum())
    return started and rest < MODERATELY_PERCENT and (first or evidence.percent("input") < HIGHLY_PERCENT)


def _rare_waits(evidence: Evidence) -> pd.Series:
    """Return per step whether it is one of few that wait much longer than the median step."""
    waits = evidence.steps.table["input_ms"]
    long = waits >= _LONG_WAIT * max(float(waits.median()), FETCH_COSTS_MS)
    return long & (long.sum() <= _RARE_SHARE * len(waits))


def _training_share(evidence: Evidence) -> float:
    """Return which part of the time from the first step to the last the steps take."""
    between = evidence.percent("between_steps")
    return 1 - between / 100


@dataclass(frozen=True)
class _Cause:
    """What makes steps wait; the parts of the waiting that the change saves at least and at most."""

    name: str = ""
    evidence: str = ""
    fix: str = ""
    change: str = ""
    place: str = ""
    least_saved: float = 0.3
    most_saved: float = 1.0


def _python_source(evidence: Evidence) -> _Cause | None:
    """Find a function of the user's in Python that makes the data."""
    ops, waited_ms = evidence.ops.table, float(evidence.steps.table["input_ms"].sum())
    python_ms = ops.loc[ops["op_type"].isin(_PYTHON_OPS), "self_us"].sum() / _units.US_PER_MS
    if python_ms < _PYTHON_SHARE * waited_ms:
        return None
    table = evidence.python.table
    table = table[(table["thread"] == "tf.data") & (table["line"] > 0)]
    if table.empty:  # functions shorter than the interval of sampling are seldom met
        place = _line_with(evidence, _PASSED_TO_PYTHON.pattern)
        passed = _PASSED_TO_PYTHON.search(evidence.code.at(place))
        ran = f"Python functions in the pipeline ran for {_units.milliseconds(python_ms)}"
        name = f"{passed[1]} makes the data in Python" if passed and passed[1] else "Python makes the data"
        return _Cause(name, ran, _GENERATE_BATCHES, place=place)
    function = str(table.groupby("function", sort=False)["total_ms"].sum().idxmax())
    line = table[table["function"] == function].iloc[0]
    file, place = str(line["file"]), place_of(str(line["file"]), int(line["line"]))
    code = evidence.code.line(file, int(line["line"]))
    shown = f"{function} ({place}{f', `{_units.shorten(code, 80)}`' if code else ''}) ran for "
    shown += f"{_units.milliseconds(python_ms)}, under Python's lock"
    name = f"{function} makes the data in Python"
    if function.endswith(".__getitem__"):
        return _Cause(
            name, shown, *_more_workers(evidence, file, function.partition(".")[0]), place=place, least_saved=0.2
        )
    maps = list(evidence.code.find(r"\.map\("))
    mapped = maps[0] if len(maps) == 1 else None  # else it is not certain which of them calls the function
    if any(evidence.code.find(r"(py_function|numpy_function)\(")):
        fix, change = _beside_python(evidence, function, mapped)
        return _Cause(name, shown, fix, change, place, least_saved=0.2)
    return _Cause(name, shown, _GENERATE_BATCHES, place=place)


def _more_workers(evidence: Evidence, file: str, dataset: str) -> tuple[str, str]:
    """Return how to let several workers make a PyDataset's batches, in words and as code where that is certain."""
    made = next(evidence.code.find(rf"(?<!class )\b{re.escape(dataset)}\("), None)
    if made and re.search(r"\b(workers|max_queue_size) *=", evidence.code.line(*made)):
        return f"Let more workers make the batches: raise `workers` where {dataset} is made.", ""
    change = evidence.code.with_argument(*made, dataset, "workers=4, max_queue_size=16") if made else ""
    if not evidence.code.takes_keywords(file, dataset):
        fix = (
            f"Let several workers make the batches: give {dataset}.__init__ a **kwargs, pass it on with "
            f"`super().__init__(**kwargs)`, and call `{dataset}(..., workers=4, max_queue_size=16)`."
        )
        return fix, ""
    told = change or f"{dataset}(..., workers=4, max_queue_size=16)"
    return f"Let several workers make the batches: `{_units.shorten(told, 120)}`.", change


def _beside_python(evidence: Evidence, function: str, mapped: tuple[str, int] | None) -> tuple[str, str]:
    """Return how to run a Python function of a pipeline for several elements at once, or without Python."""
    code = evidence.code.line(*mapped) if mapped else ""
    plain = _MAPPED.search(code)
    if plain and "num_parallel_calls" not in code:
        change = f"{code[: plain.end() - 1]}, num_parallel_calls=tf.data.AUTOTUNE{code[plain.end() - 1 :]}"
        fix = (
            f"Let it work on several elements at once: `{_units.shorten(change, 120)}`. That helps as far as "
            f"{function} waits for a disk or a network; to compute on all cores, write it with TensorFlow ops."
        )
        return fix, change
    fix = (
        f"Write {function} with TensorFlow ops and pass it to .map() itself, with num_parallel_calls=tf.data.AUTOTUNE: "
        "TensorFlow ops run on all cores."
    )
    return fix, ""


def _filled_buffer(evidence: Evidence) -> _Cause | None:
    """Find a shuffle buffer that fills with finished elements while the first step of each pass waits."""
    waits, slow = evidence.steps.table["input_ms"], _rare_waits(evidence)
    stages = str(evidence.tf_data.summary["bottleneck_long_name"] or "").split("::")
    above = [k for k, stage in enumerate(stages[:-1]) if iterator_type(stage).startswith("Shuffle")]
    if not above or waits[slow].sum() < _MOST_WAITING * waits.sum() or _filling_cache(evidence):
        return None
    stage = iterator_type(str(evidence.tf_data.summary["bottleneck_long_name"]))
    made_by = _placed(stage, evidence)
    shuffle = _line_with(evidence, r"\.shuffle\(")
    count = int(slow.sum())
    waited = f"{count} step{'s' * (count != 1)} {'have' if count != 1 else 'has'} "
    return _Cause(
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


def _repeated_work(evidence: Evidence) -> _Cause | None:
    """Find a map that does the same work in each of several epochs, where its results could be kept."""
    stage = iterator_type(str(evidence.tf_data.summary["bottleneck_long_name"] or ""))
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    code, passes = evidence.code.at(line), int(evidence.steps.table["epoch"].nunique())
    mapped = _MAPPED.search(code)
    may_cache = not (_filling_cache(evidence) or _random_ops(evidence) or _reordered_before(evidence))
    if not mapped or passes < _PASSES_WORTH_CACHING or not may_cache:
        return None
    change = code[: mapped.end()] + ".cache()" + code[mapped.end() :]
    earlier = any("Cache" in name for name in evidence.tf_data.table["long_name"])
    so_far = "the cache stands before it" if earlier else "there is no cache"
    return _Cause(
        f"{mapped[1]} runs anew in each of {passes} epochs, since {so_far}",
        f"the slowest stage of the input pipeline is {stage} ({line}, `{_units.shorten(code, 80)}`)",
        f"Cache what {mapped[1]} returns, if it fits in memory: `{_units.shorten(change, 120)}`. Then only the first "
        "epoch runs it.",
        change,
        place=line,
        least_saved=0.6 * (passes - 1) / passes,
        most_saved=(passes - 1) / passes,
    )


def _stage(evidence: Evidence, stage: str) -> _Cause:
    """Name the slowest stage, and what to change about it."""
    if not stage or stage == "Prefetch":
        return _Cause()
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    code = evidence.code.at(line)
    in_code = f", `{_units.shorten(code, 80)}`" if code else ""
    shown = (
        f"the slowest stage of the input pipeline is {_units.shorten(stage, 80)}{f' ({line}{in_code})' if line else ''}"
    )
    mapped = _MAPPED.search(code)
    generated = any("Generator" in name for name in evidence.tf_data.table["long_name"])
    if _OF_KERAS.search(code) and not generated:
        return _Cause("slicing the arrays is slow", shown, _SLICE_LESS, place=line)
    if stage in _UNPREFETCHED and "Prefetch" not in str(evidence.tf_data.summary["bottleneck_long_name"]):
        change = f"{code}.prefetch(tf.data.AUTOTUNE)" if mapped and code.endswith(")") else ""
        told = change or ".prefetch(tf.data.AUTOTUNE)"
        return _Cause(
            "the pipeline has no prefetch, so it and the step take turns",
            shown,
            f"End the pipeline with prefetch: `{_units.shorten(told, 120)}`.",
            change,
            place=line,
            least_saved=0.2,
        )
    below = {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    reads = stage in _OPENING and not below.isdisjoint(FILE_READERS)
    name = f"{mapped[1]} is slow" if mapped else "reading the files is slow" if reads else f"{stage} is slow"
    if mapped and "num_parallel_calls" not in code and stage in ("Map", "MapAndBatch"):
        end = mapped.end() - 1
        change = f"{code[:end]}, num_parallel_calls=tf.data.AUTOTUNE{code[end:]}"
        return _Cause(
            f"{mapped[1]} works on one element at a time",
            shown,
            f"Let it work on several at once: `{_units.shorten(change, 120)}`.",
            change,
            place=line,
            least_saved=0.2,
            most_saved=0.8,
        )
    return _Cause(name, shown, str(evidence.tf_data.summary["suggestion"]), place=line)


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
    return next((place_of(*found) for found in evidence.code.find(pattern)), "")


def _placed(stage: str, evidence: Evidence) -> str:
    """Return a stage's name, with the line that gave it its function."""
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    return _units.shorten(stage, 80) + (f" ({line})" if line else "")


def _bound(evidence: Evidence) -> str:
    """Say how short a step could become: without any wait."""
    step, wait = (evidence.steps.summary[f"{name}_ms_mean"] for name in ("step", "input"))
    return f"Without this wait, a step would take {_units.milliseconds(step - wait)} at best."


def copies_to_device(evidence: Evidence) -> Finding | None:
    """Report input time that is spent copying to the device."""
    percent, share = evidence.percent("input"), _copying_share(evidence)
    if percent < MODERATELY_PERCENT or share <= _SOME_COPYING:
        return None
    return Finding(
        severity_of(percent * share, MODERATELY_PERCENT, HIGHLY_PERCENT),
        "Batches are copied to the device while it waits",
        f"Copies from the host to the device take as long as {_units.share(share)} of the steps' input time.",
        _COPY_LESS,
        percent * share,
        proved_by="ops",
    )


def input_outside_steps(evidence: Evidence) -> Finding | None:
    """Report a loop that fetches its batches between the marks, where no step shows the wait."""
    percent = evidence.percent("input_between_steps")
    if percent < MODERATELY_PERCENT:
        return None
    return Finding(
        severity_of(percent, MODERATELY_PERCENT, HIGHLY_PERCENT),
        "Data is fetched outside the step marks",
        f"{_units.milliseconds(evidence.steps.summary['input_between_steps_ms'])} ({_units.percent(percent)} of the "
        "time from the first step to the last) is spent in next(iterator) between the marks, where no step counts it.",
        "Fetch the batch inside the mark: `batches = iter(dataset)`, then `with tfprof_nb.step(i): "
        "train_step(next(batches))`. " + (str(evidence.tf_data.summary["suggestion"] or "") or _PREPARE),
        **_longest_wait(evidence.tf_data),
    )


def _copying_share(evidence: Evidence) -> float:
    """Return the time of copies to the device over the steps' input time, at most 1: some copies overlap computing."""
    ops, input_ms = evidence.ops.table, float(evidence.steps.table["input_ms"].sum())
    copied_us = ops.loc[(ops["side"] == "device") & (ops["op_type"] == "MemcpyHToD"), "self_us"].sum()
    return min(1.0, copied_us / _units.US_PER_MS / input_ms) if input_ms else 0.0


def _longest_wait(tf_data: TfData) -> dict[str, Any]:
    """Return where the trace shows the call that is typical of slow ones, and the iterator that delayed it."""
    if not len(tf_data.table):
        return {"proved_by": "input_pipeline"}
    call = tf_data.table.iloc[0]
    return {
        "proved_by": "tf_data",
        "op_name": str(tf_data.summary["bottleneck_long_name"] or ""),
        "start_ms": float(call["start_ms"]),
        "duration_ms": float(call["total_ms"]),
    }
