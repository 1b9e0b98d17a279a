"""tf.data: XProf's own cases and others, worked out by hand."""

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import XSpace, forest
from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.tf_data.suggestions import suggest
from tfprof_nb.analysis.tf_data.tf_data import COLUMNS, PIPELINE_COLUMNS, tf_data

ROOT = 2**63 + 123  # such ids are written as uint64, smaller ones as int64
SOURCE = 456


def threads(space=None):
    """Two threads of one host: the one that asks for data, and one that works ahead."""
    cpu = (space or XSpace()).plane("/host:CPU")
    return cpu.line("python"), cpu.line("tf_data_iterator_resource")


def run(*spaces):
    return tf_data([forest(space, f"host{i}") for i, space in enumerate(spaces)])


@pytest.mark.parametrize(
    ("host", "pipeline", "rank"), [("host0", 7, 0), ("nowhere", 0, 0), ("host0", 0, 9), ("host0", 0, -1)]
)
def test_a_call_that_does_not_exist_is_an_error(host, pipeline, rank):
    with pytest.raises(TfprofError, match=rf"There is no call {rank} of pipeline {pipeline} on host '{host}'"):
        run(prefetch()).iterators(host, pipeline, rank)
    nothing = XSpace()
    nothing.plane("/host:CPU").line("python").event("other", start_us=0, duration_us=1)
    with pytest.raises(TfprofError, match="There is no call"):
        run(nothing).iterators(host, pipeline, rank)


def prefetch():
    """XProf's case "prefetch": the first call waits for a slow element, the second finds its element ready."""
    space = XSpace()
    python, ahead = threads(space)
    for element, start, length, taken in ((100, 0, 100, 80), (200, 200, 20, 210)):
        python.event("Iterator::Prefetch", start_us=start, duration_us=length, id=ROOT)
        python.event("PrefetchConsume", start_us=taken, duration_us=start + length - taken, element_id=element)
    for element, start in ((100, 0), (200, 100)):
        ahead.event("PrefetchProduce", start_us=start, duration_us=80, element_id=element)
        ahead.event("Iterator::Prefetch::Range", start_us=start, duration_us=80, id=SOURCE, parent_id=ROOT)
    return space


def rows(table, *columns):
    """Rows as tuples, times in microseconds."""
    times = {column: table[column] * 1e3 for column in columns if column.endswith("_ms")}
    return [tuple(row) for row in table.assign(**times)[list(columns)].round(6).itertuples(index=False)]


def test_prefetch():
    result = run(prefetch())
    assert list(result.table) == COLUMNS
    assert rows(result.table, "name", "start_ms", "total_ms", "self_ms", "calls", "critical", "bottleneck") == [
        ("Prefetch", 0, 100, 20, 1, True, False),
        ("Range", 0, 80, 80, 1, True, True),
    ]
    assert list(result.pipelines) == PIPELINE_COLUMNS
    assert rows(result.pipelines, "side", "calls", "min_us", "mean_us", "max_us", "slow_calls") == [
        ("host", 2, 20, 60, 100, 1)
    ]
    summary = result.summary
    assert (summary["pipelines"], summary["slow_calls"], summary["bottleneck"]) == (1, 1, "Range")
    assert (summary["host"], summary["latency_ms"], summary["bottleneck_ms"]) == ("host0", 0.1, 0.08)


def test_calls_are_ranked_and_each_can_be_looked_at():
    result = run(prefetch())
    calls = result.calls("host0", 0)
    assert calls.index.name == "rank"
    assert rows(calls, "total_ms", "slow", "bottleneck", "bottleneck_ms") == [
        (100, True, "Range", 80),
        (20, False, "Prefetch", 20),
    ]
    # The second element was ready before it was asked for: its source held nothing up.
    second = result.iterators("host0", 0, rank=1)
    assert rows(second, "name", "self_ms", "critical", "bottleneck", "critical_ms") == [
        ("Prefetch", 20, True, True, 20),
        ("Range", 80, False, False, 0),
    ]


def test_a_pipeline_on_a_device_is_listed_but_no_bottleneck():
    space = XSpace()
    python, ahead = threads(space)
    python.event("Iterator::Prefetch", duration_us=30, id=ROOT)
    python.event("Iterator::Prefetch", start_us=100, duration_us=100, id=ROOT)
    python.event("PrefetchConsume", start_us=180, duration_us=20, element_id=100)
    ahead.event("PrefetchProduce", start_us=100, duration_us=80, element_id=100)
    ahead.event("Iterator::Prefetch::Generator", start_us=100, duration_us=80, id=SOURCE, parent_id=ROOT)
    result = run(space)
    assert rows(result.pipelines, "side", "calls", "min_us", "mean_us", "max_us", "slow_calls") == [
        ("device", 2, 30, 65, 100, 1)
    ]
    assert rows(result.calls("host0", 0), "bottleneck", "bottleneck_ms") == [("Generator", 80), ("Prefetch", 30)]
    assert result.table.empty
    assert result.summary["bottleneck"] is None
    assert result.notes[0].startswith("Only the part of a pipeline that runs on a device")


def test_the_part_on_a_device_is_known_with_a_root_around_it_and_a_generator_in_python_is_none():
    space = XSpace()
    python, _ = threads(space)
    for stages, first in (
        (("", "::Prefetch", "::Prefetch::Generator"), 1),
        (("", "::FlatMap", "::FlatMap::Generator"), 5),
    ):
        for k, stage in enumerate(stages):
            start = 100 * first + 10 * k
            parent = {"parent_id": first + k - 1} if k else {}
            python.event(f"Iterator::Root{stage}", start_us=start, duration_us=80 - 20 * k, id=first + k, **parent)
    assert rows(run(space).pipelines, "side", "calls") == [("device", 1), ("host", 1)]


def test_a_pipeline_of_the_host_is_its_own_though_its_iterator_has_the_number_of_one_on_a_device():
    """`tf.distribute` makes both anew in each epoch, and iterators get the ids of earlier ones."""
    space = XSpace()
    python, ahead = threads(space)
    for epoch, source, label in ((0, "Generator", "device_prefetch"), (1, "Rebatch", "PrefetchDataset:8")):
        at, root = 1000 * epoch, 7 + epoch
        python.event("Iterator::Root", start_us=at, duration_us=100, id=root)
        python.event("Iterator::Root::Prefetch", start_us=at, duration_us=100, id=ROOT, parent_id=root, name=label)
        python.event("PrefetchConsume", start_us=at + 90, duration_us=10, element_id=epoch)
        ahead.event("PrefetchProduce", start_us=at, duration_us=90, element_id=epoch)
        stage = f"Iterator::Root::Prefetch::{source}"
        ahead.event(stage, start_us=at, duration_us=90, id=SOURCE + epoch, parent_id=ROOT, name=source)
    result = run(space)
    assert rows(result.pipelines, "side", "stages") == [
        ("device", "Generator > Prefetch"),
        ("host", "Rebatch > Prefetch"),
    ]
    assert (result.summary["calls"], result.summary["bottleneck"], result.notes) == (1, "Rebatch", [])


def test_map_and_batch_takes_several_calls_for_one_element():
    space = XSpace()
    python, ahead = threads(space)
    python.event("Iterator::MapAndBatch", duration_us=100, id=ROOT)
    python.event("MapAndBatchConsume", start_us=80, duration_us=20, element_id=100)
    for start in (0, 40):
        ahead.event("MapAndBatchProduce", start_us=start, duration_us=30, element_id=100)
        ahead.event("Iterator::MapAndBatch::Range", start_us=start, duration_us=30, id=SOURCE, parent_id=ROOT)
    assert rows(run(space).table, "name", "total_ms", "self_ms", "calls", "bottleneck") == [
        ("MapAndBatch", 100, 40, 1, False),
        ("Range", 60, 60, 2, True),
    ]


def test_advice_on_map_and_batch_knows_whether_the_programs_map_is_parallel():
    def suggestion(**dataset):
        space = XSpace()
        python, _ = threads(space)
        python.event("Iterator::Root", duration_us=100, id=ROOT)
        python.event("Iterator::Root::MapAndBatch", duration_us=98, id=SOURCE, parent_id=ROOT, **dataset)
        return run(space).summary["suggestion"]

    assert suggestion(name="fused(MapDataset:2,BatchDatasetV2:3)").startswith("Let it work on several elements at once")
    assert suggestion(name="fused(ParallelMapDatasetV2:6,BatchDatasetV2:7)").startswith(
        "It already works on several elements"
    )
    assert "If it is already parallel" in suggestion()


def two_branches():
    """Two files are read at once, from 10 and from 30 us on; what both take counts once."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python = cpu.line("python")
    python.event("Iterator::ParallelInterleaveV4", duration_us=100, id=ROOT)
    for branch, (start, end) in enumerate(((10, 60), (30, 80))):
        name = f"Iterator::ParallelInterleaveV4[{branch}]::TFRecord"
        python.event("ParallelInterleaveConsume", start_us=90 + branch, duration_us=1, element_id=branch)
        worker = cpu.line(f"worker{branch}")
        worker.event("ParallelInterleaveProduce", start_us=start, duration_us=end - start, element_id=branch)
        worker.event(name, start_us=start, duration_us=end - start, id=SOURCE + branch, parent_id=ROOT)
    return space


def test_parallel_branches_are_one_stage_and_their_overlap_counts_once():
    result = run(two_branches())
    assert rows(result.table, "long_name", "total_ms", "self_ms", "calls", "critical_ms") == [
        ("Iterator::ParallelInterleaveV4", 100, 30, 1, 30),
        ("Iterator::ParallelInterleaveV4::TFRecord", 100, 100, 2, 70),
    ]
    assert result.summary["bottleneck_ms"] == pytest.approx(0.07)


SPANS = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 40)), min_size=1, max_size=6)


@settings(max_examples=30, deadline=None)
@given(SPANS)
def test_a_call_waits_for_its_branches_tick_by_tick(spans):
    """Branches run from 0 to 120 us, before the call, in it and after it; the call lasts from 20 to 100 us."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python = cpu.line("python")
    python.event("Iterator::ParallelMapV2", start_us=20, duration_us=80, id=ROOT)
    for element, (start, length) in enumerate(spans):
        python.event("ParallelMapConsume", start_us=30 + element, element_id=element)
        worker = cpu.line(f"worker{element}")
        worker.event("ParallelMapProduce", start_us=start, duration_us=length, element_id=element)
        name = "Iterator::ParallelMapV2::Range"
        worker.event(name, start_us=start, duration_us=length, id=SOURCE, parent_id=ROOT)
    waited = {tick for start, length in spans for tick in range(start, start + length)} & set(range(20, 100))
    total = sum(length for _, length in spans)
    assert rows(run(space).table, "total_ms", "self_ms", "critical", "critical_ms") == [
        (80, 80 - len(waited), True, 80 - len(waited)),
        (total, total, bool(waited), len(waited)),
    ]


def test_work_without_an_element_belongs_to_the_call_that_waited_in_vain():
    """At the end of data no element is consumed, but the last call waited for all that was filtered away."""
    space = XSpace()
    python, ahead = threads(space)
    python.event("Iterator::Prefetch", duration_us=90, id=ROOT)
    ahead.event("PrefetchProduce", start_us=5, duration_us=80, element_id=7)
    ahead.event("Iterator::Prefetch::Filter", start_us=5, duration_us=80, id=SOURCE, parent_id=ROOT)
    assert rows(run(space).table, "name", "self_ms", "bottleneck") == [("Prefetch", 10, False), ("Filter", 80, True)]


@pytest.mark.parametrize(("start_us", "end_us"), [(150, 215), (300, 800)])
def test_what_was_prefetched_and_never_asked_for_belongs_to_no_call(start_us, end_us):
    """It ends in a call that has its element, or before one that found the end of data."""
    space = prefetch()
    python, ahead = space.planes[0].lines
    times = {"start_us": start_us, "duration_us": end_us - start_us}
    ahead.event("PrefetchProduce", element_id=300, **times)
    ahead.event("Iterator::Prefetch::Range", id=SOURCE, parent_id=ROOT, **times)
    python.event("Iterator::Prefetch", start_us=1000, duration_us=10, id=ROOT)
    result = run(space)
    assert [result.iterators("host0", 0, rank)["total_ms"].sum() for rank in range(3)] == pytest.approx(
        [0.18, 0.1, 0.01]
    )


def test_ids_that_match_by_chance_link_nothing():
    space = prefetch()
    ahead = space.planes[0].lines[1]
    ahead.event("PrefetchProduce", start_us=10, duration_us=60, element_id=100)
    ahead.event("Iterator::Root", start_us=10, duration_us=60, id=7, parent_id=ROOT)
    result = run(space)
    assert len(result.pipelines) == 2
    assert result.table["total_ms"].tolist() == [0.1, 0.08]


def test_a_pipeline_inside_a_map_is_one_of_its_own():
    space = XSpace()
    python, _ = threads(space)
    python.event("Iterator::Root", duration_us=100, id=1)
    python.event("Iterator::Root::Map", start_us=1, duration_us=98, id=2, parent_id=1)
    python.event("Iterator::Root", start_us=10, duration_us=50, id=3)
    python.event("Iterator::Root::Range", start_us=20, duration_us=30, id=4, parent_id=3)
    result = run(space)
    assert rows(result.table, "name", "self_ms") == [("Root", 2), ("Map", 98)]
    assert rows(result.iterators("host0", 1), "name", "self_ms") == [("Root", 20), ("Range", 30)]


def test_a_stage_may_call_one_at_its_own_place():
    space = XSpace()
    python, _ = threads(space)
    python.event("Iterator::Root", duration_us=100, id=1)
    python.event("Iterator::Root::MemoryCache", start_us=1, duration_us=98, id=2, parent_id=1)
    python.event("Iterator::Root::MemoryCacheImpl", start_us=2, duration_us=96, id=3, parent_id=2)
    python.event("Iterator::Root::MemoryCacheImpl::Map", start_us=3, duration_us=90, id=4, parent_id=3)
    own = [("Root", 2, 2), ("MemoryCache", 2, 2), ("MemoryCacheImpl", 6, 6), ("Map", 90, 90)]
    assert rows(run(space).table, "name", "self_ms", "critical_ms") == own


def one_pass(python, at, iterator, stages, duration=60, **stats):
    """One call of a pipeline whose stages all run on one thread."""
    name = "Iterator::Root"
    python.event(name, start_us=at, duration_us=duration, id=iterator, **stats)
    for depth, stage in enumerate(stages, 1):
        name = f"{name}::{stage}"
        ids = {"id": iterator + depth, "parent_id": iterator + depth - 1}
        python.event(name, start_us=at + depth, duration_us=duration - 2 * depth, **ids, **stats)


def test_passes_over_datasets_of_one_shape_are_one_pipeline():
    space = XSpace()
    python, _ = threads(space)
    one_pass(python, 0, 1000, ["Batch"])  # the capture shows only its end
    one_pass(python, 100, 2000, ["Shuffle"])
    one_pass(python, 200, 3000, ["Batch", "Map"])
    one_pass(python, 300, 4000, ["Batch", "Map"])
    pipelines = run(space).pipelines
    assert rows(pipelines, "pipeline", "stages", "calls") == [(0, "Map > Batch", 3), (1, "Shuffle", 1)]


def test_a_reused_id_does_not_make_two_datasets_one():
    """TensorFlow makes ids of addresses, and an iterator may come to lie where another was."""
    space = XSpace()
    python, _ = threads(space)
    one_pass(python, 0, 1000, ["Map"], name="MapDataset:1")
    one_pass(python, 100, 1000, ["Filter"], name="FilterDataset:2")
    assert run(space).pipelines["stages"].tolist() == ["Map", "Filter"]


def test_stages_of_the_runtime_are_no_bottleneck():
    space = XSpace()
    python, _ = threads(space)
    python.event("Iterator::Root", duration_us=100, id=1)
    python.event("Iterator::Root::Prefetch", start_us=10, duration_us=80, id=2, parent_id=1, name="inject/prefetch_7")
    python.event("Iterator::Root::Prefetch::Map", start_us=80, duration_us=5, id=3, parent_id=2, name="MapDataset:3")
    result = run(space)
    assert rows(result.table, "name", "injected") == [("Root", True), ("Prefetch", True), ("Map", False)]
    assert result.summary["bottleneck"] == "Map"
    assert result.pipelines["stages"].tolist() == ["Map"]


def test_a_wait_for_unrecorded_work_is_not_shown_if_another_call_explains_more():
    space = prefetch()
    python = space.planes[0].lines[0]
    python.event("Iterator::Prefetch", start_us=1000, duration_us=500, id=ROOT)
    result = run(space)
    assert result.calls("host0", 0)["bottleneck"].iloc[0] == "Prefetch"
    assert (result.summary["bottleneck"], result.summary["latency_ms"]) == ("Range", 0.1)
    assert "500 µs" in result.notes[0]


@pytest.mark.parametrize(("later_us", "bottleneck"), [(60, "Map"), (20, "Shuffle")])
def test_filling_the_shuffle_buffer_counts_only_if_little_follows(later_us, bottleneck):
    space = XSpace()
    python, _ = threads(space)
    python.event("Iterator::Root", duration_us=1000, id=1)
    python.event("Iterator::Root::Shuffle", duration_us=1000, id=2, parent_id=1)
    for i in (1, 2, 3):
        python.event("Iterator::Root", start_us=1000 * i, duration_us=later_us, id=1)
        python.event("Iterator::Root::Shuffle", start_us=1000 * i, duration_us=later_us, id=2, parent_id=1)
        python.event("Iterator::Root::Shuffle::Map", start_us=1000 * i, duration_us=later_us, id=3, parent_id=2)
    assert run(space).summary["bottleneck"] == bottleneck


def test_setup_is_not_shown_if_another_call_is_typical():
    space = XSpace()
    python, _ = threads(space)
    python.event("Iterator::Root", duration_us=1000, id=1)
    python.event("Iterator::Root::Map", start_us=800, duration_us=150, id=2, parent_id=1)
    python.event("Iterator::Root", start_us=2000, duration_us=100, id=1)
    python.event("Iterator::Root::Map", start_us=2005, duration_us=90, id=2, parent_id=1)
    result = run(space)
    assert (result.summary["bottleneck"], result.summary["latency_ms"]) == ("Map", 0.1)
    assert "1.00 ms" in result.notes[0]


def test_the_slowest_host_is_shown():
    quick, slow = XSpace(), XSpace()
    one_pass(threads(quick)[0], 0, 1, ["Batch", "Filter"])
    one_pass(threads(slow)[0], 0, 1, ["Map"], duration=600)
    result = run(idle(), quick, slow)
    assert result.summary["host"] == "host2"
    assert result.pipelines["host"].tolist() == ["host1", "host2"]
    assert result.calls("host1", 0)["bottleneck"].tolist() == ["Filter"]
    assert result.iterators("host1", 0)["bottleneck"].tolist() == [False, False, True]


def test_the_slowest_pipeline_has_the_longest_calls_in_total():
    space = XSpace()
    python, _ = threads(space)
    one_pass(python, 0, 10, ["Batch"], duration=300)
    for i in range(4):
        one_pass(python, 1000 * (i + 1), 20, ["Map"], duration=100)
    summary = run(space).summary
    assert (summary["bottleneck"], summary["latency_ms"], summary["pipeline"]) == ("Map", 0.1, 1)


def idle():
    space = XSpace()
    space.plane("/host:CPU").line("python").event("work", duration_us=100)
    return space


@pytest.mark.parametrize("spaces", [[], [idle()]])
def test_no_activity_is_explained(spaces):
    result = run(*spaces)
    assert (len(result.table), list(result.table)) == (0, COLUMNS)
    assert result.summary["pipelines"] == result.summary["slow_calls"] == 0
    assert result.notes[0].startswith("No tf.data iterator was called")
    assert (list(result.pipelines), len(result.calls("host0", 0))) == (PIPELINE_COLUMNS, 0)


def test_calls_that_took_no_time_have_no_bottleneck():
    space = XSpace()
    python, _ = threads(space)
    python.event("Iterator::Root", id=1)
    python.event("Iterator::Root::Map", id=2, parent_id=1)
    result = run(space)
    assert result.summary["bottleneck"] is None
    assert result.summary["suggestion"] is None
    assert result.calls("host0", 0)["slow"].tolist() == [False]


IN_USE = [
    *("Map", "ParallelMapV2", "MapAndBatch", "Filter", "ParallelFilter", "Scan", "GroupByWindow", "ParseExampleV2"),
    *("BatchV2", "ParallelBatch", "PaddedBatchV2", "Unbatch", "Window", "ShuffleV3", "MemoryCache", "MemoryCacheImpl"),
    *("FlatMap", "Interleave", "ParallelInterleaveV4", "LegacyParallelInterleaveV2", "Zip", "Concatenate", "Prefetch"),
    *(
        "TFRecord",
        "TextLine",
        "FixedLengthRecordV2",
        "Generator",
        "TensorSlice",
        "FromTensor",
        "Range",
        "DataServiceV4",
    ),
    *("FiniteRepeat", "ForeverRepeat", "Shard", "DirectedInterleave", "Snapshot"),
]


@pytest.mark.parametrize("stage", IN_USE)
def test_every_type_in_use_has_advice_that_can_be_pasted(stage):
    advice = suggest(iterator_type(f"Iterator::Root::{stage}"))
    assert advice != suggest("NoSuchType")
    for code in re.findall(r"`([^`]+)`", advice):
        ast.parse(f"ds{code}" if code.startswith(".") else code)


def test_advice_suggests_no_stage_that_the_pipeline_has():
    assert "num_parallel_calls" in suggest("Map")
    assert "num_parallel_calls" not in suggest("ParallelMap")
    assert ".prefetch(" in suggest("ParallelMap", {"Batch"})
    assert ".prefetch(" not in suggest("ParallelMap", {"Batch", "Prefetch"})
    filling = suggest("ParallelMap", {"Batch", "MemoryCacheImpl"})
    assert "being filled" in filling
    assert ".cache()" not in filling


def test_caching_never_freezes_the_order():
    assert all(".cache().shuffle(" in suggest(kind) for kind in ("Map", "ParallelMap", "MapAndBatch"))
