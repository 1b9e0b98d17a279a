"""The kinds of work in a step's time, with their colours: each meaning has one colour in all views."""

from dataclasses import dataclass

from tfprof_nb.render import theme

DEVICE_COMPUTE = theme.GREEN
DEVICE_COMMUNICATION = theme.SKY
HOST_COMPUTE = theme.BLUE
KERNEL_LAUNCH = theme.ORANGE
INPUT = theme.VERMILLION
OUTPUT = theme.PURPLE
COMPILATION = theme.YELLOW
OTHER = theme.GREY

MEMORY_HEAP = theme.TEAL
MEMORY_STACK = theme.WINE
MEMORY_FREE = theme.PALE
MEMORY_FRAGMENTATION = theme.ROSE


@dataclass(frozen=True)
class Category:
    """One part of a time: its label, its colour and its tooltip."""

    label: str
    color: str
    meaning: str = ""


# By the column of a step's time, in the order in which bars are stacked.
STEP_CATEGORIES = {
    "device_compute_ms": Category("device compute", DEVICE_COMPUTE, "kernels ran on the device"),
    "device_to_device_ms": Category(
        "device copies", DEVICE_COMMUNICATION, "data was copied within or between devices; of a TPU also to its host"
    ),
    "device_collectives_ms": Category(
        "device collectives", DEVICE_COMMUNICATION, "devices exchanged data, such as gradients"
    ),
    "host_compute_ms": Category("host compute", HOST_COMPUTE, "TensorFlow's ops ran on the CPU"),
    "kernel_launch_ms": Category("kernel launch", KERNEL_LAUNCH, "the host launched kernels on the device"),
    "input_ms": Category("input", INPUT, "the step waited for its data"),
    "output_ms": Category("output", OUTPUT, "results were copied from the device to the host"),
    "compile_ms": Category("compilation", COMPILATION, "TensorFlow traced a function, or XLA compiled it"),
    "other_ms": Category("other", OTHER, "TensorFlow recorded nothing: Python code, or another wait"),
}
STEP_LABELS = {column: category.label for column, category in STEP_CATEGORIES.items()}

# By the part of a capture's time.
CAPTURE_PARTS = {
    "measured_steps_ms": Category("steps in the averages", theme.FOREST),
    "warm_up_steps_ms": Category("warm-up steps", theme.OLIVE),
    "other_steps_ms": Category("steps of other phases", theme.CYAN),
    "outside_steps_ms": Category("outside steps", theme.SILVER),
}
