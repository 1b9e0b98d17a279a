"""Where code comes from that AutoGraph generated: `tf.function` and tf.data run converted copies of functions."""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A line of a function."""

    function: str
    file: str
    line: int


def origins() -> dict[tuple[str, int], Place]:
    """Return the original place of each generated line, by the generated file and line.

    TensorFlow has no public way to ask; if its inner structure differs from that of 2.20 and 2.21, nothing is returned.
    """
    api: Any = sys.modules.get("tensorflow.python.autograph.impl.api")
    try:
        return dict(_origins(api._TRANSPILER._cache._cache)) if api else {}  # noqa: SLF001
    except (AttributeError, TypeError, RuntimeError):
        return {}


def _origins(cache: Any) -> Iterator[tuple[tuple[str, int], Place]]:
    for code, factories in list(cache.items()):
        name = getattr(code, "co_qualname", "")
        for factory in list(factories.values()):
            for generated, original in (factory.source_map or {}).items():
                place = Place(name or original.function_name, original.loc.filename, original.loc.lineno)
                yield (generated.filename, generated.lineno), place
