from tfprof_nb.analysis.advice import UNKNOWN, Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

_WAITS = {
    "tensorflow": ".numpy() and print()",
    "jax": "float(), conversions to NumPy and print()",
    "pytorch": ".item(), .cpu() and print()",
}

RULE = Rule(
    "results-copied-each-step",
    "Results are copied from the device in every step",
    "Looks for time of the steps in which results are copied from the device to the host.",
    "The host waits until the step has run before it can copy, and prepares no next step meanwhile.",
    action="Fetch results every few steps",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
    saved=UNKNOWN,
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    yield Case(
        evidence.percent("output"),
        "Results are copied from the device in every step",
        f"{evidence.of_step('output_ms')} is spent copying results from the device to the host.",
        f"Fetch losses and metrics every few steps instead of in every step: {_WAITS[evidence.framework]} copy and "
        "wait.",
    )
