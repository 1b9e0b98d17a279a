from collections.abc import Sequence
from dataclasses import replace

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Finding, Rule, training_ms
from tfprof_nb.analysis.advice.catalogue import belongs_to
from tfprof_nb.analysis.advice.findings import at_most
from tfprof_nb.analysis.advice.rules.input._cause import cause_of_waiting

# Shares of the training's time.
_WORTH_SAYING_PERCENT = 10.0
# Validation mostly waits from this share of its steps on.
_WAITING_SHARE = 0.3

RULE = Rule(
    "validation-input-bound",
    "Validation waits for its data",
    "Looks for validation that waits for longer than training does, for a tenth of the training's time or more.",
    "The model computes nothing meanwhile. A validation set is the same in each epoch, so what is prepared can be "
    "kept.",
    page="tf_data",
    moderate=3.0,
    high=25.0,
    of="training",
    explains=("wait", "start"),
    all_of=True,
    phase="validation",
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    steps = evidence.steps.table
    validating, training = (steps[steps["phase"] == phase] for phase in ("test", "train"))
    waited_ms, whole_ms = float(validating["input_ms"].sum()), training_ms(evidence)
    percent = 100 * waited_ms / whole_ms if whole_ms > 0 else 0.0
    # Beside slow callbacks, which have findings of their own, all else is a small part.
    callbacks_ms = min(float(evidence.python.callbacks["total_ms"].sum()), whole_ms)
    if (
        training.empty
        or 100 * waited_ms < _WORTH_SAYING_PERCENT * (whole_ms - callbacks_ms)
        or waited_ms < _WAITING_SHARE * float(validating["step_ms"].sum())
        or waited_ms < float(training["input_ms"].sum())
    ):
        return
    cause = cause_of_waiting(evidence)
    least, most = cause.saved
    passes = validating["epoch"].nunique() or 1
    yield Case(
        percent,
        f"{RULE.title}{cause.name and ': '}{cause.name}",
        f"In {_units.count(passes)} epoch{'s' * (passes != 1)}, validation takes "
        f"{_units.milliseconds(validating['step_ms'].sum())} of {_units.milliseconds(whole_ms)}, and waits for its "
        f"data for {_units.milliseconds(waited_ms)} of that{cause.evidence and '; '}{cause.evidence}.",
        cause.fix or "End the validation set's pipeline with `.cache()`: it is the same in each epoch.",
        cause.place,
        cause.change,
        cause.without_change,
        gain=(percent, least * percent, most * at_most(percent)),
        subject=cause.rule,
    )


def with_validation(findings: Sequence[Finding]) -> list[Finding]:
    """Join what training and validation wait for where one change of the pipeline serves both."""
    training = next((one for one in findings if belongs_to(one.rule, "input-bound")), None)
    validating = next((one for one in findings if one.rule == RULE.id), None)
    if not training or not validating or (training.place, training.fix) != (validating.place, validating.fix):
        return list(findings)
    percent = min(100.0, training.estimated_gain_percent + validating.estimated_gain_percent)
    joined = replace(
        training,
        severity="high" if "high" in (training.severity, validating.severity) else training.severity,
        evidence=f"{training.evidence} {validating.evidence.partition(';')[0]}, for the same reason.",
        estimated_gain_percent=percent,
        gain_low_percent=min(percent, training.gain_low_percent + validating.gain_low_percent),
        gain_high_percent=min(100.0, training.gain_high_percent + validating.gain_high_percent),
        gain_of="training",
    )
    return [joined if one is training else one for one in findings if one is not validating]
