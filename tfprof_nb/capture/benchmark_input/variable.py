"""The dataset that a variable of the notebook holds."""

import sys
from collections.abc import Mapping
from typing import Any

from tfprof_nb.capture.benchmark_input.pipelines import is_dataset
from tfprof_nb.capture.benchmark_input.python_inputs import is_py_dataset


def variables() -> Mapping[str, Any]:
    """Return the variables of the notebook; none outside of IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    return {} if shell is None else shell.user_ns


def holds_dataset(expression: str) -> bool:
    """Whether an expression without calls is a dataset in the notebook."""
    if "tensorflow" not in sys.modules:
        return False
    try:
        value = eval(expression, dict(variables()))  # noqa: S307 - an expression of the user's own cell
    except Exception:  # noqa: BLE001 - whatever it is, it is no dataset
        return False
    return is_dataset(value) or is_py_dataset(value)


def called_in_notebook(call: str, **values: Any) -> Any:
    """Return the value of a call in the notebook's namespace, where these names are known besides."""
    return eval(call, dict(variables()), values)  # noqa: S307 - what the notebook shows as code
