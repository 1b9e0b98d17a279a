"""Protobuf messages that no installed package has classes for, declared in protobuf's own language."""

import re
from functools import cached_property
from typing import Any

_PACKAGE = "tfprof_nb"
_BLOCK = re.compile(r"(message|enum) (\w+) \{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(repeated )?(\w+) (\w+) = (\d+);")
_VALUE = re.compile(r"(\w+) = (\d+);")


class Messages:
    r"""Classes of messages by name, built when the first is asked for: only then is protobuf imported.

    Parameters
    ----------
    declaration
        ``message`` and ``enum`` blocks as in a file of proto3, with nothing but plain and ``repeated`` fields. Fields
        that are left out are skipped when a message is read.

    Examples
    --------
    >>> messages = Messages("message Point { int64 x = 1; repeated string labels = 2; }")
    >>> messages["Point"](x=3, labels=["a"]).SerializeToString()
    b'\x08\x03\x12\x01a'
    """

    def __init__(self, declaration: str) -> None:
        self._declaration = declaration

    def __getitem__(self, name: str) -> type[Any]:
        return self._classes[name]

    @cached_property
    def _classes(self) -> dict[str, type[Any]]:
        from google.protobuf.descriptor_pb2 import FileDescriptorProto
        from google.protobuf.descriptor_pool import DescriptorPool
        from google.protobuf.message_factory import GetMessageClass

        blocks = _BLOCK.findall(self._declaration)
        kinds = {name: kind for kind, name, _ in blocks}
        file = FileDescriptorProto(name="messages.proto", package=_PACKAGE, syntax="proto3")
        for kind, name, body in blocks:
            if kind == "enum":
                _add_values(file.enum_type.add(name=name), body)
            else:
                _add_fields(file.message_type.add(name=name), body, kinds)
        pool = DescriptorPool()  # a pool of its own: TensorFlow has messages of the same names
        pool.Add(file)
        messages = [name for name, kind in kinds.items() if kind == "message"]
        return {name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in messages}


def _add_values(enum: Any, body: str) -> None:
    for name, number in _VALUE.findall(body):
        enum.value.add(name=name, number=int(number))


def _add_fields(message: Any, body: str, kinds: dict[str, str]) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

    for repeated, type_name, name, number in _FIELD.findall(body):
        field = message.field.add(name=name, number=int(number))
        field.label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
        field.type = Field.Type.Value(f"TYPE_{kinds.get(type_name, type_name).upper()}")
        if type_name in kinds:
            field.type_name = f".{_PACKAGE}.{type_name}"
