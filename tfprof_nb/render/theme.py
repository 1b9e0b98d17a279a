"""The colours of every output, by hue: the Okabe-Ito palette, safe for colour-blind readers, then hues beside it."""

BLUE = "#0072B2"
GREEN = "#009E73"
VERMILLION = "#D55E00"
ORANGE = "#E69F00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
YELLOW = "#F0E442"
GREY = "#999999"

TEAL = "#44AA99"
WINE = "#882255"
FOREST = "#117733"
OLIVE = "#999933"
CYAN = "#88CCEE"
SILVER = "#BBBBBB"
PALE = "#DDDDDD"


def shades(color: str, count: int) -> list[str]:
    """Return ``count`` shades of a colour, from itself to a pale one: parts of one thing keep its colour.

    Examples
    --------
    >>> shades("#0072B2", 2)
    ['#0072b2', '#b8d8e9']
    """
    channels = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    paleness = [0.72 * k / max(count - 1, 1) for k in range(count)]
    return ["#" + "".join(f"{round(c + (255 - c) * pale):02x}" for c in channels) for pale in paleness]
