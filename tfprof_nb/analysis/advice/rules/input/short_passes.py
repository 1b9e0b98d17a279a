import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.repeating import repeated
from tfprof_nb.analysis.source.syntax import first_given

_PHASES = r"cell/(train|validation)(@[^/]*)?"
_MIN_PASSES, _MIN_PART = 3, 0.5  # of what the steps take
_ENDLESS = "Make one pass of them: give `fit` a dataset that ends with `.repeat()`, and `steps_per_epoch={}`"
_PY_DATASET = (
    "Let one epoch run several passes: a PyDataset whose `__len__` counts its batches several times starts less often"
)
_VALIDATION = " Likewise for validation: `.repeat()` and `validation_steps=`."

RULE = Rule(
    "short-passes",
    "Starting a pass over the data takes as long as the pass",
    "Looks for training over several epochs that spends at least half as long on starting and ending its passes over "
    "the data as on its steps.",
    "Each epoch makes an iterator, with all stages of the pipeline and the functions that they call. An endless "
    "dataset has one iterator for all epochs.",
    action="Make one pass of many",
    page="tf_data",
    moderate=10.0,
    high=20.0,
    of="cell",
    saved=(0.4, 1.0),
    explains=("start",),
    supersedes=("old-iterators-end",),
    results="order",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    tree, steps = evidence.breakdown().table, evidence.steps.table
    training = steps[steps["phase"] == "train"]
    epochs = int(training["epoch"].nunique())
    starts = tree[tree["id"].str.fullmatch(f"{_PHASES}/start")]
    fits = tree[tree["id"].isin(starts["parent"]) & tree["id"].str.startswith("cell/train")]
    if epochs < _MIN_PASSES or fits.empty:
        return
    ran = tree[tree["id"].str.fullmatch(f"{_PHASES}/step")]
    starting_ms = float(starts["total_ms"].sum())
    passes = epochs * max(int(fits["count"].sum()), 1)
    if starts.loc[starts["parent"].isin(fits["id"]), "count"].sum() < passes:  # the data has no end
        return
    if starting_ms < _MIN_PART * float(ran["total_ms"].sum()):
        return
    starting_ms += float(tree.loc[tree["id"].str.fullmatch(f"{_PHASES}/end"), "total_ms"].sum())
    place = str(fits.nlargest(1, "total_ms")["place"].iloc[0])
    each = _steps_of_each(training, passes)
    validates = bool(starts["id"].str.startswith("cell/validation").any())
    what = "training and validation" if validates else "training"
    percent = 100 * starting_ms / max(float(tree["total_ms"].iloc[0]), 1e-9)
    fix, change = _endless(evidence, place, each)
    yield Case(
        percent,
        f"Starting and ending passes over the data takes {_units.percent(percent)} of the cell's time",
        f"{in_code(place, evidence.code.at(place))}: {what} start{'s' * (not validates)} again in each of "
        f"{_units.count(passes)} epochs, which takes {_units.milliseconds(starting_ms / passes)}"
        f"{f' for {each} step' + 's' * (each != 1) if each else ''}. "
        "Each start makes the pipeline's iterators, and ends those before.",
        fix + _VALIDATION * validates,
        place,
        change,
    )


def _steps_of_each(training: pd.DataFrame, passes: int) -> int:
    """Return how many steps each epoch has; 0 if they differ, or not all were recorded."""
    by_epoch = training.groupby("epoch").size()
    same = set(by_epoch) == {by_epoch.max()} and len(training) % passes == 0
    return len(training) // passes if same else 0


def _endless(evidence: Evidence, place: str, steps: int) -> tuple[str, str]:
    """Return how to have one iterator for all epochs: words, and where it is certain code."""
    file, line = line_at(place)
    given = first_given(evidence.code.call_at(file, line, "fit"))
    known = evidence.code.object_of(file, given) if given else None
    if known and known.kind == "keras dataset":
        return f"{_PY_DATASET}.", ""
    change = repeated(evidence.code, file, line, steps) if steps else ""
    return f"{_ENDLESS.format(steps or 'n')}.", change
