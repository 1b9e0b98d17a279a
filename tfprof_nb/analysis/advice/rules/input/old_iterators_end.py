import math

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.syntax import first_given
from tfprof_nb.analysis.source.untuned import untuned

_MIN_TIMES, _SPREAD = 5, 1.5  # waits that are no chance; how far their sum is off in other runs, in deviations
_TURN_OFF = "Turn the autotuner off"
_BY_OPTIONS = (
    ": `options = tf.data.Options()`, `options.autotune.enabled = False`, and a dataset that ends with "
    "`.with_options(options)`"
)
_SEEN = ", while no other thread worked: the program waits until the autotuner of tf.data wakes up."
_UNSEEN = (
    ". No ops were recorded meanwhile: most likely, the program waits until the autotuner of tf.data wakes up, or else "
    "for the last elements of its workers."
)
_SAME_VALUES = ". The values stay the same; stages with `tf.data.AUTOTUNE` use all processors."
_BY_KERAS = (
    "Keras makes the pipeline of what `fit` is given here, and its autotuner cannot be turned off. Fewer passes end "
    "less often: a `__len__`, or `steps_per_epoch=`, that counts the batches of several epochs as one."
)

RULE = Rule(
    "old-iterators-end",
    "The program waits for old iterators of tf.data to end",
    "Looks for threads that wait for the autotuner of an iterator that ends, while no other thread works.",
    "Each pass over a dataset has an autotuner. It sleeps, longer the longer its pass lasts, and where it misses the "
    "end of the pass, that waits until it wakes up. Which passes these are is chance.",
    action="Turn the autotuner off",
    page="trace",
    moderate=10.0,
    high=20.0,
    of="cell",
    explains=("start",),
    results="order",
    order="by_chance",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report waits for an autotuner that sleeps when its iterator ends; few of them come by chance.

    Those of a pipeline that nobody can change are no reason to change the program first.
    """
    found, whole_ms = evidence.sleeps(), float(evidence.overview.summary["capture_ms"])
    percent = min(100.0, 100 * found.total_ms / whole_ms) if whole_ms > 0 else 0.0
    if not found.times:
        return
    few, tree = found.times < _MIN_TIMES, evidence.breakdown().table
    longest = tree[tree["id"].str.endswith("/end")].nlargest(1, "total_ms")
    around = tree[tree["id"].isin(longest["parent"])]
    place = next((str(one) for one in (*longest["place"], *around["place"]) if one), "")
    change = untuned(evidence.code, *line_at(place))
    yield Case(
        percent,
        f"The program waits for old iterators of tf.data to end: {_units.percent(percent)} of the cell's time",
        f"{'An old iterator' if found.times == 1 else f'{_units.count(found.times)} old iterators'} took "
        f"{_units.milliseconds(found.total_ms)}{' in all' * (found.times > 1)} to end"
        f"{_SEEN if found.others_seen else _UNSEEN} "
        f"{'Other runs may not wait.' if few else 'In other runs, other passes wait.'}",
        _BY_KERAS if _makes_keras(evidence.code, place) else _fix("" if change else _BY_OPTIONS),
        place,
        change,
        _fix(_BY_OPTIONS),
        severity=None if change and not few else "info",
        gain=(percent, percent * max(0.0, 1 - _SPREAD / math.sqrt(found.times)), percent),
        op_name=found.event,
        start_ms=found.longest_start_ms,
        duration_ms=found.longest_ms,
    )


def _fix(how: str) -> str:
    return f"{_TURN_OFF}{how}{_SAME_VALUES}"


def _makes_keras(code: Code, place: str) -> bool:
    """Whether Keras makes the pipeline of the call of `fit` at a place: of a PyDataset or a generator."""
    given = first_given(code.call_at(*line_at(place), "fit"))
    known = code.object_of(line_at(place)[0], given) if given else None
    return known is not None and known.kind in ("keras dataset", "generator")
