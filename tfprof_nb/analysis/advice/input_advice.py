"""What to change about how the program gets its data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import Finding, at_most, severity_of
from tfprof_nb.analysis.advice.input_causes import cause_of_waiting
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.tf_data.tf_data import HOST_UNSEEN, TfData
from tfprof_nb.analysis.verdict import (
    FETCH_COSTS_MS,
    HIGHLY_PERCENT,
    MODERATELY_PERCENT,
    MOST_WAITING,
    waits_only_at_starts,
)

_WAITING = "Steps wait for their data"
# From these shares of the input time on, advice is also, or only, about copies to the device
# (`kHostToDeviceTimePercent` in `op_stats_to_input_pipeline_analysis.h`).
_SOME_COPYING, _ONLY_COPYING = 0.1, 0.9
_PREFETCH = "end the pipeline with .prefetch(tf.data.AUTOTUNE), "
_PREPARE = (
    "Prepare batches while the model trains: {}give .map() and .interleave() num_parallel_calls=tf.data.AUTOTUNE, and "
    ".cache() data that fits in memory."
)
_COPY_LESS = (
    "Copy less, in larger pieces: send uint8 and cast on the device, keep constant tensors there, and let "
    "tf.data copy ahead (tf.data.experimental.prefetch_to_device as the pipeline's last stage)."
)

INPUT_BOUND = Rule(
    "input-bound",
    "Steps wait for their data",
    "Looks for steps that wait for the next batch, and for what makes them wait.",
    "The model computes nothing meanwhile. A pipeline that prepares batches while the model trains hides its work.",
    group="input",
    page="input_pipeline",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
    saved=(0.3, None),
    frameworks=("tensorflow", "jax", "pytorch"),
)
COPIED = Rule(
    "batches-copied-to-device",
    "Batches are copied to the device while it waits",
    "Looks for input time of the steps in which a batch is copied from the host to the device.",
    "The device waits for the copy, unless it was started ahead.",
    group="input",
    page="ops",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
)
OUTSIDE = Rule(
    "input-outside-steps",
    "Data is fetched outside the step marks",
    "Looks for loops that call `next(iterator)` between their marks of steps.",
    "The wait for data is then a part of no step, so the steps seem quicker than they are.",
    group="input",
    page="input_pipeline",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
)


def input_bound(evidence: Evidence) -> Finding | None:
    """Report steps that wait for their data, for longer than copying it explains, and what makes them wait."""
    percent = evidence.percent("input")
    short = percent < HIGHLY_PERCENT and float(evidence.steps.summary["input_ms_mean"]) < FETCH_COSTS_MS
    if (
        percent < MODERATELY_PERCENT
        or short
        or waits_only_at_starts(evidence.steps)
        or _copying_share(evidence) > _ONLY_COPYING
        or _is_handed_over(evidence)
        or _validation_waits_more(evidence.steps.table)
    ):
        return None
    percent *= _training_share(evidence)
    cause = cause_of_waiting(evidence)
    if cause.severity != "high" and percent < HIGHLY_PERCENT:
        return None
    bound = "" if cause.percent > percent else f" {_bound(evidence)}"
    percent = max(percent, cause.percent * _training_share(evidence))
    return Finding(
        cause.severity if percent >= HIGHLY_PERCENT else severity_of(percent, MODERATELY_PERCENT, HIGHLY_PERCENT),
        f"{_WAITING}{cause.name and ': '}{cause.name}",
        f"{evidence.of_step('input_ms')} is spent waiting for the next batch{cause.evidence and '; '}{cause.evidence}."
        f"{bound}",
        cause.fix or _prepare(evidence.tf_data),
        percent,
        place=cause.place,
        gain_low_percent=cause.least_saved * percent,
        gain_high_percent=min(100.0, cause.most_saved * at_most(percent) + cause.beside_percent),
        change=cause.change,
        rule=cause.rule or INPUT_BOUND.id,
        instead_of=cause.instead_of,
        **_longest_wait(evidence.tf_data),
    )


def cause_in(finding: str) -> str:
    """Return what makes the steps wait, as a finding says it; empty if that is unknown."""
    return finding.removeprefix(_WAITING).removeprefix(": ")


def _prepare(tf_data: TfData) -> str:
    """Say what helps pipelines in general, where the cause is not known, without what this one has."""
    if tf_data.summary["pipelines"] and not tf_data.summary["calls"]:
        return HOST_UNSEEN
    prefetches = tf_data.table["long_name"].astype(str).str.contains("Prefetch").any()
    return _PREPARE.format("" if prefetches else _PREFETCH)


def _training_share(evidence: Evidence) -> float:
    """Return which part of the time from the first step to the last the steps take."""
    between = evidence.percent("between_steps")
    return 1 - between / 100


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
        proved_by=COPIED.page,
        rule=COPIED.id,
    )


def input_outside_steps(evidence: Evidence) -> Finding | None:
    """Report a loop that fetches its batches between the marks, where no step shows the wait."""
    percent = evidence.percent("input_between_steps")
    if percent < MODERATELY_PERCENT:
        return None
    return Finding(
        severity_of(percent, MODERATELY_PERCENT, HIGHLY_PERCENT),
        OUTSIDE.title,
        f"{_units.milliseconds(evidence.steps.summary['input_between_steps_ms'])} ({_units.percent(percent)} of the "
        "time from the first step to the last) is spent in next(iterator) between the marks, where no step counts it.",
        "Fetch the batch inside the mark: `batches = iter(dataset)`, then `with tfprof_nb.step(i): "
        "train_step(next(batches))`. " + (str(evidence.tf_data.summary["suggestion"] or "") or _PREPARE),
        rule=OUTSIDE.id,
        **_longest_wait(evidence.tf_data),
    )


def _copying_share(evidence: Evidence) -> float:
    """Return the time of copies to the device over the steps' input time, at most 1: some copies overlap computing."""
    ops, input_ms = evidence.ops.table, float(evidence.steps.table["input_ms"].sum())
    copied_us = ops.loc[(ops["side"] == "device") & (ops["op_type"] == "MemcpyHToD"), "self_us"].sum()
    return min(1.0, copied_us / _units.US_PER_MS / input_ms) if input_ms else 0.0


def _validation_waits_more(steps: pd.DataFrame) -> bool:
    """Whether validation waits so much that the slowest pipeline, of which causes are known, must be its own."""
    waited = steps.groupby("phase")["input_ms"].sum()
    return float(waited.get("train", 0.0)) < MOST_WAITING * float(waited.get("test", 0.0))


def _is_handed_over(evidence: Evidence) -> bool:
    """Whether devices wait for longer than the host's pipeline works: what hands batches to them takes the rest."""
    pipelines = evidence.tf_data.pipelines
    if not (pipelines["side"] == "device").any():
        return False
    hosted = pipelines[pipelines["side"] == "host"]
    worked_ms = float((hosted["calls"] * hosted["mean_us"]).sum()) / _units.US_PER_MS
    return 0 < worked_ms < MOST_WAITING * float(evidence.steps.table["input_ms"].sum())


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
