"""Names of the files and folders that a run is stored in: ``<logdir>/plugins/profile/<run>/<host>.xplane.pb``."""

import os
from pathlib import Path

from tfprof_nb._errors import TfprofError

RUNS_FOLDER = "plugins/profile"
RUN_TIME = "%Y_%m_%d_%H_%M_%S"  # a run folder is named after its time, as in TensorFlow
RUN_TIMES = (RUN_TIME, "%Y-%m-%d_%H-%M-%S")  # the second is TensorFlow 2.0's
STAGING_PREFIX = ".capturing-"  # of the folder that a capture writes to until its run is complete

XSPACE = ".xplane.pb"
XSPACES = (XSPACE, f"{XSPACE}.gz")
RUN_METADATA = ".run_metadata.pb"
WARM_UP = ".warm_up"  # how the key ends of a session's first run, which is recorded and not in the averages
CHROME_TRACES = (".trace.json.gz", ".trace.json")
LOCAL_TRACE = "local.trace"  # of TensorFlow 2.0 and 2.1
SIDECAR = ".tfprof.json.gz"
SESSION_GRAPH = "graph"  # a session's graph is the sidecar of this name, beside the session's runs

_SUFFIXES = (*XSPACES[::-1], RUN_METADATA, *CHROME_TRACES, ".json.gz")


def host_key(file: Path) -> str:
    """Return the key of a file's host: the file's name without the suffix of its kind.

    Examples
    --------
    >>> host_key(Path("worker-1.xplane.pb")), host_key(Path("timeline.json"))
    ('worker-1', 'timeline')
    """
    suffix = next((suffix for suffix in _SUFFIXES if file.name.endswith(suffix)), file.suffix)
    return file.name.removesuffix(suffix)


def sidecar_of(file: Path) -> Path:
    """Return the path of a profile's sidecar.

    Examples
    --------
    >>> sidecar_of(Path("run/worker-1.xplane.pb")).name
    'worker-1.tfprof.json.gz'
    """
    return file.with_name(host_key(file) + SIDECAR)


def local_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with its variables and its home folder filled in.

    Raises
    ------
    TfprofError
        It is none.
    """
    try:
        filled = Path(os.path.expandvars(path)).expanduser()
        if "\0" not in str(filled):
            return filled
        why: Exception | str = "it holds a null byte"
    except (TypeError, RuntimeError) as error:
        why = error
    raise TfprofError(f"{path!r} is no path: {why}.")
