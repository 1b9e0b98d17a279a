import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, from_busy_cores
from tfprof_nb.analysis.advice.rules.input._stages import ops_mapped, stage_of
from tfprof_nb.analysis.source.caching import batched_before
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.mapped import batch_behind, mapped_calls, mapped_name, maps_batches
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_SLOW = "bottleneck_long_name"
# Stages that keep elements: what fills them is another matter.
_BEHIND = re.compile("Cache")
# Ops that take one file or picture, and no batch of them.
_SINGLE = "Decode(?!CSV|Raw|PaddedRaw)|ReadFile|ParseTensor|ParseSingle|PyFunc"
_FEW = 16  # elements of a batch
# To start an op costs several microseconds; ops on average shorter than this are mostly that.
_SHORT_OP_US = 20.0
_PARSES_BATCHES = " In it, write tf.io.parse_example for tf.io.parse_single_example: that parses a batch of records."

RULE = cause_rule(
    "map-per-element",
    "A map is called for each single example",
    "Looks for maps before `.batch()` that run 16 times or more for a batch, with ops of up to 20 µs.",
    "Starting an op takes several microseconds: for whole batches, each op is started once.",
    action="Batch before the map",
    saved=(0.4, 1.0),
    results="close",
    after="dataset-per-window",
)


def cause(evidence: Evidence) -> Cause | None:
    stage = stage_of(evidence)
    if stage not in ("Map", "ParallelMap", "MapAndBatch", "Batch", "ParallelBatch"):
        return None
    line = evidence.line_of("Dataset_map_")
    elements, code = _elements(evidence, stage), evidence.code
    mapped = mapped_name(code, *line_at(line))
    op_us = _mean_op_us(evidence, line) if mapped else 0.0
    if elements < _FEW or not 0 < op_us <= _SHORT_OP_US or _BEHIND.search(str(evidence.tf_data.summary[_SLOW])):
        return None
    summary = evidence.tf_data.summary
    # What other stages take of such a call, they still take.
    share = min(1.0, float(summary["bottleneck_ms"]) / float(summary["latency_ms"]))
    call = code.call(*line_at(line), "map")
    batch = batch_behind(code, *line_at(line))
    behind = f"`{code.call(*batch, 'batch')}` ({place_of(*batch)})" if batch else "`.batch(...)`"
    takes_batches = maps_batches(code, *line_at(line))
    moved = batched_before(code, *line_at(line)) if takes_batches else None
    begins, change = moved or (0, "")
    fix = (
        f"Move `{call}` after {behind}: {mapped} then works on whole batches."
        if takes_batches
        else f"Write {mapped} for whole batches (their first axis is the batch), and move `{call}` after {behind}."
    )
    if mapped_calls(code, *line_at(line), "parse_single_example"):
        fix += _PARSES_BATCHES
    return Cause(
        f"{mapped} is called for each single example",
        f"{mapped} ({line}) runs {_units.count(elements)} times for one batch. Its ops take "
        f"{_units.microseconds(op_us)} each on average, so most of the time goes into starting them",
        fix,
        change,
        place=place_of(line_at(line)[0], begins) if moved else line,
        share=share,
        beside_percent=from_busy_cores(evidence, _stage_ms(evidence)),
    )


def _stage_ms(evidence: Evidence) -> float:
    """Return the time of all calls of the slow stage, without those of the stages before it."""
    ops = evidence.ops.table
    return float(ops.loc[ops["op_name"] == evidence.tf_data.summary[_SLOW], "self_us"].sum()) / _units.US_PER_MS


def _elements(evidence: Evidence, stage: str) -> int:
    """Return how many elements of the map one call of the pipeline takes."""
    table, slow = evidence.tf_data.table, str(evidence.tf_data.summary[_SLOW])
    if stage in ("Map", "ParallelMap"):
        # A shuffle takes as many to fill its buffer: what it hands on counts.
        shuffle = re.match(r".*?::Shuffle\w*", slow)
        return int(table.loc[table["long_name"] == (shuffle[0] if shuffle else slow), "calls"].max())
    below = table[table["long_name"].str.startswith(f"{slow}::")]
    direct = below[below["long_name"].str.count("::") == slow.count("::") + 1]
    kinds = [iterator_type(name) for name in direct["long_name"]]
    if stage != "MapAndBatch" and not any(kind in ("Map", "ParallelMap") for kind in kinds):
        return 0
    return int(direct["calls"].max()) if len(direct) else 0


def _mean_op_us(evidence: Evidence, line: str) -> float:
    """Return how long the ops take on average that the function given to the map at a line makes; 0 if unknown."""
    ops = ops_mapped(evidence, line)
    ops = ops[~ops["op_type"].str.contains("Dataset")]
    if ops["op_type"].str.contains(_SINGLE).any():
        return 0.0
    count = float(ops["occurrences"].sum())
    return float(ops["op_ms"].sum()) * _units.US_PER_MS / count if count else 0.0
