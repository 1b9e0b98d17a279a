from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.advice.rules.python._callbacks import methods
from tfprof_nb.analysis.advice.rules.python._time import LEAST_SAVED, method_of
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.loops import repeats
from tfprof_nb.analysis.source.rewriting import on_batch

_MOSTLY = 0.5

RULE = Rule(
    "predict-in-callback",
    "A callback calls predict again and again",
    "Looks for methods of callbacks that spend most of their time on starting and ending calls of `predict`.",
    "Each call sets up an input pipeline of its own, which takes longer than to predict a few examples.",
    action="Call predict once",
    page="python",
    high=25.0,
    of="training",
    saved=(LEAST_SAVED, None),
    part_of="slow-callback",
    measured=True,
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls = evidence.python.calls
    predicts = (calls["thread"] == "main") & (method_of(calls) == "predict")
    for method in methods(evidence):
        own = calls[predicts & (calls["function"] == method.name)]
        starting = own.groupby(["file", "line"])["between_steps_ms"].sum().nlargest(1)
        share = float(starting.sum()) / method.row["total_ms"]
        if share < _MOSTLY:
            continue
        file, line = str(starting.index[0][0]), int(starting.index[0][1])
        if not repeats(evidence.code, file, line):
            continue
        place, code = place_of(file, line), evidence.code.line(file, line)
        model = evidence.code.owner(file, line, "predict") or "model"
        itself = on_batch(evidence.code, file, line, "predict")
        once = f"Call {model}.predict once, with all examples in one array."
        yield Case(
            method.percent,
            finding=f"{method.takes}: it calls {model}.predict again and again",
            evidence=f"{method.ran}. {_units.share(share)} of this time goes into starting and ending the calls in "
            f"{quoted(code)} ({place}): each sets up an input pipeline of its own.",
            fix=f"{once} Or skip that pipeline, with `predict_on_batch`." if itself else once,
            place=place,
            change=itself,
            without_change=once,
            saved=(LEAST_SAVED * share, None),
            severity=method.severity,
            subject=method.name,
        )
