import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted, training_ms
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, MIN_SAMPLES
from tfprof_nb.analysis.advice.rules.sessions import SESSION_RUN
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.session_graphs import AddedOp, added_in_loop

_RUN = re.compile(r"([\w.]+)\.run\(")

RULE = Rule(
    "growing-graph",
    "The session's graph grows in each pass of the loop",
    "Looks for loops that add ops to the graph of the session that they run.",
    "Before it runs a graph that has grown, a session prepares the graph again.",
    action="Make the op once, before the loop",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(0.7, None),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    runs = evidence.python.calls[evidence.python.calls["call"] == SESSION_RUN]
    runs = runs.sort_values("nothing_ms", ascending=False)
    if runs["samples"].sum() < MIN_SAMPLES:
        return
    places = [(str(file), int(line)) for file, line in zip(runs["file"], runs["line"], strict=True)]
    found = [(file, added) for file, line in places if line and (added := added_in_loop(evidence.code, file, line))]
    if not found:
        return
    file, added = found[0]
    place = place_of(file, added.line)
    each = _units.milliseconds(float(runs["nothing_ms"].sum()) / max(len(evidence.steps.table), 1))
    yield Case(
        min(100.0, 100 * float(runs["nothing_ms"].sum()) / max(training_ms(evidence), 1e-9)),
        finding=f"The session's graph grows in each pass of the loop ({place})",
        evidence=f"{quoted(added.code)} adds ops to the graph each time. Before a session runs a "
        f"graph that has grown, it prepares it again: in each run, {each} passes while no op runs.",
        fix=_fix(added, session[1] if (session := _RUN.search(evidence.code.at(place))) else "session"),
        place=place,
    )


def _fix(added: AddedOp, session: str) -> str:
    code = _units.shorten(added.code, 100)
    shown = f" To find others, call `{session}.graph.finalize()` before the loop: adding an op then fails."
    if added.changing:
        names = " and ".join(added.changing)
        return (
            f"Make `{code}` once, before the loop, with a tf.placeholder for what changes in it ({names}). In the "
            f"loop, run that op and feed the placeholder.{shown}"
        )
    taken = f", with {' and '.join(added.ops)}, which it takes" if added.ops else ""
    return f"Make the op once, before the loop{taken}: `op = {code}`. In the loop, run `op`.{shown}"
