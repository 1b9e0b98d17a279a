"""What to change about the types that a model computes in."""

from __future__ import annotations

import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, saving
from tfprof_nb.analysis.advice.gpu_advice import BFLOAT16_ARCHITECTURES, computes_in_32_bit, has_architecture
from tfprof_nb.analysis.advice.rule import Rule

_MOST_PARAMETERS = 0.5
_ASKED_FOR_HALF = r"[\"']mixed_float16[\"']"
_OR_BFLOAT16 = ' On this GPU "mixed_bfloat16" is a choice, too: it needs no loss scaling.'
_ASKED = r"set_floatx\(|floatx *=|dtype *= *[\"']float64|(np|tf)\.float64|[\"']float64[\"']"

DOUBLE = Rule(
    "float64",
    "The model computes in float64",
    "Looks for models most of whose trained parameters are float64, if their ops take much of each step.",
    "float64 has twice the bytes of float32, and its convolutions lack the fast kernels.",
    group="graph",
    page="ops",
    moderate=20.0,
    high=50.0,
    saved=(0.3, 0.9),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)
HALF_ON_CPU = Rule(
    "float16-on-cpu",
    "A CPU computes in float16",
    "Looks for the policy `mixed_float16` in programs that run on a CPU.",
    "Kernels of CPUs convert float16 to float32 and back: small networks for images took 1.9 to 2.6 times as long.",
    group="graph",
    page="ops",
    moderate=20.0,
    high=50.0,
    saved=(0.3, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)
IN_32_BIT = Rule(
    "float32-on-tensor-cores",
    "A device with tensor cores computes in 32 bit",
    "Looks for GPUs with tensor cores that compute for most of each step, and hardly in 16 bit.",
    "Tensor cores multiply matrices of 16-bit numbers several times faster, and these need half of the memory.",
    group="devices",
    page="kernels",
    frameworks=("tensorflow", "pytorch"),
)


def precision_findings(evidence: Evidence) -> list[Finding]:
    """Report float64, float16 where no device is quick at it, and float32 where a device has tensor cores."""
    return [*_double(evidence), *_half_on_cpu(evidence), *_without_half(evidence)]


def _double(evidence: Evidence) -> list[Finding]:
    """Report steps that compute mostly in float64, if most of the trained parameters have that type."""
    ops = evidence.step_ops()
    variables = ops.graphs.variables[ops.graphs.variables["trainable"].astype(bool)]
    parameters = variables["parameters"].fillna(0)
    double = variables["dtype"].astype(str).isin(["float64", "double"])
    if not ops.steps or not parameters[double].sum() > _MOST_PARAMETERS * parameters.sum():
        return []
    share = ops.share(ops.ran(ops.graphs.nodes["outputs"].astype(str).str.startswith("float64").to_numpy(bool)))
    percent = 100 * share.covered
    if percent < DOUBLE.moderate:
        return []
    found = next(evidence.code.find(_ASKED), None)
    place = evidence.code.place(found)
    code = evidence.code.at(place)
    change = re.sub(r"\bfloat64\b", "float32", code) if re.search(r"set_floatx\(.*\bfloat64\b", code) else ""
    to = f": `{change}`, in a new kernel, since Keras keeps the type that it began with" if change else ""
    return [
        saving(
            DOUBLE,
            percent,
            finding=f"The model computes in float64{place and f' ({place})'}",
            evidence=f"{_units.share(float(parameters[double].sum() / parameters.sum()))} of the trained parameters "
            f"are of this type, and float64 ops run in {_units.percent(percent)} of each step.",
            fix=f"Use float32, Keras' default{to or (f': change `{code}`' if place else '')}. It needs half the "
            "memory, and has faster kernels.",
            place=place,
            change=change,
        )
    ]


def _half_on_cpu(evidence: Evidence) -> list[Finding]:
    """Report 16-bit floats in a program that runs on a CPU."""
    ops = evidence.step_ops()
    if not ops.steps or ops.on_device or evidence.overview.summary["device_cores"]:
        return []
    share = ops.share(
        ops.ran(ops.graphs.nodes["outputs"].astype(str).str.startswith(("float16", "half")).to_numpy(bool))
    )
    percent = 100 * share.covered
    found = next(evidence.code.find(_ASKED_FOR_HALF), None)
    if percent < HALF_ON_CPU.moderate or not found:
        return []
    place, code = evidence.code.place(found), evidence.code.line(*found)
    change = re.sub(r"\bmixed_float16\b", "float32", code)
    return [
        saving(
            HALF_ON_CPU,
            percent,
            finding=f"float16 on a CPU ({place})",
            evidence=f"Ops in float16 run in {_units.percent(percent)} of each step, and none ran on a GPU. CPUs "
            "compute float16 mostly by converting it to float32 and back.",
            fix=f"Use float32 on a CPU: `{_units.shorten(change, 120)}`, in a new kernel, before the model is made.",
            place=place,
            change=change,
        )
    ]


def _without_half(evidence: Evidence) -> list[Finding]:
    if not evidence.is_tensorflows or not computes_in_32_bit(evidence):
        return []
    choice = _OR_BFLOAT16 if has_architecture(evidence, BFLOAT16_ARCHITECTURES) else ""
    return [
        Finding(
            "medium",
            "The device computes in 32 bit",
            f"{_units.percent(evidence.percent('fp16'))} of device compute time is 16-bit, on a device with tensor "
            "cores.",
            f'Call keras.mixed_precision.set_global_policy("mixed_float16") before building the model.{choice}',
            proved_by=IN_32_BIT.page,
            rule=IN_32_BIT.id,
        )
    ]
