"""Facts of the machine that the tests run on."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.capture.check import environment
from tfprof_nb.capture.check.environment import gather


@pytest.fixture
def facts(tmp_path):
    return gather(tmp_path / "not" / "there" / "yet")


def test_versions_are_the_installed_ones(facts):
    assert facts.tensorflow == tf.__version__
    assert facts.packages["ipywidgets"] == importlib.metadata.version("ipywidgets")
    assert facts.keras.startswith("3.")
    assert facts.keras_backend == "tensorflow"
    assert facts.protobuf_implementation in {"upb", "cpp", "python"}
    assert facts.tensorflow_error == ""


def test_the_place_need_not_exist_yet(facts, tmp_path):
    assert facts.writable
    stat = os.statvfs(tmp_path)
    assert facts.free_bytes == pytest.approx(stat.f_bavail * stat.f_frsize, rel=0.1)
    assert list(tmp_path.iterdir()) == []


def test_a_place_where_no_file_can_be_made_is_found(tmp_path):
    (tmp_path / "file").touch()
    assert [gather(place).writable for place in (tmp_path, tmp_path / "file", Path("/proc"))] == [True, False, False]


def test_a_running_profiler_is_found_and_left_alone(tmp_path):
    assert gather(tmp_path).profiler_active is False
    tp.start(logdir=tmp_path)
    assert gather(tmp_path).profiler_active is True
    assert tp.stop().files
    assert gather(tmp_path).profiler_active is False


def test_a_library_that_lies_in_a_packages_folder_is_found(tmp_path, monkeypatch):
    """A stand-in for NVIDIA's library: any shared library under its name."""
    stand_in = tmp_path / "nvidia" / "cuda_cupti" / "lib" / "libcupti.so.99"
    stand_in.parent.mkdir(parents=True)
    stand_in.symlink_to(importlib.import_module("_ctypes").__file__)
    assert environment._loadable_cupti("99.1") == ""
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert environment._loadable_cupti("99.1") == str(stand_in)
    assert environment._loadable_cupti("") == ""


def test_without_tensorflow_the_rest_is_still_found(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ModuleNotFoundError('none here', name='tensorflow')")
    code = "import tfprof_nb as tp; print(tp.check())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(tp.__file__).parents[1]}"},
        cwd=tmp_path,
    )
    assert "this process cannot be captured" in done.stdout
    assert "ipywidgets" in done.stdout
    assert done.stderr == ""
