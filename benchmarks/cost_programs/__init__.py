"""Programs whose cost of being profiled is measured; each module has a function ``cell``."""
