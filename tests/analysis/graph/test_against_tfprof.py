"""Views of graphs against tfprof itself (`tf.compat.v1.profiler`), for the same graph, RunMetadata and options."""

import json
import os

import numpy as np
import pytest

from tfprof_nb.analysis.graph.from_session import from_graph_section, with_runs
from tfprof_nb.analysis.graph.graph import graph
from tfprof_nb.capture.session_graph import describe_graph
from tfprof_nb.decode.run_metadata import executed_nodes, parse_run_metadata
from tfprof_nb.export.tfprof_output import text_of, timeline_of

# Our column and the field of tfprof's answer; `total_` and `self_` are tfprof's `total_` and nothing.
FIELDS = {
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "parameters": "parameters",
    "float_ops": "float_ops",
}
OPTIONS = {
    "none": {},
    "max_depth": {"max_depth": 3},
    "bytes": {"min_bytes": 100, "order_by": "bytes", "select": ["bytes", "device"]},
    "peak_bytes": {"min_peak_bytes": 10, "order_by": "peak_bytes", "select": ["peak_bytes"]},
    "residual_bytes": {"min_residual_bytes": 4, "order_by": "residual_bytes", "select": ["residual_bytes"]},
    "output_bytes": {"min_output_bytes": 16, "order_by": "output_bytes", "select": ["output_bytes"]},
    "micros": {"min_micros": 3, "order_by": "micros"},
    "cpu_micros": {"min_cpu_micros": 3, "order_by": "cpu_micros", "select": ["cpu_micros"]},
    "accelerator_micros": {"min_accelerator_micros": 1, "order_by": "accelerator_micros"},
    "params": {"min_params": 1, "order_by": "params", "select": ["params", "op_types"]},
    "float_ops": {"min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops", "input_shapes"]},
    "occurrence": {"min_occurrence": 2, "order_by": "occurrence", "select": ["occurrence"]},
    "step": {"step": 0},
    "types": {"account_type_regexes": ["MatMul", ".*Variable.*"]},
    "devices": {"account_type_regexes": [".*cpu:0"], "account_displayed_op_only": True},
    "trainable": {"account_type_regexes": ["_trainable_variables"], "account_displayed_op_only": True},
    "start": {"start_name_regexes": [".*dense.*", ".*rnn.*", "MatMul", ".*py.*"]},
    "trim": {"trim_name_regexes": [".*conv.*", "Mul", "while.*", ".*branch.*"]},
    "show": {"show_name_regexes": [".*dense.*", ".*MatMul.*", ".*cnn.*"], "account_displayed_op_only": True},
    "hide": {"hide_name_regexes": [".*grad.*", "Const"], "account_displayed_op_only": True, "order_by": "bytes"},
}
DEEP = 60  # the Python of protobuf reads no deeper tree, and tfprof's list of op types is one


def cnn(tf, v1):
    image, label = v1.placeholder(tf.float32, [8, 14, 14, 1]), v1.placeholder(tf.int32, [8])
    with v1.variable_scope("conv"):
        hidden = tf.nn.relu(tf.nn.conv2d(image, v1.get_variable("w", [3, 3, 1, 4]), 1, "SAME"))
    hidden = tf.reshape(tf.nn.max_pool2d(hidden, 2, 2, "VALID"), [8, -1])
    with v1.variable_scope("dense"):
        logits = tf.matmul(hidden, v1.get_variable("w", [196, 10])) + v1.get_variable("b", [10])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, logits))
    return [loss, v1.train.AdamOptimizer().minimize(loss)], {image: np.ones((8, 14, 14, 1)), label: np.zeros(8)}


def lstm(tf, v1):
    sequence = v1.placeholder(tf.float32, [4, 6, 5])
    weights, bias = v1.get_variable("w", [9, 16]), v1.get_variable("b", [16])
    with v1.name_scope("rnn"):
        inputs = tf.TensorArray(tf.float32, 6).unstack(tf.transpose(sequence, [1, 0, 2]))

        def cell(t, hidden, state):
            gates = tf.matmul(tf.concat([inputs.read(t), hidden], 1), weights) + bias
            update, forget, output, new = tf.split(gates, 4, 1)
            state = tf.sigmoid(forget) * state + tf.sigmoid(update) * tf.tanh(new)
            return t + 1, tf.sigmoid(output) * tf.tanh(state), state

        _, hidden, _ = v1.while_loop(lambda t, *_: t < 6, cell, [0, tf.zeros([4, 4]), tf.zeros([4, 4])])
    loss = tf.reduce_sum(hidden**2)
    return [loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss)], {sequence: np.ones((4, 6, 5))}


def control_flow(tf, v1):
    x = v1.placeholder(tf.float32, [16, 8])
    weights = v1.get_variable("w", [8, 8])
    hidden = tf.matmul(x, weights)
    with v1.name_scope("branch"):
        chosen = v1.cond(tf.reduce_sum(hidden) > 0, lambda: tf.nn.relu(hidden), lambda: tf.matmul(hidden, weights))
    _, looped = v1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.matmul(y, weights) * 0.5), [0, chosen])
    return [looped], {x: np.ones((16, 8))}


@pytest.fixture(scope="module", params=[cnn, lstm, control_flow], ids=lambda make: make.__name__)
def session_run(request):
    """The graph, the RunMetadata of one traced run, and ours of both."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as made:
        v1.disable_control_flow_v2()
        fetches, feed = request.param(tf, v1)
        v1.enable_control_flow_v2()
        metadata = v1.RunMetadata()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            traced = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
            session.run(fetches, feed, options=traced, run_metadata=metadata)
    executed = executed_nodes(parse_run_metadata(metadata.SerializeToString(), "test")).assign(step=0)
    return made, metadata, graph(with_runs(from_graph_section(describe_graph(made, None, metadata)), executed))


@pytest.mark.tensorflow
@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
@pytest.mark.parametrize("name", OPTIONS)
def test_view_is_tfprofs(session_run, view, name):
    import tensorflow as tf

    made, metadata, ours = session_run
    v1 = tf.compat.v1.profiler
    options = {**v1.ProfileOptionBuilder().build(), "output": "none", "max_depth": DEEP, **OPTIONS[name]}
    theirs = v1.profile(made, metadata, cmd=view, options=options)
    expected = rows_of_tfprof(theirs, flat=view == "op")
    table = getattr(ours, view)(options).table
    actual = list(zip(table["name"], table["depth"], *(table[c].fillna(0) for c in columns()), strict=True))
    if view in ("op", "code") and "order_by" in options:  # tfprof leaves open how it orders what is equal
        key = FIELDS_OF_ORDER.get(options["order_by"])
        if view == "op":
            assert sorted(map(own, actual)) == sorted(map(own, expected))
            expected, actual = ([row[key] for row in rows] if key else len(rows) for rows in (expected, actual))
        else:
            expected, actual = sorted(expected), sorted(actual)
    assert actual == expected


SELECTIONS = {
    "times": ["micros", "bytes"],
    "accelerator": ["accelerator_micros"],
    "counts": ["params", "float_ops", "cpu_micros"],
    "memory": ["peak_bytes", "residual_bytes", "output_bytes"],
    "runs": ["micros", "params", "occurrence"],
}


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
@pytest.mark.parametrize("select", SELECTIONS.values(), ids=SELECTIONS)
def test_text_is_tfprofs(session_run, view, select, tmp_path):
    """All but its explanations. Rows that are equal in what they are ordered by have no order of tfprof's."""
    import tensorflow as tf

    made, metadata, ours = session_run
    v1, file = tf.compat.v1.profiler, tmp_path / "theirs"
    options = {**v1.ProfileOptionBuilder().build(), "max_depth": DEEP, "select": select, "order_by": "name"}
    v1.profile(made, metadata, cmd=view, options={**options, "output": f"file:outfile={file}"})
    _, theirs = file.read_text().split("Profile:\n")
    tree = getattr(ours, view)({**options, "output": f"file:outfile={tmp_path / 'ours'}"})
    _, text = text_of(tree).split("Profile:\n")
    (head, *rows), (their_head, *their_rows) = (
        [line.rstrip() for line in report.splitlines() if line and not line.startswith("Note:")]
        for report in (text, theirs)
    )
    assert head == their_head
    assert sorted(rows) == sorted(their_rows)


def test_text_to_the_screen_begins_with_the_options_as_tfprofs_does(session_run):
    import tensorflow as tf

    made, metadata, ours = session_run
    options = {**tf.compat.v1.profiler.ProfileOptionBuilder.time_and_memory(), "max_depth": 2, "select": ["micros"]}
    read, write = os.pipe()
    kept = os.dup(1)
    os.dup2(write, 1)
    try:
        tf.compat.v1.profiler.profile(made, metadata, cmd="scope", options={**options, "output": "stdout"})
    finally:
        os.dup2(kept, 1)
        os.close(write)
        os.close(kept)
    with os.fdopen(read) as stream:
        theirs = stream.read()
    text = text_of(ours.scope({**options, "output": "stdout"}))
    before, after = (report.split("Doc:")[0].split("Profile:")[0] for report in (text, theirs))
    assert before.split() == after.split()
    assert text.splitlines()[-1] == theirs.rstrip().splitlines()[-1]


def test_the_timeline_of_scopes_has_tfprofs_rows(session_run, tmp_path):
    import tensorflow as tf

    made, metadata, ours = session_run
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder(builder.time_and_memory()).with_timeline_output(str(tmp_path / "theirs")).build()
    tf.compat.v1.profiler.profile(made, metadata, cmd="scope", options=options)
    theirs, mine = (
        [
            (event["ph"], event["pid"], event["args"]["name"], event.get("ts"), event.get("dur"))
            for event in trace["traceEvents"]
        ]
        for trace in (json.loads((tmp_path / "theirs_-1").read_text()), timeline_of(ours.scope(options)))
    )
    assert sorted(mine, key=str) == sorted(theirs, key=str)
    assert all(event[4] != 0 for event in mine)


def own(row):
    """The row's name and its own values: in a list the totals depend on the order."""
    return row[0], *row[3::2]


def columns():
    return [f"{kind}_{name}" for name in FIELDS for kind in ("total", "self")]


FIELDS_OF_ORDER = {
    "name": 0,
    **{name.replace("parameters", "params"): 3 + 2 * place for place, name in enumerate(FIELDS)},
}


def rows_of_tfprof(node, depth=0, *, flat):
    """tfprof's rows in the order in which it prints them, with their depths; its list of op types is flat."""
    values = [value for field in FIELDS.values() for value in (getattr(node, f"total_{field}"), getattr(node, field))]
    below = [row for child in node.children for row in rows_of_tfprof(child, 1 if flat else depth + 1, flat=flat)]
    return [(node.name, depth, *values), *below]


def test_every_option_is_used():
    from tfprof_nb.analysis.graph.options import GraphOptions

    used = {option for options in OPTIONS.values() for option in options}
    assert used | {"output", "dump_to_file"} == set(GraphOptions.__dataclass_fields__)
