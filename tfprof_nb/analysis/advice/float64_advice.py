"""What to change about a model that computes in float64."""

from __future__ import annotations

import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import ONE_LAYER, ONE_OP, Evidence, Finding, saving

_MOST_PARAMETERS = 0.5
_WORTH_SAYING = 20.0, 50.0
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
    if percent < _WORTH_SAYING[0]:
        return []
    found = next(evidence.code.find(_ASKED), None)
    place = evidence.code.place(found)
    code = evidence.code.at(place)
    change = re.sub(r"\bfloat64\b", "float32", code) if re.search(r"set_floatx\(.*\bfloat64\b", code) else ""
    to = f": `{change}`, in a new kernel, since Keras keeps the type that it began with" if change else ""
    return [
        saving(
            percent,
            _WORTH_SAYING,
            _SAVED,
            finding=f"The model computes in float64{place and f' ({place})'}",
            evidence=f"{_units.share(float(parameters[double].sum() / parameters.sum()))} of the trained parameters "
            f"are of this type, and float64 ops run in {_units.percent(percent)} of each step.",
            fix=f"Use float32, Keras' default{to or (f': change `{code}`' if place else '')}. It needs half the "
            "memory, and has faster kernels.",
            place=place,
            change=change,
            instead_of=(ONE_OP, *ONE_LAYER),
        )
    ]
