"""A capture in the repository: one ``.tar.xz`` with its events as columns, its sidecar, and how it was made."""

import gzip
import io
import json
import re
import tarfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from captures.events import TICK_NS, to_columns, to_file
from tfprof_nb.formats.files import RUNS_FOLDER, SIDECAR, XSPACE, sidecar_of

FOLDER = Path(__file__).parent
ENDING = ".tar.xz"
HOST, RUN = "host", "recorded"
SPACE, EVENTS, ABOUT, BESIDE = "space.pb", "events.npz", "about.json", "sidecar.json"
# Columns of the sidecar's samples that are kept as those of events are, and their units.
_SAMPLES = {"time_ns": TICK_NS, "late_ns": TICK_NS, "thread": 1, "stack": 1}
# The folders of Python's library, and of what AutoGraph writes.
_FOLDERS = re.compile(r"(?:/[\w.+@-]+)*/(?=lib/python3\.\d+/|__autograph_generated_file)")


def file_of(name):
    """Return the archive of a capture."""
    return FOLDER / f"{name}{ENDING}"


def write(name, run, about, root):
    """Keep the capture in a run's folder as an archive; return its size. Paths below ``root`` become relative."""
    (profile,) = run.glob(f"*{XSPACE}")
    space, columns = to_columns(profile.read_bytes())
    beside = json.loads(gzip.decompress(sidecar_of(profile).read_bytes()))
    samples = beside.get("python", {}).get("samples", {})
    for column in samples.keys() & _SAMPLES:
        columns[f"sample {column}"] = np.diff(np.array(samples.pop(column), np.int64) // _SAMPLES[column], prepend=0)
    for section in ("graphs", "python"):
        texts = beside.get(section, {}).get("sources", {})
        for file in [file for file in texts if "/" in file and not file.startswith(f"{root}/tests/programs/")]:
            del texts[file]  # of what started the program
    text = json.dumps(beside, separators=(",", ":"), ensure_ascii=False)
    text = _FOLDERS.sub("", text.replace(f"{root}/", ""))
    for folder in (root, Path.home()):  # of the code that XLA compiled, in messages whose length must stay
        space = space.replace(f"{folder}/".encode(), b"." + b"/" * len(str(folder)))
    own = {SPACE: space, EVENTS: _arrays(columns), BESIDE: text.encode(), ABOUT: json.dumps(about).encode()}
    file = file_of(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as archive:
        for part, data in own.items():
            entry = tarfile.TarInfo(part)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    parts.cache_clear()
    return file.stat().st_size


@lru_cache(1)  # whoever asks how a capture was made opens it next
def parts(name):
    """Return what an archive holds: bytes by name."""
    with tarfile.open(file_of(name)) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def about(name):
    """Return how a capture was made."""
    return json.loads(parts(name)[ABOUT])


def read(name, logdir):
    """Write a capture as the run of a logdir, as a profiler does; return the run's folder."""
    own = parts(name)
    columns = _columns(own[EVENTS])
    beside = json.loads(own[BESIDE])
    for key in [key for key in columns if key.startswith("sample ")]:
        column = key.removeprefix("sample ")
        beside["python"]["samples"][column] = (np.cumsum(columns.pop(key)) * _SAMPLES[column]).tolist()
    run = Path(logdir) / RUNS_FOLDER / RUN
    run.mkdir(parents=True)
    (run / f"{HOST}{XSPACE}").write_bytes(to_file(own[SPACE], columns))
    (run / f"{HOST}{SIDECAR}").write_bytes(gzip.compress(json.dumps(beside).encode(), 1))
    return run


def _arrays(columns):
    """Return columns as a file in which the first bytes of all values stand together, then the second, ..."""
    file = io.BytesIO()
    np.savez(file, **{name: _bytes(column) if column.dtype.kind == "i" else column for name, column in columns.items()})
    return file.getvalue()


def _bytes(column):
    width = max((int(np.abs(column).max(initial=0)).bit_length() + 8) // 8, 1)
    return np.ascontiguousarray(column.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :width].T)


def _columns(file):
    with np.load(io.BytesIO(file)) as arrays:
        return {name: _whole(arrays[name]) if arrays[name].dtype == np.uint8 else arrays[name] for name in arrays.files}


def _whole(data):
    width, count = data.shape
    wide = np.zeros((count, 8), np.uint8)
    wide[:, :width] = data.T
    wide[:, width:] = np.where(wide[:, width - 1 : width] >= 0x80, 0xFF, 0)
    return wide.view("<i8")[:, 0]
