"""Which framework the profiled program used: advice and hints speak its words."""

from __future__ import annotations

from typing import Literal

from tfprof_nb.analysis.events.forest import Forest

Framework = Literal["tensorflow", "jax", "pytorch"]
TITLES: dict[Framework, str] = {"tensorflow": "TensorFlow", "jax": "JAX", "pytorch": "PyTorch"}

_PYTORCH = ("aten::", "ProfilerStep#", "autograd::engine::")
_JAX = ("PjitFunction(", "jit(", "jit_")


def framework(forest: Forest) -> Framework:
    """Name the framework by what its runtime calls events; TensorFlow if nothing speaks against it."""
    names = [str(name) for name in forest.host.names]
    if any(name.startswith(_PYTORCH) for name in names):
        return "pytorch"
    traced = forest.host.texts("tf_op").categories
    jitted = any(str(op).startswith("jit(") for op in traced) if traced is not None else False
    return "jax" if jitted or any(name.startswith(_JAX) for name in names) else "tensorflow"
