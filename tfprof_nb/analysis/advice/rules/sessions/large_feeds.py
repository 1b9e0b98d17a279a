import math

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, training_ms
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, MIN_SAMPLES
from tfprof_nb.analysis.advice.rules.sessions import SESSION_RUN
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.session_graphs import feeds

_MIN_COPYING_MS = 2.0  # a run has a fixed cost of up to 1 ms, whatever it is fed

RULE = Rule(
    "large-feeds",
    "A session copies large fed values in each run",
    "Looks for runs of a session that are fed, during which no op runs for two milliseconds or more.",
    "Fed arrays are converted and copied in each run. What stays the same belongs in a variable.",
    action="Feed only what changes",
    page="python",
    moderate=10.0,
    high=25.0,
    explains=("session",),
    of="training",
    within=CALLBACKS,
    saved=(0.7, None),
    after=("growing-graph",),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    calls = evidence.python.calls
    runs = calls[calls["call"] == SESSION_RUN].groupby(["file", "line"], sort=False)
    for (file, line), rows in runs if not earlier["growing-graph"] else ():
        nothing_ms = min(float(rows["nothing_ms"].sum()), _feeding_ms(evidence, str(file), int(str(line))))
        each_ms = nothing_ms / max(len(evidence.steps.table), 1)
        fed = feeds(evidence.code, str(file), int(str(line)))
        if each_ms < _MIN_COPYING_MS or rows["samples"].sum() < MIN_SAMPLES or not fed:
            continue
        percent = min(100.0, 100 * nothing_ms / max(training_ms(evidence), 1e-9))
        place, code = place_of(str(file), int(str(line))), evidence.code.line(str(file), int(str(line)))
        yield Case(
            percent,
            finding=f"Feeding session.run takes {evidence.of_training(percent)}",
            evidence=f"{in_code(place, code)}: of each run, "
            f"{_units.milliseconds(each_ms)} passes while the fed values are converted and copied, and no op runs.",
            fix="Feed only what changes from run to run. Put large constant arrays into a variable once: "
            "`table = tf.get_variable('table', initializer=array, trainable=False)`. Feed arrays that have the "
            "placeholder's dtype (NumPy makes float64, placeholders are mostly float32), and no lists, which are made "
            "arrays in each run.",
            place=place,
        )


def _feeding_ms(evidence: Evidence, file: str, line: int) -> float:
    """Return how long the runs of a line are prepared, fed and fetched: many ops are too short to be recorded."""
    nodes = evidence.breakdown().table
    nodes = nodes[(nodes["place"] == place_of(file, line)) & (nodes["kind"] == "session")]
    return float(nodes["total_ms"].sum()) if len(nodes) else math.inf
