"""How findings name places and code."""

from tfprof_nb import _units


def at(place: str) -> str:
    """Return a place behind what is there; empty for an unknown one.

    Examples
    --------
    >>> at("In[1] line 3"), at("")
    (' (In[1] line 3)', '')
    """
    return f" ({place})" if place else ""


def quoted(code: str, width: int = 80) -> str:
    """Return code as a finding shows it, shortened.

    Examples
    --------
    >>> quoted("x = 1")
    '`x = 1`'
    """
    return f"`{_units.shorten(code, width)}`"


def in_code(place: str, code: str) -> str:
    """Name a line by its code and place, or by its place alone."""
    return f"{quoted(code)} ({place})" if code else f"The line at {place}"
