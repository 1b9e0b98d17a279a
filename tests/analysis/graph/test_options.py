import pytest

from tfprof_nb.analysis.graph.options import GraphOptions, parse_options


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_dept": 3}, "no option 'max_dept'.*max_depth, min_bytes"),
        ({"order_by": "time"}, "order_by: there is no 'time'. Choose from name, bytes"),
        ({"select": ["micros", "time"]}, "select: there is no 'time'. Choose from bytes"),
        ({"select": "micros"}, "select must be a list"),
        ({"select": ["micros", "tensor_value"]}, "tensor_value needs a checkpoint.*load_checkpoint"),
        ({"max_depth": "deep"}, "max_depth must be a whole number"),
        ({"hide_name_regexes": ["("]}, r"hide_name_regexes: '\(' is no regular expression"),
        ({"output": "screen"}, "output: there is no 'screen'. Choose from none, stdout, file, timeline, pprof"),
        ({"output": "file"}, "output: say where to write, as in 'file:outfile=PATH'"),
        ({"output": "pprof:outfile=x", "select": ["micros", "bytes"]}, "select: for pprof choose one"),
    ],
)
def test_bad_options_are_named_with_the_choices(options, said):
    with pytest.raises(ValueError, match=said):
        parse_options(options)


@pytest.mark.tensorflow
@pytest.mark.parametrize("made", ["trainable_variables_parameter", "float_operation", "time_and_memory"])
def test_options_of_tfprofs_builder_are_accepted(made):
    import tensorflow as tf

    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder(getattr(builder, made)()).with_file_output("x.txt").build()
    parsed = parse_options(options)
    assert {name: getattr(parsed, name) for name in options} == {
        name: tuple(value) if isinstance(value, list) else value for name, value in options.items()
    }


@pytest.mark.tensorflow
def test_defaults_are_those_of_tfprofs_builder_but_nothing_is_printed():
    import tensorflow as tf

    options = tf.compat.v1.profiler.ProfileOptionBuilder().build()
    assert parse_options(options | {"output": "none"}) == GraphOptions()


def test_keywords_win_over_the_dictionary():
    assert parse_options({"max_depth": 3, "step": 1}, max_depth=5) == GraphOptions(max_depth=5, step=1)
