"""Open profile files, each in its own format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tfprof_nb.decode.chrome_trace import read_chrome_trace
from tfprof_nb.decode.files import is_run_metadata, is_xspace, mapped, read
from tfprof_nb.decode.host import Host
from tfprof_nb.decode.merge import merge_runs
from tfprof_nb.decode.run_metadata import read_run_metadata
from tfprof_nb.decode.xspace import read_xspace
from tfprof_nb.formats.files import host_key
from tfprof_nb.runs import Run


def load_hosts(files: Iterable[Path], names: Iterable[str] | None = None) -> list[Host]:
    """Decode the files of one run, one `Host` each.

    Parameters
    ----------
    files
        XSpace profiles (``*.xplane.pb``), Chrome traces (JSON), or RunMetadata (binary or text); plain or compressed
        with gzip. Plain ``*.xplane.pb`` from 2 MiB on are mapped: such a file must not change while the host is used.
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


def load_run(run: Run) -> list[Host]:
    """Decode a run: a `Host` for each of its hosts. Files that are runs of one host become one `Host`."""
    if run.parts:
        return [merge_runs(load_hosts(run.files, run.parts), run.hosts[0])]
    return load_hosts(run.files, run.hosts)


def _load(file: Path, key: str) -> Host:
    if is_xspace(file):
        return read_xspace(mapped(file), key, str(file))
    decode = read_run_metadata if is_run_metadata(file) else read_chrome_trace
    return decode(read(file), key, str(file))
