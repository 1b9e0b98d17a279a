"""Parse the sections ``metrics`` and ``process_memory``: quantities that were sampled beside the capture."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.formats.sidecar import SamplesSection


class SampledQuantity(NamedTuple):
    """One quantity; ``values`` has a float64 per sample, NaN where it could not be read."""

    metric: str
    unit: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Samples:
    """Quantities that were sampled at the same times.

    Attributes
    ----------
    times_ns
        When, in nanoseconds since 1970, ascending.
    quantities
        What was sampled.
    """

    times_ns: Int64 = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    quantities: tuple[SampledQuantity, ...] = ()


def read_samples(section: SamplesSection | None) -> Samples:
    """Return the samples of a section."""
    if not section:
        return Samples()
    times_ns = np.array(section["times_ns"], dtype=np.int64)
    quantities = tuple(
        SampledQuantity(str(series["metric"]), str(series["unit"]), np.array(series["values"], dtype=np.float64))
        for series in section["series"]
    )
    if times_ns.ndim != 1 or any(quantity.values.shape != times_ns.shape for quantity in quantities):
        raise ValueError("a series does not have one value per time")
    return Samples(times_ns, quantities)
