"""``make fuzz``: change small files at random and open them, until a number of inputs or a time is reached.

Workers in processes of their own take the inputs in turn, under a limit of memory. An input has a number, from which it
follows: ``--only NUMBER`` runs it again. Inputs that fail are saved in ``build/fuzz/``; a fixed one belongs into
``tests/fuzz/corpus/``, which `test_fuzz.py` opens.
"""

import argparse
import json
import queue
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from fuzz import checks  # noqa: E402
from fuzz.mutations import mutated  # noqa: E402
from fuzz.seeds import SEEDS, space  # noqa: E402

KINDS = ("xspace", "xspace", "xspace", "chrome", "metadata", "sidecar", "cache")
MORE_BYTES = 700 << 20  # beyond what a process has that has opened one of each kind
HANG_S = 200
TELL_S = 60


def starts():
    """What inputs start from, by kind: the seeds and the corpus."""
    found = {kind: [seed() for seed in seeds] for kind, seeds in SEEDS.items()}
    for file in sorted((HERE / "corpus").glob("*-*")):
        found[file.name.partition("-")[0]].append(file.read_bytes())
    return found


def input_of(number, from_):
    """Return the kind, the bytes and the depth of an input."""
    rng = random.Random(number)
    kind = rng.choice(KINDS)
    seeds = len(SEEDS[kind])
    data = from_[kind][rng.randrange(seeds)] if rng.random() < 0.8 else rng.choice(from_[kind])
    depth = checks.OUTPUTS if number % 40 == 0 else checks.RESULTS if number % 10 == 0 else checks.COLUMNS
    return kind, mutated(rng, kind, data), depth


def work(first, step, last, least):
    """Check every ``step``-th input, at least to a depth; print a line before each and after each."""
    from_, profile = starts(), space()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, contents in from_.items():
            checks.check(folder, kind, contents[0], checks.OUTPUTS, profile)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MORE_BYTES,) * 2)
        for number in range(first, last, step):
            kind, data, depth = input_of(number, from_)
            depth = max(depth, least)
            say(number=number)
            try:
                say(done=number, depth=depth, read=checks.check(folder, kind, data, depth, profile))
            except BaseException as error:  # noqa: BLE001  (it is what this looks for)
                where = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
                say(done=number, depth=depth, failed=f"{type(error).__name__}: {str(error)[:300]}", where=where[-3:])
                if isinstance(error, KeyboardInterrupt):
                    return


def say(**what):
    print(json.dumps(what), flush=True)


class Worker:
    """A process that takes every ``step``-th input, and another one after it when it dies or hangs."""

    def __init__(self, said, first, step, last, least):
        self.said, self.step, self.last, self.least = said, step, last, least
        self.number, self.process = first - step, None
        threading.Thread(target=self._run, args=(first,), daemon=True).start()

    def _run(self, first):
        while first < self.last:
            command = [sys.executable, __file__, "--work", *map(str, (first, self.step, self.last, self.least))]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            alarm = None
            for line in self.process.stdout:
                if alarm:
                    alarm.cancel()
                alarm = threading.Timer(HANG_S, self.process.kill)
                alarm.start()
                what = json.loads(line)
                self.number = what.get("number", self.number)
                self.said.put(what)
            if alarm:
                alarm.cancel()
            if self.process.wait() == 0:
                break
            self.said.put({"done": self.number, "depth": 0, "failed": f"the process ended: {self.process.returncode}"})
            first = self.number + self.step
        self.said.put(None)


def fuzz(first, inputs, seconds, jobs, least, out):
    """Run inputs and return how many went how far, and what failed. What fails is told and saved at once."""
    said, until = queue.Queue(), time.monotonic() + seconds
    workers = [Worker(said, first + job, jobs, first + inputs, least) for job in range(jobs)]
    counts, failed, left, from_ = Counter(), {}, jobs, starts()
    tell_at = time.monotonic() + TELL_S
    try:
        while left and time.monotonic() < until:
            if time.monotonic() > tell_at:
                tell_at += TELL_S
                print(told(counts), flush=True)
            try:
                what = said.get(timeout=1)
            except queue.Empty:
                continue
            if what is None:
                left -= 1
            elif "done" in what:
                counts["inputs"] += 1
                counts["results"] += what["depth"] >= checks.RESULTS
                counts["outputs"] += what["depth"] >= checks.OUTPUTS
                counts["read"] += bool(what.get("read"))
                if "failed" in what:
                    same = failed.setdefault((what["failed"][:60], *what.get("where", ())[-1:]), [])
                    same.append(what)
                    if len(same) == 1:
                        save(what["done"], from_, out)
                        print(f"{what['failed']}\n    --only {what['done']}", flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        for worker in workers:
            worker.last = 0
            if worker.process:
                worker.process.kill()
    return counts, failed


def save(number, from_, out):
    kind, data, _ = input_of(number, from_)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{kind}-{number}").write_bytes(data)


def told(counts):
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--inputs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--depth", type=int, default=0, help="1 takes every input through all results, 2 also outputs")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "build" / "fuzz")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run one input here, without limits")
    parser.add_argument("--work", type=int, nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        return work(*args.work)
    if args.only is not None:
        kind, data, _ = input_of(args.only, starts())
        with tempfile.TemporaryDirectory() as folder:
            return print(kind, checks.check(Path(folder), kind, data, checks.OUTPUTS, space()))
    counts, failed = fuzz(args.first, args.inputs, args.seconds, args.jobs, args.depth, args.out)
    print(told(counts))
    for what in failed.values():
        print(
            f"{len(what)} × {what[0]['failed']}\n    {' '.join(what[0].get('where', ()))}\n    --only {what[0]['done']}"
        )
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
