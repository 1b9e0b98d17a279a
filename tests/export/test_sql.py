import pandas as pd
import pytest

import tfprof_nb as tp
from tfprof_nb.export.sql import run_sql

STEPS = pd.DataFrame({"step_ms": [1.5, 2.5]}, index=pd.Index([3, 4], name="step"))
OPS = pd.DataFrame({"op_name": pd.Categorical(["a", "<b>"]), "self_us": [2**40, 3]})


def never():
    raise AssertionError("made although no query named it")


FRAMES = {"steps": lambda: STEPS, "ops": lambda: OPS, "never": never}


def test_indexes_are_columns_and_tables_join():
    found = run_sql("select s.step, o.op_name from steps s join ops o on s.step_ms < o.self_us where step = 4", FRAMES)
    assert found["step"].tolist() == [4, 4]
    assert sorted(found["op_name"]) == ["<b>", "a"]


def test_a_sum_of_whole_numbers_is_whole():
    found = run_sql("select sum(self_us) as total, sum(self_us) filter (self_us < 0) as none from ops", FRAMES)
    assert found["total"].tolist() == [2**40 + 3]
    assert found["total"].dtype == "int64"
    assert found["none"].isna().all()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("select nope from steps", "nope"),
        ("selec 1", "syntax error"),
        ("select * from stepz", "The tables are: steps, ops, never"),
        ("", "single statement"),
        ("select 1; select 2", "single statement"),
        ("select * from read_csv('/etc/passwd')", "disabled"),
    ],
)
def test_a_wrong_query_says_what_is_wrong(query, says):
    with pytest.raises(ValueError, match=says):
        run_sql(query, FRAMES)


@pytest.mark.tensorflow
def test_every_table_of_a_profile_answers(small_profile):
    for name in small_profile._frames:
        count = small_profile.sql(f"select count(*) as n from {name}")["n"][0]
        assert count == len(small_profile._frames[name]())
    assert small_profile.sql("select avg(step_ms) as ms from steps where not warm_up")["ms"][0] == pytest.approx(
        small_profile.steps.summary["step_ms_mean"]
    )


@pytest.fixture
def small_profile(tmp_path):
    import tensorflow as tf

    with tp.profile(logdir=tmp_path) as p:
        for i, x in enumerate(tf.data.Dataset.range(4).map(lambda x: x + 1)):
            with tp.step(i):
                tf.square(x)
    return p


@pytest.mark.parametrize("name", ["Steps", "STEPS", '"sTeps"', "steps"])
def test_names_of_tables_are_the_same_in_any_case(name):
    assert run_sql(f"select count(*) as n from {name}", FRAMES)["n"].tolist() == [2]
