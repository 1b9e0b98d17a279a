from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.devices._architectures import has_architecture

_SOME_16_BIT_PERCENT, _MAX_NAMES = 10.0, 3

RULE = Rule(
    "tensor-cores-unused",
    "Tensor cores stay unused",
    "Looks for ops of programs in 16 bit that tensor cores could compute, and other cores do.",
    "Tensor cores need sizes that are multiples of 8 for 16-bit types.",
    action="Make the sizes multiples of 8",
    page="kernels",
    moderate=20.0,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    numbers = evidence.overview.summary
    if not numbers["device_cores"] or not has_architecture(evidence) or evidence.percent("fp16") < _SOME_16_BIT_PERCENT:
        return
    table = evidence.kernels().table
    without = table[table["tensor_core_eligible"].astype(bool) & ~table["tensor_core_used"].astype(bool)]
    share = float(without["total_us"].sum() / (table["total_us"].sum() or 1))
    by_op = without.groupby(without["op_name"].astype(str))["total_us"].sum().nlargest(_MAX_NAMES)
    names = ", ".join(_units.shorten(name, 60) for name in by_op.index)
    yield Case(
        100 * share,
        "Tensor cores stay unused",
        f"{_units.share(share)} of the kernels' time is in ops that tensor cores could compute, without them: {names}.",
        "Make the sizes of these layers, and of the batch, multiples of 8 for 16-bit types, of 16 for 8-bit types.",
        severity="info",
    )
