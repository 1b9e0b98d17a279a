from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, at
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import mapped, stage_of

_SEVERAL_DATASETS = 3

RULE = cause_rule(
    "dataset-rebuilt",
    "A dataset with a cache is rebuilt for each pass",
    "Looks for datasets with `.cache()` that are built three times or more.",
    "The cache of a new dataset is empty: each pass runs again what comes before it, and fills it.",
    action="Build the dataset once",
    saved=(0.4, 1.0),
    after="iterator-per-batch",
)


def cause(evidence: Evidence) -> Cause | None:
    ops = evidence.ops.table
    eager = ops[ops["eager"].astype(bool) & ops["op_type"].astype(str).str.startswith("CacheDataset")]
    made = max(eager["occurrences"].tolist(), default=0)
    cached = any("Cache" in str(name) for name in evidence.tf_data.table["long_name"])
    if not cached or made < _SEVERAL_DATASETS:
        return None
    place, function = evidence.code.place_with(r"\.cache\("), mapped(evidence, evidence.line_of("Dataset_map_"))
    return Cause(
        f"the dataset with its cache is rebuilt {_units.count(made)} times",
        f"a new cache is empty{at(place)}, so each pass runs again what comes before it"
        f"{f', such as {function},' if function else ''} and fills it; the slowest stage is {stage_of(evidence)}",
        "Build the dataset once, before the loop, and train on the same object in each pass.",
        place=place,
        beside_percent=evidence.percent("between_steps"),
        instead_of=(("python-in-loop", function), ("python-outside-steps", function)) if function else (),
    )
