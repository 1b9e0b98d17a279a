from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

_CONVERTS_LAYOUT = r"nchwTo\w*nhwc|nhwcTo\w*nchw"

RULE = Rule(
    "layout-conversions",
    "Convolutions convert their data between layouts",
    "Looks for kernels of cuDNN that convert between NCHW and NHWC.",
    "cuDNN computes 16-bit types on tensor cores in NHWC, and others mostly in NCHW: mixing them converts each time.",
    action="Use one layout throughout",
    page="kernels",
    moderate=5.0,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    if not evidence.overview.summary["device_cores"]:
        return
    table = evidence.kernels().table
    converting = table[table["kernel"].astype(str).str.contains(_CONVERTS_LAYOUT, case=False)]
    share = float(converting["total_us"].sum() / (table["total_us"].sum() or 1))
    yield Case(
        100 * share,
        "Convolutions convert their data between layouts",
        f"Kernels that convert between NCHW and NHWC take {_units.share(share)} of the kernels' time.",
        "cuDNN computes 16-bit types on tensor cores in NHWC (Keras: channels_last, the default), and others mostly in "
        "NCHW (channels_first). Use one of the two from the input to the last convolution, and measure both.",
        severity="info",
    )
