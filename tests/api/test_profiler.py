"""tfprof's own interface, and what its views write, on real sessions; TensorFlow's own Profiler is the oracle."""

import copy
import gzip
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tfprof_nb as tp
from tfprof_nb._errors import CaptureError

pytestmark = pytest.mark.tensorflow

QUIET = {"output": "none"}


@pytest.fixture(scope="module")
def runs():
    """A graph, and the RunMetadata of three of its runs."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 8])
        with v1.variable_scope("dense"):
            y = tf.linalg.matmul(x, v1.get_variable("w", [8, 3]), name="product")
        session.run(v1.global_variables_initializer())
        metadata = [v1.RunMetadata() for _ in range(3)]
        for found in metadata:
            traced = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
            session.run(y, {x: np.ones((4, 8))}, options=traced, run_metadata=found)
    return SimpleNamespace(graph=graph, metadata=metadata)


@pytest.fixture
def profiler(runs):
    made = tp.Profiler(runs.graph)
    for step, metadata in enumerate(runs.metadata):
        made.add_step(step, metadata)
    return made


def fields(node):
    """What programs read of tfprof's answers."""
    names = ("exec_micros", "cpu_exec_micros", "requested_bytes", "parameters", "float_ops")
    values = {name: (getattr(node, name), getattr(node, f"total_{name}")) for name in names}
    return node.name, values, [fields(child) for child in node.children]


@pytest.mark.parametrize("method", ["profile_name_scope", "profile_graph", "profile_operations", "profile_python"])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_program_for_tfprof_reads_the_same(runs, profiler, method, step):
    import tensorflow as tf

    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder().with_empty_output().with_step(step).build()
    theirs = tf.compat.v1.profiler.Profiler(runs.graph)
    for number, metadata in enumerate(runs.metadata):
        theirs.add_step(number, metadata)
    assert fields(getattr(profiler, method)(options)) == fields(getattr(theirs, method)(options))


def test_a_file_without_its_graph_shows_what_ran(runs, tmp_path):
    file = tmp_path / "run.pb"
    file.write_bytes(runs.metadata[1].SerializeToString())
    found = tp.load(file).graph
    times = found.table.set_index("name")["self_micros"]
    ran = {node.node_name: node.op_end_rel_micros for node in runs.metadata[1].step_stats.dev_stats[0].node_stats}
    assert times["dense/product"] == ran["dense/product"]
    assert "tfprof_nb.profile_session" in found.notes[0]


def test_float_ops_of_a_graph_that_did_not_run_are_those_of_its_shapes(runs):
    assert tp.Profiler(runs.graph).profile_name_scope(QUIET).total_parameters >= 24


def test_advice_names_the_costly_op(profiler):
    advice = profiler.advise()
    assert "MatMul" in "".join(advice.checkers["ExpensiveOperationChecker"].reports)
    assert advice.checkers["AcceleratorUtilizationChecker"].reports == []  # there is no accelerator
    assert "ExpensiveOperationChecker: " in str(advice)
    with pytest.raises(ValueError, match=r"no checker 'Nope'.*OperationChecker"):
        profiler.advise({"Nope": {}})


@pytest.mark.parametrize(
    ("kernels_us", "said"),
    [((0, 50), "medium utilization: its kernels ran for 70.0%"), ((0, 20), "low"), ((0, 80), "")],
)
def test_advice_tells_how_much_of_the_time_an_accelerator_worked(kernels_us, said):
    """A kernel of 20 us ends the 100 us; another takes some of the time before."""
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        tf.zeros((2, 2), name="zeros")
    metadata = tf.compat.v1.RunMetadata()
    stream = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:GPU:0/stream:all")
    for start, length in (kernels_us, (80, 20)):
        stream.node_stats.add(
            node_name="zeros", all_start_micros=1 + start, op_end_rel_micros=length, all_end_rel_micros=length
        )
    profiler = tp.Profiler(graph)
    profiler.add_step(0, metadata)
    assert said in "".join(profiler.advise().checkers["AcceleratorUtilizationChecker"].reports)
    assert bool(profiler.advise().checkers["AcceleratorUtilizationChecker"].reports) == bool(said)


def test_types_of_ones_own_select_as_in_tfprof(runs):
    import tensorflow as tf
    from tensorflow.core.profiler.tfprof_log_pb2 import OpLogProto

    log = OpLogProto()
    log.log_entries.add(name="dense/w", types=["mine"])
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder().with_empty_output().with_accounted_types(["mine"]).account_displayed_op_only(True).build()
    theirs = tf.compat.v1.profiler.Profiler(runs.graph, log).profile_name_scope(options)
    ours = tp.Profiler(runs.graph, log).profile_name_scope(options)
    assert ours.total_parameters == theirs.total_parameters == 24
    assert tp.Profiler(runs.graph).profile_name_scope(options).total_parameters == 0


@pytest.mark.parametrize(("layout", "said"), [("NHWC", 1), ("NCHW", 0)])
def test_convolutions_are_told_of_the_faster_layout_only_if_they_have_the_other(layout, said):
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        image = tf.zeros((1, 8, 8, 8))
        tf.nn.conv2d(image, tf.zeros((1, 1, 8, 8)), 1, "SAME", data_format=layout, name="conv")
    metadata = tf.compat.v1.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:GPU:0")
    device.node_stats.add(node_name="conv", all_start_micros=1, op_end_rel_micros=5, all_end_rel_micros=5)
    profiler = tp.Profiler(graph)
    profiler.add_step(0, metadata)
    assert len(profiler.advise().checkers["OperationChecker"].reports) == said


def test_advice_needs_a_step(runs):
    with pytest.raises(CaptureError, match="add_step"):
        tp.Profiler(runs.graph).advise()


def test_a_step_that_was_not_added_is_named(profiler):
    with pytest.raises(ValueError, match=r"no step 7\. There are 0, 1, 2"):
        profiler.profile_name_scope({"step": 7, **QUIET})


def test_text_goes_to_the_screen_or_a_file(profiler, tmp_path, capsys):
    profiler.profile_name_scope({"select": ["params", "device"]})
    printed = capsys.readouterr().out
    assert "dense/w (8x3, 24/24 params, /job:localhost/replica:0/task:0/device:cpu:0)" in printed
    assert "dense/product (0/0 params" in printed
    profiler.profile_name_scope({"select": ["params", "device"], "output": f"file:outfile={tmp_path / 'out.txt'}"})
    assert (tmp_path / "out.txt").read_text().strip() in printed
    assert "-select                     params,device" in printed.splitlines()
    assert capsys.readouterr().out == f"Wrote {tmp_path / 'out.txt'}\n"


def test_a_timeline_says_which_file_it_wrote(profiler, tmp_path, capsys):
    profiler.profile_graph({"step": 2, "output": f"timeline:outfile={tmp_path / 'out.json'}"})
    written = Path(capsys.readouterr().out.removeprefix("Wrote ").strip())
    assert json.loads(written.read_text(encoding="utf-8"))["traceEvents"]


def test_types_and_runs_are_written_in_full(profiler, capsys):
    profiler.profile_name_scope({"select": ["op_types", "occurrence"], "show_name_regexes": ["dense/w|dense/product"]})
    lines = capsys.readouterr().out.splitlines()
    assert any("VarHandleOp|_trainable_variables" in line and re.search(r"\|1/\d+\)", line) for line in lines)
    assert any("MatMul|/job:localhost" in line and re.search(r", 1/\d+\|1/\d+\)", line) for line in lines)


def test_a_node_shows_itself_as_its_view(profiler, monkeypatch):
    node = profiler.profile_name_scope(QUIET)
    shown = []

    def display(tree):
        shown.append(tree)

    monkeypatch.setattr(type(node.tree), "_ipython_display_", display)
    node._ipython_display_()
    assert shown == [node.tree]


@pytest.mark.parametrize("method", ["profile_name_scope", "profile_graph", "profile_python"])
def test_timelines_hold_the_times(profiler, tmp_path, method):
    node = getattr(profiler, method)({"step": 1, "output": f"timeline:outfile={tmp_path / 'out.json'}"})
    events = [e for e in json.loads((tmp_path / "out.json_1").read_text())["traceEvents"] if e["ph"] == "X"]
    product = next(e for e in events if e["name"].startswith("dense/product") or e["name"] == "_TFProfRoot")
    assert 0 < product["dur"] <= node.total_exec_micros


def test_the_op_view_has_no_timeline(profiler, tmp_path):
    with pytest.raises(ValueError, match="output: the op view has no timeline"):
        profiler.profile_operations({"output": f"timeline:outfile={tmp_path / 'out.json'}"})


@pytest.fixture(scope="module")
def pprof_message():
    """The message of github.com/google/pprof, proto/profile.proto, by the numbers of its fields."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    messages = {
        "ValueType": "1 type int64, 2 unit int64",
        "Sample": "1* location_id uint64, 2* value int64, 3* label Label",
        "Label": "1 key int64, 2 str int64, 3 num int64, 4 num_unit int64",
        "Line": "1 function_id uint64, 2 line int64",
        "Location": "1 id uint64, 2 mapping_id uint64, 3 address uint64, 4* line Line, 5 is_folded bool",
        "Function": "1 id uint64, 2 name int64, 3 system_name int64, 4 filename int64, 5 start_line int64",
        "Profile": "1* sample_type ValueType, 2* sample Sample, 4* location Location, 5* function Function, "
        "6* string_table string, 9 time_nanos int64, 10 duration_nanos int64, 14 default_sample_type int64",
    }
    file = descriptor_pb2.FileDescriptorProto(name="pprof.proto", package="pprof", syntax="proto3")
    for name, described in messages.items():
        message = file.message_type.add(name=name)
        for number, field, kind in (part.split() for part in described.split(", ")):
            added = message.field.add(name=field, number=int(number.rstrip("*")))
            added.label = added.LABEL_REPEATED if "*" in number else added.LABEL_OPTIONAL
            if kind in messages:
                added.type, added.type_name = added.TYPE_MESSAGE, f".pprof.{kind}"
            else:
                added.type = getattr(added, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pprof.Profile"))


@pytest.mark.parametrize("method", ["profile_name_scope", "profile_graph", "profile_operations", "profile_python"])
@pytest.mark.parametrize(
    ("select", "total"), [("micros", "exec_micros"), ("bytes", "requested_bytes"), ("float_ops",) * 2]
)
def test_pprof_parses_and_adds_up_to_the_view(profiler, tmp_path, pprof_message, method, select, total):
    file = tmp_path / "out.pb.gz"
    options = {"select": [select], "order_by": "micros", "hide_name_regexes": [".*ReadVariableOp"]}
    node = getattr(profiler, method)({**options, "output": f"pprof:outfile={file}"})
    profile = pprof_message.FromString(gzip.decompress(file.read_bytes()))
    texts = profile.string_table
    assert texts[0] == ""
    assert [texts[kind.type] for kind in profile.sample_type] == ["occurrences", select]
    assert sum(sample.value[1] for sample in profile.sample) == getattr(node, f"total_{total}")
    functions = {function.id: texts[function.name] for function in profile.function}
    locations = {location.id: functions[location.line[0].function_id] for location in profile.location}
    stacks = [[locations[place] for place in sample.location_id] for sample in profile.sample]
    assert {stack[0] for stack in stacks} == set(node.tree.table["name"])
    assert all(stack[-1] == "_TFProfRoot" for stack in stacks) or method == "profile_operations"


def test_pprof_of_code_has_files_and_lines(profiler, tmp_path, pprof_message):
    file = tmp_path / "out.pb.gz"
    profiler.profile_python({"select": ["float_ops"], "output": f"pprof:outfile={file}"})
    profile = pprof_message.FromString(gzip.decompress(file.read_bytes()))
    files = {profile.string_table[function.filename] for function in profile.function}
    assert __file__ in files


def test_session_profiles_have_the_views_too(tmp_path):
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2, 3])
        product = tf.linalg.matmul(x, tf.ones((3, 4)), name="product")
        with tp.profile_session(session, logdir=tmp_path) as p:
            for _ in range(3):
                session.run(product, {x: np.ones((2, 3))})
    table = tp.load(tmp_path).graph.scope(step=1).table.set_index("name")
    assert table["self_float_ops"]["product"] == 2 * 2 * 3 * 4
    assert table["occurrences"]["product"] == 1
    assert p.graph.code().table["name"].str.startswith("test_profiler.py:").any()


def test_a_node_can_be_copied(profiler):
    node = profiler.profile_name_scope(QUIET)
    assert copy.copy(node).total_float_ops == node.total_float_ops > 0
    with pytest.raises(AttributeError, match="_repr_html_"):
        _ = node._repr_html_


def test_times_have_one_unit(profiler, capsys):
    profiler.profile_name_scope({"select": ["micros"]})
    (root,) = [row for row in capsys.readouterr().out.splitlines() if row.startswith("_TFProfRoot")]
    assert re.fullmatch(r"_TFProfRoot \(--/[\d.]+([um]s|sec), --/0us, --/[\d.]+([um]s|sec)\)", root)
