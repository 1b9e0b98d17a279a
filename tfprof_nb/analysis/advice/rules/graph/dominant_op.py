import math

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.graph.tf_print import PRINTING_OPS
from tfprof_nb.analysis.events.python_ops import PYTHON_OPS
from tfprof_nb.analysis.source.mapped import lines_mapped

_DOMINANT_OP_SHARE, _BUSY_PERCENT = 0.5, 15.0
# Ops that hand values on, or wait for those of others: nothing is in their shapes.
_NO_WORK = (
    "Variable|Assign|Iterator|Identity|NoOp|Send|Recv|LogicalAnd|"
    "^(?:copy-|infeed|outfeed|all-|reduce-scatter|collective-|send|recv|nccl)"
)

RULE = Rule(
    "dominant-op",
    "One op does most of the work",
    "Looks for an op with half of all op self time or more.",
    "Other ops together take less, so a faster step begins with this one.",
    action="Begin with this op",
    page="ops",
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    top = evidence.overview.table
    # Stages of the input pipeline, Python in it and printing have their own findings.
    top = top[
        ~top["op_type"].isin(["Dataset", *PYTHON_OPS, *PRINTING_OPS])
        & ~top["op_type"].where(top["op_type"] != "", top["op_name"]).str.contains(_NO_WORK)
    ]
    busy = max(("host_compute", "device_compute"), key=evidence.percent)
    if not len(top) or top["self_share"].iloc[0] < _DOMINANT_OP_SHARE or evidence.percent(busy) < _BUSY_PERCENT:
        return
    op = top.iloc[0]
    if busy != f"{op['side']}_compute" or (op["side"] == "host" and _in_pipeline(evidence, str(op["op_name"]))):
        return
    yield Case(
        math.nan,
        f"One op does most of the work: {op['op_type'] or _units.shorten(op['op_name'], 40)}",
        f"{_units.shorten(op['op_name'], 80)} takes {_units.share(op['self_share'])} of all op self time on the "
        f"{op['side']}.",
        "Start with this op: look at its shapes, at how often it runs, and whether every step needs it.",
        severity="info",
        op_name=str(op["op_name"]),
    )


def _in_pipeline(evidence: Evidence, op_name: str) -> bool:
    """Whether an op is made in a function that the program gives to a dataset: of the input other rules speak."""
    ops = evidence.source().all_ops
    ops = ops[ops["op_name"] == op_name]
    mapped = [lines_mapped(evidence.code, *place) for place in evidence.code.find(r"\.map\(")]
    return any(((ops["file"] == file) & ops["line"].between(first, last)).any() for file, first, last in mapped if last)
