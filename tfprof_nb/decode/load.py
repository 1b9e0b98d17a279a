"""Open profile files, each in its own format."""

from collections.abc import Callable, Iterable
from pathlib import Path

from tfprof_nb._errors import BadProfileError
from tfprof_nb.decode.chrome_trace import read_chrome_trace
from tfprof_nb.decode.files import Kind, kind_of, read, read_or_map
from tfprof_nb.decode.host import Host
from tfprof_nb.decode.local_trace import read_local_trace
from tfprof_nb.decode.merge import merge_runs
from tfprof_nb.decode.run_metadata import read_run_metadata
from tfprof_nb.decode.tfprof_profile import read_tfprof_profile
from tfprof_nb.decode.xspace import read_xspace
from tfprof_nb.formats.files import host_key
from tfprof_nb.runs import Run

_READERS: dict[Kind, Callable[[bytes, str, str], Host]] = {
    "json": read_chrome_trace,
    "run_metadata": read_run_metadata,
    "local_trace": read_local_trace,
    "tfprof": read_tfprof_profile,
}


def load_hosts(files: Iterable[Path], names: Iterable[str] | None = None) -> list[Host]:
    """Decode the files of one run, one `Host` each.

    Parameters
    ----------
    files
        XSpace profiles, Chrome traces (JSON), RunMetadata (binary or text), ``local.trace`` of TensorFlow 2.0 and 2.1,
        or profiles of tfprof (``ProfileProto``); of any name, plain or compressed with gzip.
    names
        The hosts' keys; by default the files' names without the suffix of their kind.

    Raises
    ------
    BadProfileError
        A file is of an unsupported kind, empty, cut short or damaged.
    """
    files = list(files)
    keys = [host_key(file) for file in files] if names is None else names
    return [_load(file, key) for file, key in zip(files, keys, strict=True)]


def load_run(run: Run) -> tuple[Run, list[Host]]:
    """Decode a run: a `Host` for each of its hosts. Files that are runs of one host become one `Host`.

    Of several files those that cannot be read are left out: the run that is returned lacks them, and notes it.

    Raises
    ------
    BadProfileError
        None of the files can be read.
    """
    hosts, errors = [], dict[int, BadProfileError]()
    for place, (file, key) in enumerate(zip(run.files, run.parts or run.hosts, strict=True)):
        try:
            hosts.append(_load(file, key))
        except BadProfileError as error:
            errors[place] = error
    if errors and not hosts:
        raise next(iter(errors.values()))
    run = run.without({place: f"{run.files[place].name} was left out. {error}" for place, error in errors.items()})
    return run, [merge_runs(hosts, run.hosts[0])] if run.parts else hosts


def _load(file: Path, key: str) -> Host:
    try:
        kind = kind_of(file)
        if kind == "xspace":
            return read_xspace(read_or_map(file), key, str(file))
        return _READERS[kind](read(file), key, str(file))
    except OSError as error:
        raise BadProfileError(f"{file}: the file cannot be read ({error.strerror}).") from None
