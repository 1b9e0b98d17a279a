from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.pipelines import batch_size, is_batched, is_dataset
from tfprof_nb.analysis.source.rewriting import with_argument_call
from tfprof_nb.analysis.source.syntax import first_given

_MIN_SAMPLES = 10
_BATCH, _LARGE_ENOUGH = 1024, 512
_ONE_BY_ONE = "adapt runs eagerly, from Python, for each element of the dataset."
_SAME = "What it learns is the same."
# By whether the elements are batches, as far as that is known: the method that makes larger ones, and words.
_LARGER: dict[bool | None, tuple[str, str, str]] = {
    True: ("rebatch", "small batches", "Give it larger batches"),
    False: ("batch", "single examples", "Give it batches"),
    None: ("batch", "small elements", "If its elements are single examples, give it batches"),
}

RULE = Rule(
    "adapt-small-elements",
    "adapt reads a dataset of small elements",
    "Looks for preprocessing layers that adapt to a dataset of single examples or small batches.",
    "`adapt` runs eagerly, from Python, for each element of the dataset.",
    action="Give adapt large batches",
    page="python",
    moderate=15.0,
    high=30.0,
    of="cell",
    without_tracing=True,
    saved=(0.6, 1.0),
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls, whole_ms = evidence.python.calls, evidence.steady_ms
    calls = calls[calls["call"].astype(str).str.endswith(".adapt") & (calls["thread"] == "main")]
    for (file, line), rows in calls.groupby(["file", "line"], sort=False):
        time_ms = float(rows["self_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms > 0 else 0.0
        if percent >= RULE.moderate and rows["samples"].sum() >= _MIN_SAMPLES:
            yield from _cases(evidence, str(file), int(str(line)), time_ms, percent)


def _cases(evidence: Evidence, file: str, line: int, time_ms: float, percent: float) -> Cases:
    code, place = evidence.code, place_of(file, line)
    given = first_given(code.call_at(file, line, "adapt"))
    if given is None or not is_dataset(code, file, given):  # an array is taken as a whole
        return
    batched = is_batched(code, file, given)
    if (size := batch_size(code, file, given)) and size >= _LARGE_ENOUGH:
        return
    method, elements, condition = _LARGER[batched]
    change = with_argument_call(code, file, line, "adapt", f".{method}({_BATCH})")
    yield Case(
        percent,
        finding=f"adapt takes {_units.percent(percent)} of the cell's time: it gets {elements} ({place})",
        evidence=f"{quoted(code.line(file, line))} took {_units.milliseconds(time_ms)}. {_ONE_BY_ONE}",
        fix=f"{condition}: `.{method}({_BATCH})`. {_SAME}",
        place=place,
        change=change,
    )
