from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code

_MIN_TIMES = 3

RULE = Rule(
    "model-loaded-in-loop",
    "A model is loaded again and again",
    "Looks for lines that load a model, or its weights, from a file three times or more.",
    "Each time, the file is read, and a whole model is built and traced again.",
    action="Load the model once, before the loop",
    page="breakdown",
    moderate=10.0,
    high=20.0,
    of="cell",
    saved=(0.6, 1.0),
    explains=("load",),
    supersedes=("eager-ops", "python-outside-steps", "python-in-loop"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    tree = evidence.breakdown().table
    loads = tree[(tree["kind"] == "load") & (tree["place"] != "")]
    by_line = loads.groupby(["name", "place"], sort=False, as_index=False)[["count", "total_ms"]].sum()
    by_line = by_line[by_line["count"] >= _MIN_TIMES]
    if by_line.empty:
        return
    row = by_line.nlargest(1, "total_ms").to_dict("records")[0]
    name, place, times, time_ms = str(row["name"]), str(row["place"]), int(row["count"]), float(row["total_ms"])
    percent = 100 * time_ms / max(float(tree["total_ms"].iloc[0]), 1e-9)
    yield Case(
        percent,
        f"{name} is called again and again: {_units.percent(percent)} of the cell's time",
        f"{in_code(place, evidence.code.at(place))} loads a model {_units.count(times)} times, "
        f"{_units.milliseconds(time_ms / times)} each.",
        "Load it once, before the loop, and give the model to what uses it. A loop over several files needs each of "
        "them only once: keep the models in a dictionary.",
        place,
    )
