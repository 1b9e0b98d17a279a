"""TensorFlow profiles in notebooks: what is slow, why, and what to change.

Public names are listed once, in ``__init__.pyi``, and imported on first use: ``import tfprof_nb`` alone brings in
neither TensorFlow nor widgets.
"""

from typing import Any

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, _public = lazy_loader.attach_stub(__name__, __file__)

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension", *_public]  # noqa: PLE0604


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to a shell: what ``%load_ext tfprof_nb`` calls."""
    from tfprof_nb.notebook.magics import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics from a shell: what ``%unload_ext tfprof_nb`` calls."""
    from tfprof_nb.notebook.magics import unregister

    unregister(shell)
