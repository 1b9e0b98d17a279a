import math

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, Severity
from tfprof_nb.analysis.advice.findings import at_most, severity_of
from tfprof_nb.analysis.advice.rules.input._cause import cause_of_waiting
from tfprof_nb.analysis.advice.rules.input._stages import copying_share, longest_wait
from tfprof_nb.analysis.tf_data.tf_data import HOST_UNSEEN, TfData
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT, MOST_WAITING

_WAITING = "Steps wait for their data"
_ONLY_COPYING = 0.9  # as `kHostToDeviceTimePercent` in `op_stats_to_input_pipeline_analysis.h`
_PREFETCH = "end the pipeline with .prefetch(tf.data.AUTOTUNE), "
_PREPARE = (
    "Prepare batches while the model trains: {}give .map() and .interleave() num_parallel_calls=tf.data.AUTOTUNE, and "
    ".cache() data that fits in memory."
)
_WITH = {
    "jax": (
        "Make batches ahead, in a thread or with Grain, and send the next with `jax.device_put` before you wait for "
        "the result of a step: the device can compute meanwhile."
    ),
    "pytorch": (
        "Let processes of the DataLoader prepare batches while the device computes: a larger num_workers, and "
        "persistent_workers=True. With pin_memory=True and `.to(device, non_blocking=True)`, copies need not wait "
        "either."
    ),
}
_WAITING_FOR = {"jax": "waiting for the next batch", "pytorch": "waiting for the DataLoader, or copying to the device"}

RULE = Rule(
    "input-bound",
    "Steps wait for their data",
    "Looks for steps that wait for the next batch, and for what makes them wait.",
    "The model computes nothing meanwhile. A pipeline that prepares batches while the model trains hides its work.",
    action="Prepare batches while the model trains",
    page="input_pipeline",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
    saved=(0.3, None),
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    if evidence.framework == "tensorflow":
        yield from _tensorflows(evidence)
    else:
        waits = f"{evidence.of_step('input_ms')} is spent {_WAITING_FOR[evidence.framework]}."
        percent = evidence.percent("input")
        yield Case(percent, _WAITING, waits, _WITH[evidence.framework], gain=(percent, math.nan, math.nan))


def _tensorflows(evidence: Evidence) -> Cases:
    """Report steps that wait for their data, for longer than copying it explains, and what makes them wait."""
    percent = evidence.percent("input")
    if (
        evidence.overview.summary["verdict"] not in ("moderately", "highly")
        or copying_share(evidence) > _ONLY_COPYING
        or _is_handed_over(evidence)
        or _validation_waits_more(evidence.steps.table)
    ):
        return
    waited, percent = percent, percent * _training_share(evidence)
    cause = cause_of_waiting(evidence)
    if cause.severity != "high" and percent < HIGHLY_PERCENT:
        return
    bound = "" if cause.percent > percent else f" {_bound(evidence)}"
    percent = max(percent, cause.percent * _training_share(evidence))
    least, most = cause.saved
    severity: Severity = cause.severity if percent >= HIGHLY_PERCENT else severity_of(percent, RULE.moderate, RULE.high)
    yield Case(
        max(waited, percent),
        f"{_WAITING}{cause.name and ': '}{cause.name}",
        f"{evidence.of_step('input_ms')} is spent waiting for the next batch{cause.evidence and '; '}{cause.evidence}."
        f"{bound}",
        cause.fix or prepare(evidence.tf_data),
        cause.place,
        cause.change,
        cause.without_change,
        severity=severity,
        gain=(percent, least * percent, min(100.0, most * at_most(percent) + cause.beside_percent)),
        rule=cause.rule,
        instead_of=cause.instead_of,
        **longest_wait(evidence.tf_data),
    )


def prepare(tf_data: TfData) -> str:
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
