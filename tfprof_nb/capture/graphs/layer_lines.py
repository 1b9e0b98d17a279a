"""The line of code that makes each Keras layer, found in the user's source by the layer's class, name and arguments."""

import ast
import inspect
import linecache
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tfprof_nb.capture.graphs.source_lines import Frame, is_users

_MAX_FILES, _MAX_CHARACTERS = 200, 500_000
_CLOSE = 8  # lines
_UNKNOWN = object()


class _Construction(NamedTuple):
    """A call that may make a layer; ``arguments`` are those that are written as plain values, by place or name."""

    frame: Frame
    arguments: Mapping[int | str, Any]


def lines_of(layers: Mapping[str, Any], files: Sequence[str]) -> dict[str, Frame]:
    """Return the line that makes each layer, for layers of which the code leaves no doubt.

    Parameters
    ----------
    layers
        The layers by their path.
    files
        The files whose code ran; notebook cells and the user's modules are searched too.
    """
    calls = _calls({type(layer).__name__ for layer in layers.values()}, files)
    ran = set(files)
    fitting = {path: _fitting(calls[type(layer).__name__], layer, ran) for path, layer in layers.items()}
    known = {path: frame for path, frames in fitting.items() if (frame := _of_several(path, frames, fitting))}
    return {path: frame for path in layers if (frame := known.get(path) or _between(path, fitting, known))}


def _between(path: str, fitting: Mapping[str, list[Frame]], known: Mapping[str, Frame]) -> Frame | None:
    """Return the only line that lies between those of the layers before and after; where one is known, close to it."""
    paths = list(fitting)
    at = paths.index(path)
    before = known.get(paths[at - 1]) if at else None
    after = known.get(paths[at + 1]) if at + 1 < len(paths) else None
    inside = [
        frame
        for frame in fitting[path]
        if all(other is None or other.file == frame.file for other in (before, after))
        and (after is None or 0 <= after.line - frame.line <= _CLOSE)
        and (before is None or 0 <= frame.line - before.line <= _CLOSE)
    ]
    return inside[0] if len(inside) == 1 and (before or after) else None


def _of_several(path: str, frames: list[Frame], fitting: Mapping[str, list[Frame]]) -> Frame | None:
    """Return a layer's line; where layers share lines, and each has one, they were made in order.

    Keras numbers the layers that it names as they are made.
    """
    if len(frames) <= 1:
        return frames[0] if frames else None
    sharing = sorted((other for other, own in fitting.items() if own == frames), key=_number)
    return frames[sharing.index(path)] if len(sharing) == len(frames) else None


def _number(path: str) -> int:
    """Return the number at the end of a layer's name.

    Examples
    --------
    >>> _number("generator/dense_12"), _number("dense")
    (12, 0)
    """
    number = path.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


def _fitting(calls: list[_Construction], layer: Any, ran: set[str]) -> list[Frame]:
    """Return the lines that may make a layer, in order; those of files that ran if there are any."""
    named = [call.frame for call in calls if call.arguments.get("name") == layer.name]
    found = named or [call.frame for call in calls if "name" not in call.arguments and _fits(call, layer)]
    frames = [frame for frame in found if frame.file in ran] or found
    by_file = {frame.file: _of_file(frames, frame.file) for frame in frames}
    texts = {tuple(linecache.getline(*frame[:2]).strip() for frame in own) for own in by_file.values()}
    return by_file[frames[-1].file] if len(texts) == 1 else []  # one cell that ran several times, or doubt


def _of_file(frames: list[Frame], file: str) -> list[Frame]:
    return sorted({frame for frame in frames if frame.file == file}, key=lambda frame: frame.line)


def _fits(call: _Construction, layer: Any) -> bool:
    """Whether a layer has the arguments of a call, as far as both are known."""
    try:
        config = layer.get_config()
        parameters = list(inspect.signature(type(layer).__init__).parameters)[1:]
    except Exception:  # noqa: BLE001  (a user's layer may raise anything)
        return True
    for key, written in call.arguments.items():
        name = key if isinstance(key, str) else parameters[key] if key < len(parameters) else ""
        if name in config and not _same(written, config[name]):
            return False
    return True


def _same(written: Any, stored: Any) -> bool:
    if isinstance(stored, tuple | list) and isinstance(written, int):
        return all(part == written for part in stored)
    if isinstance(stored, dict):  # an initializer, a regularizer: Keras stores more than is written
        return True
    if isinstance(stored, tuple | list) and isinstance(written, tuple | list):
        return list(written) == list(stored)
    return bool(written == stored)


def _calls(classes: set[str], files: Iterable[str]) -> dict[str, list[_Construction]]:
    """Return the calls of some classes in the user's code, by class; those of newer cells come last."""
    found = defaultdict[str, list[_Construction]](list)
    for file in _searched(files):
        code = "".join(linecache.getlines(file))
        if len(code) > _MAX_CHARACTERS or not any(name in code for name in classes):
            continue
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            name = _called_name(node)
            if isinstance(node, ast.Call) and name in classes:
                found[name].append(_Construction(Frame(file, node.lineno, ""), _plain_arguments(node)))
    return found


def _searched(files: Iterable[str]) -> list[str]:
    """Return the user's files to search, the newest cells last: those that ran, and so many others."""
    ran = set(files)
    modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    cached = list(linecache.cache)  # the cells, in the order of their first run
    known = [*(file for file in [*filter(None, modules), *ran] if file not in linecache.cache), *cached]
    own = list(dict.fromkeys(file for file in known if isinstance(file, str) and is_users(file)))
    return [file for k, file in enumerate(own) if file in ran or k >= len(own) - _MAX_FILES]


def _called_name(node: ast.AST) -> str:
    called = getattr(node, "func", None)
    return str(getattr(called, "attr", getattr(called, "id", "")))


def _plain_arguments(call: ast.Call) -> dict[int | str, Any]:
    written: Iterator[tuple[int | str, ast.expr]] = iter(
        [*enumerate(call.args), *((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)]
    )
    values = {key: _value(node) for key, node in written if not isinstance(node, ast.Starred)}
    return {key: value for key, value in values.items() if value is not _UNKNOWN}


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN
