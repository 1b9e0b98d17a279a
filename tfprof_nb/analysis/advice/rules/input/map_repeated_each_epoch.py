from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, from_busy_cores
from tfprof_nb.analysis.advice.rules.input._kept import PASSES_WORTH_KEEPING, kept_behind_map, may_be_kept, without_code
from tfprof_nb.analysis.advice.rules.input._stages import (
    DRAWING,
    filling_cache,
    line_of_stage,
    mapped,
    ops_mapped,
    with_costly_line,
)

RULE = cause_rule(
    "map-repeated-each-epoch",
    "A map does the same work in each epoch",
    "Looks for the slowest map of a pipeline that gives the same in each of three epochs or more: it draws no random "
    "numbers, and no cache follows it.",
    "A cache keeps its results, so that only the first epoch runs it.",
    action="Cache the map's results",
    saved=(0.35, 1.0),
    results="order",
    after="map-per-element",
)


def cause(evidence: Evidence) -> Cause | None:
    line = line_of_stage(evidence)
    passes, function = int(evidence.steps.table["epoch"].nunique()), mapped(evidence, line)
    if passes < PASSES_WORTH_KEEPING or filling_cache(evidence) or _random_ops(evidence):
        return None
    if not may_be_kept(evidence, line):
        return None
    kept = kept_behind_map(evidence, line)
    if kept is None:
        return None
    earlier = any("Cache" in name for name in evidence.tf_data.table["long_name"])
    so_far = "the cache comes before it" if earlier or kept.cached_before else "there is no cache"
    return Cause(
        f"{function} runs again in each of {passes} epochs, since {so_far}",
        with_costly_line(evidence),
        f"{kept.to_do}, if what {function} returns fits in memory. Then only the first epoch runs {function}.",
        kept.change,
        place=kept.place,
        without_change=without_code(function),
        share=(passes - 1) / passes,
        beside_percent=_taken_from_model(evidence, line) * (passes - 1) / passes,
    )


def _taken_from_model(evidence: Evidence, line: str) -> float:
    """Return the share of the steps, in percent, in which the map at a line may take cores that the model needs."""
    return from_busy_cores(evidence, float(ops_mapped(evidence, line)["op_ms"].sum()))


def _random_ops(evidence: Evidence) -> bool:
    """Whether random ops run on the host outside of the model's layers: what a cache keeps is random no more.

    Ops that run eagerly are no part of a pipeline: they give weights their first values.
    """
    placed, ops = evidence.source().all_ops, evidence.ops.table
    if len(placed):
        eager = set(ops.loc[ops["eager"].astype(bool), "op_name"])
        ops = placed[(placed["layer"] == "") & (placed["phase"] == "") & ~placed["op_name"].isin(eager)]
    return bool((ops["op_type"].str.contains(DRAWING) & (ops["side"] == "host")).any())
