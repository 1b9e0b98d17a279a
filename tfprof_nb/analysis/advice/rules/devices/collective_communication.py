from tfprof_nb.analysis.advice import UNKNOWN, Case, Cases, Earlier, Evidence, Rule

RULE = Rule(
    "collective-communication",
    "Devices wait for one another",
    "Looks for time of the steps in collective communication, such as the all-reduce of gradients.",
    "The devices compute nothing meanwhile. Larger batches per device exchange gradients less often.",
    action="Use larger batches per device",
    moderate=3.0,  # as in `op_stats_to_overview_page.cc`
    high=15.0,
    saved=UNKNOWN,
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    yield Case(
        evidence.percent("device_collectives"),
        "Devices wait for one another",
        f"{evidence.of_step('device_collectives_ms')} is spent on collective communication.",
        "Use larger batches per device for fewer exchanges of gradients, or 16-bit gradients to halve each exchange.",
    )
