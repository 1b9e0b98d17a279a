"""What to change about sessions of TensorFlow 1: growing graphs, large fed values, several runs in the place of one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, saving, training_ms
from tfprof_nb.analysis.advice.python_time import MIN_SAMPLES, in_code
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.session_graphs import AddedOp, added_in_loop, feeds, runs_as_one

SESSION_RUN = "BaseSession.run"
_RUN = re.compile(r"([\w.]+)\.run\(")
_MIN_COPYING_MS = 0.5

GROWING_GRAPH = Rule(
    "growing-graph",
    "The session's graph grows in each pass of the loop",
    "Looks for loops that add ops to the graph of the session that they run.",
    "Before a session runs a graph that has grown, it prepares it anew.",
    group="sessions",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(0.7, None),
)
REPEATED_RUNS = Rule(
    "repeated-session-runs",
    "Several runs of a session are fed the same",
    "Looks for loops that run a session several times with the same fed values, where one run fetches all.",
    "What the runs have in common, such as the forward pass, is computed in each; what only they compute still is.",
    group="sessions",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(0.3, None),
    results="dynamics",
)
LARGE_FEEDS = Rule(
    "large-feeds",
    "A session copies large fed values in each run",
    "Looks for runs of a session that are fed, during which no op runs for half a millisecond and more.",
    "Fed arrays are converted and copied in each run. What stays the same belongs into a variable.",
    group="sessions",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(0.7, None),
)


def _growing_graph(evidence: Evidence, whole_ms: float) -> list[Finding]:
    """Report a loop that adds ops to the graph of the session that it runs, if the runs spend their time without ops.

    ``whole_ms`` is the time of the training.
    """
    calls = evidence.python.calls
    runs = calls[calls["call"] == SESSION_RUN].sort_values("nothing_ms", ascending=False)
    percent = min(100.0, 100 * float(runs["nothing_ms"].sum()) / max(whole_ms, 1e-9))
    if percent < GROWING_GRAPH.moderate or runs["samples"].sum() < MIN_SAMPLES:
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
            GROWING_GRAPH,
            percent,
            finding=f"The session's graph grows in each pass of the loop ({place})",
            evidence=f"`{_units.shorten(added.code, 80)}` adds ops to the graph each time. Before a session runs a "
            f"graph that has grown, it prepares it anew: in each run, {each} passes while no op runs.",
            fix=_fix(added, session[1] if (session := _RUN.search(evidence.code.at(place))) else "session"),
            place=place,
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


def session_findings(evidence: Evidence) -> Iterator[Finding]:
    """Sessions whose graph grows; else those that run several times for one feed, and those that copy what is fed."""
    return iter(_growing_graph(evidence, training_ms(evidence)) or [*_runs_as_one(evidence), *_copies(evidence)])


def _runs_as_one(evidence: Evidence) -> list[Finding]:
    """Report loops that run a session several times with the same fed values, where one run fetches all."""
    calls = evidence.python.calls
    runs = calls[calls["call"] == SESSION_RUN]
    times = runs.groupby(["file", "line"], as_index=False)[["self_ms"]].sum().sort_values("self_ms", ascending=False)
    for file, line in zip(times["file"].astype(str), times["line"].astype(int), strict=True):
        together = runs_as_one(evidence.code, file, line)
        if together is None:
            continue
        own = times.loc[(times["file"] == file) & times["line"].isin(together.lines), "self_ms"].tolist()
        percent = 100 * (sum(own) - max(own)) / max(training_ms(evidence), 1e-9)
        if percent < REPEATED_RUNS.moderate or runs["samples"].sum() < MIN_SAMPLES:
            continue
        first, *others = (place_of(file, one) for one in together.lines)
        all_of_them = f"{', '.join([first, *others[:-1]])} and {others[-1]}"
        return [
            saving(
                REPEATED_RUNS,
                min(percent, 100.0),
                finding=f"{len(together.lines)} runs of a session are fed the same: {evidence.of_training(percent)}",
                evidence=f"The runs at {all_of_them} are given the same values, one after the other. What they have in "
                "common, such as the forward pass, is computed in each.",
                fix=f"Fetch all in one run, in the place of these: `{_units.shorten(together.code, 120)}`. What is "
                "fetched beside a training op is that from before its update.",
                place=first,
                change=together.code,
            )
        ]
    return []


def _copies(evidence: Evidence) -> Iterator[Finding]:
    """Sessions that spend their runs on copying what is fed and fetched, while no op runs."""
    calls = evidence.python.calls
    for (file, line), rows in calls[calls["call"] == SESSION_RUN].groupby(["file", "line"], sort=False):
        nothing_ms = float(rows["nothing_ms"].sum())
        percent = 100 * nothing_ms / max(training_ms(evidence), 1e-9)
        each_ms = nothing_ms / max(len(evidence.steps.table), 1)
        if percent < LARGE_FEEDS.moderate or each_ms < _MIN_COPYING_MS or rows["samples"].sum() < MIN_SAMPLES:
            continue
        if not feeds(evidence.code, str(file), int(str(line))):
            continue
        place, code = place_of(str(file), int(str(line))), evidence.code.line(str(file), int(str(line)))
        yield saving(
            LARGE_FEEDS,
            min(percent, 100.0),
            finding=f"Feeding session.run takes {evidence.of_training(percent)}",
            evidence=f"{in_code(place, code)}: of each run, "
            f"{_units.milliseconds(each_ms)} passes while the fed values are converted and copied, and no op runs.",
            fix="Feed only what changes from run to run. Put large constant arrays into a variable once: "
            "`table = tf.get_variable('table', initializer=array, trainable=False)`. Feed arrays that have the "
            "placeholder's dtype (NumPy makes float64, placeholders are mostly float32).",
            place=place,
        )
