from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

_MIN_PERCENT, _STARTING_TIMES = 10.0, 10
_LATER = (
    "The first run of an op on a GPU loads its kernels, and may try several: capture later steps, and see whether this "
    "stays."
)

RULE = Rule(
    "slow-first-run",
    "An op took long to start",
    "Looks for ops that ran once and took the host ten times longer to start than the GPU to compute.",
    "The first run of an op on a GPU loads its kernels, and may try several.",
    page="ops",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    on_gpu = "GPU" in str(evidence.overview.summary["device_type"])
    if not on_gpu or evidence.percent("host_compute") < _MIN_PERCENT:
        return
    by_side = dict(iter(evidence.ops.table.groupby("side")))
    if set(by_side) != {"host", "device"}:
        return
    on_host, on_device = (by_side[side].set_index("op_name")["self_us"] for side in ("host", "device"))
    once = by_side["host"].set_index("op_name")["occurrences"] == 1
    started = on_host[once & on_host.index.isin(on_device.index)]
    measured = evidence.steps.measured
    steps_us, alone_us = 1000 * float(measured["step_ms"].sum()), 1000 * float(measured["host_compute_ms"].max())
    if not len(started) or not _MIN_PERCENT * steps_us / 100 <= started.max() <= 1.01 * alone_us:
        return  # little, or not while the device was idle
    name, host_us = str(started.idxmax()), float(started.max())
    device_us = float(on_device[on_device.index == name].sum())
    if host_us >= _STARTING_TIMES * device_us:
        yield Case(
            100 * host_us / steps_us,
            f"{_units.shorten(name, 60)} took long to start",
            f"It ran once, for {_units.microseconds(device_us)} on the GPU, and took {_units.microseconds(host_us)} on "
            "the host.",
            _LATER,
            severity="medium",
            op_name=name,
        )
