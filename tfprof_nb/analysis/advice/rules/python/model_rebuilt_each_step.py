from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.python._models import BUILDING, working
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, FEWER_SAVED

RULE = Rule(
    "model-rebuilt-each-step",
    "A model is built again and again",
    "Looks for functions that clone a model, or make it from its configuration, again and again.",
    "Building a model creates its layers and initialises their weights.",
    action="Build the model once, before the loop",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(FEWER_SAVED, None),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    for one in working(evidence, BUILDING):
        yield Case(
            one.percent,
            finding=f"{one.name} builds a model again and again: {evidence.of_training(one.percent)}",
            evidence=one.shown,
            fix="Build the model once, before the loop, and copy the weights into it: "
            "`copy.set_weights(model.get_weights())`.",
            place=one.place,
            subject=one.subject,
            instead_of=(("eager-ops", one.subject),),  # weights are made by ops of their own
        )
