"""Input ops: XProf on a capture made here, TensorFlow's stored answers, and arithmetic by hand."""

import json

import pandas as pd
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.input_pipeline import COLUMNS, input_pipeline
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.analysis.overview import overview
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.analysis.tf_data.iterators import stage_of

TIMES = ("demanded_file_read_ms", "advanced_file_read_ms", "preprocessing_ms", "enqueue_ms", "other_ms")
DEMANDED, ADVANCED, PREPROCESSING, ENQUEUE = "Demanded file read", "Advanced file read", "Preprocessing", "Enqueue"


def run(*data):
    forests = [forest(part, f"host{i}") for i, part in enumerate(data)]
    measured, of_ops = steps(forests, [group_events(forest) for forest in forests]), ops(forests)
    return input_pipeline(measured, of_ops, overview(forests, measured, of_ops))


def host_ops(**durations_us):
    """One host thread that runs ops one after another."""
    space = XSpace()
    thread = space.plane("/host:CPU").line("worker")
    for i, (name, duration) in enumerate(durations_us.items()):
        thread.event(name, start_us=1000 * i, duration_us=duration)
    return space


def spent(result):
    """Classes that took time, in microseconds."""
    return {key: round(result.summary[key] * 1e3, 6) for key in TIMES if result.summary[key]}


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("Iterator::Root::Prefetch::BatchV2::TFRecord", DEMANDED),
        ("Iterator::Root::Prefetch::BatchV2::FlatMap[3]::TFRecord", DEMANDED),
        ("Iterator::Model::MaxIntraOpParallelism::Prefetch::Map::TextLine", DEMANDED),
        ("Iterator::Model::FixedLengthRecordV2", DEMANDED),
        ("Iterator::Root::Prefetch::Map::Prefetch::TFRecord", ADVANCED),
        ("Iterator::Root::Prefetch::BatchV2::ParallelInterleaveV4[1]::FlatMap[0]::TFRecord", ADVANCED),
        ("Iterator::Model::Interleave[1]::TextLine", ADVANCED),
        ("Iterator::Root::Prefetch::ParallelMapV2::FixedLengthRecordV2", ADVANCED),
        ("Iterator::Root::Prefetch::BatchV2", PREPROCESSING),
        ("Iterator::Root::Prefetch::Map::TensorSlice", PREPROCESSING),
        ("Iterator::Root", PREPROCESSING),
        ("feed:InfeedEnqueueTuple", ENQUEUE),
        ("MEMCPYHtoD", ENQUEUE),
    ],
)
def test_class_of_an_input_op(name, category):
    result = run(host_ops(**{name: 5, "dense/MatMul:MatMul": 7}).to_bytes())
    assert result.table["category"].tolist() == [category]


def test_times_and_shares_are_of_all_input_ops():
    space = host_ops(**{"Iterator::Root::TFRecord": 30, "Iterator::Root::Batch": 20, "a/MatMul:MatMul": 500})
    thread = space.planes[0].lines[0]
    thread.event("Iterator::Root", start_us=5000, duration_us=100)
    thread.event("Iterator::Root::Batch", start_us=5010, duration_us=50)
    result = run(space.to_bytes())
    assert list(result.table) == COLUMNS
    assert [tuple(row) for row in result.table.round(6).itertuples(index=False)] == [
        ("Iterator::Root::Batch", 2, 0.07, round(70 / 150, 6), 0.07, round(70 / 150, 6), PREPROCESSING),
        ("Iterator::Root", 1, 0.1, round(100 / 150, 6), 0.05, round(50 / 150, 6), PREPROCESSING),
        ("Iterator::Root::TFRecord", 1, 0.03, 0.2, 0.03, 0.2, DEMANDED),
    ]
    assert spent(result) == {"demanded_file_read_ms": 30, "preprocessing_ms": 120}
    assert result.summary["largest"] == "preprocessing_ms"


def test_launching_a_copy_is_not_copying_input():
    """CUPTI records the call on the host under the copy's name; parameters are copied with it too."""
    space = host_ops(**{"Iterator::Root": 10})
    space.planes[0].lines[0].event("MemcpyH2D", start_us=2000, duration_us=10, correlation_id=3)
    assert spent(run(space.to_bytes())) == {"preprocessing_ms": 10}


def waiting_steps():
    """Two steps of 1000 us that wait 300 and 100 us for data, and compute for the rest."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i, wait in enumerate((300, 100)):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        python.event("IteratorGetNext:IteratorGetNext", start_us=1000 * i, duration_us=wait)
        python.event("MatMul:MatMul", start_us=1000 * i + wait, duration_us=1000 - wait)
    return space


def test_input_percent_is_of_the_steps_time():
    result = run(waiting_steps().to_bytes())
    assert result.summary["input_percent"] == pytest.approx(20)
    assert result.summary["verdict"] == "highly"
    assert result.steps["input_percent"].to_dict() == pytest.approx({0: 30, 1: 10})
    assert result.steps["input_ms"].to_dict() == pytest.approx({0: 0.3, 1: 0.1})


def test_waiting_without_an_input_op_is_other():
    result = run(waiting_steps().to_bytes())
    assert spent(result) == {"other_ms": 400}
    assert (len(result.table), list(result.table)) == (0, COLUMNS)
    assert result.notes[0].startswith("No input op was recorded")


def test_nothing_at_all():
    result = run(host_ops(**{"a/MatMul:MatMul": 5}).to_bytes())
    assert (result.summary["verdict"], result.summary["largest"], spent(result)) == ("unknown", None, {})
    assert len(result.steps) == 0


def test_two_hosts_add_up():
    data = host_ops(**{"Iterator::Root::TFRecord": 30}).to_bytes()
    assert spent(run(data, data)) == {"demanded_file_read_ms": 60}


@pytest.fixture(scope="module")
def reading_capture(tmp_path_factory):
    """Two files are read in marked steps: by one dataset one after the other, by another both at once."""
    tf = pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("reading")
    paths = [str(folder / f"{i}.tfrecord") for i in range(2)]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range(20):
                writer.write(bytes(10_000))
    files = tf.data.Dataset.from_tensor_slices(paths)
    plain = tf.data.TFRecordDataset(paths).map(tf.strings.length).batch(4)
    parallel = files.interleave(tf.data.TFRecordDataset, num_parallel_calls=2).batch(4)
    with tf.profiler.experimental.Profile(str(folder)):
        for i, _ in enumerate(tf.data.Dataset.zip(plain, parallel)):
            with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
                tf.matmul(tf.ones((64, 64)), tf.ones((64, 64)))
    return next(folder.rglob("*.xplane.pb"))


@pytest.mark.tensorflow
@pytest.mark.parametrize("fixture", ["reading_capture", "keras_capture"])
def test_agrees_with_xprof(fixture, request):
    """Only file reads may differ: to XProf all are advanced, as TensorFlow prefetches at the end of each pipeline."""
    from xprof.convert import raw_to_tool_data

    file = request.getfixturevalue(fixture)
    tables = json.loads(raw_to_tool_data.xspace_to_tool_data([str(file)], "input_pipeline_analyzer", {})[0])
    theirs = next(table for table in tables if any(column["id"] == "opName" for column in table.get("cols", [])))
    columns = [column["id"] for column in theirs["cols"]]
    # XProf has a row per iterator, so one for each file.
    numbers = ["count", "selfTimeInMs", "selfTimeInPercent", "timeInMs", "timeInPercent"]
    frame = pd.DataFrame([[cell["v"] for cell in row["c"]] for row in theirs["rows"]], columns=columns)
    by_stage = frame.groupby(frame["opName"].map(stage_of))
    rows = by_stage[numbers].sum().join(by_stage["category"].first()).to_dict("index")
    ours = run(file.read_bytes())
    assert sorted(ours.table["op_name"].map(stage_of)) == sorted(rows)
    for row in ours.table.itertuples():
        expected = rows[stage_of(row.op_name)]
        assert row.count == expected["count"]
        assert row.self_ms == pytest.approx(expected["selfTimeInMs"], rel=0.01)
        assert row.self_share == pytest.approx(expected["selfTimeInPercent"], rel=0.01)
        assert row.total_ms == pytest.approx(expected["timeInMs"], rel=0.01)
        assert row.total_share == pytest.approx(expected["timeInPercent"], rel=0.01)
        plain_read = row.op_name.endswith("::TFRecord") and "Interleave" not in row.op_name
        assert row.category == (DEMANDED if plain_read else expected["category"])
    totals = theirs["p"]
    assert ours.summary["preprocessing_ms"] * 1e3 == pytest.approx(float(totals["preprocessing_us"]), rel=0.01)
    reads = ours.summary["demanded_file_read_ms"] + ours.summary["advanced_file_read_ms"]
    assert reads * 1e3 == pytest.approx(float(totals["advanced_file_read_us"]), rel=0.01)


def test_files_of_one_stage_and_repetitions_are_one_row():
    names = [f"Iterator::Root::ForeverRepeat[{k}]::FlatMap[{k}]::TFRecord" for k in range(30)]
    result = run(host_ops(**dict.fromkeys(names, 20)).to_bytes())
    assert result.table[["op_name", "count", "self_ms"]].to_numpy().tolist() == [
        ["Iterator::Root::ForeverRepeat::FlatMap::TFRecord", 30, pytest.approx(0.6)]
    ]


def test_step_times_and_waits_are_summed_up():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k, wait in enumerate((10, 30)):
        python.event("train", start_us=1000 * k, duration_us=100 + wait, step_num=k, _r=1)
        python.event("IteratorGetNext", start_us=1000 * k, duration_us=wait)
    found = run(space.to_bytes()).summary
    names = ("mean", "std", "min", "max")
    assert [found[f"step_ms_{name}"] for name in names] == pytest.approx([0.12, 0.02 / 2**0.5, 0.11, 0.13])
    assert [found[f"input_ms_{name}"] for name in names] == pytest.approx([0.02, 0.02 / 2**0.5, 0.01, 0.03])


@pytest.mark.tensorflow
def test_both_kinds_of_read_are_distinguished(reading_capture):
    result = run(reading_capture.read_bytes())
    reads = result.table[result.table["op_name"].str.endswith("::TFRecord")]
    assert set(reads["category"]) == {DEMANDED, ADVANCED}
    parallel = reads["op_name"].str.contains("Interleave")
    assert (reads["category"] == parallel.map({True: ADVANCED, False: DEMANDED})).all()


def test_agrees_with_what_tensorflow_stored(shared_data):
    expected = json.loads((shared_data / "tf2-gpu-pong" / "expected.json").read_text())
    assert len(expected) == 14
    for path, stored in expected.items():
        times = {f"{key.removesuffix('_us')}_ms": value for key, value in stored["input_breakdown_us"].items()}
        assert spent(run((shared_data / path).read_bytes())) == pytest.approx(times), path
