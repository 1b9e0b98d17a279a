"""Small programs with one planted fault each, and healthy ones, as people write them in notebooks.

Each module is one program, in cells of text, because the profiler speaks of lines of cells. It has

- ``KIND``: the fault in a few words, or ``"healthy"``;
- ``SETUP``: the cells before (here as one): the data, the model;
- ``CELL``: the cell to profile. It makes a fresh start wherever it runs;

and, unless it is healthy,

- ``FIXED``: the cell without the fault, for the gain;
- ``RULES``: the rules of which a finding must be a case; those that say more about one of them count too. The first is
  the one that the program is an example of;
- ``PLACES``: pieces of the code. A finding names the place by the number of a line that holds one of them (of a
  function or class: any of its lines), or by the piece itself where that is a name;
- ``SAVES``: ``"memory"`` where the fault costs memory and not time.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

HEALTHY = "healthy"
ROUNDS = 2  # runs of each cell, for the gain


@dataclass(frozen=True)
class Program:
    """A program, and of what rule a finding must be to name its fault."""

    name: str
    kind: str
    setup: str
    cell: str
    fixed: str
    rules: tuple[str, ...]
    places: tuple[str, ...]
    saves: str

    @property
    def is_healthy(self) -> bool:
        """Whether there is no fault to find."""
        return self.kind == HEALTHY


def names() -> list[str]:
    """Name all programs, the healthy ones last."""
    found = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return sorted(found, key=lambda name: (load(name).is_healthy, name))


def load(name: str) -> Program:
    """Read a program."""
    module = importlib.import_module(f"{__name__}.{name}")

    def cell(part: str) -> str:
        return str(getattr(module, part, "")).strip()

    return Program(
        name,
        module.KIND,
        cell("SETUP"),
        cell("CELL"),
        cell("FIXED"),
        getattr(module, "RULES", ()),
        getattr(module, "PLACES", ()),
        getattr(module, "SAVES", "time"),
    )
