from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, at
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import filling_cache, line_of_stage, slow_name, stage_of
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.verdict import MOST_WAITING, rare_waits

RULE = cause_rule(
    "shuffle-after-map",
    "The shuffle buffer is filled with finished elements before each pass",
    "Looks for pipelines whose first step of each pass waits while a shuffle buffer is filled.",
    "Before the first batch, every element of the buffer has to be made. File names or raw records fill it at once.",
    action="Shuffle before the map",
    saved=(0.4, 1.0),
    after="filter-repeated-each-epoch",
)


def cause(evidence: Evidence) -> Cause | None:
    waits = evidence.steps.table["input_ms"]
    slow = rare_waits(waits)
    above = slow_name(evidence).split("::")[:-1]
    shuffled = any(iterator_type(stage).startswith("Shuffle") for stage in above)
    if not shuffled or waits[slow].sum() < MOST_WAITING * waits.sum() or filling_cache(evidence):
        return None
    line = line_of_stage(evidence)
    made_by = f"{_units.shorten(stage_of(evidence), 80)}{at(line)}"
    shuffle = evidence.code.place_with(r"\.shuffle\(")
    count = int(slow.sum())
    waited = f"{count} step{'s' * (count != 1)} {'have' if count != 1 else 'has'} "
    return Cause(
        "the shuffle buffer is filled before each pass over the data",
        f"{waited}{_units.share(float(waits[slow].sum() / waits.sum()))} of all waiting, up to "
        f"{_units.milliseconds(float(waits.max()))}: before the first batch, {made_by} makes every element of the "
        f"shuffle buffer{at(shuffle)}",
        "Shuffle first and work afterwards: move `.shuffle(...)` before `.map(...)`, so that the buffer fills with "
        "file names or raw records, which is quick.",
        place=shuffle,
    )
