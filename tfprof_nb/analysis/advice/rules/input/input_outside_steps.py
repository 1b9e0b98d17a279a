"""A loop that fetches its batches between the marks of steps."""

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.input._stages import longest_wait
from tfprof_nb.analysis.advice.rules.input.input_bound import prepare
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

RULE = Rule(
    "input-outside-steps",
    "Data is fetched outside the steps",
    "Looks for loops that call `next(iterator)` between their steps (`tfprof_nb.step`).",
    "The wait for data is then a part of no step, so the steps seem quicker than they are.",
    action="Fetch the batch inside the step",
    page="input_pipeline",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
    of_tensorflows_steps=True,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report a loop that fetches its batches between the marks, where no step shows the wait."""
    percent = evidence.percent("input_between_steps")
    yield Case(
        percent,
        "Data is fetched outside the steps",
        f"{_units.milliseconds(evidence.steps.summary['input_between_steps_ms'])} ({_units.percent(percent)} of the "
        "time from the first step to the last) is spent in next(iterator) between the steps, where none counts it.",
        "Fetch the batch inside the step: `batches = iter(dataset)`, then `with tfprof_nb.step(i): "
        f"train_step(next(batches))`. {evidence.tf_data.summary['suggestion'] or prepare(evidence.tf_data)}",
        **longest_wait(evidence.tf_data),
    )
