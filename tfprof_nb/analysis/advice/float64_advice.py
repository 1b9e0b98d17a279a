"""What to change about a model that computes in float64."""

from __future__ import annotations

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import ONE_LAYER, ONE_OP, Evidence, Finding, severity_of

_MOST_PARAMETERS = 0.5
_WORTH_SAYING_PERCENT, _HIGH_PERCENT = 20.0, 50.0
# float64 has twice the bytes of float32, and its convolutions lack the fast kernels.
_SAVED = 0.3, 0.9
_ASKED = r"set_floatx\(|floatx *=|dtype *= *[\"']float64|(np|tf)\.float64|[\"']float64[\"']"


def float64_findings(evidence: Evidence) -> list[Finding]:
    """Report steps that compute mostly in float64, if most of the trained parameters have that type."""
    ops = evidence.step_ops()
    variables = ops.graphs.variables[ops.graphs.variables["trainable"].astype(bool)]
    parameters = variables["parameters"].fillna(0)
    double = variables["dtype"].astype(str).isin(["float64", "double"])
    if not ops.steps or not parameters[double].sum() > _MOST_PARAMETERS * parameters.sum():
        return []
    share = ops.share(ops.ran(ops.graphs.nodes["outputs"].astype(str).str.startswith("float64").to_numpy(bool)))
    percent = 100 * share.covered
    if percent < _WORTH_SAYING_PERCENT:
        return []
    found = next(evidence.code.find(_ASKED), None)
    place = evidence.code.place(found)
    return [
        Finding(
            severity_of(percent, _WORTH_SAYING_PERCENT, _HIGH_PERCENT),
            f"The model computes in float64{place and f' ({place})'}",
            f"{_units.share(float(parameters[double].sum() / parameters.sum()))} of the trained parameters are of this "
            f"type, and float64 ops run in {_units.percent(percent)} of each step.",
            f"Use float32, Keras' default{f': change `{evidence.code.at(place)}`' if place else ''}. It needs half the "
            "memory, and has faster kernels.",
            percent,
            proved_by="ops",
            place=place,
            gain_low_percent=_SAVED[0] * percent,
            gain_high_percent=_SAVED[1] * percent,
            instead_of=(ONE_OP, *ONE_LAYER),
        )
    ]
