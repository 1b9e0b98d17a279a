"""The site: ``make site`` builds it from these pages, the notebooks and the docstrings, as Sphinx is told here.

Sphinx with pydata's theme, as NumPy, pandas and Jupyter have it: it reads NumPy-style docstrings and the outputs that
notebooks store, and its pages load nothing from elsewhere. Material for MkDocs does the first two by plugins, and gets
no more features. The repository's root is the source, so that a link leads to the same place on GitHub and on the site.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import api_docstrings  # noqa: E402

import tfprof_nb  # noqa: E402

# Two public classes are callbacks of Keras, which takes seconds to import, and brings docstrings of its own.
sys.modules["keras"] = SimpleNamespace(callbacks=SimpleNamespace(Callback=object))

project = "tfprof_nb"
version = release = tfprof_nb.__version__
copyright = "The tfprof_nb authors"  # noqa: A001
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "notebooks/*.ipynb", "notebooks/README.md"]
exclude_patterns = [".*", "benchmarks", "build", "dist", "js", "tests", "tfprof_nb", "tfprof_logs"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# The menu: page -> the pages below it. The files on GitHub know nothing of it.
MENU = {
    "README": [
        "notebooks/README",
        "docs/README",
        "Rules <docs/tools/advice>",
        "API <docs/api>",
        "docs/troubleshooting",
        "From TensorBoard <docs/from-tensorboard>",
        "docs/glossary",
        "CHANGELOG",
        "CONTRIBUTING",
    ],
    "notebooks/README": ["notebooks/[0-9]*"],
    "docs/README": [
        "docs/gallery",
        *(f"docs/tools/{name}" for name in ("overview", "breakdown", "steps", "source", "python", "input_pipeline")),
        *(f"docs/tools/{name}" for name in ("tf_data", "ops", "kernels", "memory", "functions", "layers", "flame")),
        *(f"docs/tools/{name}" for name in ("graph", "pods", "trace", "compare", "try_change")),
        *(f"docs/tools/{name}" for name in ("benchmark_input", "benchmark_step", "watch")),
        "docs/best-practices",
        "docs/budgets",
        "docs/digest",
        "docs/agents",
        "docs/how-it-works",
        "docs/performance",
        "docs/coverage",
    ],
    "docs/agents": ["docs/skill/SKILL"],
    "docs/tools/advice": ["docs/advice/*", "docs/advice-truth"],
    "CONTRIBUTING": ["docs/new-rules", "docs/sidecar", "docs/trace-format", "docs/releasing", "SECURITY"],
}

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"
nb_mime_priority_overrides = [("html", "text/html", 0)]  # the stored form, which needs no kernel
nb_ipywidgets_js = {}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_custom_sections = ["Also"]
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "tfprof_nb"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page.split("<")[-1].rstrip(">"): [] for page in ("README", *MENU["README"][3:7])}


def setup(app: object) -> None:
    """Add the menu, what a docstring alone does not say, and a page for the address of the site itself."""
    app.connect("source-read", _with_menu)
    app.connect("autodoc-process-docstring", api_docstrings.complete, priority=400)  # before napoleon reads them
    app.connect("build-finished", _with_index)


def _with_menu(_app: object, page: str, source: list[str]) -> None:
    if page in MENU:
        entries = "\n".join(MENU[page])
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:maxdepth: 1\n\n{_from_root(entries)}\n```\n"


def _from_root(entries: str) -> str:
    """Make names of pages absolute."""
    lines = (line.replace("<", "</") if "<" in line else f"/{line}" for line in entries.splitlines())
    return "\n".join(lines)


def _with_index(app: object, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        shutil.copyfile(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")
