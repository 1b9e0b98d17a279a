"""What holds of every recorded program: each is opened once, and looked at from all sides.

Links lead to what they name, all say the same verdict, the tree adds up, and the fault of a benchmark is named first.
"""

import json

import pytest

from analysis.breakdown.adding_up import SAMPLED_MS, adds_up
from benchmarks import advice_programs
from benchmarks.advice import headline as first_sentence
from benchmarks.advice_judgement import is_alarm, named
from captures import sources
from tfprof_nb.views import answer as answer_view
from tfprof_nb.views import input_pipeline as input_view
from tfprof_nb.views.headline import headline
from tfprof_nb.views.pages import PAGES, links_of

OF_PAGES = {page: name for name, page in PAGES.items()}
# What a page says of each verdict, where it says it.
HEADLINE = {"highly": "HIGHLY", "moderately": "MODERATELY", "potentially": "POTENTIALLY", "not": "NOT"}
INPUT = {"highly": "Highly", "moderately": "Moderately"}
MOST_UNEXPLAINED = 0.15


PLANTED = [name for name in sources.names() if name.startswith(f"{sources.BENCHMARK}/")]


@pytest.fixture(scope="module", params=[*PLANTED, *(name for name in sources.names() if name not in PLANTED)])
def profile(request, captured):
    """Each recorded program in turn: all tests of one follow one another."""
    return captured(request.param)


def test_links_lead_to_what_they_name(profile, advised):
    for finding in advised(profile.name).to_dict("records"):
        for link in links_of(finding):
            assert leads_somewhere(profile, link), (finding["rule"], link)


def leads_somewhere(profile, link):
    """Whether the page of a link has what the link is about."""
    if link.page == PAGES["trace"] and link.time_range is None:  # all of it, where a finding is about no single event
        return link.text == "Open the trace"
    if link.page == PAGES["trace"]:
        found = (
            profile.trace.event_of(link.op, *link.time_range) if link.op else profile.trace.query(*link.time_range, 9)
        )
        return found is not None and len(found) > 0
    table = getattr(profile, OF_PAGES[link.page]).table
    return not link.op or link.op in set(table["op_name"])


def test_all_say_one_verdict(profile, advised):
    """The verdict is decided once: whatever says how far waiting for data bounds a program says the same."""
    verdict = profile.overview.summary["verdict"]
    said = said_by(headline(profile.overview))
    assert said in (None, HEADLINE.get(verdict))
    assert profile.input_pipeline.summary["verdict"] == verdict
    assert said_by(input_view.headline(profile.input_pipeline)) == INPUT.get(verdict)
    labels = [figure.label for figure in answer_view.facts(profile.overview, profile.steps)]
    bound = [label.partition(": ")[2] for label in labels if "input-bound" in label]
    told = any("waits for data" in label for label in labels)  # not where steps are little of the cell
    assert bound == ([f"{verdict} input-bound"] if told and verdict in INPUT else [])
    assert profile.to_dict()["verdict"]["input_bound"] == verdict
    assert verdict in INPUT or "input-bound" not in set(advised(profile.name)["rule"])


def said_by(sentence):
    """Return the word before "input-bound"; None if the sentence does not say it."""
    word, says, _ = sentence.partition(" input-bound")
    return word if says else None


def test_the_tree_adds_up_and_little_is_unexplained(profile):
    tree = profile.breakdown
    adds_up(tree)
    assert tree.summary["unexplained_share"] <= MOST_UNEXPLAINED or tree.summary["cell_ms"] < SAMPLED_MS


@pytest.mark.parametrize("profile", PLANTED, indirect=True)
def test_the_fault_that_was_planted_is_named_first(profile, advised):
    planted = advice_programs.load(profile.name.partition("/")[2])
    findings = json.loads(advised(profile.name).to_json(orient="records"))
    if planted.is_healthy:
        assert not is_alarm(findings, first_sentence(str(profile))), findings
    else:
        assert findings
        assert named(planted, findings[0]), findings[0]
