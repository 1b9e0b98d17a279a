"""Execute the notebooks and store their outputs, small and the same wherever they are made: ``make notebooks``.

Names as arguments (``01_input_pipeline``) execute only these.
"""

from __future__ import annotations

import re
import socket
import sys
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parent
TIMEOUT_S = 600  # a cell
HOST = socket.gethostname()
WIDGET = "application/vnd.jupyter.widget-view+json"
STATIC_ID = re.compile(r"tfp-static-[0-9a-f]{12}")


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells in a folder; a cell that raises raises `nbclient.exceptions.CellExecutionError`."""
    resources = {"metadata": {"path": str(folder)}}
    kept = {"store_widget_state": False, "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, timeout=TIMEOUT_S, resources=resources, **kept).execute(stderr=DEVNULL)


def keep_static_forms(notebook: NotebookNode) -> None:
    """Drop what needs the kernel that ran (widgets), and what tells of the machine (TensorFlow's log, times, ids)."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        cell.metadata = NotebookNode()
        cell.outputs = [output for output in cell.outputs if _stays(output)]
    forms = [output.data for cell in cells for output in cell.outputs if "text/html" in output.get("data", {})]
    for number, data in enumerate(forms):
        data["text/html"] = STATIC_ID.sub(f"tfp-static-{number}", data["text/html"]).replace(f">{HOST}<", ">localhost<")
        data["text/plain"] = re.sub(rf"\b{re.escape(HOST)}\b", "localhost", data["text/plain"])
    notebook.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )


def _stays(output: NotebookNode) -> bool:
    if output.output_type == "stream":
        return output.name == "stdout" and bool(output.text.strip())
    return WIDGET not in output.get("data", {})


def main(names: list[str]) -> None:
    """Execute the named notebooks, or all, each in an empty folder of its own."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        notebook = nbformat.read(path, as_version=4)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            execute(notebook, Path(folder))
        keep_static_forms(notebook)
        nbformat.write(notebook, path)
        print(f"{path.name}: {time.monotonic() - begun:.0f} s, {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
