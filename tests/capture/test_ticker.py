"""Threads that watch a program leave its garbage alone."""

import gc
import threading
import time
from collections import Counter

import pytest

from tfprof_nb.capture.ticker import Ticker


@pytest.mark.parametrize("tickers", [1, 3])
def test_no_object_of_the_program_ends_in_a_ticker(tickers):
    ended_in = Counter()

    class Garbage:
        def __init__(self):
            self.me = self  # only a collection finds it

        def __del__(self):
            ended_in[threading.current_thread()] += 1

    def look(ticker):
        for _ in ticker:
            [(number, number) for number in range(100)]

    running = [Ticker(look, 0.001, "test") for _ in range(tickers)]
    for ticker in running:
        ticker.start()
    kept = []
    for number in range(1000):
        Garbage()
        kept.append([(number,) for _ in range(3)])
        time.sleep(0.0005)  # the tickers make objects meanwhile
    for ticker in running:
        ticker.end()
        ticker.join()
    assert set(ended_in) == {threading.main_thread()}
    assert ended_in.total() > 500
    assert gc.isenabled()


def test_a_program_that_collects_nothing_stays_so():
    gc.disable()
    try:
        ticker = Ticker(list, 0.001, "test")
        ticker.start()
        time.sleep(0.02)
        ticker.end()
        ticker.end()
        ticker.join()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_ticker_that_fails_lets_garbage_be_collected(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    ticker = Ticker(lambda ticker: 1 / 0, 0.001, "test")
    ticker.start()
    ticker.join()
    assert gc.isenabled()
