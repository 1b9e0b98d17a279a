"""Where the widgets' JavaScript is: built from js/ into the folder static/ beside this file."""

from __future__ import annotations

from pathlib import Path

_STATIC = Path(__file__).parent / "static"


def bundle(name: str) -> tuple[Path, Path]:
    """Return the paths of a widget's ES module and style sheet.

    Raises
    ------
    ImportError
        The bundle is missing, as in a fresh checkout.
    """
    module, style = _STATIC / f"{name}.js", _STATIC / f"{name}.css"
    if not (module.is_file() and style.is_file()):
        raise ImportError(
            f"The widgets' JavaScript is missing ({module.name}). In a checkout, run 'make build'; "
            "otherwise install tfprof_nb again."
        )
    return module, style


def source(name: str) -> tuple[str, str]:
    """Return a widget's ES module and style sheet as text.

    Given their paths, anywidget would look after changes of the files, and keep every widget for that, closed or not.
    """
    module, style = (path.read_text(encoding="utf-8") for path in bundle(name))
    return module, style


def report_viewers() -> str:
    """Return what draws the tables and timelines of a page of its own: a style and a script, once for all of them."""
    module, style = source("report")
    # What would end the element early is written otherwise; inside of strings both mean the same.
    script = module.replace("</script", r"<\/script")
    return f'<style>{style}</style><script type="module">{script}</script>'
