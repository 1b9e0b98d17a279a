"""XProf's tools on a profile: their tables as frames, and nothing left beside the user's files."""

import gzip

import pandas as pd
import pytest

import tfprof_nb as tp
from builders import XSpace


def program(steps=3):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(steps):
        python.event("train", start_us=1000 * i, duration_us=100, step_num=i, _r=1)
        python.event("Iterator::Root::TFRecord", start_us=1000 * i, duration_us=20)
        python.event("dense/MatMul:MatMul", start_us=1000 * i + 20, duration_us=70)
    return space


@pytest.fixture
def logdir(tmp_path):
    program().write(tmp_path / "logs" / "plugins" / "profile" / "run" / "host.xplane.pb")
    return tmp_path / "logs"


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_several_tables_have_names_and_numbers_are_numbers(logdir):
    tables = tp.load(logdir).xprof("framework_op_stats")
    assert list(tables) == ["with_idle", "without_idle"]
    ops = tables["without_idle"].set_index("operation")
    assert ops.loc["dense/MatMul", "total_self_time"] == 210
    assert ops.loc["dense/MatMul", "occurrences"] == 3
    assert pd.api.types.is_numeric_dtype(ops["total_self_time"])
    assert len(tables["with_idle"]) == len(ops) + 1
    assert tables["without_idle"].attrs["task_type"] == "Inference"


def test_properties_of_a_table_are_numbers_too(logdir):
    tables = tp.load(logdir).xprof("input_pipeline_analyzer")
    assert tables["ops"]["opName"].tolist() == ["Iterator::Root::TFRecord"]
    assert tables["ops"].attrs["demanded_file_read_us"] == 60
    assert tables["steps"].attrs["steptime_ms_average"] == 0.1


def test_the_parts_of_the_overview_are_what_their_names_say(logdir):
    tables = tp.load(logdir).xprof("overview_page")
    assert tables["steps"]["stepnum"].tolist() == ["train 0", "train 1", "train 2"]
    assert "operation" in tables["ops"]
    assert tables["hosts"].attrs["device_type"] == "CPU"
    assert tables["advice"].attrs["statement"]
    assert list(tables["diagnostics"]) == ["severity", "message"]


def test_one_table_is_a_frame_also_when_it_is_empty(logdir):
    kernels = tp.load(logdir).xprof("kernel_stats")
    assert len(kernels) == 0
    assert "kernel_name" in kernels


def test_what_is_no_table_comes_as_it_is(logdir):
    profile = tp.load(logdir)
    assert len(profile.xprof("pod_viewer")["podStatsSequence"]["podStatsMap"]) == 3
    assert profile.xprof("trace_viewer")["traceEvents"]


def test_parameters_reach_the_tool(logdir):
    with pytest.raises(ValueError, match=r"graph_viewer could not read this profile.*no_such_module"):
        tp.load(logdir).xprof("graph_viewer", graph_viewer_options={"type": "graph", "module_name": "no_such_module"})


def test_nothing_is_left_in_the_logdir_and_nothing_is_said(logdir, capfd):
    before = files_below(logdir)
    tp.load(logdir).xprof("overview_page")
    assert files_below(logdir) == before
    assert capfd.readouterr() == ("", "")


def test_unknown_tools_are_refused_with_those_that_exist(logdir):
    with pytest.raises(ValueError, match=r"no tool 'overview'.*overview_page, input_pipeline_analyzer"):
        tp.load(logdir).xprof("overview")


def test_tools_of_one_host_name_the_hosts(logdir):
    program().write(logdir / "plugins" / "profile" / "run" / "other.xplane.pb")
    profile = tp.load(logdir)
    with pytest.raises(ValueError, match=r"one host at a time.*host, other"):
        profile.xprof("memory_profile")
    assert profile.host("other").xprof("memory_profile")["numHosts"] == 1


def test_files_of_one_name_and_compressed_files_are_read(tmp_path):
    files = [program().write(tmp_path / folder / "host.xplane.pb") for folder in ("a", "b")]
    packed = tmp_path / "c" / "host.xplane.pb.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(files[0].read_bytes()))
    ops = tp.load([*files, packed]).xprof("framework_op_stats")["without_idle"]
    assert ops.set_index("operation").loc["dense/MatMul", "occurrences"] == 9


def test_what_xprof_leaves_in_a_logdir_is_no_host(logdir):
    """TensorBoard and XProf keep their caches in the run's folder."""
    from xprof.convert import raw_to_tool_data

    (file,) = logdir.rglob("*.xplane.pb")
    for tool in ("overview_page", "trace_viewer@", "smart_suggestion"):
        raw_to_tool_data.xspace_to_tool_data([str(file)], tool, {})
    assert {"ALL_HOSTS.op_stats_v2.pb", "host.SSTABLE"} <= set(files_below(logdir))
    (run,) = tp.find_runs(logdir)
    assert run.hosts == ("host",)
    assert tp.load(logdir).hosts == tp.load(file.parent).hosts == ("host",)


def test_an_xprof_that_does_not_start_here_is_told_from_a_profile_that_it_cannot_read(logdir, tmp_path, monkeypatch):
    broken = tmp_path / "packages" / "xprof" / "convert"
    broken.mkdir(parents=True)
    (broken / "raw_to_tool_data.py").write_text("raise ImportError('gencode 6.31.1 runtime 5.29.6')", encoding="utf-8")
    (broken.parent / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    with pytest.raises(tp.MissingDependencyError, match=r"does not start: ImportError: gencode .* Try: pip install"):
        tp.load(logdir).xprof("overview_page")


def test_what_is_not_one_run_s_xplane_is_refused(tmp_path):
    files = [program().write(tmp_path / f"{name}.xplane.pb") for name in "ab"]
    with pytest.raises(ValueError, match="one run at a time, not 2"):
        tp.load(files, as_runs=True).xprof("overview_page")
    trace = tmp_path / "trace.json"
    trace.write_text('[{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 3, "name": "a"}]')
    with pytest.raises(ValueError, match=r"\*\.xplane\.pb, not trace\.json"):
        tp.load(trace).xprof("overview_page")
