"""What to change about threads that wait for the end of an old iterator of tf.data."""

import ast
import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.events.removals import REMOVAL
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import first_given

_ARRAYS = ("array", "tensor")
_TUNER, _PREFETCH = "AUTOTUNE", re.compile(r"\bprefetch\([^()]*\)")
_FIX = "Turn the autotuner off: `options = tf.data.Options()`, `options.autotune.enabled = False`, and {end}."
# Where the pipeline leaves numbers to the autotuner, it is slower without.
_FEWER = (
    "Start fewer passes: with `.repeat()` and `steps_per_epoch=` all epochs have one iterator, which ends once. Leave "
    "the autotuner on, as the pipeline uses tf.data.AUTOTUNE."
)
_END = "end the pipeline with `.with_options(options)`"
_OF_ARRAYS = (
    "give fit a dataset of the arrays, shuffled and in batches of the same size, that ends with these options{code}"
)
_LIKE = ": `tf.data.Dataset.from_tensor_slices({data}).shuffle(len({first})).batch({size}).with_options(options)`"
_BATCH_OF_KERAS = "32"
# What Keras takes beside arrays but not beside a dataset, or does otherwise with one.
_ONLY_OF_ARRAYS = {"validation_split", "sample_weight", "shuffle", "steps_per_epoch"}

RULE = Rule(
    "old-iterators-end",
    "The program waits for old iterators of tf.data to end",
    "Looks for threads that wait for the autotuner of an iterator that ends, while no other thread works.",
    "The autotuner sleeps, longer the longer its iterator was in use, and ends when it wakes up. Such waits come by "
    "chance.",
    action="Start fewer passes, or turn the autotuner off",
    page="trace",
    moderate=10.0,
    of="cell",
    order="by_chance",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report waits for an autotuner that sleeps when its iterator ends. They come by chance: no program is at fault."""
    found, whole_ms = evidence.sleeps(), float(evidence.overview.summary["capture_ms"])
    percent = min(100.0, 100 * found.total_ms / whole_ms) if whole_ms > 0 else 0.0
    if not found.times:
        return
    times = "An old iterator" if found.times == 1 else f"{_units.count(found.times)} old iterators"
    in_all = f"{_units.milliseconds(found.total_ms)}{' in all' if found.times > 1 else ''}"
    yield Case(
        percent,
        f"The program waits for old iterators of tf.data to end: {_units.percent(percent)} of the cell's time",
        f"{times} took {in_all} to end, while no other thread worked: the program waits until the autotuner of "
        "tf.data wakes up. It sleeps longer, the longer an iterator is in use. So it was in this run; others may "
        "not wait.",
        fix_of(evidence),
        severity="info",
        gain=(percent, 0.0, percent),
        op_name=REMOVAL,
        start_ms=found.longest_start_ms,
        duration_ms=found.longest_ms,
    )


def fix_of(evidence: Evidence) -> str:
    """Say how to turn the autotuner off in this program, or how to do with fewer iterators where it is of use."""
    code = evidence.code
    fits = _fits(code)
    arrays = bool(fits) and all(_gives_arrays(code, file, call) for file, call in fits)
    known = any(map(code.text, code.files))
    if not known or (not arrays and _is_tuned(code)):
        return _FEWER if known else _FEWER.partition(" Leave")[0]
    return _FIX.format(end=_OF_ARRAYS.format(code=_of_arrays(code, fits)) if arrays else _END)


def _is_tuned(code: Code) -> bool:
    """Whether a pipeline leaves more than a prefetch, which has a tuner of its own, to the autotuner."""
    return any(_TUNER in _PREFETCH.sub("", code.line(*at)) for at in code.find(_TUNER))


def _fits(code: Code) -> list[tuple[str, ast.Call]]:
    """Return the calls of a method ``fit`` in the profiled cell; those of the whole program if it has none."""
    calls = [
        (file, one)
        for file in code.files
        for one in code.nodes(file, ast.Call)
        if isinstance(one.func, ast.Attribute) and one.func.attr == "fit"
    ]
    return [one for one in calls if one[0] == "cell"] or calls


def _gives_arrays(code: Code, file: str, fit: ast.Call) -> bool:
    """Whether a call of ``fit`` is given arrays: by what their name stood for, else because targets come apart.

    Keras takes no targets beside a dataset.
    """
    data = first_given(fit)
    known = code.object_of(file, data) if data else None
    if known:
        return known.kind in _ARRAYS
    owner = code.object_of(file, fit.func.value) if isinstance(fit.func, ast.Attribute) else None
    apart = len(fit.args) > 1 or any(keyword.arg == "y" for keyword in fit.keywords)
    return apart and (owner is None or owner.kind == "model")


def _of_arrays(code: Code, fits: list[tuple[str, ast.Call]]) -> str:
    """Return code that makes a dataset of the arrays given to the program's only call of ``fit``; else an empty text.

    What it is given must be known to be arrays, not by their names.
    """
    if len({ast.unparse(call) for _, call in fits}) != 1:
        return ""
    file, call = fits[0]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = dict(zip(("x", "y", "batch_size"), call.args, strict=False)) | named
    arrays = [given[name] for name in ("x", "y") if name in given]
    known = [code.object_of(file, one) for one in arrays]
    if not arrays or set(given) & _ONLY_OF_ARRAYS or not all(one and one.kind in _ARRAYS for one in known):
        return ""
    texts = [*map(ast.unparse, arrays)]
    size = ast.unparse(given["batch_size"]) if "batch_size" in given else _BATCH_OF_KERAS
    return _LIKE.format(data=f"({', '.join(texts)})" if len(texts) > 1 else texts[0], first=texts[0], size=size)
