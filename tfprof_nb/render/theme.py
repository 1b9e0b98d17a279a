"""One meaning, one colour, in every view and output: the Okabe-Ito palette, safe for colour-blind readers."""

DEVICE_COMPUTE = "#009E73"
INPUT = "#D55E00"
HOST_COMPUTE = "#0072B2"
KERNEL_LAUNCH = "#E69F00"
OUTPUT = "#CC79A7"
DEVICE_COMMUNICATION = "#56B4E9"
COMPILATION = "#F0E442"
OTHER = "#999999"

MEMORY_HEAP = "#44AA99"
MEMORY_STACK = "#882255"
MEMORY_FREE = "#DDDDDD"

# Step-time category -> (label, colour), in the order in which bars are stacked.
STEP_CATEGORIES: dict[str, tuple[str, str]] = {
    "device_compute_ms": ("device compute", DEVICE_COMPUTE),
    "device_to_device_ms": ("device to device", DEVICE_COMMUNICATION),
    "device_collectives_ms": ("device collectives", DEVICE_COMMUNICATION),
    "host_compute_ms": ("host compute", HOST_COMPUTE),
    "kernel_launch_ms": ("kernel launch", KERNEL_LAUNCH),
    "input_ms": ("input", INPUT),
    "output_ms": ("output", OUTPUT),
    "compile_ms": ("compilation", COMPILATION),
    "other_ms": ("other", OTHER),
}


# Part of a capture's time -> (label, colour).
WHOLE_PARTS: dict[str, tuple[str, str]] = {
    "measured_steps_ms": ("steps in the averages", "#117733"),
    "warm_up_steps_ms": ("warm-up steps", "#999933"),
    "other_steps_ms": ("steps of other phases", "#88CCEE"),
    "outside_steps_ms": ("outside of steps", "#BBBBBB"),
}

# What each category is, for tooltips.
STEP_MEANINGS: dict[str, str] = {
    "device_compute_ms": "kernels ran on the device",
    "device_to_device_ms": "data was copied within or between devices",
    "device_collectives_ms": "devices exchanged data, such as gradients",
    "host_compute_ms": "ops of TensorFlow ran on the CPU",
    "kernel_launch_ms": "the host was starting kernels of the device",
    "input_ms": "the step waited for its data",
    "output_ms": "results were copied from the device to the host",
    "compile_ms": "TensorFlow traced a function, or XLA compiled it",
    "other_ms": "TensorFlow recorded nothing: Python, or waiting for something else",
}


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
