from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.devices._architectures import ARCHITECTURES, has_architecture

_WITH_BFLOAT16 = ARCHITECTURES[2:]
_FEW_16_BIT_PERCENT, _MOSTLY_COMPUTING_PERCENT = 10.0, 50.0
_OR_BFLOAT16 = ' On this GPU "mixed_bfloat16" is a choice, too: it needs no loss scaling.'
_AUTOCAST = {
    True: 'Compute the loss in `with torch.autocast("cuda", dtype=torch.bfloat16):`.',
    False: 'Compute the loss in `with torch.autocast("cuda", dtype=torch.float16):`, with torch.GradScaler("cuda").',
}

RULE = Rule(
    "float32-on-tensor-cores",
    "A device with tensor cores computes in 32 bit",
    "Looks for GPUs with tensor cores that compute for most of each step, and hardly in 16 bit.",
    "Tensor cores multiply matrices of 16-bit numbers several times faster, and these need half of the memory.",
    action="Compute in 16 bit",
    page="kernels",
    frameworks=("tensorflow", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    percent = evidence.percent("fp16")
    if (
        not has_architecture(evidence)
        or not evidence.percent("fp32") > 0
        or percent >= _FEW_16_BIT_PERCENT
        or evidence.percent("device_compute") < _MOSTLY_COMPUTING_PERCENT  # else faster compute gains little
    ):
        return
    bfloat16 = has_architecture(evidence, _WITH_BFLOAT16)
    of_compute = f"{_units.percent(percent)} of device compute time is"
    if evidence.framework == "pytorch":
        shown, fix = f"{of_compute} in kernels with a 16-bit type in their names", _AUTOCAST[bfloat16]
    else:
        shown = f"{of_compute} 16-bit"
        fix = 'Call keras.mixed_precision.set_global_policy("mixed_float16") before building the model.'
        fix += _OR_BFLOAT16 * bfloat16
    yield Case(
        percent, "The device computes in 32 bit", f"{shown}, on a device with tensor cores.", fix, severity="medium"
    )
