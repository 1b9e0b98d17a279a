from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, training_ms
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, LEAST_SAVED, MIN_SAMPLES, method_of, rarely
from tfprof_nb.analysis.python import FRAMEWORKS
from tfprof_nb.analysis.source.code import place_of

_WRITING_SUMMARIES = ("scalar", "histogram", "image", "audio", "text", "flush", "write")
_RECORDING_CALLS = (*_WRITING_SUMMARIES, "save", "save_weights", "save_model", "export")

RULE = Rule(
    "frequent-writing",
    "Summaries, checkpoints or models are written very often",
    "Looks for lines that write summaries, checkpoints and models, and take much of the training.",
    "The program waits while it writes.",
    action="Write less often",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(LEAST_SAVED, None),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls = evidence.python.calls
    wrote = method_of(calls).isin(_RECORDING_CALLS) & calls["library"].isin(FRAMEWORKS)
    whole_ms = training_ms(evidence)
    for (function, file), rows in calls[wrote & (calls["thread"] == "main")].groupby(["function", "file"], sort=False):
        time_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if rows["samples"].sum() < MIN_SAMPLES:
            continue
        line, what = int(rows.iloc[0]["line"]), str(rows.iloc[0]["call"]).rpartition(".")[2]
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        where = f"{function}: " if function != "<module>" else ""
        yield Case(
            percent,
            finding=f"{where}{what}() writes for {evidence.of_training(percent)}",
            evidence=f"{in_code(place, code)}: {_units.milliseconds(time_ms / max(len(evidence.steps.table), 1))} "
            "per step.",
            fix=rarely(evidence, str(file), line) or "Write less often, for example every 50 steps.",
            place=place,
        )
