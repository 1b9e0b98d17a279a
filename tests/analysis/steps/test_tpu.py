"""Steps of TPUs: XProf on the same files, programs of one core and of eight."""

import json
import re

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb import load
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps

STEPS = 4
# Per core: microseconds of each kind of instruction, then idle time.
PROGRAMS = {
    "computes": [{"fusion": 900, "idle": 100}],
    "waits for infeed": [{"infeed": 600, "fusion": 300, "outfeed": 50, "idle": 50}],
    "exchanges": [{"fusion": 300, "all-reduce": 500, "all-gather": 100, "idle": 100}] * 8,
    "is idle": [{"fusion": 100, "idle": 900}] * 8,
    "has uneven cores": [
        {"infeed": 200, "fusion": 500, "all-reduce": 100, "outfeed": 50, "idle": 150},
        {"infeed": 100, "fusion": 700, "all-reduce": 50, "idle": 100},
    ],
    "waits on one of eight cores": [{"infeed": 10 * core, "fusion": 800 - 5 * core, "idle": 50} for core in range(8)],
    "has an uneven last core": [*[{"fusion": 500, "idle": 20}] * 7, {"infeed": 30, "fusion": 900, "outfeed": 20}],
}


def program(cores, *, modules=("jit_step(1)",), recorded=True):
    """Each core runs the same step again and again; with several modules, each has an equal part of it."""
    space = XSpace()
    for core, parts in enumerate(cores):
        tpu = space.plane(f"/device:TPU:{core}", device_type_string="TPU v4")
        lines = [tpu.line(name, line_id=k) for k, name in enumerate(("Steps", "XLA Modules", "XLA Ops"), 1)]
        total = sum(parts.values())
        for number in range(STEPS):
            at = 2000 * number
            if recorded:
                lines[0].event(str(number), start_us=at, duration_us=total, group_id=number)
            for k, module in enumerate(modules):
                share = total / len(modules)
                lines[1].event(module, start_us=at + k * share, duration_us=share, group_id=number, program_id=k + 1)
            for kind, length in parts.items():
                if kind != "idle":
                    instruction(tpu, lines[2], kind, at, length, number)
                at += length
    return space


def instruction(tpu, line, kind, at, length, step):
    name = f"%{kind}.1 = f32[8]{{0}} {kind}(f32[8] %p)"
    line.event(name, start_us=at, duration_us=length, group_id=step, program_id=1)
    category = "convolution fusion" if kind == "fusion" else kind
    stats = {"hlo_category": category, "program_id": 1, "symbol_id": sum(kind.encode()), "tf_op": f"jit(step)/{kind}:"}
    tpu.describe(name, display_name=f"{kind}.1", **stats)


def measured(space):
    found = forest(space)
    return steps([found], [group_events(found)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_xprofs(name, tmp_path):
    """XProf counts collectives as compute; all else is the same."""
    from xprof.convert import raw_to_tool_data

    space = program(PROGRAMS[name])
    file = space.write(tmp_path / "host.xplane.pb")
    tables = json.loads(raw_to_tool_data.xspace_to_tool_data([str(file)], "input_pipeline_analyzer", {})[0])
    graph = next(t for t in tables if any(column["id"] == "tcComputeTimeMs" for column in t.get("cols", [])))
    columns = [column["id"] for column in graph["cols"]]
    theirs = [dict(zip(columns, (cell["v"] for cell in row["c"]), strict=True)) for row in graph["rows"]]
    found = measured(space)
    table = found.table
    assert table.index.tolist() == [int(row["stepnum"]) for row in theirs] == list(range(STEPS))
    same = {"input_ms": "tcInfeedTimeMs", "output_ms": "tcOutfeedTimeMs", "other_ms": "tcIdleTimeMs"}
    for key, column in same.items():
        assert table[key].tolist() == pytest.approx([row[column] for row in theirs], rel=0.01, abs=1e-9)
    busy = table["device_compute_ms"] + table["device_collectives_ms"]
    assert busy.tolist() == pytest.approx([row["tcComputeTimeMs"] for row in theirs], rel=0.01)
    figures = graph["p"]
    assert found.summary["step_ms_mean"] == pytest.approx(float(figures["steptime_ms_average"]), rel=0.01)
    assert found.shares["input_ms"] == pytest.approx(float(figures["infeed_percent_average"]), abs=0.1)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_average_step_is_that_of_xprofs_overview(name, tmp_path):
    """XProf writes two decimals."""
    from xprof.convert import raw_to_tool_data

    file = program(PROGRAMS[name]).write(tmp_path / "host.xplane.pb")
    tables = json.loads(raw_to_tool_data.xspace_to_tool_data([str(file)], "overview_page", {})[0])
    (theirs,) = (table["p"] for table in tables if "tc_infeed_ms_average" in table.get("p", {}))
    ours = load(file).steps.summary
    for key, column in {"step": "steptime", "input": "tc_infeed", "other": "tc_idle"}.items():
        assert ours[f"{key}_ms_mean"] == pytest.approx(float(theirs[f"{column}_ms_average"]), rel=0.01, abs=0.005)


@pytest.mark.parametrize("name", PROGRAMS)
def test_times_of_ops_are_those_of_xprofs_table(name, tmp_path):
    profile = load(program(PROGRAMS[name]).write(tmp_path / "host.xplane.pb"))
    with_idle, _ = profile.xprof("framework_op_stats").values()
    theirs = with_idle.set_index("operation").drop(index="IDLE")
    ours = profile.ops.table.set_index("op_name")
    assert set(ours.index) == set(theirs.index)
    for op, row in theirs.iterrows():
        assert ours["self_us"][op] == pytest.approx(row["total_self_time"], rel=0.01)
        assert ours["occurrences"][op] == row["occurrences"]


@pytest.mark.parametrize("modules", [("jit_step(1)",), ("jit_forward(1)", "jit_update(2)")])
@pytest.mark.parametrize("name", PROGRAMS)
def test_times_of_ops_are_xprofs(name, modules, tmp_path):
    profile = load(program(PROGRAMS[name], modules=modules).write(tmp_path / "host.xplane.pb"))
    tree = profile.xprof("op_profile")["byProgram"]
    theirs = {node["xla"]["provenance"].rstrip(":"): node["metrics"] for node in leaves(tree) if node["name"] != "IDLE"}
    ours = profile.ops.table.set_index("op_name")
    assert set(ours.index) == set(theirs) - {""}
    for op, metrics in theirs.items():
        assert ours["self_us"][op] == pytest.approx(metrics["rawTime"] / 1e6, rel=0.01)
        assert ours["occurrences"][op] == metrics["occurrences"]


def leaves(node):
    """The nodes of a tree of XProf's that have no children: the instructions."""
    return [node] if not node["children"] else [leaf for child in node["children"] for leaf in leaves(child)]


def test_collectives_stand_by_themselves():
    row = measured(program(PROGRAMS["exchanges"])).table.iloc[0]
    assert (row["device_compute_ms"], row["device_collectives_ms"]) == pytest.approx((0.3, 0.6))


@pytest.mark.parametrize("modules", [("jit_step(1)",), ("jit_forward(1)", "jit_update(2)")])
def test_without_recorded_steps_repeated_modules_are_steps(modules):
    cores = PROGRAMS["has uneven cores"]
    recorded = measured(program(cores, modules=modules))
    inferred = measured(program(cores, modules=modules, recorded=False))
    assert inferred.summary["source"] == "inferred"
    assert f"each run of the module {modules[0].partition('(')[0]} on the TPU" in inferred.notes[0]
    columns = [column for column in recorded.table if column.endswith("_ms")]
    np.testing.assert_allclose(inferred.table[columns], recorded.table[columns])


def test_a_module_that_ran_once_makes_no_step():
    space = XSpace()
    tpu = space.plane("/device:TPU:0")
    tpu.line("XLA Modules").event("jit_f(1)", duration_us=10)
    tpu.line("XLA Ops").event("%fusion.1 = f32[8] fusion()", duration_us=10)
    assert measured(space).notes[0].startswith("No steps: the TPU's cores recorded no instructions, or neither")


def test_a_real_capture_without_steps_infers_them(shared_data):
    profile = load(shared_data / "jax-tpu-inference")
    table = profile.steps.table
    assert len(table) == 100
    # Nearly all of the time it waits for copies; nothing of it ran on the host.
    assert (table["device_to_device_ms"] > 0.5 * table["step_ms"]).all()
    ops = profile.graph.op().table.iloc[0]
    assert ops["total_cpu_micros"] == 0 < ops["total_accelerator_micros"]


def test_counters_of_a_tpus_units_are_figures_and_tracks_and_no_work(tmp_path):
    (tmp_path / "without").mkdir()
    space = program([{"fusion": 900, "idle": 100}] * 2)
    for plane, values in zip(space.planes, ((20.0, 40.0), (60.0, 80.0)), strict=True):
        line = plane.line("_counters_", line_id=9)
        for unit, factor in (("MXU", 1), ("VPU", 0.5)):
            for k, value in enumerate(values):
                line.event(f"{unit} utilization", start_us=1000 * k, counter_value=factor * value)
    profile = load(space.write(tmp_path / "host.xplane.pb"))
    without = load(program([{"fusion": 900, "idle": 100}] * 2).write(tmp_path / "without" / "host.xplane.pb"))
    numbers = profile.overview.summary
    assert [numbers["mxu_percent"], numbers["vpu_percent"]] == [50, 25]
    assert re.search(r"MXU utilisation +50\.0%", str(profile))
    assert np.isnan(without.overview.summary["mxu_percent"])
    assert "MXU" not in str(without)
    names = [counter["name"] for counter in profile.trace.header()["counters"]]
    assert [name for name in names if "utilization" in name] == [
        f"TPU:{core} {unit} utilization" for core in (0, 1) for unit in ("MXU", "VPU")
    ]
    assert profile.steps.table.equals(without.steps.table)


@pytest.mark.parametrize("values", [(0.2, 0.9), (120.0, 3000.0)])
def test_counters_that_are_no_percentages_make_no_figure(values, tmp_path):
    space = program([{"fusion": 900, "idle": 100}])
    for k, value in enumerate(values):
        space.planes[0].line("_counters_", line_id=9).event("MXU utilization", start_us=k, counter_value=value)
    assert np.isnan(load(space.write(tmp_path / "host.xplane.pb")).overview.summary["mxu_percent"])
