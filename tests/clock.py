"""A clock for what measures: only the code under test moves it on."""

import threading


class Clock:
    """Stands in for the module `time`: it goes on by what is slept, and a little by each look at it."""

    def __init__(self, look_s=1e-4):
        self._now_ns, self._look_s, self._lock = 0, look_s, threading.Lock()

    def sleep(self, seconds):
        with self._lock:
            self._now_ns += round(seconds * 1e9)

    def perf_counter_ns(self):
        self.sleep(self._look_s)
        return self._now_ns

    def perf_counter(self):
        return self.perf_counter_ns() / 1e9
