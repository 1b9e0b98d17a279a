"""Parse the section ``names``: what kind of object the names of the code stand for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tfprof_nb.formats.sidecar import NameFacts, NamesSection

CHANGED = "changed"  # the kind of a name that stands for another kind of object at the end


@dataclass(frozen=True)
class NameObject:
    """The object of a name.

    Attributes
    ----------
    type
        Its class, with the module; of a class itself its name, of a module the module's.
    kind
        What it is to TensorFlow, Keras, NumPy or Python, such as ``model``, ``array`` or ``function``; ``changed`` if
        it was another kind of object when the recording ended.
    shape, dtype
        Of arrays and tensors, if known.
    length
        Of lists, tuples, texts, sets and dictionaries; -1 if unknown.
    file, line
        Where a function is defined, by the name that Python knows the file by.
    """

    type: str
    kind: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    length: int = -1
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Names:
    """Objects by the file of their namespace and name; the file of the profiled code's own namespace is ``main``."""

    main: str = ""
    objects: Mapping[tuple[str, str], NameObject] = field(default_factory=dict)


def read_names(section: NamesSection | None) -> Names:
    """Return the objects of names."""
    if not section:
        return Names()
    objects = {(one["file"], one["name"]): _object(one) for one in section["start"]}
    for one in section["end"]:
        key, after = (one["file"], one["name"]), _object(one)
        differs = key in objects and objects[key].kind != after.kind
        objects[key] = NameObject(after.type, CHANGED) if differs else after
    return Names(section["main"], objects)


def _object(facts: NameFacts) -> NameObject:
    shape = facts.get("shape")
    return NameObject(
        facts["type"],
        facts["kind"],
        None if shape is None else tuple(shape),
        facts.get("dtype", ""),
        facts.get("length", -1),
        facts.get("defined_in", ""),
        facts.get("line", 0),
    )
