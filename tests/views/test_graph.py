import pytest

import tfprof_nb as tp
from builders import XSpace


@pytest.fixture
def profile(captured):
    return captured("graph_page/one_product")


def test_the_page_has_the_four_views(profile):
    text = str(profile.graph.view())
    for words in ("Name scopes", "Data flow", "Op types", "Calls that created the nodes", "1.02 kFLOP"):
        assert words in text


def test_a_file_from_elsewhere_has_the_views_that_it_has_data_for(tmp_path):
    """It tells neither which node takes data from which, nor which line made one."""
    space = XSpace()
    space.plane("/host:CPU").line("python").event("dense/MatMul:MatMul", duration_us=5)
    text = str(tp.load(space.write(tmp_path / "host.xplane.pb")).graph.view())
    assert "Name scopes" in text
    assert "Op types" in text
    assert "Data flow" not in text
    assert "Calls that created the nodes" not in text


def test_the_first_sentence_names_the_innermost_scope_with_most_of_the_time(tmp_path):
    def answer(**times_us):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for at, (name, time_us) in enumerate(times_us.items()):
            python.event(f"{name.replace('_', '/')}:MatMul", start_us=100 * at, duration_us=time_us)
        return str(tp.load(space.write(tmp_path / "host.xplane.pb")).graph.view())

    assert "The name scope `a/b/x` takes 60.0% of the ops' time: 60.0 µs." in answer(a_b_x=60, a_c_y=20, d_z=20)
    assert "The name scope `a` takes 80.0% of the ops' time: 80.0 µs." in answer(a_b_x=40, a_c_y=40, d_z=20)
    assert "No name scope takes most of the ops' time." in answer(a_x=40, b_y=40, c_z=20)


def test_a_tree_shows_what_was_selected(profile):
    text = str(profile.graph.scope(select=["float_ops"]).view())
    assert "float" in text
    assert "time" not in text.splitlines()[5]


def test_rows_are_indented_below_their_parents(profile):
    lines = str(profile.graph.scope(select=["float_ops"]).view()).splitlines()
    (product,) = (line for line in lines if line.strip().startswith("product"))
    assert product.replace("\N{NO-BREAK SPACE}", " ").startswith("    ")


def test_an_estimate_says_that_it_is_one(profile):
    device = {"peak_flops_per_s": 1e12, "bandwidth_bytes_per_s": 1e11, "memory_bytes": 1e9}
    text = str(profile.graph.estimate(device).view())
    assert "This is an estimate" in text
    assert "1.02 kFLOP" in text


def test_without_ops_it_says_why(captured):
    assert "No op was recorded" in str(captured("graph_page/nothing").graph.view())


def test_eager_ops_are_there_too(captured):
    assert "outside functions/MatMul" in set(captured("graph_page/eager_op").graph.table["name"])


def test_figures_say_what_they_are_of(profile, captured):
    assert "op time in the capture, summed over threads" in str(profile.graph.view())
    assert "per step" not in str(profile.graph.view())
    assert "op time per step, summed over threads" in str(captured("graph_page/eager_steps").graph.view())
