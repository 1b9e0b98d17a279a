import math

from tfprof_nb import _units
from tfprof_nb.analysis.advice import UNKNOWN, Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.findings import severity_of
from tfprof_nb.analysis.advice.rules.input._stages import copying_share
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

_SOME_COPYING = 0.1  # as `kHostToDeviceTimePercent` in `op_stats_to_input_pipeline_analysis.h`
_COPY_LESS = (
    "Copy less, in larger pieces: send uint8 and cast on the device, keep constant tensors there, and let "
    "tf.data copy ahead (tf.data.experimental.prefetch_to_device as the pipeline's last stage)."
)

RULE = Rule(
    "batches-copied-to-device",
    "Batches are copied to the device while it waits",
    "Looks for input time of the steps in which a batch is copied from the host to the device.",
    "The device waits for the copy, unless it was started ahead.",
    page="ops",
    moderate=MODERATELY_PERCENT,
    saved=UNKNOWN,
    high=HIGHLY_PERCENT,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    percent, share = evidence.percent("input"), copying_share(evidence)
    if share <= _SOME_COPYING:
        return
    yield Case(
        percent,
        "Batches are copied to the device while it waits",
        f"Copies from the host to the device take as long as {_units.share(share)} of the steps' input time.",
        _COPY_LESS,
        severity=severity_of(percent * share, RULE.moderate, RULE.high),
        gain=(percent * share, math.nan, math.nan),
    )
