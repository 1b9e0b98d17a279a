from collections.abc import Collection

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, training_ms
from tfprof_nb.analysis.advice.findings import at_most
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, LEAST_SAVED, method_of
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import on_batch

_BY_KERAS = ("predict", "evaluate")
_MIN_CALLS, _PART = 10, 0.1
_AS_ONE = " If the model trains between the calls, `predict_on_batch` takes all examples of a call as one batch."

RULE = Rule(
    "predict-per-example",
    "predict or evaluate is called again and again",
    "Looks for calls of `model.predict` and `model.evaluate` of one batch, or that mostly start and end.",
    "Each call sets up an input pipeline and callbacks of its own, which takes longer than to compute a few examples.",
    action="Call it once for all, or without a pipeline",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(LEAST_SAVED, None),
    supersedes=("old-iterators-end",),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls, phases = evidence.python.calls, evidence.steps.table["phase"]
    method = method_of(calls)
    for name, phase in zip(_BY_KERAS, ("predict", "test"), strict=True):
        rows = calls[(method == name) & (calls["library"] == "Keras") & (calls["thread"] == "main")]
        starting_ms = float(rows["between_steps_ms"].sum())
        percent = 100 * starting_ms / max(training_ms(evidence), 1e-9)
        batches = int((phases == phase).sum())
        one_batch = batches <= (_times(evidence, name) or batches)
        mostly = starting_ms >= rows["self_ms"].sum() / 2
        if rows.empty or batches < _MIN_CALLS or not (mostly or (one_batch and _times(evidence, name))):
            continue
        first = rows.iloc[0]
        place, code = place_of(str(first["file"]), int(first["line"])), evidence.code.line(first["file"], first["line"])
        plain = one_batch or _has_one_batch(evidence, name, place)
        itself = on_batch(evidence.code, *line_at(place), name) if name == "predict" and plain else ""
        model = evidence.code.owner(*line_at(place), name) or "model"
        once = f"Call {model}.{name} once with all examples in one array"
        once += "" if one_batch else ", and a larger `batch_size=`"
        others = _other_places(rows)
        places = pd.Series([*map(place_of, rows["file"].astype(str), rows["line"].astype(int))], rows.index)
        told_ms = float(rows.loc[places.isin((place, *others)), "between_steps_ms"].sum())
        told_batches = _batches_at(evidence, name, (place, *others)) or batches
        elsewhere = f" and the calls at {' and '.join(others)}" if others else ""
        alike = [other for other in others if one_batch or _has_one_batch(evidence, name, other)]
        own_ms = (rows["self_ms"] - rows["outside_ms"])[places.isin((place, *alike))]
        whole = at_most(min(100.0, 100 * float(own_ms.sum()) / max(training_ms(evidence), 1e-9)))
        likewise = f" Do the same at {' and '.join(alike)}: together that saves up to {whole:.0f}%." if alike else ""
        each = "Each call" if one_batch else "Each of its calls"
        fix = f"{each} has one batch: skip the pipeline, with `predict_on_batch`.{likewise}" if itself else f"{once}."
        fix += _AS_ONE * (name == "predict" and not plain and bool((phases == "train").any()))
        fix += f" Where no call needs the result of another: {once[:1].lower()}{once[1:]}." if itself else ""
        # What each call computes is part of what a single call, or the model itself, does faster.
        changed = rows[(rows["file"] == first["file"]) & (rows["line"] == first["line"])] if itself else rows
        least, most = (
            min(100.0, 100 * float(times_ms.sum()) / max(training_ms(evidence), 1e-9))
            for times_ms in (changed["between_steps_ms"], changed["self_ms"] - changed["outside_ms"])
        )
        yield Case(
            min(percent, 100.0),
            finding=f"{model}.{name} is called again and again{', for one batch each' * one_batch}: "
            f"{evidence.of_training(percent)}",
            evidence=f"{in_code(place, code)}{elsewhere}: "
            f"{_units.milliseconds(told_ms)} for {_units.count(told_batches)} batches "
            "is spent on starting the calls: each sets up an input pipeline of its "
            "own.",
            fix=fix,
            place=place,
            change=itself,
            without_change=f"{once}.",
            gain=(min(percent, 100.0), LEAST_SAVED * least, at_most(max(least, most))),
            subject=f"{model}.{name}",
            # What such a call waits for is the beginning of its own pipeline; then it ends that pipeline's iterator.
            instead_of=(("input-bound", ""),) if set(phases) == {phase} else (),
        )


def _times(evidence: Evidence, name: str) -> int:
    """Return how often the cell called a method, as its phases tell; 0 if the calls were not marked."""
    tree = evidence.breakdown().table
    phases = tree[(tree["kind"] == "phase") & tree["id"].str.fullmatch(f"cell/{name}(@[^/]*)?")]
    return int(phases.loc[phases["count"] > 1, "count"].sum())


def _batches_at(evidence: Evidence, name: str, places: Collection[str]) -> int:
    """Return how many batches the calls at some places had, as the cell's phases tell; 0 if these tell nothing."""
    tree = evidence.breakdown().table
    phases = tree[tree["place"].isin(places) & tree["id"].str.fullmatch(f"cell/{name}(@[^/]*)?")]
    return int(tree.loc[(tree["kind"] == "step") & tree["parent"].isin(phases["id"]), "count"].sum())


def _has_one_batch(evidence: Evidence, name: str, place: str) -> bool:
    """Whether each call at a place had a single batch, as the cell's phases and their steps tell."""
    tree = evidence.breakdown().table
    phases = tree[(tree["kind"] == "phase") & (tree["place"] == place) & tree["id"].str.fullmatch(f"cell/{name}@[^/]*")]
    steps = tree[(tree["kind"] == "step") & tree["parent"].isin(phases["id"])]
    return 0 < int(steps["count"].sum()) <= int(phases["count"].sum())


def _other_places(calls: pd.DataFrame) -> list[str]:
    """Return the lines but the first that have a good part of the calls' time."""
    times = calls.groupby(["file", "line"], sort=False)["self_ms"].sum()
    places = [place_of(str(file), int(line)) for file, line in times.index[times >= _PART * times.sum()]]
    first = place_of(str(calls["file"].iloc[0]), int(calls["line"].iloc[0]))
    return [place for place in places if place != first]
