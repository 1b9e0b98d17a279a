"""TensorFlow's data types by name and number (``tensorflow/core/framework/types.proto``)."""

_NAMES = """
    INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 QUINT16
    UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ
    FLOAT8_E5M2FNUZ INT4 UINT4 INT2 UINT2 FLOAT4_E2M1FN
""".split()  # noqa: SIM905  (a list of one line each would be a page)
_REFERENCE = 100  # added to the number of a type for its reference type

NUMBERS = {f"DT_{name}": number for number, name in enumerate(_NAMES)}
NUMBERS |= {f"{name}_REF": number + _REFERENCE for name, number in NUMBERS.items() if number}
_TITLES = {number: name.removeprefix("DT_").lower() for name, number in NUMBERS.items() if number} | {0: "INVALID"}


def number(name: str) -> int:
    """Return the number of a type; 0 if the type is unknown.

    Examples
    --------
    >>> number("DT_FLOAT"), number("DT_HALF_REF"), number("")
    (1, 119, 0)
    """
    return NUMBERS.get(name, 0)


def title(number: int) -> str:
    """Return a type's name in TensorFlow's messages; the number itself if the type is unknown.

    Examples
    --------
    >>> title(1), title(119), title(0), title(99)
    ('float', 'half_ref', 'INVALID', '99')
    """
    return _TITLES.get(number, str(number))
