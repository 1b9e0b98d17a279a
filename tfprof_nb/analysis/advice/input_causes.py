"""What makes steps wait for their data: a function, a stage of the pipeline, or what is missing there."""

from __future__ import annotations

import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice.cause import Cause, cause_rule, from_busy_cores, in_parallel
from tfprof_nb.analysis.advice.dropped_elements import dropped_elements
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.kept_results import PASSES_WORTH_KEEPING, kept_behind_map, kept_by_filter, may_be_kept
from tfprof_nb.analysis.advice.per_element import per_element
from tfprof_nb.analysis.advice.python_input import python_source
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.mapped import lines_mapped, mapped_name
from tfprof_nb.analysis.source.rewriting import end_of_pipeline, with_call
from tfprof_nb.analysis.source.syntax import first_given
from tfprof_nb.analysis.tf_data.iterators import FILE_READERS, iterator_type
from tfprof_nb.analysis.verdict import MOST_WAITING, rare_waits

_MOST_OF_FUNCTION = 0.6
_QUICK_SHARE = 0.3
_UNPREFETCHED, _OPENING = ("Map", "Batch", "PaddedBatch"), ("Interleave", "ParallelInterleave", "FlatMap")
# Keras makes a pipeline of its own for arrays that its methods take.
_OF_KERAS = re.compile(r"\.(fit|evaluate|predict)\(")
_SLICE_LESS = (
    "Make the pipeline yourself, and let it run ahead: `tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))"
    ".batch(n).prefetch(tf.data.AUTOTUNE)`. It has the same batches as those of {0}, in another order."
)
_SLICE_IN_ORDER = (
    "Where no call needs the result of another, call {0} once, with all examples in one array and a larger "
    "`batch_size=`: each call starts a pipeline of its own, and neither changes a result."
)
_FEW_AT_ONCE = (
    "An epoch has so few batches that starting a pass over the data costs more than they do: let an epoch have many "
    "steps, with a dataset that ends with `.repeat()`, fewer `epochs=` and more `steps_per_epoch=`."
)
_FEW_BATCHES = 2  # in an epoch: starting each pass over the data then costs more than slicing
_NO_ARRAYS = {"dataset", "generator", "iterator", "keras dataset"}
_RANDOM = (
    "{function} draws random numbers, which a cache would freeze. Cache what comes before it, if that fits in memory, "
    "and do the random part on whole batches: in the model, for example with keras.layers.RandomFlip."
)
# Types of ops that draw random numbers.
_DRAWING = "Random|Multinomial|SampleDistorted|Stateful(?:Uniform|StandardNormal|TruncatedNormal|Binomial)|RngRead"
_MAKING_ITERATORS = ("MakeIterator", "AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3")
_MANY_STEPS, _NEARLY_EACH, _SEVERAL_DATASETS = 10, 0.8, 3
_KEEP = (
    "It already works on several elements at once. Where the data is read more than once, keep its results: `.cache()` "
    'behind the map, in memory or in a file (`.cache("folder/name")`), and `.shuffle()` behind that. For a single '
    "pass, do less in {function}."
)
_THEN_PREFETCH = " End the pipeline with `.prefetch(tf.data.AUTOTUNE)`, so that it works while the step runs."
_MAPS, _FILTERS = ("Map", "ParallelMap", "MapAndBatch"), ("Filter", "ParallelFilter")
# tf.data names functions after the method that takes them, e.g. `__inference_Dataset_map_decode_42`.
_FUNCTIONS = {
    **dict.fromkeys(_MAPS, "Dataset_map_"),
    **dict.fromkeys(_FILTERS, "Dataset_filter_"),
    **dict.fromkeys(("Interleave", "ParallelInterleave", "LegacyParallelInterleave"), "Dataset_interleave_"),
    "FlatMap": "Dataset_flat_map_",
}

ITERATOR_PER_BATCH = cause_rule(
    "iterator-per-batch",
    "A new iterator is made for each batch",
    "Looks for loops that make an iterator in nearly each step, as `next(iter(dataset))` does.",
    "Each iterator starts its pipeline from the beginning, and fills its buffers for a single batch.",
    saved=(0.5, 1.0),
)
DATASET_REBUILT = cause_rule(
    "dataset-rebuilt",
    "A dataset with a cache is built anew for each pass",
    "Looks for datasets with `.cache()` that are built three times and more.",
    "The cache of a new dataset is empty: each pass runs again what comes before it, and fills it.",
    saved=(0.4, 1.0),
)
WINDOWS = cause_rule(
    "dataset-per-window",
    "Each window of a series is a dataset of its own",
    "Looks for pipelines that wait for `.window()` and `.flat_map()`.",
    "To open a dataset for each window takes longer than to cut it from an array.",
    saved=(0.4, 1.0),
)
SHUFFLED_LATE = cause_rule(
    "shuffle-after-map",
    "The shuffle buffer is filled with finished elements before each pass",
    "Looks for pipelines whose first step of each pass waits while a shuffle buffer is filled.",
    "Before the first batch, every element of the buffer has to be made. File names or raw records fill it at once.",
    saved=(0.4, 1.0),
)
MAP_REPEATED = cause_rule(
    "map-repeated-each-epoch",
    "A map does the same work in each epoch",
    "Looks for the slowest map of a pipeline that gives the same in each of three epochs and more: it draws no random "
    "numbers, and no cache stands behind it.",
    "A cache keeps its results, so that only the first epoch runs it.",
    saved=(0.35, 1.0),
    results="order",
)
SLICED_ARRAYS = cause_rule(
    "arrays-sliced-by-keras",
    "Slicing the arrays is slow",
    "Looks for pipelines that Keras makes of arrays, where it is their slicing that steps wait for.",
    "That pipeline does not run ahead of the model as one of the program's own does.",
)
SEQUENTIAL_MAP = cause_rule(
    "sequential-map",
    "A map works on one element at a time",
    "Looks for the slowest map of a pipeline, without `num_parallel_calls`.",
    "It uses one core, while the others of the machine may be free.",
    saved=(0.2, 0.8),
    results="order",
)
RANDOM_MAP = cause_rule(
    "slow-random-map",
    "A map with random numbers is slow",
    "Looks for the slowest map of a pipeline that draws random numbers.",
    "A cache would freeze them. What comes before can be cached, and the random part can work on whole batches.",
)
SLOW_MAP = cause_rule(
    "slow-map",
    "A map is slow",
    "Looks for the slowest map of a pipeline that works on several elements at once already.",
    "Steps wait for the slowest stage, whatever the others take.",
)
SLOW_FILES = cause_rule(
    "slow-file-reads",
    "Reading the files is slow",
    "Looks for pipelines whose slowest stage opens files one after another.",
    "A disk or a network serves several files at once as fast as one.",
)
SLOW_STAGE = cause_rule(
    "slow-stage",
    "A stage of the pipeline is slow",
    "Looks for the slowest stage of a pipeline, where no other rule says more.",
    "Steps wait for the slowest stage, whatever the others take.",
)
STARVED = cause_rule(
    "starved-pipeline",
    "The pipeline's stages are quick, but seem to get no core",
    "Looks for pipelines whose stages work for much less than their caller waits.",
    "Other programs, or more threads than cores, take the processors: the pipeline needs no change.",
    saved=(0.0, 1.0),
)
NO_PREFETCH = cause_rule(
    "no-prefetch",
    "The pipeline has no prefetch",
    "Looks for pipelines that work only when a step asks for the next batch.",
    "The pipeline and the step then take turns. With `.prefetch()` it prepares batches while the step runs.",
    saved=(0.2, 1.0),
    results="equal",
)


def cause_of_waiting(evidence: Evidence) -> Cause:
    """Find what makes the steps wait for their data; the cause has no name if that is unknown."""
    stage = iterator_type(str(evidence.tf_data.summary["bottleneck_long_name"] or ""))
    cause = _new_iterators(evidence) or _new_datasets(evidence, stage) or python_source(evidence)
    cause = cause or _windows(evidence, stage) or per_element(evidence, stage) or _repeated_work(evidence, stage)
    cause = cause or dropped_elements(evidence) or _filtered_again(evidence, stage)
    return cause or _filled_buffer(evidence, stage) or _stage(evidence, stage)


def _filtered_again(evidence: Evidence, stage: str) -> Cause | None:
    return kept_by_filter(evidence, evidence.line_of(_FUNCTIONS[stage])) if stage in _FILTERS else None


def _new_iterators(evidence: Evidence) -> Cause | None:
    """Find loops that make an iterator for each batch: its pipeline starts anew each time."""
    steps, ops = len(evidence.steps.table), evidence.ops.table
    made = max(ops.loc[ops["op_type"].isin(_MAKING_ITERATORS), "occurrences"].tolist(), default=0)
    by_keras = evidence.steps.table["phase"].isin(["predict", "test"]) | evidence.steps.table["epoch"].notna()
    if steps < _MANY_STEPS or made < _NEARLY_EACH * steps or by_keras.any():
        return None
    place = evidence.code.place_with(r"next\(iter\(") or evidence.code.place_with(r"\biter\(|\.take\(1\)")
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
        rule=ITERATOR_PER_BATCH.id,
    )


def _new_datasets(evidence: Evidence, stage: str) -> Cause | None:
    """Find datasets with caches that are built anew for each pass, so that the caches never serve."""
    ops = evidence.ops.table
    eager = ops[ops["eager"].astype(bool) & ops["op_type"].astype(str).str.startswith("CacheDataset")]
    made = max(eager["occurrences"].tolist(), default=0)
    cached = any("Cache" in str(name) for name in evidence.tf_data.table["long_name"])
    if not cached or made < _SEVERAL_DATASETS:
        return None
    place, mapped = evidence.code.place_with(r"\.cache\("), _mapped(evidence, evidence.line_of("Dataset_map_"))
    return Cause(
        f"the dataset with its cache is built anew {_units.count(made)} times",
        f"a new cache is empty{f' ({place})' if place else ''}, so each pass runs again what comes before it"
        f"{f', such as {mapped},' if mapped else ''} and fills it; the slowest stage is {stage}",
        "Build the dataset once, before the loop, and train on the same object in each pass.",
        place=place,
        least_saved=0.4,
        beside_percent=evidence.percent("between_steps"),
        rule=DATASET_REBUILT.id,
        instead_of=(("python-in-loop", mapped), ("python-outside-steps", mapped)) if mapped else (),
    )


def _windows(evidence: Evidence, stage: str) -> Cause | None:
    """Find windows of a series of which each is a dataset of its own."""
    stages = {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    if stage not in _OPENING or "Window" not in stages:
        return None
    place = evidence.line_of(_FUNCTIONS[stage]) or evidence.code.place_with(r"\.window\(")
    return Cause(
        "each window is a dataset of its own",
        f"the slowest stage of the input pipeline is {stage}{f' ({place})' if place else ''}, which opens a dataset "
        "for each window",
        "Cut the windows from one array instead of .window() and .flat_map(): "
        "`keras.utils.timeseries_dataset_from_array(series[:-n], series[n:], sequence_length=n, batch_size=b)`.",
        place=place,
        least_saved=0.4,
        rule=WINDOWS.id,
    )


def _filled_buffer(evidence: Evidence, stage: str) -> Cause | None:
    """Find a shuffle buffer that fills with finished elements while the first step of each pass waits."""
    waits = evidence.steps.table["input_ms"]
    slow = rare_waits(waits)
    stages = str(evidence.tf_data.summary["bottleneck_long_name"] or "").split("::")
    above = [k for k, stage in enumerate(stages[:-1]) if iterator_type(stage).startswith("Shuffle")]
    if not above or waits[slow].sum() < MOST_WAITING * waits.sum() or _filling_cache(evidence):
        return None
    made_by = _placed(stage, evidence)
    shuffle = evidence.code.place_with(r"\.shuffle\(")
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
        rule=SHUFFLED_LATE.id,
    )


def _filling_cache(evidence: Evidence) -> bool:
    """Whether a cache stands between the slow stage and the end: then only the first pass is slow."""
    return "Cache" in str(evidence.tf_data.summary["bottleneck_long_name"] or "")


def _repeated_work(evidence: Evidence, stage: str) -> Cause | None:
    """Find a map that does the same work in each of several epochs, where its results could be kept."""
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    passes, mapped = int(evidence.steps.table["epoch"].nunique()), _mapped(evidence, line)
    if passes < PASSES_WORTH_KEEPING or _filling_cache(evidence) or _random_ops(evidence):
        return None
    if not may_be_kept(evidence, line):
        return None
    kept = kept_behind_map(evidence, line)
    if kept is None:
        return None
    earlier = any("Cache" in name for name in evidence.tf_data.table["long_name"])
    so_far = "the cache stands before it" if earlier or kept.cached_before else "there is no cache"
    return Cause(
        f"{mapped} runs anew in each of {passes} epochs, since {so_far}",
        f"the slowest stage of the input pipeline is {stage} ({line}, `{_units.shorten(evidence.code.at(line), 80)}`)"
        f"{_costly_line(evidence, line)}",
        f"{kept.to_do}, if what {mapped} returns fits in memory. Then only the first epoch runs {mapped}.",
        kept.change,
        place=kept.place,
        least_saved=0.35 * (passes - 1) / passes,
        most_saved=(passes - 1) / passes,
        beside_percent=_taken_from_model(evidence, line) * (passes - 1) / passes,
        rule=MAP_REPEATED.id,
    )


def _taken_from_model(evidence: Evidence, line: str) -> float:
    """Return the share of the steps, in percent, in which the map at a line may take cores that the model needs."""
    ops, (file, first, last) = evidence.source().all_ops, lines_mapped(evidence.code, *line_at(line))
    return from_busy_cores(
        evidence, float(ops.loc[(ops["file"] == file) & ops["line"].between(first, last), "op_ms"].sum())
    )


def _costly_line(evidence: Evidence, line: str) -> str:
    """Name the line that takes most of what the map at a line calls; empty if none does, or it is all there is."""
    ops, (file, first, last) = evidence.source().all_ops, lines_mapped(evidence.code, *line_at(line))
    of_lines = ops[(ops["file"] == file) & ops["line"].between(first, last)].groupby("line")["op_ms"].sum()
    if len(of_lines) < 2 or not of_lines.max() > _MOST_OF_FUNCTION * of_lines.sum():
        return ""
    number = int(of_lines.index.to_numpy()[of_lines.to_numpy().argmax()])
    share = float(of_lines.max() / of_lines.sum())
    code = _units.shorten(evidence.code.line(file, number), 80)
    return f"; {_units.share(share)} of the time of its ops is that of `{code}` ({place_of(file, number)})"


def _stage(evidence: Evidence, stage: str) -> Cause:
    """Name the slowest stage, and what to change about it."""
    if stage == "Prefetch":
        return _starved(evidence)
    if not stage:
        return Cause()
    line = evidence.line_of(_FUNCTIONS[stage]) if stage in _FUNCTIONS else ""
    code, mapped = evidence.code.at(line), _mapped(evidence, line) if stage in _MAPS else ""
    at = f" ({line}{f', `{_units.shorten(code, 80)}`' if code else ''})" if line else ""
    shown = f"the slowest stage of the input pipeline is {_units.shorten(stage, 80)}{at}"
    stages = {iterator_type(name) for name in evidence.tf_data.table["long_name"]}
    if (method := _OF_KERAS.search(code)) and "Generator" not in stages:
        return _slicing(evidence, method[1], line, shown)
    if stage in _UNPREFETCHED and "Prefetch" not in str(evidence.tf_data.summary["bottleneck_long_name"]):
        return _unprefetched(evidence, line, shown)
    if mapped and stage in ("Map", "MapAndBatch") and (change := in_parallel(evidence, line)):
        drawing = ", though its random numbers then fall on other elements" * _is_random(evidence, line)
        return Cause(
            f"{mapped} works on one element at a time",
            shown,
            f"Let it work on several at once{drawing}: `{_units.shorten(change, 120)}`.",
            change,
            place=line,
            least_saved=0.2,
            most_saved=0.8,
            rule=SEQUENTIAL_MAP.id,
        )
    reads = stage in _OPENING and not stages.isdisjoint(FILE_READERS)
    name = f"{mapped} is slow" if mapped else "reading the files is slow" if reads else f"{stage} is slow"
    fix = str(evidence.tf_data.summary["suggestion"])
    if mapped and _is_random(evidence, line):
        fix = _RANDOM.format(function=mapped)
    elif mapped and stage in ("ParallelMap", "MapAndBatch"):
        fix = _KEEP.format(function=mapped) + _THEN_PREFETCH * ("Prefetch" not in stages)
    rule = (RANDOM_MAP if _is_random(evidence, line) else SLOW_MAP) if mapped else SLOW_FILES if reads else SLOW_STAGE
    return Cause(name, f"{shown}{_costly_line(evidence, line)}", fix, place=line, rule=rule.id)


def _slicing(evidence: Evidence, method: str, line: str, shown: str) -> Cause:
    """Name the pipeline that Keras makes of arrays; only `fit` may get its examples in another order."""
    call, steps = evidence.code.call_at(*line_at(line), method), evidence.steps.table
    data = first_given(call) if call else None
    known = evidence.code.object_of(line_at(line)[0], data) if data else None
    batches = steps.groupby("epoch").size()
    if known and known.kind in _NO_ARRAYS:
        return Cause("", shown, place=line, rule=SLOW_STAGE.id)
    if len(batches) and batches.median() <= _FEW_BATCHES:
        return Cause("", shown, _FEW_AT_ONCE, place=line, rule=SLOW_STAGE.id)
    fix = (_SLICE_LESS if method == "fit" else _SLICE_IN_ORDER).format(method)
    return Cause("slicing the arrays is slow", shown, fix, place=line, rule=SLICED_ARRAYS.id)


def _is_random(evidence: Evidence, line: str) -> bool:
    """Whether the function given to the map at a line draws random numbers."""
    ops, (file, first, last) = evidence.source().all_ops, lines_mapped(evidence.code, *line_at(line))
    mine = (ops["file"] == file) & ops["line"].between(first, last)
    return bool(ops.loc[mine, "op_type"].str.contains(_DRAWING).any())


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
        rule=STARVED.id,
    )


def _unprefetched(evidence: Evidence, line: str, shown: str) -> Cause:
    """Name the end of the pipeline as the place for a prefetch, as far as the program's text shows it."""
    file = line_at(line)[0]
    end, method = end_of_pipeline(evidence.code, *line_at(line))
    change = with_call(evidence.code, file, end, method, ".prefetch(tf.data.AUTOTUNE)")
    return Cause(
        "the pipeline has no prefetch, so it and the step take turns",
        shown,
        f"End the pipeline with prefetch: `{_units.shorten(change or '.prefetch(tf.data.AUTOTUNE)', 120)}`.",
        change,
        place=place_of(file, end) if change else line,
        least_saved=0.2,
        rule=NO_PREFETCH.id,
    )


def _mapped(evidence: Evidence, line: str) -> str:
    """Return what the map at a line calls: the name of a function, or "the lambda"; empty if that is unknown."""
    return _units.shorten(mapped_name(evidence.code, *line_at(line)), 40)


def _random_ops(evidence: Evidence) -> bool:
    """Whether random ops run on the host outside of the model's layers: what a cache keeps is random no more.

    Ops that run eagerly are no part of a pipeline: they give weights their first values.
    """
    placed, ops = evidence.source().all_ops, evidence.ops.table
    if len(placed):
        eager = set(ops.loc[ops["eager"].astype(bool), "op_name"])
        ops = placed[(placed["layer"] == "") & (placed["phase"] == "") & ~placed["op_name"].isin(eager)]
    return bool((ops["op_type"].str.contains(_DRAWING) & (ops["side"] == "host")).any())


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
