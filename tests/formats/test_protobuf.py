"""Our declarations of messages, against TensorFlow's own."""

import pytest

from tfprof_nb.decode.run_metadata import MESSAGES
from tfprof_nb.formats.protobuf import Messages


def descriptors(descriptor):
    """Return the descriptors of a message and of all messages inside it, by name."""
    found, waiting = {}, [descriptor]
    while waiting:
        message = waiting.pop()
        if message.name not in found:
            found[message.name] = message
            waiting += [field.message_type for field in message.fields if field.message_type]
    return found


def fields(descriptor):
    from google.protobuf.descriptor_pb2 import DescriptorProto

    message = DescriptorProto()
    descriptor.CopyToProto(message)
    return {field.name: (field.number, field.type, field.label) for field in message.field}


@pytest.mark.tensorflow
def test_the_fields_of_run_metadata_are_tensorflows():
    config_pb2 = pytest.importorskip("tensorflow.core.protobuf.config_pb2")
    theirs = descriptors(config_pb2.RunMetadata.DESCRIPTOR)
    ours = descriptors(MESSAGES["RunMetadata"].DESCRIPTOR)
    theirs |= {"ThreadName": theirs["DeviceStepStats"].nested_types_by_name["ThreadNamesEntry"]}
    for name, message in ours.items():
        assert fields(message).items() <= fields(theirs[name]).items()


@pytest.mark.tensorflow
def test_data_types_are_tensorflows():
    types_pb2 = pytest.importorskip("tensorflow.core.framework.types_pb2")
    enum = MESSAGES["TensorDescription"].DESCRIPTOR.fields_by_name["dtype"].enum_type
    ours, theirs = {value.name: value.number for value in enum.values}, dict(types_pb2.DataType.items())
    known = ours.keys() & theirs.keys()
    assert len(known) > 40
    assert {name: ours[name] for name in known} == {name: theirs[name] for name in known}


def test_a_type_that_is_not_declared_is_refused():
    with pytest.raises(ValueError, match="TYPE_PLACE"):
        Messages("message Point { Place place = 1; }")["Point"]
