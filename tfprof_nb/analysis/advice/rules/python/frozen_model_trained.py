"""A model without weights to train that is trained."""

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import UNKNOWN, Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.python._time import method_of
from tfprof_nb.analysis.advice.wording import in_code
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.frozen import TRAINING, trained_frozen

RULE = Rule(
    "frozen-model-trained",
    "A model that is trained has no weights to train",
    "Looks for calls of `train_on_batch` and `fit` of a model whose `trainable` the program sets to False, and never "
    "back.",
    "Keras 3 obeys `trainable = False` after compile, too: such calls compute a loss, and change no weight.",
    action="Set trainable before each call",
    page="python",
    moderate=5.0,
    high=10.0,
    of="cell",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report calls that train a frozen model, with the time that their lines take."""
    calls, cell_ms = evidence.python.calls, float(evidence.breakdown().table["total_ms"].iloc[0])
    for frozen in trained_frozen(evidence.code):
        lines = [(file, line) in frozen.trained for file, line in zip(calls["file"], calls["line"], strict=True)]
        trains = method_of(calls).isin(TRAINING) & (calls["thread"] == "main")
        ran = calls[lines & trains.to_numpy()]
        percent = 100 * float(ran["self_ms"].sum()) / max(cell_ms, 1e-9)
        if ran.empty:
            continue
        place = place_of(frozen.file, frozen.line)
        first = place_of(str(ran["file"].iloc[0]), int(ran["line"].iloc[0]))
        yield Case(
            percent,
            f"{frozen.model} is trained, but has no weights to train",
            f"{in_code(place, evidence.code.at(place))} freezes it, and nothing thaws it: the calls that train it, as "
            f"{in_code(first, evidence.code.at(first))}, take {_units.percent(percent)} of the cell's time and change "
            "no weight.",
            f"Set `{frozen.model}.trainable = True` before each of these calls, and False before the model around it "
            "is trained; or leave the calls out, if it is to stay as it is.",
            place,
            gain=(percent, *UNKNOWN),
            subject=frozen.model,
        )
