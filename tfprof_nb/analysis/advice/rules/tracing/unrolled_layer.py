from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, UNROLL, long_tracing
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.rewriting import without_argument

RULE = Rule(
    "unrolled-layer",
    "A recurrent layer is unrolled",
    "Looks for `unroll=True` in cells that trace for longer than they compute.",
    "Each time step is then traced, and becomes a part of the graph, of its own.",
    action="Remove unroll=True",
    of="cell",
    saved=(0.5, None),
    after=SAY_WHY,
    results="close",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    tracing = long_tracing(evidence)
    places = list(evidence.code.find(UNROLL)) if tracing and not any(earlier.values()) else []
    if not tracing or not places:
        return
    begin, change = without_argument(evidence.code, *places[0], "unroll") if len(places) == 1 else (0, "")
    yield Case(
        tracing.percent,
        f"Tracing takes {_units.percent(tracing.percent)} of the cell's time: unroll=True "
        f"({' and '.join(place_of(*place) for place in places)})",
        f"{tracing.in_words} TensorFlow traces functions and builds their graphs.",
        "Remove unroll=True: the layer is then a loop in the graph, which is traced once and not for each time step.",
        place_of(places[0][0], begin or places[0][1]),
        change,
        severity="high",
    )
