"""Execute the quickstart, write its report, and print what the bottleneck is: ``make demo`` runs this."""

from pathlib import Path
from subprocess import DEVNULL

import nbformat
from nbclient import NotebookClient
from nbformat.sign import NotebookNotary

NOTEBOOK = Path(__file__).with_name("00_quickstart.ipynb")
FOLDER = NOTEBOOK.parents[1] / "build" / "demo"

# The answer is what stands above the first section of the text form.
REPORT = """
baseline.to_html("report.html")
answer, *_ = str(baseline).split("\\n\\n\\n")
print(answer, end="\\n\\n")

import tfprof_nb
gained, *_ = str(tfprof_nb.compare(baseline, fixed)).split("\\n\\n")
print(gained)
"""


def main() -> None:
    """Run the notebook in ``build/demo`` and leave it there with its outputs, the profiles and the report."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(REPORT, id="report"))
    print(f"== demo: executing {NOTEBOOK.name} (about half a minute)", flush=True)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}).execute(stderr=DEVNULL)
    NotebookNotary().sign(notebook)  # it was run here: JupyterLab may show its outputs as they are
    nbformat.write(notebook, FOLDER / NOTEBOOK.name)
    outputs = {cell.id: cell.get("outputs", []) for cell in notebook.cells}
    print(f"== demo: report in {FOLDER / 'report.html'}\n")
    for output in outputs["report"]:
        print(output["text"])


if __name__ == "__main__":
    main()
