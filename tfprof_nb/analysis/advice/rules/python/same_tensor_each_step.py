"""What to change where a loop makes the same tensor in each of its passes."""

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.wording import quoted
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.same_each_time import same_each_time

# Where samples meet a line that makes a tensor: TensorFlow's Python, NumPy's, and what the line calls in C.
_MAKING = ("TensorFlow", "NumPy", "")
# What is made may be given to a function in the same line; in a graph, nothing is made before it runs.
_RUNNING, _SESSIONS = r"Function\.__call__$", "BaseSession.run"
_MIN_SAMPLES, _MANY_STEPS = 10, 10

RULE = Rule(
    "same-tensor-each-step",
    "The same tensor is made in each step",
    "Looks for lines of loops that copy the same array into a new tensor again and again.",
    "The copy is loop invariant: made once, before the loop, it costs the steps nothing.",
    action="Make the tensor once, before the loop",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(0.7, None),
    supersedes=("dominant-op",),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report lines that copy the same array into a new tensor again and again."""
    calls, whole_ms = evidence.python.calls, training_ms(evidence)
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & calls["library"].isin(_MAKING)]
    calls = calls[~calls["call"].str.contains(_RUNNING)]
    if len(evidence.steps.table) < _MANY_STEPS or (evidence.python.calls["call"] == _SESSIONS).any():
        return
    for (file, number), rows in calls.groupby(["file", "line"], sort=False):
        if not (rows["library"] == "TensorFlow").any():
            continue
        line = int(str(number))
        percent = 100 * float(rows["self_ms"].sum() - rows["outside_ms"].sum()) / max(whole_ms, 1e-9)
        tensor = same_each_time(evidence.code.syntax(str(file)), line) if percent >= RULE.moderate else ""
        if not tensor or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        place, percent = place_of(str(file), line), min(percent, 100.0)
        yield Case(
            percent,
            finding=f"The same tensor is made in each step: {evidence.of_training(percent)}",
            evidence=f"{quoted(evidence.code.line(str(file), line))} ({place}) copies the same values "
            "into a new tensor each time.",
            fix=f"Make it once, before the loop, and keep it in a variable: `same = {_units.shorten(tensor, 80)}`. In "
            "the loop, use `same`.",
            place=place,
            instead_of=(("eager-ops", place), ("eager-ops", str(rows["function"].iloc[0]))),
        )
