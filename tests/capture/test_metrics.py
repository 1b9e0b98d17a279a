"""Samples beside a capture: of the right size, at the right times, and none after it ended."""

import sys
import threading
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import psutil
import pytest

import tfprof_nb as tp
from tfprof_nb.capture.metrics import Quantity, _sampled, _Sampler, process_memory, system_metrics
from tfprof_nb.capture.ticker import Ticker
from tfprof_nb.decode.sidecar import read_sidecar

HELD = 64 << 20


def samplers():
    """The samplers that run."""
    owners = [thread._target.__self__ for thread in threading.enumerate() if isinstance(thread, Ticker)]
    return [owner for owner in owners if isinstance(owner, _Sampler)]


def wait_for_samples(count):
    """Wait until every sampler that runs has taken so many samples more."""
    wanted = {sampler: len(sampler._samples) + count for sampler in samplers()}
    while any(len(sampler._samples) < samples for sampler, samples in wanted.items()):
        time.sleep(0.01)


def values(section, metric):
    (series,) = (series for series in section["series"] if series["metric"] == metric)
    assert len(series["values"]) == len(section["times_ns"])
    return series["values"]


def test_memory_that_is_taken_shows():
    began = time.time_ns()
    with process_memory() as gather:
        wait_for_samples(2)
        before = len(gather.__self__._samples)
        held = np.ones(HELD, np.uint8)
        wait_for_samples(2)
        section = gather()
    ended = time.time_ns()
    assert held.all()
    memory = values(section, "process memory")
    assert max(memory[before:]) - min(memory[:before]) > HELD / 2
    assert max(memory) < psutil.virtual_memory().total
    assert values(section, "peak process memory")[-1] >= max(memory) * 0.99
    times = section["times_ns"]
    assert began <= times[0] < times[-1] <= ended
    assert (np.diff(times) > 0).all()


def test_a_short_block_has_a_sample_too():
    with process_memory() as gather:
        section = gather()
    assert len(section["times_ns"]) == 1
    assert values(section, "process memory")[0] > 1 << 20


def test_a_busy_processor_shows():
    with system_metrics() as gather:
        sampler = gather.__self__
        own = [quantity.metric for quantity in sampler._quantities].index("process CPU")
        while not any(row[own] for _, row in sampler._samples[1:]):
            sum(range(1000))
        section = gather()
    assert values(section, "CPU")[0] is values(section, "process CPU")[0] is None
    assert all(0 <= value <= 100 for value in values(section, "CPU")[1:])
    assert not [series for series in section["series"] if series["metric"].startswith("GPU")]


def test_sampling_ends_with_the_block():
    with system_metrics(), process_memory():
        assert len(samplers()) == 2
    assert samplers() == []


def test_what_cannot_be_read_is_missing():
    readings = iter([1, 2])
    never, twice = Quantity("never", "%", lambda: 1 / 0), Quantity("twice", "%", lambda: next(readings))
    with _sampled([never, twice], 0.01) as gather:
        wait_for_samples(2)
        section = gather()
    assert [series["metric"] for series in section["series"]] == ["twice"]
    assert values(section, "twice")[:3] == [1, 2, None]
    with _sampled([never], 0.01) as gather:
        assert gather() == {}


@pytest.fixture
def two_gpus(monkeypatch):
    """NVIDIA's library, as a machine with two GPUs has it."""
    pynvml = ModuleType("pynvml")
    pynvml.open = 0

    def opened(by):
        pynvml.open += by

    pynvml.nvmlInit, pynvml.nvmlShutdown = lambda: opened(1), lambda: opened(-1)
    pynvml.nvmlDeviceGetCount = lambda: 2
    pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
    pynvml.nvmlDeviceGetUtilizationRates = lambda device: SimpleNamespace(gpu=40 + device)
    pynvml.nvmlDeviceGetMemoryInfo = lambda device: SimpleNamespace(used=1000 + device)
    monkeypatch.setitem(sys.modules, "pynvml", pynvml)
    return pynvml


def test_gpus_are_sampled_where_there_are_some(two_gpus):
    with system_metrics() as gather:
        assert two_gpus.open == 1
        section = gather()
    assert [values(section, f"GPU {i}")[0] for i in (0, 1)] == [40, 41]
    assert [values(section, f"GPU {i} memory")[0] for i in (0, 1)] == [1000, 1001]
    assert two_gpus.open == 0


@pytest.mark.tensorflow
def test_a_capture_always_samples_memory_and_metrics_on_request(tmp_path):
    with tp.profile(logdir=tmp_path) as plain:
        pass
    assert "process_memory" in read_sidecar(plain.files[0]).sections
    assert "metrics" not in read_sidecar(plain.files[0]).sections
    began = time.monotonic()
    with tp.profile(logdir=tmp_path, metrics=True) as p:
        wait_for_samples(2)
    took_ms = 1000 * (time.monotonic() - began)
    assert plain.metrics.empty
    assert {"CPU", "process CPU", "process memory"} <= set(p.metrics["metric"])
    assert p.metrics["time_ms"].between(0, took_ms).all()
    assert tp.load(p.files[0]).metrics.equals(p.metrics)
