"""All rules of advice, by their ids."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from tfprof_nb.analysis import advice
from tfprof_nb.analysis.advice.rule import Rule


@cache
def rules() -> Mapping[str, Rule]:
    """Return the rules that the modules of this package declare, by id."""
    modules = [
        importlib.import_module(module.name) for module in pkgutil.walk_packages(advice.__path__, f"{advice.__name__}.")
    ]
    declared = [value for module in modules for value in vars(module).values() if isinstance(value, Rule)]
    return {rule.id: rule for rule in sorted(declared, key=lambda rule: (rule.group, rule.id))}


def belongs_to(rule: str, whole: str) -> bool:
    """Whether a rule is another one, or says more about it.

    Examples
    --------
    >>> belongs_to("no-prefetch", "input-bound"), belongs_to("small-steps", "input-bound")
    (True, False)
    """
    return whole in (rule, rules()[rule].part_of)
