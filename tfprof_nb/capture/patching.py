"""Replace attributes of other packages while a capture runs."""

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
        if vars(owner)[name] is replacement:  # otherwise someone else replaced it after us
            setattr(owner, name, original)
