import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, UNROLL, Tracing, long_tracing
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.source.rewriting import without_argument

_FOR_EACH_STEP, _MOST = "TimeDistributed", 0.5  # Keras traces the layer in it for each time step; of the graph

RULE = Rule(
    "unrolled-layer",
    "A layer is unrolled over its time steps",
    "Looks for `unroll=True`, and for TimeDistributed layers that make most of the graph, in cells that trace for "
    "longer than they compute.",
    "Each time step is then traced, and becomes a part of the graph, of its own.",
    action="Trace one time step, not each",
    of="cell",
    saved=(0.5, None),
    after=SAY_WHY,
    results="close",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    tracing = long_tracing(evidence)
    if not tracing or any(earlier.values()):
        return
    if each_step := _for_each_step(evidence, tracing):
        yield each_step
        return
    if not (places := list(evidence.code.find(UNROLL))):
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


def _for_each_step(evidence: Evidence, tracing: Tracing) -> Case | None:
    """Return the case of layers that Keras traces for each time step; None if they do not make most of the graph."""
    ops = evidence.step_ops()
    layers, owner = ops.graphs.layers, ops.graphs.once(owners)[0]
    number = layers.index[layers["type"] == _FOR_EACH_STEP]
    share = float(np.isin(owner, number).sum()) / max(len(owner), 1)
    if share < _MOST:
        return None
    places = list(dict.fromkeys(filter(None, map(ops.place, layers["frame"][number]))))
    more = f" and {len(places) - 1} more lines" if len(places) > 2 else "".join(f" and {one}" for one in places[1:])
    at = f" ({places[0]}{more})" if places else ""
    return Case(
        tracing.percent,
        f"Tracing takes {_units.percent(tracing.percent)} of the cell's time: {_FOR_EACH_STEP}{at}",
        f"{tracing.in_words} TensorFlow traces functions. {_FOR_EACH_STEP} makes {_units.share(share)} of the graph: "
        "Keras traces the layer in it for each time step.",
        "Let the layer take all time steps at once. Dense does so by itself, and Conv2D(n, (1, k)) computes the same as"
        " TimeDistributed(Conv1D(n, k)). Before other layers, except BatchNormalization, reshape (batch, time, ...) to "
        "(batch * time, ...), and back behind them.",
        places[0] if places else "",
        severity="high",
    )
