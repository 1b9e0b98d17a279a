"""What is said where no rule finds anything to change: what bounds the program, or where to look."""

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rules.python._unexplained import HIGH_UNEXPLAINED_PERCENT
from tfprof_nb.analysis.source.code import place_of

_FEW_MEASURED, _HIGH_HOST_PERCENT = 0.25, 50.0
_NO_FINDINGS = "Nothing in this profile calls for a change."


def why_none(evidence: Evidence) -> str:
    """Say that there is no finding, with what bounds the program; and where to look if much of the time has no name."""
    if on_host := _waits_for_host(evidence):
        return f"No rule of the advice applies. {on_host}"
    other, between = evidence.percent("other"), evidence.percent("between_steps")
    if max(other, between) < HIGH_UNEXPLAINED_PERCENT or not len(evidence.python.table):
        return f"{_NO_FINDINGS}{_bound(evidence)}"
    where = (
        f"{_units.percent(other)} of each step is Python code and other time outside of ops"
        if other >= between
        else f"{_units.percent(between)} of the time from the first step to the last is between the steps"
    )
    return f"No rule of the advice applies. {where}: the Python page shows its lines."


def _waits_for_host(evidence: Evidence) -> str:
    """Say that ops of the host take most of each step while its device does not compute; empty if they do not."""
    host, device = evidence.percent("host_compute"), evidence.percent("device_compute")
    if not device or host < _HIGH_HOST_PERCENT:
        return ""
    ops = evidence.ops.table
    longest = ops[ops["side"] == "host"].nlargest(1, "self_us")["op_name"]
    name = f" Of the host's ops, {_units.shorten(longest.iloc[0], 60)} has the most self time." if len(longest) else ""
    shares = _units.percent(host), _units.percent(device)
    return f"Host compute takes {shares[0]} of each step, the device computes for {shares[1]}.{name}"


def _bound(evidence: Evidence) -> str:
    """Say how near the program is to what the machine can do, and how little of the capture that is about."""
    (cores, count), computing = evidence.own_cores, evidence.percent("device_compute")
    summary = evidence.overview.summary
    measured = float(summary["measured_steps_ms"]) / max(float(summary["capture_ms"]), 1e-9)
    few = f" Only {_units.share(measured)} of the capture is in measured steps" if measured < _FEW_MEASURED else ""
    few += f"{_longest_outside(evidence)}." if few else ""
    if computing:
        return f" The device computes for {_units.percent(computing)} of each step.{few}"
    busy = f" The program kept {cores:.1f} of {count} processors busy." if cores > 0 else ""
    return f"{busy}{few}"


def _longest_outside(evidence: Evidence) -> str:
    """Name the line that takes most of the capture before the first step and after the last; empty without one."""
    table, whole_ms = evidence.python.table, float(evidence.overview.summary["capture_ms"])
    table = table[(table["thread"] == "main") & (table["line"] > 0)]
    longest = table.groupby(["file", "line"])["outside_ms"].sum().nlargest(1)
    if not len(longest) or longest.iloc[0] < _FEW_MEASURED * whole_ms:
        return ""
    file, line = longest.index[0]
    place, code = place_of(str(file), int(line)), _units.shorten(evidence.code.line(str(file), int(line)), 80)
    return f"; {_units.share(longest.iloc[0] / whole_ms)} is in {f'`{code}` ' if code else ''}({place})"
