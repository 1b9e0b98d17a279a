from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, iterating_phases, new_functions
from tfprof_nb.analysis.source.calls import built_in_loop
from tfprof_nb.analysis.source.code import place_of

RULE = Rule(
    "model-built-in-loop",
    "Each training rebuilds the same model",
    "Looks for loops that make a model for each training, where tracing them takes most of the cell's time.",
    "Keras traces the functions of each model. One model whose weights are set back is traced once. To make a model "
    "for each training is common, so this is of low severity.",
    action="Build the model once, before the loop",
    page="functions",
    moderate=20.0,
    high=75.0,
    of="cell",
    saved=(0.75, None),
    within=SAY_WHY[:-1],
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    times = new_functions(evidence)[0] // iterating_phases(evidence)
    summary = evidence.overview.summary
    tracing_ms, whole_ms = float(summary["warm_up_steps_ms"]), float(summary["capture_ms"])
    percent = 100 * tracing_ms / whole_ms * (times - 1) / times if times and whole_ms > 0 else 0.0
    found = built_in_loop(evidence.code) if percent else None
    if found is None:
        return
    model, kept = found.model, f"(*{found.model}.variables, *{found.model}.optimizer.variables)"
    place = place_of(found.file, found.line)
    rate = f", and then `{model}.optimizer.learning_rate.assign({found.rate})`" if found.rate else ""
    differing = f", though only its learning rate `{found.rate}` differs" if found.rate else ""
    yield Case(
        percent,
        f"{_units.count(times)} models are built and traced: {_units.percent(percent)} of the cell's time ({place})",
        f"{quoted(evidence.code.at(place))} makes a new model for each training{differing}, and Keras "
        f"traces the functions of each. {_units.milliseconds(tracing_ms)} of {_units.milliseconds(whole_ms)} is in the "
        "steps that trace.",
        f"Make and compile {model} once, before the loop. Then keep its values: "
        f"`{model}.optimizer.build({model}.trainable_variables)` and `start = [v.numpy() for v in {kept}]`. Begin each "
        f"training with `for v, value in zip({kept}, start): v.assign(value)`{rate}.",
        place,
        severity="medium" if percent >= RULE.high else "info",
    )
