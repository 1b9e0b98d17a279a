from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.verdict import MODERATELY_PERCENT

_SEVERAL = 2
_DISTRIBUTE = "Let `strategy.experimental_distribute_dataset(dataset)` feed the devices: it prefetches for each. "

RULE = Rule(
    "devices-wait-for-data",
    "Several devices wait for their data",
    "Looks for steps on two devices or more that wait for data or copy it.",
    "One pipeline has to feed all of them. A distributed dataset prefetches for each.",
    page="input_pipeline",
    moderate=MODERATELY_PERCENT,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    idle, count = evidence.idle_devices
    devices = count - len(idle)
    if devices < _SEVERAL or not evidence.overview.summary["device_cores"]:
        return
    distributed = bool((evidence.tf_data.pipelines["side"] == "device").any())
    yield Case(
        evidence.percent("input"),
        "Several devices wait for their data",
        f"{devices} devices computed, and {evidence.of_step('input_ms')} is spent waiting for data or copying it.",
        f"{'' if distributed else _DISTRIBUTE}With several workers, let each read its own files: "
        "`files.shard(workers, index)` before they are read.",
        severity="info",
    )
