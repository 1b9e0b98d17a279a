"""What to change about the graph of a TensorFlow 1 session that grows while it is trained."""

from __future__ import annotations

import re

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, saving
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.session_graphs import AddedOp, added_in_loop

SESSION_RUN = "BaseSession.run"
_WORTH_SAYING, _SAVED = (10.0, 25.0), 0.7
_MIN_SAMPLES = 10
_RUN = re.compile(r"([\w.]+)\.run\(")


def session_graph_findings(evidence: Evidence, whole_ms: float) -> list[Finding]:
    """Report a loop that adds ops to the graph of the session that it runs, if the runs spend their time without ops.

    ``whole_ms`` is the time of the training.
    """
    calls = evidence.python.calls
    runs = calls[calls["call"] == SESSION_RUN].sort_values("nothing_ms", ascending=False)
    percent = min(100.0, 100 * float(runs["nothing_ms"].sum()) / max(whole_ms, 1e-9))
    if percent < _WORTH_SAYING[0] or runs["samples"].sum() < _MIN_SAMPLES:
        return []
    places = [(str(file), int(line)) for file, line in zip(runs["file"], runs["line"], strict=True)]
    found = [(file, added) for file, line in places if line and (added := added_in_loop(evidence.code, file, line))]
    if not found:
        return []
    file, added = found[0]
    place = place_of(file, added.line)
    each = _units.milliseconds(float(runs["nothing_ms"].sum()) / max(len(evidence.steps.table), 1))
    return [
        saving(
            percent,
            _WORTH_SAYING,
            _SAVED,
            finding=f"The session's graph grows in each pass of the loop ({place})",
            evidence=f"`{_units.shorten(added.code, 80)}` adds ops to the graph each time. Before a session runs a "
            f"graph that has grown, it prepares it anew: in each run, {each} passes while no op runs.",
            fix=_fix(added, session[1] if (session := _RUN.search(evidence.code.at(place))) else "session"),
            place=place,
            proved_by="python",
        )
    ]


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
