from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.rewriting import without_argument

_MIN_PROGRAMS = 3

RULE = Rule(
    "xla-recompilation",
    "XLA compiles many programs",
    "Looks for three or more programs that XLA compiles in the cell.",
    "XLA recompiles a function for each shape that it is given: batches that are padded to different lengths, and "
    "smaller last batches.",
    action="Leave XLA out, or keep one shape",
    page="trace",
    moderate=20.0,
    high=40.0,
    of="cell",
    saved=(0.75, 1.0),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    found, whole_ms = evidence.compilations(), float(evidence.overview.summary["capture_ms"])
    percent = min(100.0, 100 * found.total_ms / whole_ms) if whole_ms > 0 else 0.0
    if found.programs < _MIN_PROGRAMS:
        return
    asked = list(evidence.code.find(r"\bjit_compile *= *True"))
    begin, change = without_argument(evidence.code, *asked[0], "jit_compile") if len(asked) == 1 else (0, "")
    place = place_of(asked[0][0], begin or asked[0][1]) if asked else ""
    yield Case(
        percent,
        finding=f"XLA compiles {_units.count(found.programs)} programs: {_units.percent(percent)} of the cell's time"
        f"{at(place)}",
        evidence=f"That took {_units.milliseconds(found.total_ms)}. XLA recompiles a function for each shape that "
        "it is given, such as batches of sequences that are padded to different lengths, and smaller last batches.",
        fix="Leave out jit_compile=True. Or give the batches one shape: pad to one length, and in training drop the "
        "smaller last batch (drop_remainder=True).",
        place=place,
        change=change,
    )
