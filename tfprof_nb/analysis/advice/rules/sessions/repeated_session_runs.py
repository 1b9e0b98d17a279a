from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, training_ms
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, MIN_SAMPLES
from tfprof_nb.analysis.advice.rules.sessions import SESSION_RUN
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.session_graphs import runs_as_one

RULE = Rule(
    "repeated-session-runs",
    "Several runs of a session are fed the same",
    "Looks for loops that run a session several times with the same fed values, where one run fetches all.",
    "What the runs have in common, such as the forward pass, is computed in each.",
    action="Fetch all in one run",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(0.3, None),
    after=("growing-graph",),
    results="dynamics",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    runs = evidence.python.calls[evidence.python.calls["call"] == SESSION_RUN]
    if earlier["growing-graph"] or runs["samples"].sum() < MIN_SAMPLES:
        return
    times = runs.groupby(["file", "line"], as_index=False)[["self_ms"]].sum().sort_values("self_ms", ascending=False)
    for file, line in zip(times["file"].astype(str), times["line"].astype(int), strict=True):
        together = runs_as_one(evidence.code, file, line)
        if together is None:
            continue
        own = times.loc[(times["file"] == file) & times["line"].isin(together.lines), "self_ms"].tolist()
        percent = min(100.0, 100 * (sum(own) - max(own)) / max(training_ms(evidence), 1e-9))
        if percent < RULE.moderate:
            continue
        first, *others = (place_of(file, one) for one in together.lines)
        all_of_them = f"{', '.join([first, *others[:-1]])} and {others[-1]}"
        yield Case(
            percent,
            finding=f"{len(together.lines)} runs of a session are fed the same: {evidence.of_training(percent)}",
            evidence=f"The runs at {all_of_them} are given the same values, one after the other. What they have in "
            "common, such as the forward pass, is computed in each.",
            fix="Fetch everything in one run. A value fetched beside a training op is from before its update.",
            place=first,
            change=together.code,
        )
        return
