import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.rewriting import with_number

_WITH_THRESHOLDS = r"\b(AUC|PrecisionAtRecall|RecallAtPrecision|SensitivityAtSpecificity|SpecificityAtSensitivity)\("
_NUMBER = re.compile(r"num_thresholds *= *(\d+)")
_USUAL = 200  # Keras' default
_LEAST_SAVED = 0.4
_FEWER = (
    "Leave out of compile what need not be known after each batch, and compute it at the end of an epoch, from "
    "`model.predict` of the validation data."
)

RULE = Rule(
    "slow-metrics",
    "Metrics take much of each step",
    "Looks for steps in which, for a fifth of the time or more, only ops of metrics run, such as AUC at thousands of "
    "thresholds.",
    "Keras computes the metrics of `compile` after each batch, though people look at them once per epoch.",
    action="Use cheaper metrics",
    page="ops",
    moderate=20.0,
    high=40.0,
    of="cell",
    without_tracing=True,
    saved=(0.4, 1.0),
    supersedes=("dominant-op", "small-steps"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps:
        return
    # Of the time without the steps that trace: only in measured steps do metrics take their share.
    rest_ms, measured_ms = evidence.steady_ms, float(evidence.overview.summary["measured_steps_ms"])
    steps_share = min(1.0, measured_ms / rest_ms) if rest_ms > 0 else 1.0
    share = ops.share(ops.ran(ops.graphs.nodes["phase"].eq("metrics").to_numpy(bool)))
    percent = 100 * share.alone
    found = list(evidence.code.find(_WITH_THRESHOLDS))
    named = sorted({name[0] for name in (re.findall(_WITH_THRESHOLDS, evidence.code.line(*one)) for one in found)})
    place = place_of(*found[0]) if found else ""
    numbers = [int(number[1]) for one in found if (number := _NUMBER.search(evidence.code.line(*one)))]
    many = max(numbers, default=0) > _USUAL
    change = with_number(evidence.code, *found[0], "num_thresholds", _USUAL) if many else ""
    each = f" They count at {_units.count(max(numbers))} thresholds in each step." if many else ""
    called = f": {_units.shorten(', '.join(named), 60)} ({place})" if named else ""
    others = ", and the same for the others" * (len(numbers) > 1)
    listed = " and ".join(place_of(*one) for one in found[:3])
    yield Case(
        percent,
        saved=(_LEAST_SAVED * steps_share, steps_share),
        finding=f"The metrics take {_units.percent(percent)} of each step{called}",
        evidence=f"During that time, only ops of metrics run.{each}{f' They are made at {listed}.' if found else ''}",
        fix=f"Use fewer thresholds, such as Keras' default of {_USUAL}{others}." if change else _FEWER,
        place=place,
        change=change,
    )
