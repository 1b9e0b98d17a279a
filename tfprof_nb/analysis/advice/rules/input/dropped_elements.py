from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.mapped import mapped_name
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_DROPPING = {"Filter": "filter", "ParallelFilter": "filter", "FiniteSkip": "skip", "Skip": "skip", "Shard": "shard"}
_MAPS = ("Map", "ParallelMap")
_MANY = 1.4  # elements made for one that is kept

RULE = cause_rule(
    "dropped-elements",
    "A map makes elements that are then dropped",
    "Looks for a filter, a skip or a shard after the slowest map, which drops a good part of its output.",
    "What is dropped was made for nothing. Dropped before the map, it costs hardly anything.",
    action="Filter before the map",
    saved=(0.5, 1.0),
    after="map-repeated-each-epoch",
)


def cause(evidence: Evidence) -> Cause | None:
    table = evidence.tf_data.table
    slow = str(evidence.tf_data.summary["bottleneck_long_name"] or "")
    for name in table["long_name"].astype(str):
        kind = _DROPPING.get(iterator_type(name), "")
        below = table[table["long_name"].astype(str).str.startswith(f"{name}::")]
        behind_map = next(iter(below["long_name"]), "")
        if not kind or iterator_type(str(behind_map)) not in _MAPS or slow not in (name, behind_map):
            continue
        kept = max(int(table.loc[table["long_name"] == name, "calls"].sum()), 1)
        # Of a skip, the source alone shows what it took: the map hands nothing on.
        made = int(below["calls"].max())
        if made >= _MANY * kept:
            return _cause(evidence, kind, kept, made)
    return None


def _cause(evidence: Evidence, kind: str, kept: int, made: int) -> Cause:
    code, mapping = evidence.code, evidence.line_of("Dataset_map_")
    place = (kind == "filter" and evidence.line_of("Dataset_filter_")) or code.place_with(rf"\.{kind}\(")
    call = code.call(*line_at(place), kind) or f".{kind}(...)"
    mapped = _units.shorten(mapped_name(code, *line_at(mapping)), 40) or "the map"
    dropped = _share_of_first_waits(evidence) if kind == "skip" else 1 - kept / made
    at = f" ({mapping})" if mapping else ""
    if kind == "filter":
        fix = (
            f"Filter first: put `{call}` before the map{at}, and let it decide by what {mapped} is given. Where that "
            f"is too little, let a quick map read only what the filter needs, filter, and then run {mapped}."
        )
    else:
        others = ", and each other part of the data on its own" * (kind == "skip")
        fix = f"Put `{call}` before the map{at}: map what is left{others}."
    return Cause(
        f"{mapped} makes elements that `{call}` drops",
        f"in a typical slow call of the pipeline, {_units.count(made)} elements were made for {_units.count(kept)} "
        f"that were kept{f': `{call}` ({place}) comes after the map{at}' if place else ''}",
        fix,
        place=place,
        share=dropped,
    )


def _share_of_first_waits(evidence: Evidence) -> float:
    """Return the part of all waiting that is at the beginning of passes, where elements are skipped."""
    steps = evidence.steps.table
    first = ~steps.duplicated(["host", "phase", "epoch"])
    waited = float(steps["input_ms"].sum())
    return float(steps.loc[first, "input_ms"].sum()) / waited if waited else 0.0
