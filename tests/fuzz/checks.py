"""What must hold of every input: a right result or a `TfprofError`, in the time of a good one, in bounded memory."""

import gzip
import hashlib
import json
import math
import re
import tempfile
import time
import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pandas as pd

import tfprof_nb as tp
from fuzz.seeds import space
from tfprof_nb.formats.files import SIDECAR
from tfprof_nb.formats.packed import UnpackableError, unpack
from tfprof_nb.render.static_form import STATIC_BYTES
from tfprof_nb.views.pages import PAGES

COLUMNS, RESULTS, OUTPUTS = range(3)
"""How far an input is taken: all columns, also all results, also all forms of output."""

MOST_TIMES = 30  # as long as a good file of a few kB takes, and once more for each time that an input is as large
NAMES = {"xspace": "h.xplane.pb", "chrome": "h.json", "metadata": "h.pb", "sidecar": f"h{SIDECAR}"}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NOT_A_NUMBER = re.compile(
    r"(?<![\w.$-])(nan|inf|NaT)(?![\w(])|(?<![\w.])-\d[\d,.]* (?:ps|ns|µs|ms|s|%|GiB|MiB|KiB|B)\b"
)


def check(folder, kind, data, depth, profile=b""):
    """Read a file and raise what must not be; return whether it was read. ``profile`` is what a sidecar belongs to."""
    with _in_proportion(len(data)):
        return _unpacks(data) if kind == "cache" else _opens(folder, kind, data, depth, profile)


@cache
def _usual():
    """The processor time of a good file with everything, and its bytes. The first reading pays for what is imported."""
    good = space()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            began = time.process_time()
            _opens(Path(folder), "xspace", good, OUTPUTS, b"")
            spent = time.process_time() - began
    return spent, len(good)


@contextmanager
def _in_proportion(size):
    """Allow a block the processor time that so many bytes may take, which no load of the machine changes."""
    usual_s, usual_bytes = _usual()
    began = time.process_time()
    yield
    times = (time.process_time() - began) / usual_s
    assert times < MOST_TIMES + size / usual_bytes, f"{times:.0f} times the time of a good file, for {size} bytes"


def _opens(folder, kind, data, depth, profile):
    for old in folder.iterdir():
        old.unlink()
    path = folder / NAMES[kind]
    path.write_bytes(gzip.compress(data, 1) if kind == "sidecar" else data)
    if kind == "sidecar":
        path = folder / NAMES["xspace"]
        path.write_bytes(profile)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # numpy's, of numbers that became others
            p = tp.load(path)
            _columns(p)
            if depth >= RESULTS:
                _results(p)
            if depth >= OUTPUTS:
                _outputs(p, folder)
    except tp.TfprofError:
        return False
    return True


def _unpacks(text):
    """Read kept results with a good checksum, and this JSON before the numbers; return whether they can be read."""
    rest = len(text).to_bytes(8, "little") + text + bytes(2048)
    try:
        unpack(b"tfprofr1" + hashlib.sha256(rest).digest() + rest)
    except UnpackableError:
        return False
    return True


def _columns(p):
    assert (p.events[["start_ps", "duration_ps"]] >= 0).all(axis=None)
    assert ((p.events["start_ps"] + p.events["duration_ps"]) >= 0).all()
    assert math.isfinite(p.duration_ms)
    for forest in p.data.forests:
        host = forest.host
        for name in host.stat_names():
            host.ints(name), host.floats(name), host.texts(name)
        for row in range(0, len(host), max(1, len(host) // 4)):
            host.stats_of(row)


def _results(p):
    for name in PAGES:
        result = getattr(p, name)
        assert isinstance(result.table, pd.DataFrame)
        text = str(result)
        assert text
        if name in ("overview", "steps", "ops", "kernels", "pods", "source", "python"):
            found = _NOT_A_NUMBER.search(re.sub(r'"[^"]*"', "", text)) if name in ("overview", "steps") else None
            assert not found, f"{name}: {text[max(0, found.start() - 60) : found.end() + 20]}"
            times = (
                result.table.filter(regex="_(ms|us|ps)$")
                .select_dtypes("number")
                .drop(columns="start_ms", errors="ignore")
            )
            assert not (times < -1e-6).any(axis=None), f"{name}: {times[(times < -1e-6).any(axis=1)]}"
    assert str(p)


def _outputs(p, folder):
    for redact in (False, True):
        html = p.to_html(folder / "h.html", redact=redact).read_text(encoding="utf-8")
        assert "<script>alert" not in html
    assert str(folder) not in html
    assert len(p.dashboard(static=True).to_html()) <= STATIC_BYTES
    shown = p.dashboard()
    shown._build()
    shown.close()
    for name in PAGES:
        page = getattr(p, name).view()
        page._build()
        page.close()
        p.sql(f"select * from {name}")
    p.sql("select count(*), max(duration_ps) from events")
    json.dumps(p.to_dict(), allow_nan=False)
    assert _UNPRINTABLE.search(p.to_markdown()) is None
    assert str(tp.compare(p, p))
    tp.load(p.to_chrome_trace(folder / "trace.json"))
