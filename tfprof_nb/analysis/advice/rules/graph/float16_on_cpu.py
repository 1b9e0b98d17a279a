import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

_ASKED = r"[\"']mixed_float16[\"']"

RULE = Rule(
    "float16-on-cpu",
    "A CPU computes in float16",
    "Looks for the policy `mixed_float16` in programs that run on a CPU.",
    "Kernels of CPUs convert float16 to float32 and back: small networks for images took 1.9 to 2.6 times as long.",
    action="Use float32 on a CPU",
    page="ops",
    moderate=20.0,
    high=50.0,
    saved=(0.3, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops, asked = evidence.step_ops(), next(evidence.code.find(_ASKED), None)
    if not ops.steps or ops.on_device or evidence.overview.summary["device_cores"] or not asked:
        return
    percent = ops.percent(ops.graphs.nodes["outputs"].astype(str).str.startswith(("float16", "half")).to_numpy(bool))
    place = evidence.code.place(asked)
    change = re.sub(r"\bmixed_float16\b", "float32", evidence.code.line(*asked))
    yield Case(
        percent,
        finding=f"float16 on a CPU ({place})",
        evidence=f"Ops in float16 run in {_units.percent(percent)} of each step, and none ran on a GPU. CPUs "
        "compute float16 mostly by converting it to float32 and back.",
        fix="Use float32 on a CPU, in a new kernel, before the model is made.",
        place=place,
        change=change,
    )
