import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.rewriting import with_argument

_MIN_TIMES, _LARGER = 2, 1024
_RARER = (
    "Validate less often, `validation_freq=5`, where no callback needs the validation of every epoch, or on a part of "
    "the set, `validation_steps=`."
)

RULE = Rule(
    "long-validation",
    "Validation takes longer than the training",
    "Looks for training whose validation takes more of the cell than the training itself.",
    "Validation changes no weights: it can run less often, and in larger batches.",
    action="Validate in larger batches, or less often",
    page="breakdown",
    moderate=30.0,
    high=50.0,
    of="cell",
    saved=(0.3, 0.8),
    explains=("phase",),
    all_of=True,
    phase="validation",
    after=("validation-input-bound", "short-passes"),
    results="close",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    if any(earlier.values()):
        return
    tree = evidence.breakdown().table.set_index("id")
    validation = tree[tree.index.str.fullmatch("cell/validation(@[^/]*)?")]
    times = int(validation["count"].sum())
    time_ms, training_ms = (_time_ms(tree, phase) for phase in ("validation", "train"))
    if not training_ms or times < _MIN_TIMES or time_ms <= training_ms:
        return
    place = str(validation.nlargest(1, "total_ms")["place"].iloc[0])
    percent = 100 * time_ms / max(float(tree["total_ms"].iloc[0]), 1e-9)
    steps = tree.loc[tree.index.str.fullmatch("cell/validation(@[^/]*)?/step"), "count"].sum()
    change = _in_larger_batches(evidence, place)
    larger = f"Validate in larger batches, `validation_batch_size={_LARGER}`. " if change else ""
    yield Case(
        percent,
        f"Validation takes {_units.percent(percent)} of the cell's time, more than the training",
        f"{in_code(place, evidence.code.at(place))}: {_units.count(times)} validations of "
        f"{_units.count(int(steps) // times)} batches took {_units.milliseconds(time_ms / times)} each.",
        f"{larger}{_RARER}",
        place,
        change,
    )


def _time_ms(tree: pd.DataFrame, phase: str) -> float:
    """Return the time of a phase without that in which iterators end, which is chance."""
    whole, ends = (tree.index.str.fullmatch(f"cell/{phase}(@[^/]*)?{part}") for part in ("", "/end"))
    return float(tree.loc[whole, "total_ms"].sum() - tree.loc[ends, "total_ms"].sum())


def _in_larger_batches(evidence: Evidence, place: str) -> str:
    """Return the call of `fit` with larger batches of validation, where it is given arrays for that."""
    call = evidence.code.call_at(*line_at(place), "fit")
    given = {one.arg: one.value for one in call.keywords} if call else {}
    arrays = getattr(given.get("validation_data"), "elts", [])
    known = [evidence.code.object_of(line_at(place)[0], one) for one in arrays]
    if (
        "validation_batch_size" in given
        or not known
        or not all(one and one.kind in ("array", "tensor") for one in known)
    ):
        return ""
    return with_argument(evidence.code, *line_at(place), "fit", f"validation_batch_size={_LARGER}")
