"""Say what a JSON file seems to be that is no trace."""

from typing import Any

_MAX_KEYS, _MAX_LENGTH = 4, 30
_VALUES: dict[type, str] = {str: "text", list: "list", dict: "record"}
# By keys that are in all files of a kind, and in few others.
_OBJECTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"cells", "nbformat"}), "a Jupyter notebook"),
    (frozenset({"cols", "rows"}), "a table that TensorBoard's or XProf's profiler shows"),
    (frozenset({"memoryProfilePerAllocator"}), "the memory page that TensorFlow stored beside a profile"),
    (frozenset({"planes"}), "an XSpace written as JSON"),
    (frozenset({"stepStats"}), "a RunMetadata written as JSON"),
    (frozenset({"step_stats"}), "a RunMetadata written as JSON"),
    (frozenset({"class_name", "config"}), "the configuration of a Keras model or layer"),
    (frozenset({"nodes", "timeDeltas"}), "a CPU profile of V8 (Chrome, Node.js)"),
    (frozenset({"shared", "profiles"}), "a profile of speedscope"),
    (frozenset({"name", "version", "dependencies"}), "a package.json of npm"),
    (frozenset({"name", "version", "devDependencies"}), "a package.json of npm"),
    (frozenset({"name", "version", "scripts"}), "a package.json of npm"),
    (frozenset({"type", "features"}), "a GeoJSON file"),
    (frozenset({"compilerOptions"}), "a tsconfig.json of TypeScript"),
)


def kind_of_json(content: Any) -> str:
    """Say what JSON seems to be.

    Examples
    --------
    >>> kind_of_json([0.5, 0.25]), kind_of_json({"loss": [0.5], "val_loss": [0.75]})
    ('a list of numbers', 'the history of a training with Keras')
    """
    if isinstance(content, dict):
        return _kind_of_object(content)
    if not isinstance(content, list):
        return f"a single {_kind_of_value(content)}"
    if not content:
        return "an empty list"
    if isinstance(content[0], dict):
        # Of a table, TensorBoard's pages come as a list of one or several.
        known = _known(content[0])
        return f"a list of records {_keys(content[0])}" if known is None else f"{known}, in a list"
    kinds = list(dict.fromkeys(map(_kind_of_value, content)))
    return f"a list of {kinds[0]}s" if len(kinds) == 1 else "a list of values"


def _kind_of_object(content: dict[str, Any]) -> str:
    if known := _known(content):
        return known
    if content and all(isinstance(value, list) and value and all(map(_is_number, value)) for value in content.values()):
        losses = any(key.endswith("loss") for key in content)
        return "the history of a training with Keras" if losses else f"lists of numbers {_keys(content)}"
    return f"an object {_keys(content)}" if content else "an empty object"


def _known(content: dict[str, Any]) -> str | None:
    return next((kind for keys, kind in _OBJECTS if keys <= content.keys()), None)


def _keys(content: dict[str, Any]) -> str:
    names = [key if len(key) <= _MAX_LENGTH else f"{key[:_MAX_LENGTH]}..." for key in list(content)[:_MAX_KEYS]]
    more = ", ..." if len(content) > _MAX_KEYS else ""
    return f"with the keys {', '.join(names)}{more}" if names else "without keys"


def _kind_of_value(value: Any) -> str:
    if _is_number(value):
        return "number"
    return _VALUES.get(type(value), "value")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
