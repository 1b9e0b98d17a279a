"""The view of several hosts: the slowest in words, then the picture; and steps, where there are several hosts."""

import pytest

import tfprof_nb as tp
from builders import XSpace
from shown import pages, shown
from tfprof_nb.render.panels import HeatMap, Note, Split, StackedBars, Table, Tabs
from tfprof_nb.render.text import draw
from tfprof_nb.views import dashboard
from tfprof_nb.views import pods as view
from tfprof_nb.views import steps as steps_view


@pytest.fixture
def run(tmp_path):
    """Return a function that makes the profile of a run from the length of each host's steps, in microseconds."""

    def make(**lengths):
        for host, length in lengths.items():
            space = XSpace()
            python = space.plane("/host:CPU").line("python")
            for i in range(3):
                python.event("train", start_us=1000 * i, duration_us=length, step_num=i, _r=1)
                python.event("MatMul:MatMul", start_us=1000 * i, duration_us=length - 10)
            space.write(tmp_path / f"{host}.xplane.pb")
        return tp.load(tmp_path)

    return make


def test_the_slowest_host_is_named_with_what_it_spends_its_time_on(run):
    answer, bars, table, *_ = shown(view.panels(run(alpha=100, beta=300).pods))
    assert answer == Note(
        "beta is the slowest host: its steps take 200.0% longer than the others' on average, "
        "with 200 µs more of host compute.",
        "answer",
    )
    assert isinstance(bars, StackedBars)
    assert {series.label: series.values.round(6).tolist() for series in bars.series} == {
        "host compute": [90, 290],
        "other": [10, 10],
    }
    assert (bars.selects, bars.names) == ("", ["alpha", "beta"])
    assert table.frame["bottleneck"].tolist() == ["host compute", "host compute"]


def test_hosts_that_differ_little_are_no_finding(run):
    assert view.headline(run(alpha=100, beta=102).pods).startswith("No host delays the others")


def test_hosts_that_wait_for_one_another_take_equally_long_and_the_one_that_they_wait_for_is_named(tmp_path):
    """Each step takes 100 us: beta's data come 60 us late, and alpha's exchange of gradients lasts until then."""
    for host, (op, length) in {"alpha": ("sum:CollectiveReduceV2", 90), "beta": ("IteratorGetNext:x", 60)}.items():
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for i in range(3):
            python.event("train", start_us=1000 * i, duration_us=100, step_num=i, _r=1)
            python.event(op, start_us=1000 * i, duration_us=length)
        space.write(tmp_path / f"{host}.xplane.pb")
    assert view.headline(tp.load(tmp_path).pods) == (
        "The hosts' steps take equally long, but beta spends 60.0 µs more of each on input than the others: "
        "if hosts exchange gradients in every step, the others wait for it."
    )


def test_the_page_is_there_for_several_hosts_only(run):
    several = run(alpha=100, beta=300)
    assert "Pods" in pages(dashboard.panels(several))
    assert "Pods" not in pages(dashboard.panels(several.host("beta")))
    assert "beta is the slowest host" in str(several.pods.view())
    assert "only one host: there is nothing to compare" in str(several.host("beta").pods.view())


def test_a_slider_walks_through_the_steps(run):
    (steps,) = (panel for panel in view.panels(run(alpha=100, beta=300).pods) if isinstance(panel, Tabs))
    assert (steps.kind, [tab.name for tab in steps.tabs]) == ("slider", ["average step", "step 0", "step 1", "step 2"])
    bars, table = steps.tabs[2].open()
    assert [series.values.round(6).tolist() for series in bars.series] == [[90, 290], [10, 10]]
    assert table.frame["host"].tolist() == ["alpha", "beta"]


def test_every_page_can_be_of_one_host(run):
    (hosts,) = dashboard.panels(run(alpha=100, beta=300))
    assert (hosts.kind, [tab.name for tab in hosts.tabs]) == ("menu", ["all 2", "alpha", "beta"])
    overviews = [tab.open()[-1].tabs[0].open() for tab in hosts.tabs]
    texts = ["\n".join(draw(panel)[-1] for panel in panels if isinstance(panel, Split)) for panels in overviews]
    assert "90.0 µs" in texts[1]
    assert "290 µs" in texts[2]
    assert "Pods" not in pages(hosts.tabs[1].open())


def test_the_step_graph_shows_the_host_that_the_others_wait_for(run):
    (graph,) = steps_view.graph(run(alpha=100, beta=300, gamma=120).steps)
    assert graph.title == "Step time on beta, the slowest of 3 hosts"
    assert graph.x.tolist() == [0, 1, 2]


def test_the_step_table_names_hosts_where_there_are_several(run):
    def headers(profile):
        (table,) = (panel for panel in steps_view.panels(profile.steps) if isinstance(panel, Table))
        return [column.header for column in table.columns]

    several = run(alpha=100, beta=300)
    assert "host" in headers(several)
    assert "host" not in headers(several.host("beta"))


def test_a_heat_map_draws_each_step_of_each_host_the_slowest_first(run):
    profile = run(alpha=100, beta=300, gamma=200)
    (drawn,) = [panel for panel in view.panels(profile.pods) if isinstance(panel, HeatMap)]
    assert list(drawn.rows) == ["beta", "gamma", "alpha"]
    assert drawn.values.round(3).tolist() == [[0.3] * 3, [0.2] * 3, [0.1] * 3]
    assert "beta  ███" in "\n".join(draw(drawn))
    assert not [panel for panel in view.panels(profile.host("beta").pods) if isinstance(panel, HeatMap)]
