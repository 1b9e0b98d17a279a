from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

# While a step spends its time on these, no device works.
_WITHOUT_DEVICES = ("host_compute", "kernel_launch", "compile", "other")
_KEEP_BUSY = {
    "pytorch": (
        "Look in the trace at what the host does in the gaps of the device. `.item()`, `.cpu()` and printing a tensor "
        "wait for it; `torch.compile` launches fewer kernels."
    ),
    "jax": (
        "Look in the trace at what the host does in the gaps of the device. Converting an array to NumPy and printing "
        "it wait for it; `jax.jit` around the whole step launches one program instead of many."
    ),
}

RULE = Rule(
    "device-idle",
    "The device is idle for much of each step",
    "Looks for time of the steps in which no kernel and no copy runs.",
    "The device waits for the host: for its Python, for results that it reads, for kernels to be launched.",
    moderate=15.0,
    high=40.0,
    frameworks=("jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    numbers = evidence.overview.summary
    if not numbers["device_cores"] or str(numbers["device_type"]).startswith("TPU"):  # which runs whole programs
        return
    idle_ms = sum(evidence.steps.summary[f"{part}_ms_mean"] for part in _WITHOUT_DEVICES)
    step = _units.milliseconds(evidence.steps.summary["step_ms_mean"])
    yield Case(
        sum(map(evidence.percent, _WITHOUT_DEVICES)),
        "The device is idle for much of each step",
        f"In {_units.milliseconds(idle_ms)} of the average step's {step} no kernel and no copy runs.",
        _KEEP_BUSY[evidence.framework],
    )
