"""The verdict is decided once: whatever says how far waiting for data bounds a program says the same."""

import pytest

from captures import sources
from tfprof_nb.views import answer as answer_view
from tfprof_nb.views import input_pipeline as input_view
from tfprof_nb.views.headline import headline

# What a page says of each verdict, where it says it.
HEADLINE = {"highly": "HIGHLY", "moderately": "MODERATELY", "potentially": "POTENTIALLY", "not": "NOT"}
INPUT = {"highly": "Highly", "moderately": "Moderately"}
OFTEN = 8  # of so many captures, one is looked at in each run of the tests


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (k % OFTEN > 0)) for k, name in enumerate(sources.names())],
)
def test_all_say_one_verdict(captured, name):
    profile = captured(name)
    verdict = profile.overview.summary["verdict"]
    said = _said_by(headline(profile.overview))
    assert said in (None, HEADLINE.get(verdict))
    assert profile.input_pipeline.summary["verdict"] == verdict
    assert _said_by(input_view.headline(profile.input_pipeline)) == INPUT.get(verdict)
    labels = [figure.label for figure in answer_view.facts(profile.overview, profile.steps)]
    bound = [label.partition(": ")[2] for label in labels if "input-bound" in label]
    assert bound == ([f"{verdict} input-bound"] if verdict in INPUT else [])
    assert profile.to_dict()["verdict"]["input_bound"] == verdict
    assert verdict in INPUT or "input-bound" not in set(profile.advice.table["rule"])


def _said_by(sentence):
    """Return the word before "input-bound"; None if the sentence does not say it."""
    word, says, _ = sentence.partition(" input-bound")
    return word if says else None
