"""Capture other processes over gRPC: `workers` says which, `profiler_service` how to talk to them."""

from tfprof_nb.capture.remote.capture_workers import Progress, RemoteRun, capture_workers

__all__ = ["Progress", "RemoteRun", "capture_workers"]
