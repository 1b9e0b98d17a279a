"""GPUs with tensor cores, by their architectures."""

from tfprof_nb.analysis.advice import Evidence

ARCHITECTURES = ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell")


def has_architecture(evidence: Evidence, names: tuple[str, ...] = ARCHITECTURES) -> bool:
    """Whether the device is a GPU of one of the architectures."""
    return any(name in str(evidence.overview.summary["device_type"]) for name in names)
