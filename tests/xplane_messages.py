"""Protobuf's own classes for XSpace, as an oracle: built here, because importing TensorFlow's would take seconds."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# Number, name and type of each field; * is repeated, | a member of the message's oneof, {} a map from int64.
SCHEMA = {
    "XSpace": "1 planes XPlane*, 2 errors string*, 3 warnings string*, 4 hostnames string*",
    "XPlane": "1 id int64, 2 name string, 3 lines XLine*, 4 event_metadata XEventMetadata{}, "
    "5 stat_metadata XStatMetadata{}, 6 stats XStat*",
    "XLine": "1 id int64, 2 name string, 3 timestamp_ns int64, 4 events XEvent*, 9 duration_ps int64, "
    "10 display_id int64, 11 display_name string",
    "XEvent": "1 metadata_id int64, 2 offset_ps int64|, 3 duration_ps int64, 4 stats XStat*, 5 num_occurrences int64|",
    "XStat": "1 metadata_id int64, 2 double_value double|, 3 uint64_value uint64|, 4 int64_value int64|, "
    "5 str_value string|, 6 bytes_value bytes|, 7 ref_value uint64|",
    "XEventMetadata": "1 id int64, 2 name string, 3 metadata bytes, 4 display_name string, 5 stats XStat*, "
    "6 child_id int64*",
    "XStatMetadata": "1 id int64, 2 name string, 3 description string",
}


def _file():
    file = descriptor_pb2.FileDescriptorProto(name="oracle.proto", package="oracle", syntax="proto3")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        if "|" in fields:
            message.oneof_decl.add(name="choice")
        for text in fields.split(", "):
            _add_field(message, *text.split())
    return file


def _add_field(message, number, name, kind):
    field = message.field.add(name=name, number=int(number))
    if kind.endswith("{}"):
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _add_field(entry, 1, "key", "int64")
        _add_field(entry, 2, "value", kind.removesuffix("{}"))
        kind = f"{message.name}.{entry.name}*"
    field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
    if kind.endswith("|"):
        field.oneof_index = 0
    kind = kind.rstrip("*|")
    if kind.islower():
        field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".oracle.{kind}"


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())
_classes = {name: message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"oracle.{name}")) for name in SCHEMA}
XSpace, XPlane, XLine, XEvent, XStat = (_classes[name] for name in ("XSpace", "XPlane", "XLine", "XEvent", "XStat"))
