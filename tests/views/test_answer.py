"""The first screen: it names the cell's largest cost, whether a rule explains it or not, and shows changes as diffs."""

import gzip
import json
import math

import pandas as pd
import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.analysis.advice.advice import COLUMNS, Advice
from tfprof_nb.analysis.answer import Answer, Diff, answer
from tfprof_nb.analysis.breakdown.breakdown import Breakdown, no_breakdown
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.render.panels import Change, Composition, Headline, KeyFigures, Note, Offer, Table
from tfprof_nb.views import advice as advice_view
from tfprof_nb.views import answer as answer_view
from tfprof_nb.views import dashboard
from tfprof_nb.views.answer import headline, sentence
from tfprof_nb.views.pages import links_of


def shown(profile, kind):
    lead, tabs = dashboard.panels(profile, ["overview"])
    return [panel for panel in (lead, *tabs.tabs[0].open()) if isinstance(panel, kind)]


def finding(**columns):
    row = dict.fromkeys(COLUMNS, "") | {"severity": "high", "rule": "slow-callback", "proved_by": "python"}
    unknown = ("start_ms", "duration_ms", "gain_low_percent", "gain_high_percent", "estimated_gain_percent")
    return row | dict.fromkeys((*unknown, "cell_percent"), math.nan) | columns


@pytest.fixture
def traced(tmp_path):
    """Every step is a call of f that traces."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(4):
        python.event("train", start_us=1000 * i, duration_us=900, step_num=i, _r=1)
        python.event("f", start_us=1000 * i, duration_us=900, tf_function_call="traced-nonXla", tracing_count=i + 1)
    space.write(tmp_path / "host.xplane.pb")
    return tp.load(tmp_path)


def test_a_finding_about_the_largest_cost_is_the_answer(traced):
    assert traced.answer.kind == "finding"
    assert traced.advice.table["rule"][traced.answer.finding] == "retracing"
    (lead,) = shown(traced, Headline)
    assert lead.text.startswith("f is traced again and again.")
    leading, *others = shown(traced, Change)
    assert (leading.folded, [card.folded for card in others]) == (False, [True] * len(others))


def test_the_models_own_work_needs_no_change(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train", start_us=900 * i, duration_us=900, step_num=i, _r=1)
        for k in range(9):
            python.event(f"op{k}:MatMul", start_us=900 * i + 100 * k, duration_us=100)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    assert (p.answer.kind, p.answer.whole) == ("healthy", "capture")
    (lead,) = shown(p, Headline)
    assert lead == Headline("Nothing to change: the model itself takes 100% of the capture's time, all of it MatMul.")


@pytest.mark.parametrize(
    ("ending_ms", "said"), [(1600, "The model itself"), (100, "Nothing to change: the model itself")]
)
def test_nothing_to_change_is_not_said_beside_a_long_wait(tmp_path, ending_ms, said):
    """Old iterators may end sooner in the next run; in this one they took more than a third."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train", start_us=900_000 * i, duration_us=900_000, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=900_000 * i, duration_us=890_000)
    python.event("TFE_DeleteTensorHandle", start_us=2_700_000, duration_us=1000 * ending_ms)
    space.write(tmp_path / "host.xplane.pb")
    node = {"name": "MatMul", "kind": "op", "place": "", "share": 0.6, "total_ms": 2670.0, "count": 0}
    lead = headline(Answer("healthy", None, node, 0.6), tp.load(tmp_path).advice)
    assert lead.text == f"{said} takes 60.0% of the cell's time, all of it MatMul."


@pytest.mark.parametrize(("change", "said"), [("", "Nothing to change: the model"), ("f(jit=True)", "The model")])
def test_nothing_to_change_is_not_said_above_a_change(change, said):
    node = {"name": "lstm", "kind": "layer", "place": "", "share": 0.6, "total_ms": 2670.0, "count": 0}
    advice = Advice(pd.DataFrame([finding(severity="info", change=change)]), {}, [])
    assert headline(Answer("healthy", None, node, 0.6), advice).text.startswith(said)


def answer_beside_a_wait(wait_ms, layer_ms, *findings):
    """The answer of a cell of 1 s that waits for an old iterator, beside layers and findings on them."""
    rows = [("cell", "", "cell", "phase", 1000.0), ("cell/end", "cell", "deleting an iterator", "start", wait_ms)]
    rows += [(f"cell/layer:{number}", "cell", "lstm", "layer", each) for number, each in enumerate(layer_ms)]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms"])
    table = table.assign(place="", count=1, self_ms=table["total_ms"], share=table["total_ms"] / 1000)
    waits = finding(severity="info", rule="old-iterators-end", node="cell/end", cell_percent=wait_ms / 10, change="")
    waits |= {"estimated_gain_percent": wait_ms / 10, "gain_low_percent": 0.0, "gain_high_percent": wait_ms / 10}
    tree = Breakdown(table, {"cell_ms": 1000.0, "unexplained_share": 0.0, "largest": "cell/end"}, [])
    return answer(tree, Advice(pd.DataFrame([*findings, waits]), {}, []), Code({}))


@pytest.mark.parametrize(("layer_ms", "kind"), [(200.0, "finding"), (600.0, "healthy")])
def test_a_wait_for_an_old_iterator_is_the_answer_where_nothing_takes_longer(layer_ms, kind):
    assert answer_beside_a_wait(300.0, [layer_ms]).kind == kind


@pytest.mark.parametrize(("wait_ms", "leads"), [(450.0, 0), (560.0, 1)])
def test_a_wait_that_other_runs_may_not_have_yields_to_a_change_about_nearly_as_much(wait_ms, leads):
    loops = finding(severity="info", rule="small-recurrent-ops", node="cell/layer:0", cell_percent=41.0, change="x")
    result = answer_beside_a_wait(wait_ms, [210.0, 200.0], loops)
    assert (result.kind, result.finding) == ("finding", leads)


def test_waits_for_the_old_iterators_of_one_loop_are_one_part_also_behind_its_last_step():
    rows = [("cell", "", "cell", "phase", 1000.0, "")]
    rows += [(f"{at}/end", at, "deleting an iterator", "start", 150.0, "cell line 2") for at in ("cell/train", "cell")]
    rows += [("cell/keras:cell:3", "cell", "Layer.__call__", "keras", 220.0, "cell line 3")]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms", "place"])
    table = table.assign(count=1, self_ms=table["total_ms"], share=table["total_ms"] / 1000)
    waits = finding(severity="info", rule="old-iterators-end", node="cell/end", cell_percent=30.0, change="")
    advice = Advice(pd.DataFrame([waits]), {}, [])
    found = answer(Breakdown(table, {"cell_ms": 1000.0}, []), advice, Code({}))
    assert (found.kind, found.finding) == ("finding", 0)


def test_a_finding_on_a_sliver_does_not_hide_the_cost_it_is_a_part_of():
    """Models are compiled four times, and traced in training and validation; one finding is on a single trace."""
    rows = [("cell", "", "cell", "phase", 1000.0, 0.0, 1)]
    rows += [("cell/train", "cell", "train", "phase", 650.0, 50.0, 4)]
    rows += [("cell/train/trace:f", "cell/train", "tracing f", "trace", 600.0, 600.0, 4)]
    rows += [("cell/validation", "cell", "validation", "phase", 350.0, 100.0, 20)]
    rows += [("cell/validation/trace:f", "cell/validation", "tracing f", "trace", 250.0, 250.0, 4)]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms", "self_ms", "count"])
    table = table.assign(place="cell line 3", share=table["total_ms"] / 1000)
    sliver = finding(severity="medium", rule="late-retracing", node="cell/train/trace:f", cell_percent=7.0, change="")
    advice = Advice(pd.DataFrame([sliver]), {}, [])
    found = answer(Breakdown(table, {"cell_ms": 1000.0}, []), advice, Code({"cell": "x"}))
    assert sentence(found, calm=False).startswith("Tracing f (cell line 3) takes 60.0% of the cell's time: 4 times")


@pytest.mark.parametrize(("rule", "left"), [("predict-per-example", "800 ms"), ("retracing", "500 ms")])
def test_the_time_a_change_leaves_is_that_of_the_cell_with_its_tracing(rule, left):
    """Shares of what runs in each step are of the time without tracing: a change saves no part of that."""
    row = finding(rule=rule, cell_percent=50.0, estimated_gain_percent=50.0) | dict.fromkeys(
        ("gain_low_percent", "gain_high_percent"), 50.0
    )
    advice = Advice(pd.DataFrame([row]), {}, [])
    tree = Breakdown(no_breakdown().table, {"cell_ms": 1000.0}, [])
    found = Answer("finding", 0, None, 0.0, steady_share=0.4)
    (card,) = answer_view._changes(found, advice, tree, None)
    assert card.bars[1].text.startswith(f"≈ {left}")


@pytest.mark.parametrize("op", ["HistogramSummary", "EagerPyFunc", "PrintV2"])
def test_an_op_that_writes_or_runs_python_is_not_the_models_own_work(op):
    rows = [("cell", "", "cell", "phase", 0.0, ""), (f"cell/op:{op}", "cell", op, "op", 700.0, "cell line 3")]
    rows += [("cell/op:MatMul", "cell", "MatMul", "op", 300.0, "")]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "self_ms", "place"])
    table = table.assign(total_ms=[1000.0, 700.0, 300.0], share=[1.0, 0.7, 0.3], count=0)
    tree = Breakdown(table, {"cell_ms": 1000.0}, [])
    found = answer(tree, Advice(pd.DataFrame([finding(severity="info", change="")]), {}, []), Code({"cell": "x"}))
    assert found.model_share == pytest.approx(0.3)
    assert sentence(found, calm=True) == f"{op} (cell line 3) takes 70.0% of the cell's time."


@pytest.mark.parametrize(
    ("line", "said"), [("cell line 2", ". The line with the most is `b = f(a)` (cell line 2): 60.0%."), ("", ".")]
)
def test_where_no_part_stands_out_the_line_with_the_most_time_is_named(line, said):
    rows = [("cell", "", "cell", "phase", 1000.0)]
    rows += [(f"cell/python:cell:{one}", "cell", "f", "python", 125.0) for one in range(1, 9)]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms"])
    table = table.assign(place="", count=1, self_ms=table["total_ms"], share=table["total_ms"] / 1000)
    tree = Breakdown(table, {"cell_ms": 1000.0, "line": line, "line_share": 0.6}, [])
    found = answer(
        tree, Advice(pd.DataFrame([finding(severity="info", change="")]), {}, []), Code({"cell": "a\nb = f(a)"})
    )
    assert sentence(found, calm=True) == f"No part stands out: the largest, `f`, takes 12.5% of the cell's time{said}"


@pytest.mark.parametrize(
    ("validation_ms", "kind", "said"),
    [
        (300.0, "once", "Tracing takes 40.0% of the cell's time, in 2 calls, most at cell line 2. Longer"),
        (
            700.0,
            "cost",
            "Validation (cell line 2), without its tracing, takes 50.0% of the cell's time: 50 times 10.0 ms.",
        ),
    ],
)
def test_what_a_validation_traces_once_is_no_cost_of_validating(validation_ms, kind, said):
    rows = [
        ("cell", "", "cell", "phase", 1000.0, 0.0, 1, ""),
        ("cell/train", "cell", "train", "phase", 250.0, 50.0, 1, ""),
    ]
    rows += [("cell/train/trace:f", "cell/train", "tracing f", "trace", 200.0, 200.0, 1, "cell line 2")]
    rows += [("cell/validation", "cell", "validation", "phase", validation_ms, 0.0, 50, "cell line 2")]
    rows += [("cell/validation/trace:f", "cell/validation", "tracing f", "trace", 200.0, 200.0, 1, "cell line 2")]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms", "self_ms", "count", "place"])
    tree = Breakdown(table.assign(share=table["total_ms"] / 1000), {"cell_ms": 1000.0}, [])
    found = answer(tree, Advice(pd.DataFrame([finding(severity="info", change="")]), {}, []), Code({"cell": "x"}))
    assert found.kind == kind
    assert sentence(found, calm=True).startswith(said)


def answer_of_tracing(*calls):
    """The answer of a cell of 1 s whose trainings trace for 300 ms each, in so many calls."""
    rows = [("cell", "", "cell", "phase", 1000.0, 0.0, 1, "")]
    for line, count in enumerate(calls, 2):
        phase = f"cell/train@cell:{line}"
        rows.append((phase, "cell", "train", "phase", 300.0, 0.0, 1, f"cell line {line}"))
        rows.append((f"{phase}/trace:f", phase, "tracing f", "trace", 300.0, 300.0, count, f"cell line {line}"))
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms", "self_ms", "count", "place"])
    tree = Breakdown(table.assign(share=table["total_ms"] / 1000), {"cell_ms": 1000.0}, [])
    return answer(tree, Advice(pd.DataFrame([finding(severity="info", change="")]), {}, []), Code({"cell": "x"}))


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ((1,), "Tracing f (cell line 2) takes 30.0% of the cell's time, once. Longer training hides it."),
        ((1, 1), "Tracing takes 60.0% of the cell's time, in 2 calls, most at cell line 2. Longer training hides it."),
        ((3,), "Tracing f (cell line 2) takes 30.0% of the cell's time: 3 times 100 ms."),
    ],
)
def test_tracing_is_said_to_happen_once_only_where_it_does(calls, said):
    assert sentence(answer_of_tracing(*calls), calm=True) == said


def test_what_each_of_many_calls_traces_is_not_added_to_what_happens_once():
    rows = [("cell", "", "cell", "phase", 1000.0, 0.0, 1, "")]
    rows += [("cell/predict", "cell", "predict", "phase", 450.0, 0.0, 80, "cell line 2")]
    rows += [("cell/predict/trace:f", "cell/predict", "tracing f", "trace", 300.0, 300.0, 1, "cell line 2")]
    rows += [("cell/predict/trace", "cell/predict", "tracing", "trace", 150.0, 150.0, 240, "cell line 2")]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms", "self_ms", "count", "place"])
    tree = Breakdown(table.assign(share=table["total_ms"] / 1000), {"cell_ms": 1000.0}, [])
    found = answer(tree, Advice(pd.DataFrame([finding(severity="info", change="")]), {}, []), Code({"cell": "x"}))
    said = "Tracing f (cell line 2) takes 30.0% of the cell's time, once. Longer training hides it."
    assert sentence(found, calm=True) == said


def test_the_op_that_is_most_of_the_models_own_work_is_named(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train", start_us=900 * i, duration_us=900, step_num=i, _r=1)
        python.event("conv:Conv2D", start_us=900 * i, duration_us=720)
        python.event("mul:MatMul", start_us=900 * i + 720, duration_us=180)
    space.write(tmp_path / "host.xplane.pb")
    (lead,) = shown(tp.load(tmp_path), Headline)
    assert lead.text == "Nothing to change: the model itself takes 100% of the capture's time, Conv2D alone 80.0%."


def test_a_cost_without_a_rule_is_named_with_its_size_and_count(tmp_path):
    """Two quick steps; then 40 ms in which four iterators are made."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(2):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=1000 * i, duration_us=1000)
    for i in range(4):
        python.event("EagerLocalExecute: MakeIterator", start_us=2000 + 10_000 * i, duration_us=10_000)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    assert (p.answer.kind, p.answer.node["kind"]) == ("cost", "start")
    (lead,) = shown(p, Headline)
    assert lead.text == "Creating an iterator takes 95.2% of the capture's time: 4 times 10.0 ms."


def test_parts_add_up_to_the_whole(traced):
    for panel in shown(traced, Composition):
        assert sum(part.value for part in panel.parts) == pytest.approx(panel.whole, rel=0.01)


def test_the_answer_of_a_cell_says_cell(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train", start_us=900 * i, duration_us=900, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=900 * i, duration_us=900)
    space.write(tmp_path / "host.xplane.pb")
    cell = {"text": "model.fit(x)", "file": "", "first": 1, "last": 1}
    cell |= {"line": [], "hits": [], "spent_ns": [], "estimated": []}
    sidecar = gzip.compress(json.dumps({"version": 1, "cell": cell}).encode())
    (tmp_path / "host.tfprof.json.gz").write_bytes(sidecar)
    assert tp.load(tmp_path).answer.whole == "cell"


def test_a_gpu_that_recorded_nothing_is_the_first_thing_said(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    space.plane("/device:GPU:0")
    for i in range(4):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=1000 * i, duration_us=1000)
    profile = tp.load(space.write(tmp_path / "host.xplane.pb"))
    for panels in (dashboard.page_panels(profile, "overview"), shown(profile, (Headline, Note))):
        first, *others = panels
        assert first.text.startswith("Nothing was recorded on the GPU:")
        assert "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in first.text
        assert not any(isinstance(panel, Note) and panel.text in profile.advice.notes for panel in others)
    assert "GPU, not recorded" in str(profile.overview)


def test_gains_are_shares_of_the_cell():
    """Of steps that are half of the cell, 40% to 80% are saved: 20% to 40% of the cell."""
    row = finding(
        finding="F", gain_low_percent=40.0, gain_high_percent=80.0, estimated_gain_percent=80.0, cell_percent=40.0
    )
    lead = answer_view.headline(Answer("finding", 0, None, 0.0), Advice(pd.DataFrame([row]), {}, []))
    assert lead == Headline("F. That is 40.0% of the cell's time.", "≈ 33% less time", "estimated 20% to 40%")
    row |= {"gain_low_percent": 100.0, "gain_high_percent": 150.0, "finding": "F takes 40% of it"}
    lead = answer_view.headline(Answer("finding", 0, None, 0.0), Advice(pd.DataFrame([row]), {}, []))
    assert lead == Headline("F takes 40% of it.", "≈ 3.0× faster", "estimated 2.0 to 4.0×")


def test_a_change_that_may_gain_nothing_is_told_by_the_most_that_it_gains():
    row = finding(
        finding="F takes 40% of it",
        **dict.fromkeys(("gain_high_percent", "estimated_gain_percent", "cell_percent"), 40.0),
        gain_low_percent=0.0,
    )
    lead = answer_view.headline(Answer("finding", 0, None, 0.0), Advice(pd.DataFrame([row]), {}, []))
    assert lead == Headline("F takes 40% of it.", "up to 40% less time")


def test_parts_of_a_step_lead_to_the_pages_that_tell_more_of_them(captured):
    _, tabs = dashboard.panels(captured("benchmark/healthy_lstm_text"))
    (step,) = (panel for panel in tabs.tabs[0].open() if isinstance(panel, Composition))
    pages = {part.label.strip("`"): part.page for part in step.parts}
    assert pages["lstm"] == pages["optimizer"] == "Layers"
    assert pages["smaller parts"] == ""
    assert {page for page in pages.values() if page} <= {tab.name for tab in tabs.tabs}
    assert not any(part.page for part in shown(captured("benchmark/healthy_lstm_text"), Composition)[0].parts)


def test_the_answer_and_the_layers_have_the_same_order_and_shares(captured):
    p = captured("benchmark/healthy_lstm_text")
    (step,) = (panel for panel in shown(p, Composition) if panel.title == "What a step is made of")
    (table,) = (panel for panel in dashboard.page_panels(p, "layers") if isinstance(panel, Table))
    share_of = dict(table.frame[["layer", "step_share"]].itertuples(index=False))
    layers = [part for part in step.parts if any(name.endswith(part.label.strip("`")) for name in share_of)]
    assert len(layers) > 1
    for part, (name, share) in zip(layers, share_of.items(), strict=False):
        assert name.endswith(part.label.strip("`"))
        assert share == pytest.approx(part.value / step.whole)
    known = set(table.frame["layer"])
    assert not any(
        known & set(panel.frame.iloc[:, 0]) for panel in dashboard.page_panels(p, "source") if isinstance(panel, Table)
    )


def test_an_eager_program_that_reads_no_dataset_has_no_page_on_graphs_or_input(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train", start_us=1000 * i, duration_us=900, step_num=i, _r=1)
        python.event("EagerExecute", start_us=1000 * i, duration_us=800)
        python.event("EagerKernelExecute", start_us=1000 * i + 10, duration_us=700, is_func=0)
        python.event("MatMul:MatMul", start_us=1000 * i + 20, duration_us=600)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    _, tabs = dashboard.panels(p)
    names = [tab.name for tab in tabs.tabs]
    assert "Ops" in names
    assert not {"Graph", "Input", "tf.data", "Functions", "Layers", "Kernels", "Pods"} & set(names)
    assert p.graph.notes[0].startswith("All ops ran eagerly")


def test_other_pages_have_one_sentence_above_them(traced):
    lead, tabs = dashboard.panels(traced)
    assert isinstance(lead, Headline)
    kinds = list(dict.fromkeys(type(panel).__name__ for panel in tabs.tabs[0].open()))
    assert kinds == ["Change", "KeyFigures", "Split", "StackedBars", "Note"]
    assert len(dashboard.panels(traced, ["ops"])) > 2


@pytest.mark.parametrize("start_ms", [math.nan, 2.0])
def test_a_finding_that_the_trace_proves_has_one_link_to_it(start_ms):
    proof = {"op_name": "", "proved_by": "trace", "start_ms": start_ms, "duration_ms": 1.0}
    text = "Open the trace" if math.isnan(start_ms) else "Show in the trace"
    assert [(link.text, link.page) for link in links_of(proof)] == [(text, "Trace")]
    texts = [link.text for link in links_of(proof | {"proved_by": "ops"})]
    assert texts == ["Show in Ops", *["Show in the trace"][: start_ms == 2]]


def test_a_table_sums_up_several_findings():
    for count, kinds in ((1, ["Note"]), (2, ["Note", "Note", "Table"])):
        panels = advice_view.panels(Advice(pd.DataFrame([finding()] * count), {}, []))
        assert [type(panel).__name__ for panel in panels if not isinstance(panel, Offer)] == kinds


def test_a_step_adds_up_to_its_median_with_what_is_not_explained(tmp_path):
    """Steps of 10 ms, one of 50: half is an op, the rest is unknown."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    at = 0
    for i in range(6):
        length = 50_000 if i == 3 else 10_000
        python.event("train", start_us=at, duration_us=length, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=at, duration_us=0.7 * length)
        at += length
    space.write(tmp_path / "host.xplane.pb")
    (step,) = [panel for panel in shown(tp.load(tmp_path), Composition) if panel.title == "What a step is made of"]
    assert step.whole == pytest.approx(10.0)
    assert {part.label: part.value for part in step.parts} == pytest.approx({"MatMul": 7.0, "not explained": 3.0})
    assert "10.0 ms, the median of 6 steps" in step.about


def test_a_step_has_the_median_of_its_own_phase(tmp_path):
    """The steps of a validation are others."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    at = 0
    for i in range(12):
        length = 2_000 if i >= 8 else 50_000 if i == 3 else 10_000
        python.event("test" if i >= 8 else "train", start_us=at, duration_us=length, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=at, duration_us=0.9 * length)
        at += length
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    steps = [panel for panel in shown(p, Composition) if panel.title == "What a step is made of"]
    assert [step.about for step in steps] == ["10.0 ms, the median of 8 steps; parts by name"]


def test_a_share_smaller_than_what_its_change_saves_is_not_said():
    gains = {"gain_low_percent": 10.0, "gain_high_percent": 90.0, "estimated_gain_percent": 20.0}
    row = finding(finding="F", cell_percent=20.0, **gains)
    lead = headline(Answer("finding", 0, None, 0.0), Advice(pd.DataFrame([row]), {}, []))
    assert lead.text == "F."
    assert lead.gain


def test_now_and_then_have_one_scale_and_an_estimate_is_called_one(traced):
    leading, *_ = shown(traced, Change)
    now, then = leading.bars
    assert (now.label, now.estimated, then.label, then.estimated) == ("now", False, "then", True)
    assert sum(part.value for part in now.parts) == pytest.approx(traced.breakdown.summary["cell_ms"])
    assert sum(part.value for part in then.parts) < sum(part.value for part in now.parts)
    assert then.text.startswith("≈ ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a.b()", "a.b().cache()", "Add `.cache()`"),
        ("fit(x, verbose=2)", "fit(x)", "Remove `verbose=2`"),
        ("f(1)", "f(22)", "Replace `1` with `22`"),
        ("m.predict(x)", "m.predict_on_batch(x)", "Replace `predict` with `predict_on_batch`"),
        ("y = m.predict(x, verbose=0)[0]", "y = m.predict_on_batch(x)[0]", ""),
        ("a\nb", "c\nd", ""),
    ],
)
def test_a_diff_that_does_one_thing_says_it_in_a_few_words(old, new, said):
    assert answer_view._to_do(Diff(old, new, new)) == said


def test_the_facts_leave_out_what_says_nothing(traced):
    (facts,) = shown(traced, KeyFigures)
    labels = [figure.label for figure in facts.figures]
    assert labels[0].startswith("median step")
    assert not {"hosts", "ran on"} & set(labels)


@pytest.mark.parametrize(("steps_ms", "said"), [(5.0, False), (50.0, True)])
def test_how_steps_wait_and_what_they_process_are_no_facts_about_a_cell_of_which_they_are_little(
    traced, steps_ms, said
):
    known = {"waiting_percent": 80.0, "verdict": "highly", "measured_steps_ms": steps_ms, "warm_up_steps_ms": 0.0}
    known |= {"examples_per_step": 32.0}
    overview = Result(traced.overview.table, traced.overview.summary | known | {"capture_ms": 100.0}, [])
    labels = [figure.label for figure in answer_view.facts(overview, traced.steps)]
    assert any("waits for data" in label for label in labels) is said
    assert ("examples a second" in labels) is said


def test_the_answer_shows_no_ops_of_other_threads(traced):
    assert shown(traced, Table) == []
