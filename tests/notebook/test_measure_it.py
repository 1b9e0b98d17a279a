"""What makes steps wait can be measured: the profiled cell's dataset, found in the notebook's namespace."""

import gzip
import json
import sys
import time

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import tfprof_nb as tp
from builders import XSpace
from shown import shown
from tfprof_nb import result_cache
from tfprof_nb.render.panels import Bars, Note, Offer
from tfprof_nb.views import dashboard

SLOW_S = 0.01


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    yield InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    InteractiveShell.clear_instance()


@pytest.fixture
def profile(tmp_path):
    """Return a function that makes the profile of a cell whose steps wait for data, or do not."""

    def make(cell, *, wait_ms=8, sidecar=True):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for number in range(20):
            python.event("train", start_ms=10 * number, duration_ms=10, step_num=number, _r=1)
            python.event("IteratorGetNext:x", start_ms=10 * number, duration_ms=wait_ms)
            python.event("MatMul:MatMul", start_ms=10 * number + wait_ms, duration_ms=10 - wait_ms)
        file = space.write(tmp_path / "host.xplane.pb")
        lines = {"line": [], "hits": [], "spent_ns": [], "estimated": [], "first": 0, "last": 0}
        section = {"version": 1, "cell": {"text": cell, "file": "cell.py"} | lines}
        if sidecar:
            file.with_name("host.tfprof.json.gz").write_bytes(gzip.compress(json.dumps(section).encode()))
        return tp.load(file)

    return make


def offers(p, *pages):
    return [panel for panel in shown(dashboard.panels(p, pages or None)) if isinstance(panel, Offer)]


def slow_dataset():
    tf = pytest.importorskip("tensorflow")

    def wait(i):
        time.sleep(SLOW_S)
        return i

    return tf.data.Dataset.range(64).map(lambda i: tf.ensure_shape(tf.numpy_function(wait, [i], tf.int64), ())).batch(4)


def test_a_profile_that_is_opened_again_offers_it_too(shell, profile, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(result_cache.OFF)
    monkeypatch.setattr(result_cache, "LEAST_BYTES", 0)
    first = profile("%%tfprofile other\nmodel.fit(train_data, epochs=2)")
    assert len(offers(first, "overview")) == 1
    again = tp.load(first.files[0])
    assert len(offers(again, "overview")) == 1
    assert "forests" not in vars(again.data)


@pytest.mark.tensorflow
def test_the_cells_dataset_is_measured(shell, profile, monkeypatch):
    shell.user_ns["train_data"] = slow_dataset()
    p = shell.user_ns["baseline"] = profile("%%tfprofile other\nmodel.fit(train_data.repeat(2), epochs=2)")
    measure = tp.benchmark_input
    monkeypatch.setattr(tp, "benchmark_input", lambda *given, **options: measure(*given, seconds=2, **options))
    (offer,) = offers(p, "overview")
    assert offer.code == ("import tfprof_nb as tp\n\ntp.benchmark_input(train_data.repeat(2), profile=baseline)")
    panels = offer.run()
    answer = next(panel.text for panel in panels if isinstance(panel, Note))
    assert "the pipeline makes one every" in answer
    assert any(isinstance(panel, Bars) for panel in panels)


@pytest.mark.tensorflow
def test_what_a_loop_takes_is_found_by_its_type(shell, profile):
    shell.user_ns.update(data=slow_dataset(), epochs=[1, 2], net=print)
    p = profile("%%tfprofile\nfor epoch in epochs:\n    for x in data:\n        net(x)")
    offer, *_ = offers(p, "advice")
    assert offer.code.endswith("tp.benchmark_input(data, profile=p)")


@pytest.mark.tensorflow
def test_a_dataset_that_is_gone_is_said(shell, profile):
    pytest.importorskip("tensorflow")
    p = profile("%%tfprofile slow\nmodel.fit(dataset)")
    (offer,) = offers(p, "overview")
    assert offer.code.endswith("tp.benchmark_input(dataset, profile=slow)")
    with pytest.raises(
        tp.TfprofError, match="`dataset` is no dataset in this notebook, or no longer: run the cell that"
    ):
        offer.run()
    shell.user_ns["dataset"] = 3
    with pytest.raises(tp.TfprofError, match="no dataset in this notebook"):
        offer.run()


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        ("%%tfprofile\nmodel.fit(dataset)", {"wait_ms": 0.1}),
        ("%%tfprofile\nmodel.fit(dataset)", {"sidecar": False}),
        ("%%tfprofile\nmain()", {}),
        ("%%tfprofile\nmodel.fit(x, y)", {}),
    ],
)
def test_nothing_is_offered_without_a_wait_or_a_dataset(shell, profile, cell, options):
    assert offers(profile(cell, **options)) == []


def test_a_report_has_the_code(shell, profile, tmp_path):
    p = profile("%%tfprofile slow\nmodel.fit(dataset)")
    html = p.to_html(tmp_path / "report.html").read_text()
    assert "tp.benchmark_input(dataset, profile=slow)" in html
    assert "Measure it" not in html
    assert "tp.benchmark_input" not in p.to_html(tmp_path / "redacted.html", redact=True).read_text()
    assert "tp.benchmark_input(dataset, profile=slow)" in str(p)
