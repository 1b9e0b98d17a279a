from tfprof_nb.analysis.advice import Evidence, at
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import FUNCTIONS, OPENING, stage_of, stages

RULE = cause_rule(
    "dataset-per-window",
    "Each window of a series is a dataset of its own",
    "Looks for pipelines that wait for `.window()` and `.flat_map()`.",
    "Opening a dataset per window takes longer than cutting the window from an array.",
    action="Cut the windows from one array",
    saved=(0.4, 1.0),
    after="slow-generator",
)


def cause(evidence: Evidence) -> Cause | None:
    stage = stage_of(evidence)
    if stage not in OPENING or "Window" not in stages(evidence):
        return None
    place = evidence.line_of(FUNCTIONS[stage]) or evidence.code.place_with(r"\.window\(")
    return Cause(
        "each window is a dataset of its own",
        f"the slowest stage of the input pipeline is {stage}{at(place)}, which opens a dataset for each window",
        "Cut the windows from one array instead of .window() and .flat_map(): "
        "`keras.utils.timeseries_dataset_from_array(series[:-n], series[n:], sequence_length=n, batch_size=b)`.",
        place=place,
    )
