"""The widgets' JavaScript: built from js/ into the folder static/ beside this file."""

import re
from pathlib import Path

from markupsafe import Markup

from tfprof_nb.render.markup import element

_STATIC = Path(__file__).parent / "static"
_IN_REPORTS = ("tabs", "table", "trace", "flame", "readout")
_EXPORT = re.compile(r"export\{([\w$]+) as default\};\s*$")  # how esbuild ends a module


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
    """Return the style and the script that draw all tables and timelines of a report: the widgets' own."""
    widgets = {name: source(name) for name in _IN_REPORTS}
    draw_page, style = source("report")
    called = ",\n".join(f"{name}: {_as_expression(module)}" for name, (module, _) in widgets.items())
    # Inside a script's strings both spellings mean the same, but the first would end the element.
    script = f"{_as_expression(draw_page)}({{\n{called}\n}});".replace("</script", r"<\/script")
    styles = "\n".join([*(css for _, css in widgets.values()), style])
    return element("style", Markup(styles)) + element("script", Markup(script), type="module")  # noqa: S704 - our own


def _as_expression(module: str) -> str:
    """Return an ES module as an expression: what it exports by default."""
    return "(() => {\n" + _EXPORT.sub(r"return \1;", module) + "})()"
