"""Memory over time: ``memory`` is the result, from ``allocation_events`` and samples of ``process_memory``."""
