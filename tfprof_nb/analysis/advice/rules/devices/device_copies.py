from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

RULE = Rule(
    "device-copies",
    "Devices copy arrays for much of each step",
    "Looks for time of the steps in copies between the memories of a device, or between devices.",
    "Copies that do not overlap with compute make the step longer.",
    action="Look at the longest copies",
    moderate=15.0,
    high=40.0,
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    yield Case(
        evidence.percent("device_to_device"),
        "Devices copy arrays for much of each step",
        f"{evidence.of_step('device_to_device_ms')} is spent on copies between the memories of a device, or between "
        "devices.",
        "Look at the longest copies in the trace: which arrays they move, and whether each step needs them.",
    )
