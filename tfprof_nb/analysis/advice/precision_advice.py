"""What to change about the types that a model computes in."""

from __future__ import annotations

import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import ONE_LAYER, ONE_OP, Evidence, Finding, saving
from tfprof_nb.analysis.advice.gpu_advice import BFLOAT16_ARCHITECTURES, computes_in_32_bit, has_architecture

_MOST_PARAMETERS = 0.5
_WORTH_SAYING = 20.0, 50.0
# Kernels of CPUs convert float16 to float32 and back: small networks for images took 1.9 to 2.6 times as long.
_SAVED_ON_CPU = 0.3, 1.0
_ASKED_FOR_HALF = r"[\"']mixed_float16[\"']"
_OR_BFLOAT16 = ' On this GPU "mixed_bfloat16" is a choice, too: it needs no loss scaling.'
# float64 has twice the bytes of float32, and its convolutions lack the fast kernels.
_SAVED = 0.3, 0.9
_ASKED = r"set_floatx\(|floatx *=|dtype *= *[\"']float64|(np|tf)\.float64|[\"']float64[\"']"


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
    if percent < _WORTH_SAYING[0] or not found:
        return []
    place, code = evidence.code.place(found), evidence.code.line(*found)
    change = re.sub(r"\bmixed_float16\b", "float32", code)
    return [
        saving(
            percent,
            _WORTH_SAYING,
            _SAVED_ON_CPU,
            finding=f"float16 on a CPU ({place})",
            evidence=f"Ops in float16 run in {_units.percent(percent)} of each step, and none ran on a GPU. CPUs "
            "compute float16 mostly by converting it to float32 and back.",
            fix=f"Use float32 on a CPU: `{_units.shorten(change, 120)}`, in a new kernel, before the model is made.",
            place=place,
            change=change,
            instead_of=(ONE_OP, *ONE_LAYER),
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
            proved_by="kernels",
        )
    ]
