"""The tags of XSpace's messages: a field's number times 8, plus 0 for a number, 1 a double, 2 text or a message.

The schema is ``xplane.proto`` in https://github.com/openxla/xla (``xla/tsl/profiler/protobuf``).
"""

SPACE_PLANE = 1 << 3 | 2
SPACE_ERROR = 2 << 3 | 2
SPACE_WARNING = 3 << 3 | 2
SPACE_HOSTNAME = 4 << 3 | 2
SPACE_TAGS = (SPACE_PLANE, SPACE_ERROR, SPACE_WARNING, SPACE_HOSTNAME)

PLANE_NAME = 2 << 3 | 2
PLANE_LINE = 3 << 3 | 2
PLANE_EVENT_METADATA = 4 << 3 | 2
PLANE_STAT_METADATA = 5 << 3 | 2
PLANE_STAT = 6 << 3 | 2

LINE_ID = 1 << 3
LINE_NAME = 2 << 3 | 2
LINE_TIMESTAMP_NS = 3 << 3
LINE_EVENT = 4 << 3 | 2
LINE_DISPLAY_ID = 10 << 3
LINE_DISPLAY_NAME = 11 << 3 | 2

EVENT_METADATA = 1 << 3
EVENT_OFFSET_PS = 2 << 3
EVENT_DURATION_PS = 3 << 3
EVENT_STAT = 4 << 3 | 2
EVENT_OCCURRENCES = 5 << 3

ENTRY_KEY = 1 << 3
ENTRY_VALUE = 2 << 3 | 2

METADATA_NAME = 2 << 3 | 2
METADATA_DISPLAY_NAME = 4 << 3 | 2
METADATA_STAT = 5 << 3 | 2

STAT_METADATA = 1 << 3
STAT_DOUBLE = 2 << 3 | 1
STAT_UINT64 = 3 << 3
STAT_INT64 = 4 << 3
STAT_TEXT = 5 << 3 | 2
STAT_BYTES = 6 << 3 | 2
STAT_REF = 7 << 3
