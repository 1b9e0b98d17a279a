from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

RULE = Rule(
    "time-between-steps",
    "Much of the time lies between the steps",
    "Looks for time between the steps that is not spent on fetching data, in profiles without samples of Python.",
    "Ends of epochs, callbacks, validation and other work of the loop make the training longer.",
    page="trace",
    moderate=20.0,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    if len(evidence.python.table):
        return
    other = evidence.percent("between_steps") - evidence.percent("input_between_steps")
    between_ms = evidence.overview.summary["between_steps_ms"]
    yield Case(
        other,
        "Much of the time lies between the steps",
        f"{_units.milliseconds(between_ms)} ({_units.percent(evidence.percent('between_steps'))} of the time from the "
        "first step to the last) belongs to no step.",
        "Look at the gaps in the trace: ends of epochs, callbacks, validation, and other work of the loop.",
        severity="medium",
    )
