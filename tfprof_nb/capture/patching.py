"""Replacing parts of other people's code while a capture runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def replaced(owner: type | ModuleType, name: str, replacement: Any) -> Iterator[None]:
    """Replace one attribute of a class or module while the block runs."""
    original = vars(owner)[name]
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        if vars(owner)[name] is replacement:  # else someone replaced it after us: not ours to undo
            setattr(owner, name, original)
