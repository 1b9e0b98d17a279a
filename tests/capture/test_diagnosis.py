"""Built facts, judged: machines that are not at hand."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tfprof_nb.capture.check.diagnosis import judge
from tfprof_nb.capture.check.environment import Facts

GOOD = Facts(
    python="3.12.4",
    packages={
        "tensorflow": "2.21.0",
        "keras": "3.15.1",
        "xprof": "2.24.2",
        "grpcio": "1.80.0",
        "protobuf": "7.36.2",
        "ipywidgets": "8.1.9",
        "anywidget": "0.11.0",
        "bqplot": "0.13.1",
        "jupyterlab_widgets": "3.0.17",
    },
    tensorflow="2.21.0",
    keras="3.15.1",
    keras_backend="tensorflow",
    devices=["GPU: Tesla T4"],
    driver_gpus=["Tesla T4"],
    cuda="12.5.1",
    cupti="libcupti.so.12",
    gpu_counters_restricted=False,
    protobuf_implementation="upb",
    profiler_active=False,
    logdir="/home/me/tfprof_logs",
    writable=True,
    free_bytes=50 * 2**30,
    front_end="jupyter",
)
NOT_ADMITTED = "NVreg_RestrictProfilingToAdminUsers=0"


def line(check, facts):
    (found,) = [line for line in judge(facts) if line.check == check]
    return found


def test_where_all_is_fine_nothing_is_to_do():
    assert {(line.status, line.cure) for line in judge(GOOD)} == {("fine", "")}


def test_a_machine_without_a_gpu_is_fine_and_says_nothing_of_cupti():
    lines = judge(replace(GOOD, devices=[], driver_gpus=[], cuda="", cupti="", gpu_counters_restricted=None))
    assert {line.status for line in lines} == {"fine"}
    assert not [line for line in lines if "CUPTI" in line.check]


def test_a_hidden_cupti_is_shown_with_the_folder_that_it_hides_in():
    elsewhere = ["/usr/local/cuda-13.0/lib64/libcupti.so.13", "/usr/local/cuda-12/extras/CUPTI/lib64/libcupti.so.12"]
    hidden = line("CUPTI library", replace(GOOD, cupti="", cupti_elsewhere=elsewhere))
    assert hidden.status == "problem"
    assert "libcupti.so.12 cannot be loaded" in hidden.detail
    assert "LD_LIBRARY_PATH=/usr/local/cuda-12/extras/CUPTI/lib64:$LD_LIBRARY_PATH" in hidden.cure


def test_a_missing_cupti_is_to_be_installed_in_the_version_that_tensorflow_loads():
    missing = line("CUPTI library", replace(GOOD, cupti="", cupti_elsewhere=["/usr/local/cuda/lib64/libcupti.so.13"]))
    assert "pip install nvidia-cuda-cupti-cu12" in missing.cure


@pytest.mark.parametrize(
    ("restricted", "administrator", "status"),
    [(False, False, "fine"), (True, False, "problem"), (True, True, "fine"), (None, False, "attention")],
)
def test_the_drivers_permission(restricted, administrator, status):
    found = line("CUPTI permission", replace(GOOD, gpu_counters_restricted=restricted, administrator=administrator))
    assert found.status == status
    assert (NOT_ADMITTED in found.cure) == (status != "fine")


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("Devices", {"devices": []}),
        ("Devices", {"devices": [], "cuda": ""}),
        ("CUPTI library", {"cupti": ""}),
        ("CUPTI permission", {"gpu_counters_restricted": True, "administrator": False}),
    ],
)
def test_what_a_gpu_lacks_leads_to_the_guide(check, changes):
    cure = line(check, replace(GOOD, **changes)).cure
    section, page = re.search(r'The section "(.+)" of (\S+) has', cure).groups()
    assert f"## {section}\n" in (Path(__file__).parents[2] / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("check", "changes", "status", "says"),
    [
        ("TensorFlow", {"tensorflow": ""}, "problem", r'pip install "tfprof_nb\[tensorflow\]"'),
        ("TensorFlow", {"tensorflow": "", "tensorflow_error": "ImportError: x"}, "problem", "ImportError: x"),
        ("TensorFlow", {"tensorflow": "2.19.1"}, "attention", "2.20"),
        ("Keras", {"keras_backend": "jax"}, "attention", "KERAS_BACKEND=tensorflow"),
        ("Keras", {"keras": ""}, "attention", "tfprof_nb.step"),
        ("Devices", {"devices": []}, "problem", "CUDA_VISIBLE_DEVICES"),
        ("Devices", {"devices": [], "cuda": ""}, "problem", r"tensorflow\[and-cuda\]"),
        ("protobuf", {"protobuf_implementation": "python"}, "problem", "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"),
        ("Profiler", {"profiler_active": True}, "problem", r"tfprof_nb.stop\(\)"),
        ("Disk", {"writable": False}, "problem", "/home/me/tfprof_logs cannot be written to"),
        ("Disk", {"free_bytes": 5 * 2**20}, "attention", "5.00 MiB free"),
        ("Disk", {"free_bytes": None}, "attention", "is unknown"),
        ("Widgets", {"packages": {"ipywidgets": "8"}}, "problem", "pip install anywidget bqplot"),
        ("gRPC", {"packages": {}}, "attention", "pip install grpcio"),
        ("XProf", {"packages": {}}, "attention", "pip install xprof"),
    ],
)
def test_each_trouble_has_its_cure(check, changes, status, says):
    found = line(check, replace(GOOD, **changes))
    assert found.status == status
    assert found.cure
    assert re.search(says, f"{found.detail} {found.cure}")


def test_a_kernel_apart_from_jupyterlab_is_told_where_widgets_belong():
    packages = {name: version for name, version in GOOD.packages.items() if name != "jupyterlab_widgets"}
    found = line("Widgets", replace(GOOD, packages=packages))
    assert found.status == "attention"
    assert "where JupyterLab itself is installed" in found.cure
    assert line("Widgets", replace(GOOD, packages=packages, front_end="colab")).status == "fine"


def test_without_anything_it_still_answers():
    assert [line.check for line in judge(Facts())][:2] == ["Python", "TensorFlow"]
