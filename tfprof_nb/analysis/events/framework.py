"""Which framework the profiled program used: advice and hints speak its words."""

from collections.abc import Sequence
from typing import Literal

from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode.session_runs import RUNS
from tfprof_nb.formats.marks import BACKEND

Framework = Literal["tensorflow", "jax", "pytorch"]
TITLES: dict[Framework, str] = {"tensorflow": "TensorFlow", "jax": "JAX", "pytorch": "PyTorch"}

_PYTORCH = ("aten::", "ProfilerStep#", "autograd::engine::")
_JAX = ("PjitFunction(", "jit(", "jit_")


def framework(forest: Forest) -> Framework:
    """Name the framework by what its runtime calls events; TensorFlow if nothing speaks against it."""
    names = {str(name) for column in (forest.host.names, forest.host.display_names) for name in column}
    if any(name.startswith(_PYTORCH) for name in names):
        return "pytorch"
    traced = forest.host.texts("tf_op").categories
    jitted = any(str(op).startswith("jit(") for op in traced) if traced is not None else False
    return "jax" if jitted or any(name.startswith(_JAX) for name in names) else "tensorflow"


def keras_backend(forest: Forest) -> str:
    """Name what runs Keras' models, as the marks of their steps tell; empty for TensorFlow."""
    said = forest.host.texts(BACKEND).categories
    return {"jax": "JAX", "torch": "PyTorch"}.get(str(said[0]), "") if said is not None and len(said) else ""


def drawn_by(forests: Sequence[Forest]) -> str:
    """Name the tool whose drawing a file is, if it is no record of a program's ops; else empty."""
    return next(filter(None, (forest.once(drawing_tool) for forest in forests)), "")


def drawing_tool(forest: Forest) -> str:
    """Name the tool that drew one host's events; empty if they are a record."""
    names = {str(name) for name in forest.host.names}
    if "_TFProfRoot" in names:
        return "tfprof"
    return "Horovod" if any(name.startswith("NEGOTIATE_") for name in names) else ""


def of_sessions(forests: Sequence[Forest]) -> bool:
    """Whether the profile is a record of `session.run`, by TensorFlow 1's own tools."""
    return any(line.name == RUNS for forest in forests for line in forest.host.lines)


def not_for(forests: Sequence[Forest], shows: str) -> str:
    """Say that a page about something of TensorFlow 2 does not apply; empty if the program used that.

    ``shows`` is what the page shows, a plural.
    """
    if of_sessions(forests):
        return f"This page shows {shows}: a record of session.run has none."
    used = forests[0].once(framework) if forests else "tensorflow"
    return "" if used == "tensorflow" else f"This page shows {shows}: a profile of a {TITLES[used]} program has none."
