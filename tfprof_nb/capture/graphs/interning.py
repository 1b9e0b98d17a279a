"""Numbers for distinct values, which keep the sections of the sidecar small."""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Interned(Generic[T]):
    """Numbers distinct values from 0, in the order of their first occurrence."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        """Return the value's number."""
        return self._numbers.setdefault(value, len(self._numbers))

    def numbers(self, values: Iterable[T]) -> list[int]:
        """Return the number of each value."""
        return [self.number(value) for value in values]

    def values(self) -> list[T]:
        """Return the values in the order of their numbers."""
        return list(self._numbers)
