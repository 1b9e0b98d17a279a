from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, trainings
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.rewriting import trained_on_batch

_MIN_CALLS = 10

RULE = Rule(
    "fit-of-one-batch",
    "fit is called again and again, for one batch each",
    "Looks for lines that call `model.fit` again and again, for one step each.",
    "Each call sets up a pipeline and callbacks, and takes them down again, which takes much longer than one step.",
    action="Train on the batch without a pipeline",
    page="breakdown",
    moderate=10.0,
    high=20.0,
    of="cell",
    saved=(0.6, 1.0),
    after=("fit-in-loop",),
    supersedes=("arrays-sliced-by-keras", "old-iterators-end"),
    results="close",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    tree = evidence.breakdown().table
    told = {finding.place for finding in earlier["fit-in-loop"]}
    steps = tree[tree["kind"] == "step"].set_index("parent")
    fits = trainings(evidence)
    fits = fits[(fits["count"] >= _MIN_CALLS) & ~fits["place"].isin(told)]
    fits = fits[fits["id"].map(steps["count"]) == fits["count"]]
    fits = fits[[evidence.code.call_at(*line_at(str(place)), "fit") is not None for place in fits["place"]]]
    if fits.empty:
        return
    starting_ms = float(fits["total_ms"].sum() - fits["id"].map(steps["total_ms"]).sum())
    percent = 100 * starting_ms / max(float(tree["total_ms"].iloc[0]), 1e-9)
    places = [str(place) for place in fits["place"]]
    models = dict.fromkeys(evidence.code.owner(*line_at(place), "fit") or "model" for place in places)
    called = " and ".join(f"{model}.fit" for model in models)
    change = trained_on_batch(evidence.code, *line_at(places[0]))
    others = f" Do the same at {' and '.join(places[1:])}." if places[1:] else ""
    calls = int(fits["count"].sum())
    yield Case(
        percent,
        f"{called} {'is' if len(models) == 1 else 'are'} called again and again, for one batch each: "
        f"{_units.percent(percent)} of the cell's time",
        f"{in_code(places[0], evidence.code.at(places[0]))}{' and ' * bool(places[1:])}{' and '.join(places[1:])}: "
        f"{_units.count(calls)} calls took {_units.milliseconds(float(fits['total_ms'].sum()))}, and "
        f"{_units.milliseconds(starting_ms)} of that not for their steps.",
        f"Train on the batch without a pipeline: `train_on_batch` in place of `fit`.{others}",
        places[0],
        change,
        f"Train on each batch by `train_on_batch`, which takes its arrays, and starts no pipeline.{others}",
        subject=next(iter(models)),
    )
