import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at

_MOST_PARAMETERS = 0.5
_FASTER = "It needs half the memory, and has faster kernels."
_ASKED = r"set_floatx\(|floatx *=|dtype *= *[\"']float64|(np|tf)\.float64|[\"']float64[\"']"

RULE = Rule(
    "float64",
    "The model computes in float64",
    "Looks for models most of whose trained parameters are float64, if their ops take much of each step.",
    "float64 has twice the bytes of float32, and its convolutions lack the fast kernels.",
    action="Use float32",
    page="ops",
    moderate=20.0,
    high=50.0,
    saved=(0.3, 0.9),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    variables = ops.graphs.variables[ops.graphs.variables["trainable"].astype(bool)]
    parameters = variables["parameters"].fillna(0)
    double = variables["dtype"].astype(str).isin(["float64", "double"])
    if not ops.steps or not parameters[double].sum() > _MOST_PARAMETERS * parameters.sum():
        return
    percent = ops.percent(ops.graphs.nodes["outputs"].astype(str).str.startswith("float64").to_numpy(bool))
    place = evidence.code.place(next(evidence.code.find(_ASKED), None))
    code = evidence.code.at(place)
    change = re.sub(r"\bfloat64\b", "float32", code) if re.search(r"set_floatx\(.*\bfloat64\b", code) else ""
    here = f": change `{code}`" if place else ""
    anew = ", in a new kernel, since Keras keeps the type that it began with" if change else here
    yield Case(
        percent,
        finding=f"The model computes in float64{at(place)}",
        evidence=f"{_units.share(float(parameters[double].sum() / parameters.sum()))} of the trained parameters "
        f"are of this type, and float64 ops run in {_units.percent(percent)} of each step.",
        fix=f"Use float32, Keras' default{anew}. {_FASTER}",
        place=place,
        change=change,
        without_change=f"Use float32, Keras' default{here}. {_FASTER}",
    )
