import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Floats
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at, quoted
from tfprof_nb.analysis.memory.memory import Memory
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.layer_frames import TRAINING_CALLS
from tfprof_nb.analysis.source.loops import keepers
from tfprof_nb.analysis.source.source import SourceLines
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_MIN_STEPS, _MIN_BYTES, _MIN_PROCESS_BYTES = 8, 16 * 2**20, 64 * 2**20
_MIN_CORRELATION, _MIN_LATER_PART = 0.95, 0.35  # what fills a buffer soon ends to grow
# An op of whose tensors this part of the growth consists is what stays.
_EXPLAINS = 0.5
# Of the memory that TensorFlow's profiler takes per event: 1.6 to 5 KB were measured, in steps of 64 MiB.
_RECORDED_BYTES = 6000
_HIGH_BYTES = 128 * 2**20
# Statements that keep an object: list.append(x), cache[key] = x, list += [x].
_KEEPS = re.compile(r"\.(?:append|extend|add|insert|appendleft)\(|\w\[[^\]]+\]\s*=(?!=)|\+=\s*\[")
_ASSIGNS = re.compile(r"\w\[[^\]]+\]\s*=(?!=)")  # to a part of an array, perhaps
_KEEPS_NUMBERS = re.compile(r"(?:append|add|=|\[)\s*\(?\s*(?:float|int|bool|str|len)\(|\.item\(\)")
_MIN_PART_OF_STEPS = 0.5
_MOST_KEEPERS = 3

RULE = Rule(
    "growing-memory",
    "Memory grows in each step",
    "Looks for memory of an allocator, or of the process, that grows steadily from step to step.",
    "Python keeps a tensor's memory as long as it holds the tensor, as in a list of losses or activations.",
    action="Keep numbers, not tensors",
    page="memory",
)


@dataclass(frozen=True)
class _Growth:
    """How an allocator's memory grew over the steps.

    Attributes
    ----------
    first_bytes, last_bytes
        What was in use at the end of the first and of the last step whose memory is known.
    steps_later
        How many steps lie between them.
    per_step_bytes
        How much more per step, on average.
    op_name, shape, data_type
        The op whose tensors stay, and one of them; empty if no op explains the growth.
    """

    allocator: str
    first_bytes: int
    last_bytes: int
    steps_later: int
    per_step_bytes: float
    op_name: str
    shape: str
    data_type: str


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    steps = evidence.steps.table
    if len(steps) < _MIN_STEPS or _fills_a_cache(evidence):
        return
    memory = evidence.memory()
    found, of_process = _growth(memory, steps), not memory.in_use
    if of_process:
        found = _process_growth(memory, steps, float(_RECORDED_BYTES * evidence.events))
    if found is None:
        return
    keeping = list(_keeping(evidence.source(), len(steps))) or _elsewhere(evidence)
    if of_process:  # it grows for many reasons: a line must tell one
        keeping = [(place, code) for place, code in keeping if not _ASSIGNS.search(code)]
        if not keeping:
            return
    ops = evidence.step_ops()
    made_at = _made_at(ops, evidence.source(), found)
    place = keeping[0][0] if len(keeping) == 1 else made_at
    tensors = f"the tensors of {_units.shorten(found.op_name, 80)}{at(made_at)} stay" * bool(found.op_name)
    later = "at the end of the last" if found.steps_later == len(steps) - 1 else f"{found.steps_later} steps later"
    yield Case(
        math.nan,
        f"Memory grows by {_units.size(found.per_step_bytes)} in each step{tensors and f': {tensors}'}",
        f"{found.allocator} had {_units.size(found.first_bytes)} in use at the end of the first step, and "
        f"{_units.size(found.last_bytes)} {later}. {_kept_by(keeping)}".rstrip(),
        "Keep numbers, not tensors: reduce each tensor in the step that makes it, and keep the result, such as "
        "float(tf.reduce_mean(x)). As long as Python holds a tensor, its memory stays.",
        place,
        severity="high" if found.per_step_bytes * len(steps) >= _HIGH_BYTES else "medium",
        op_name=found.op_name,
    )


def _fills_a_cache(evidence: Evidence) -> bool:
    """Whether the input pipeline caches in memory: its first pass keeps every element."""
    ops = evidence.ops.table
    stages = ops.loc[ops["op_type"] == "Dataset", "op_name"].astype(str)
    return bool(stages.str.contains("MemoryCache").any())


def _kept_by(keeping: list[tuple[str, str]]) -> str:
    if not keeping:
        return ""
    lines = "; ".join(f"{place}: {quoted(code)}" for place, code in keeping)
    return f"What may keep tensors in each step: {lines}."


def _keeping(source: SourceLines, steps: int) -> Iterator[tuple[str, str]]:
    """Yield the lines of the cell that ran about once per step and keep an object that is no plain number."""
    table = source.table[source.table["self_ms"].notna()]
    for row in table[table["occurrences"] >= _MIN_PART_OF_STEPS * steps].to_dict("records"):
        code = str(row["code"]).strip()
        if _KEEPS.search(code) and not _KEEPS_NUMBERS.search(code):
            yield place_of(row["file"] or "cell", row["line"]), code


def _elsewhere(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the lines outside of the cell's own statements that may keep tensors, if these are few."""
    found = [place_of(*place) for place in keepers(evidence.code)]
    return [(place, evidence.code.at(place)) for place in found] if len(found) <= _MOST_KEEPERS else []


def _made_at(ops: StepOps, source: SourceLines, found: _Growth) -> str:
    """Return the line that makes the tensors; empty if it is not known."""
    nodes = ops.ops.loc[ops.ops["op_name"] == found.op_name, "node"]
    frame = ops.frame_of(int(nodes.iloc[0])) if len(nodes) else -1
    place = ops.place(frame) or (source.line_of(found.op_name) if found.op_name else "")
    file, _, line = place.rpartition(" line ")
    table = source.table
    code = table.loc[(table["file"] == file) & (table["line"].astype(str) == line), "code"]
    return "" if code.astype(str).str.contains(TRAINING_CALLS).any() else place


def _growth(memory: Memory, steps: pd.DataFrame) -> _Growth | None:
    """Return the largest steady growth of an allocator's memory over the steps, if there is one."""
    in_order = sorted(memory.in_use, key=lambda name: int(memory.in_use[name][0][0]))
    found = [_of_allocator(memory, name, steps) for name in in_order]
    return max(filter(None, found), key=lambda one: one.last_bytes - one.first_bytes, default=None)


def _process_growth(memory: Memory, steps: pd.DataFrame, recorded_bytes: float) -> _Growth | None:
    """Return the steady growth of the process over the steps, where no allocation was recorded.

    Parameters
    ----------
    recorded_bytes
        What the profiler itself may have taken meanwhile, which is no growth.
    """
    samples = memory.timeline
    samples = samples[samples["event"] == "sample"]
    ends_ms = _ends_ms(steps)
    if len(ends_ms) < _MIN_STEPS or len(set(samples["allocator"])) != 1:
        return None
    time_ms = samples["time_ms"].to_numpy(dtype=float)
    in_use = np.interp(ends_ms, time_ms, samples["memory_in_use_bytes"].to_numpy(dtype=float))
    in_use -= recorded_bytes * np.linspace(0, 1, len(ends_ms))
    if not _is_steady(in_use) or in_use[-1] - in_use[0] < _MIN_PROCESS_BYTES:
        return None
    per_step = (in_use[-1] - in_use[0]) / (len(ends_ms) - 1)
    return _Growth("The process", int(in_use[0]), int(in_use[-1]), len(ends_ms) - 1, per_step, "", "", "")


def _ends_ms(steps: pd.DataFrame) -> Floats:
    ends: Floats = np.sort((steps["start_ms"] + steps["step_ms"]).to_numpy(dtype=float))
    return ends


def _is_steady(in_use: Floats) -> bool:
    """Whether memory grows until the last step, and evenly; given what was in use at the end of each step."""
    grown = in_use[-1] - in_use[0]
    if grown < _MIN_BYTES or in_use[-1] - in_use[len(in_use) // 2] < _MIN_LATER_PART * grown:
        return False
    return bool(np.corrcoef(np.arange(len(in_use)), in_use)[0, 1] >= _MIN_CORRELATION)


def _of_allocator(memory: Memory, name: str, steps: pd.DataFrame) -> _Growth | None:
    """Return the steady growth of an allocator's memory, as told by the steps whose allocations are recorded."""
    time_ps, bytes_in_use = memory.in_use[name]
    time_ms, ends_ms = time_ps / PS_PER_MS, _ends_ms(steps)
    starts_ms = ends_ms - steps["step_ms"].to_numpy(dtype=float)[np.argsort(steps["start_ms"] + steps["step_ms"])]
    begin, end = (np.searchsorted(time_ms, at_ms, side="right") for at_ms in (starts_ms, ends_ms))
    recorded = np.flatnonzero(end > begin)
    if len(recorded) < _MIN_STEPS:
        return None
    at = end[recorded] - 1
    in_use, between = bytes_in_use[at].astype(np.float64), int(recorded[-1] - recorded[0])
    # Steps that are not recorded lie on the line between those that are.
    if not _is_steady(np.interp(np.arange(recorded[0], recorded[-1] + 1), recorded, in_use)):
        return None
    per_step = (in_use[-1] - in_use[0]) / between
    meanwhile = memory.timeline_of(name).iloc[at[0] + 1 : at[-1] + 1]
    stays = meanwhile.groupby(["op_name", "shape", "data_type"])["allocation_bytes"].sum().sort_values()
    explains = stays.iloc[-1] >= _EXPLAINS * per_step * (len(recorded) - 1)
    op_name, shape, data_type = stays.index[-1] if explains else ("", "", "")
    return _Growth(name, int(in_use[0]), int(in_use[-1]), between, per_step, str(op_name), str(shape), str(data_type))
