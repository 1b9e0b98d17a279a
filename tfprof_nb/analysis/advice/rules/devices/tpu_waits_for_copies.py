from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

_FEWER_COPIES = (
    "If they move arrays between the memories of the host and the TPU (offloaded weights, for example), keep what each "
    "step reads on the TPU, as far as its memory has room, or start the copies earlier: the TPU can compute meanwhile."
)

RULE = Rule(
    "tpu-waits-for-copies",
    "The TPU waits for copies",
    "Looks for time of the steps in which a TPU waits for asynchronous copies to end.",
    "Copies that start earlier run while the TPU computes.",
    page="ops",
    moderate=10.0,
    high=30.0,
    supersedes=("device-copies",),
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    if not str(evidence.overview.summary["device_type"]).startswith("TPU"):
        return
    copies = evidence.ops.table[evidence.ops.table["op_type"].astype(str).str.match("copy-|async-copy")]
    names = ", ".join(_units.shorten(str(name), 40) for name in copies["op_name"].head(3))
    yield Case(
        evidence.percent("device_to_device"),
        "The TPU waits for copies",
        f"{evidence.of_step('device_to_device_ms')} is spent waiting for copies{names and f', most for {names}'}.",
        _FEWER_COPIES,
    )
