"""Lines that join an array or tensor to itself and a new part."""

import re

# An array or tensor that a loop joins to itself.
_GROWN = re.compile(r"^(\w+) *= *((?:np|numpy|tf|jnp)\.\w+)\([\[(] *\1 *, *(\w+) *[\])]((?:,[^()]*)?)\)")


def joined_once(code: str) -> str:
    """Say how to collect parts that a line joins to an array or tensor in each step; empty for other lines."""
    grown = _GROWN.match(code)
    if not grown:
        return ""
    parts = f"{grown[1]}_parts"
    return (
        f"It copies all rows so far each time. Collect them in a list, `{parts} = [{grown[1]}]` before the loop "
        f"and `{parts}.append({grown[3]})` in it, and join them once after it: `{grown[1]} = {grown[2]}({parts}"
        f"{grown[4]})`."
    )
