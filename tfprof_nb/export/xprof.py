"""Any tool of the installed XProf (the package xprof), with its tables as frames."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tfprof_nb._errors import MissingDependencyError
from tfprof_nb.formats.files import XSPACE, XSPACES
from tfprof_nb.runs import Run

_UNKNOWN_TOOL, _DOES_NOT_START = 3, 4
# Runs in a separate process: XProf logs to stderr, and an abort in its C++ code must not end the notebook's kernel.
_PROGRAM = f"""
import json, sys
try:
    from xprof.convert import raw_to_tool_data as xprof
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
    sys.exit({_DOES_NOT_START})
files, tool, params = json.load(sys.stdin)
data, _ = xprof.xspace_to_tool_data(files, tool, params)
if data is None:
    print(*xprof.xspace_to_tool_names(files), sep=", ")
    sys.exit({_UNKNOWN_TOOL})
sys.stdout.buffer.write(data.encode() if isinstance(data, str) else data)
"""
_OF_ONE_HOST = ("memory_profile", "trace_viewer")
# Names for the parts of a tool's answer: XProf gives them none.
_PARTS = {
    "overview_page": ("ops", "steps", "hosts", "advice", "inference_latency", "", "diagnostics"),
    "input_pipeline_analyzer": ("", "steps", "ops", "advice", "diagnostics"),
    "framework_op_stats": ("with_idle", "without_idle"),
    "roofline_model": ("ops", "diagnostics"),
}

Answer = pd.DataFrame | dict[str, pd.DataFrame] | Any


def run_tool(run: Run, tool: str, params: Mapping[str, Any] | None = None) -> Answer:
    """Return the answer of a tool of XProf for a run.

    XProf writes caches beside the files that it reads, so it gets copies.

    Parameters
    ----------
    tool
        XProf's name of the tool, e.g. ``framework_op_stats``, ``hlo_stats`` or ``roofline_model``.
    params
        The tool's options, as `xprof.convert.raw_to_tool_data.xspace_to_tool_data` takes them.

    Returns
    -------
    DataFrame, dict or other
        A frame for one table, frames by name for several; columns have XProf's names and units, and ``attrs`` holds
        the table's properties. Other answers as parsed JSON, or text.

    Raises
    ------
    MissingDependencyError
        XProf does not work with the packages that are installed.
    ValueError
        It has no such tool, or can't read these files.
    """
    if len(run.files) > len(run.hosts):
        raise ValueError(f"XProf reads one run at a time, not {len(run.files)} one after another: load one of them.")
    foreign = next((file for file in run.files if not file.name.endswith(XSPACES)), None)
    if foreign is not None:
        raise ValueError(f"XProf reads only files *{XSPACE}, not {foreign.name}.")
    if tool in _OF_ONE_HOST and len(run.hosts) > 1:
        raise ValueError(f"XProf's {tool} takes one host at a time: use p.host(name), of {', '.join(run.hosts)}.")
    with tempfile.TemporaryDirectory(prefix="tfprof_nb_") as folder:
        files = [str(_copy(file, Path(folder), host)) for host, file in zip(run.hosts, run.files, strict=True)]
        text = _run_program(files, tool, dict(params or {}), folder)
    try:
        return _as_frames(json.loads(text), tool)
    except json.JSONDecodeError:
        return text


def _copy(file: Path, folder: Path, host: str) -> Path:
    copy = folder / f"{host.replace('/', '_')}.xplane.pb"
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as source, copy.open("wb") as target:
        shutil.copyfileobj(source, target)
    return copy


def _run_program(files: list[str], tool: str, params: dict[str, Any], folder: str) -> str:
    done = subprocess.run(  # noqa: S603  (our own program; what varies goes in as data)
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps([files, tool, params]),
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode == _UNKNOWN_TOOL:
        raise ValueError(f"XProf has no tool {tool!r} for this profile. It offers: {done.stdout.strip()}.")
    if done.returncode == _DOES_NOT_START:
        cure = "pip install --upgrade xprof protobuf"
        raise MissingDependencyError(f"The installed XProf does not start: {done.stdout.strip()}. Try: {cure}")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"it ended with exit status {done.returncode}"])[-1]
        raise ValueError(f"XProf's {tool} could not read this profile: {reason}")
    return done.stdout


def _as_frames(answer: Any, tool: str) -> Answer:
    """Turn Google Charts tables into frames; return everything else as it is."""
    if _is_table(answer):
        return _frame(answer)
    if not isinstance(answer, list) or not any(map(_is_table, answer)):
        return answer
    names = _PARTS.get(tool, ())
    if len(names) != len(answer):
        names = tuple(f"table_{i}" for i in range(len(answer)))
    return {name: _frame(part) for name, part in zip(names, answer, strict=True) if name and _is_table(part)}


def _is_table(part: object) -> bool:
    return isinstance(part, dict) and {"cols", "rows"} <= part.keys()


def _frame(table: dict[str, Any]) -> pd.DataFrame:
    rows = [[cell and cell.get("v") for cell in row["c"]] for row in table["rows"]]
    frame = pd.DataFrame(rows, columns=[column["id"] for column in table["cols"]])
    for column in table["cols"]:
        if column["type"] == "number":
            frame[column["id"]] = pd.to_numeric(frame[column["id"]])
    frame.attrs = {key: _number(value) for key, value in (table.get("p") or {}).items()}
    return frame


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
