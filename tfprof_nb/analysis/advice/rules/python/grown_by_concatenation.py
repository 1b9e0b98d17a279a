from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.advice.rules.python._time import NAMED, joined_once, told_by_python
from tfprof_nb.analysis.advice.rules.tracing._eager import costliest_line, runs_eagerly, runs_functions
from tfprof_nb.analysis.source.code import place_of

RULE = Rule(
    "grown-by-concatenation",
    "What was collected so far is copied in each step",
    "Looks for lines that join an array or tensor to itself and a new part, in each step.",
    "All rows so far are copied each time, so the cost grows quadratically. A list copies nothing.",
    action="Collect the parts in a list, and join them once",
    page="python",
    moderate=15.0,
    high=25.0,
    of="training",
    saved=(0.5, None),
    after=("eager-loop", *NAMED),
    supersedes=("dominant-op",),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    if not runs_eagerly(evidence) or not runs_functions(evidence) or earlier["eager-loop"]:
        return
    found = costliest_line(evidence)
    code = evidence.code.line(found.file, found.line) if found else ""
    fix = joined_once(code)
    if found is None or not fix or told_by_python(earlier, found.percent):
        return
    place = place_of(found.file, found.line)
    yield Case(
        found.percent,
        finding=f"What was collected so far is copied in each step ({place})",
        evidence=f"{quoted(code)} takes {evidence.of_training(found.percent)}.",
        fix=fix,
        place=place,
    )
