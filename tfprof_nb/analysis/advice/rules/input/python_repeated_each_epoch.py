import re

from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, from_busy_cores, generates, in_python_ms
from tfprof_nb.analysis.advice.rules.input._kept import (
    LEAST_SAVED,
    PASSES_WORTH_KEEPING,
    Kept,
    kept_behind_map,
    without_code,
)
from tfprof_nb.analysis.advice.rules.input._python import python_source
from tfprof_nb.analysis.source.caching import functions_of, gives_the_same
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.mapped import lines_mapped
from tfprof_nb.analysis.source.rewriting import with_call
from tfprof_nb.analysis.source.syntax import first_given

_RUNS_PYTHON = re.compile(r"\b(py_function|numpy_function)\(")

RULE = cause_rule(
    "python-repeated-each-epoch",
    "Python makes the same data in each epoch",
    "Looks for generators, and functions of `tf.py_function`, that give the same in each of three epochs or more.",
    "A cache keeps what they make, so that only the first epoch runs Python.",
    action="Cache what Python makes",
    saved=(LEAST_SAVED, 1.0),
    results="order",
    after="slow-pydataset",
)


def cause(evidence: Evidence) -> Cause | None:
    source, passes = python_source(evidence), int(evidence.steps.table["epoch"].nunique())
    cached = any("Cache" in stage for stage in evidence.tf_data.table["long_name"])
    if source is None or passes < PASSES_WORTH_KEEPING or cached:
        return None
    kept, function = _kept(evidence, source.function), source.function
    if kept is None:
        return None
    return Cause(
        f"{source.name}, again in each of {passes} epochs",
        source.shown,
        f"{kept.to_do}, if all that {function} makes fits in memory. Then only the first epoch runs {function}.",
        kept.change,
        place=kept.place,
        without_change=without_code(function),
        share=(passes - 1) / passes,
        beside_percent=from_busy_cores(evidence, in_python_ms(evidence)) * (passes - 1) / passes,
    )


def _kept(evidence: Evidence, function: str) -> Kept | None:
    """Return how to keep what a Python function makes, if a single place of the program gives it to tf.data."""
    code = evidence.code
    method = "from_generator" if generates(evidence) else "map"
    calls = [(at, code.call_at(*at, method)) for at in code.find(rf"\b{method}\(")]
    calls = [(at, call) for at, call in calls if method == "from_generator" or _runs_python(evidence, *at)]
    given = [(at, call, value) for at, call in calls if call and (value := first_given(call))]
    using = [one for one in given if function.rpartition(".")[2] in functions_of(code, one[0][0], one[2])]
    if len(using) != 1 or not gives_the_same(code, using[0][0][0], using[0][2]):
        return None
    at = using[0][0]
    if method == "map":
        return kept_behind_map(evidence, place_of(*at))
    change = with_call(code, *at, "from_generator", ".cache()")
    return Kept("Put `.cache()` after from_generator(...)", change, place_of(*at)) if change else None


def _runs_python(evidence: Evidence, file: str, line: int) -> bool:
    mapped, first, last = lines_mapped(evidence.code, file, line)
    lines = [evidence.code.line(mapped, number) for number in range(first, last + 1) if first]
    return any(_RUNS_PYTHON.search(text) for text in lines)
