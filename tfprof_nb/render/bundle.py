"""The widgets' JavaScript: built from js/ into the folder static/ beside this file."""

from pathlib import Path

from markupsafe import Markup

from tfprof_nb.render.markup import element

_STATIC = Path(__file__).parent / "static"


def bundle(name: str) -> tuple[Path, Path]:
    """Return the paths of a widget's ES module and style sheet.

    Raises
    ------
    ImportError
        If the bundle is missing, as in a fresh checkout.
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

    Given paths instead, anywidget would watch the files, and keep every widget for that, even closed ones.
    """
    module, style = (path.read_text(encoding="utf-8") for path in bundle(name))
    return module, style


def report_viewers() -> Markup:
    """Return the style and the script that draw all tables and timelines of a report."""
    module, style = source("report")
    # Inside a script's strings both spellings mean the same, but the first would end the element.
    script = module.replace("</script", r"<\/script")
    return element("style", Markup(style)) + element("script", Markup(script), type="module")  # noqa: S704 - our own
