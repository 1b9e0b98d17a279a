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
ROSE = "#CC6677"
FOREST = "#117733"
OLIVE = "#999933"
CYAN = "#88CCEE"
SILVER = "#BBBBBB"
PALE = "#99999955"  # lighter than grey in any theme
