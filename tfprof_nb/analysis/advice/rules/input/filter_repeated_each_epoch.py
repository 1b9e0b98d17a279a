import ast
import re

from tfprof_nb.analysis.advice import Evidence, quoted
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._kept import (
    LEAST_SAVED,
    PASSES_WORTH_KEEPING,
    before,
    elements,
    mixes_before_batching,
    only_shuffled_before,
    repeats_before,
)
from tfprof_nb.analysis.advice.rules.input._stages import FILTERS, line_of_stage, stage_of
from tfprof_nb.analysis.source.caching import gives_the_same
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.rewriting import with_call
from tfprof_nb.analysis.source.syntax import first_given

_MADE = re.compile("Map|Generator|Random|PyFunc")

RULE = cause_rule(
    "filter-repeated-each-epoch",
    "A filter decides on the same elements in each epoch",
    "Looks for the slowest stage of a pipeline, a filter, that decides the same in each of three epochs or more.",
    "A cache keeps what it lets through, so that only the first epoch runs it.",
    action="Cache what the filter keeps",
    saved=(LEAST_SAVED, 1.0),
    results="order",
    after="dropped-elements",
)


def cause(evidence: Evidence) -> Cause | None:
    """Name a filter that decides on the same elements in each of several epochs, as far as its text shows it.

    What a map or a generator before it makes may be another element each time.
    """
    if stage_of(evidence) not in FILTERS:
        return None
    line = line_of_stage(evidence)
    code, passes = evidence.code, int(evidence.steps.table["epoch"].nunique())
    given = first_given(code.call_at(*line_at(line), "filter"))
    changing = any(_MADE.search(name) for name in before(evidence)) or repeats_before(evidence)
    cached = any("Cache" in stage for stage in evidence.tf_data.table["long_name"])
    if given is None or passes < PASSES_WORTH_KEEPING or changing or cached or mixes_before_batching(evidence):
        return None
    shuffle = f".shuffle({elements(evidence)})" if only_shuffled_before(evidence) else ""
    change = with_call(code, *line_at(line), "filter", f".cache(){shuffle}")
    if not change or not gives_the_same(code, line_at(line)[0], given):
        return None
    function = "the lambda" if isinstance(given, ast.Lambda) else ast.unparse(given)
    behind = ", and shuffle after the cache, which keeps the order of the first epoch" if shuffle else ""
    return Cause(
        f"{function} is called for each single element, again in each of {passes} epochs",
        f"the slowest stage of the input pipeline is Filter ({line}, {quoted(code.at(line))})",
        f"Cache what the filter keeps{behind}, if that fits in memory. Then only the first epoch runs {function}.",
        change,
        place=line,
        without_change=f"Where {function} decides the same in each epoch, `.cache()` after the filter lets only the "
        "first epoch run it.",
        share=(passes - 1) / passes,
    )
