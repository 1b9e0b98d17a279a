"""Judge facts about the machine: what is fine, and what to do about the rest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tfprof_nb import _units
from tfprof_nb.capture.check.environment import Facts
from tfprof_nb.formats.cupti import CANNOT_BE_LOADED, ONLY_ADMINISTRATORS, PERMIT

_TESTED_TENSORFLOW = (2, 20)
_LOW_DISK_BYTES = 2**30
_GUIDE = 'The section "Setting up a GPU" of docs/troubleshooting.md has each step.'


class Line(NamedTuple):
    """The result of one check."""

    check: str
    status: Literal["fine", "attention", "problem"]
    detail: str
    cure: str = ""


def judge(facts: Facts) -> list[Line]:
    """Return for each fact whether it is fine, or what to do."""
    return [
        Line("Python", "fine", facts.python),
        _tensorflow(facts),
        *_keras(facts),
        *_devices(facts),
        *_cupti(facts),
        *_permission(facts),
        _protobuf(facts),
        *_profiler(facts),
        _disk(facts),
        _widgets(facts),
        _front_end(facts),
        _grpc(facts),
        _xprof(facts),
    ]


def _tensorflow(facts: Facts) -> Line:
    if facts.tensorflow_error:
        return Line(
            "TensorFlow",
            "problem",
            f"cannot be imported: {facts.tensorflow_error}",
            "Reinstall it in this environment.",
        )
    if not facts.tensorflow:
        return Line(
            "TensorFlow",
            "problem",
            "not installed: this process cannot be captured; profiles can be read, and other processes captured",
            '`pip install "tfprof_nb[tensorflow]"`',
        )
    if tuple(map(int, facts.tensorflow.split(".")[:2])) < _TESTED_TENSORFLOW:
        return Line("TensorFlow", "attention", f"{facts.tensorflow}: tested with 2.20 and newer", "Upgrade TensorFlow.")
    return Line("TensorFlow", "fine", facts.tensorflow)


def _keras(facts: Facts) -> Iterator[Line]:
    if not facts.tensorflow:
        return
    if not facts.keras:
        yield Line(
            "Keras",
            "attention",
            "cannot be imported: only the steps that you mark are shown",
            "Mark them with `tfprof_nb.step`.",
        )
    elif facts.keras_backend != "tensorflow":
        yield Line(
            "Keras",
            "attention",
            f"{facts.keras} runs on {facts.keras_backend}, which TensorFlow's profiler does not record",
            "Set `KERAS_BACKEND=tensorflow` before Keras is imported.",
        )
    else:
        yield Line("Keras", "fine", f"{facts.keras}: its steps are found automatically")


def _devices(facts: Facts) -> Iterator[Line]:
    if not facts.tensorflow:
        return
    if facts.devices:
        yield Line("Devices", "fine", ", ".join(facts.devices))
    elif not facts.driver_gpus:
        yield Line("Devices", "fine", "CPU only")
    elif not facts.cuda:
        yield Line(
            "Devices",
            "problem",
            f"there is a GPU ({', '.join(facts.driver_gpus)}), but this TensorFlow was built without CUDA",
            f'Install the GPU build: `pip install "tensorflow[and-cuda]"`. {_GUIDE}',
        )
    else:
        yield Line(
            "Devices",
            "problem",
            f"there is a GPU ({', '.join(facts.driver_gpus)}), but TensorFlow does not see it",
            "Check whether `CUDA_VISIBLE_DEVICES` hides it; otherwise install the libraries of CUDA "
            f'{facts.cuda}: `pip install "tensorflow[and-cuda]"`, and restart. {_GUIDE}',
        )


def _has_gpu(facts: Facts) -> bool:
    return bool(facts.cuda) and (bool(facts.driver_gpus) or any(device.startswith("GPU") for device in facts.devices))


def _cupti(facts: Facts) -> Iterator[Line]:
    """Judge whether CUPTI, NVIDIA's profiling library, can be loaded."""
    if not _has_gpu(facts):
        return
    if facts.cupti:
        yield Line("CUPTI library", "fine", facts.cupti)
        return
    major = facts.cuda.partition(".")[0]
    name = f"libcupti.so.{major}"
    folders = [Path(file).parent for file in facts.cupti_elsewhere if Path(file).name.startswith(name)]
    yield Line(
        "CUPTI library",
        "problem",
        f"{CANNOT_BE_LOADED.format(library=name)}: profiles will not show the GPU",
        f"Set its folder: `export LD_LIBRARY_PATH={folders[0]}:$LD_LIBRARY_PATH` before Jupyter starts. {_GUIDE}"
        if folders
        else f"`pip install nvidia-cuda-cupti-cu{major}`, and restart. {_GUIDE}",
    )


def _permission(facts: Facts) -> Iterator[Line]:
    """Judge whether NVIDIA's driver lets this process profile."""
    if not _has_gpu(facts):
        return
    if facts.administrator or facts.gpu_counters_restricted is False:
        yield Line("CUPTI permission", "fine", "profiling the GPU is allowed")
        return
    known = facts.gpu_counters_restricted
    yield Line(
        "CUPTI permission",
        "problem" if known else "attention",
        ONLY_ADMINISTRATORS if known else "unknown; if profiles lack the GPU, this may be the reason",
        f"{PERMIT} {_GUIDE}",
    )


def _protobuf(facts: Facts) -> Line:
    version = facts.packages.get("protobuf", "")
    if facts.protobuf_implementation == "python":
        return Line(
            "protobuf",
            "problem",
            f"{version} runs in pure Python, which slows down every traced run",
            "Unset `PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION`, or `pip install --force-reinstall protobuf`, and restart.",
        )
    return Line("protobuf", "fine", f"{version} ({facts.protobuf_implementation or 'not used'})")


def _profiler(facts: Facts) -> Iterator[Line]:
    if facts.profiler_active:
        yield Line(
            "Profiler",
            "problem",
            "a profiler is running in this process, and only one can run at a time",
            "End it: call `tfprof_nb.stop()` or `tf.profiler.experimental.stop()`, or wait until a remote capture has "
            "finished; remove `profile_batch` from the TensorBoard callback.",
        )
    elif facts.tensorflow:
        yield Line("Profiler", "fine", "available")


def _disk(facts: Facts) -> Line:
    cure = "Choose another folder: `logdir=...`, in the magic `--out DIR`."
    if not facts.writable:
        return Line("Disk", "problem", f"{facts.logdir} cannot be written to", cure)
    if facts.free_bytes is None:
        return Line("Disk", "attention", f"the free space in {facts.logdir} is unknown", cure)
    space = f"{_units.size(facts.free_bytes)} free in {facts.logdir}"
    return Line("Disk", "attention", space, cure) if facts.free_bytes < _LOW_DISK_BYTES else Line("Disk", "fine", space)


def _widgets(facts: Facts) -> Line:
    needed = ("ipywidgets", "anywidget", "bqplot")
    missing = [name for name in needed if name not in facts.packages]
    if missing:
        return Line("Widgets", "problem", f"not installed: {', '.join(missing)}", f"`pip install {' '.join(missing)}`")
    versions = ", ".join(f"{name} {facts.packages[name]}" for name in needed)
    if facts.front_end == "jupyter" and not _has_widget_manager(facts):
        return Line(
            "Widgets",
            "attention",
            f"{versions}; this environment lacks JupyterLab's widget manager",
            "If views stay empty, run `pip install jupyterlab_widgets anywidget bqplot` where JupyterLab itself is "
            "installed, and reload the page.",
        )
    return Line("Widgets", "fine", versions)


def _has_widget_manager(facts: Facts) -> bool:
    return bool({"jupyterlab_widgets", "widgetsnbextension"} & set(facts.packages))


def _front_end(facts: Facts) -> Line:
    meanings = {
        "colab": "Colab: support for third-party widgets is enabled when a view is shown",
        "vscode": "VS Code: scripts of some widgets come from the network; without network, views are plain HTML",
        "jupyter": "Jupyter",
        "terminal": "no notebook: profiles are shown as text",
    }
    return Line("Front end", "fine", meanings[facts.front_end])


def _grpc(facts: Facts) -> Line:
    if "grpcio" not in facts.packages:
        return Line("gRPC", "attention", "not installed: other processes cannot be captured", "`pip install grpcio`")
    return Line("gRPC", "fine", facts.packages["grpcio"])


def _xprof(facts: Facts) -> Line:
    if "xprof" not in facts.packages:
        return Line("XProf", "attention", "not installed: `Profile.xprof` offers no tools", "`pip install xprof`")
    return Line("XProf", "fine", facts.packages["xprof"])
