"""A short run of ``make fuzz``, the inputs that failed once, and structures drawn by hypothesis."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import Ref, Uint, XSpace
from fuzz.checks import OUTPUTS, RESULTS, check
from fuzz.mutations import NUMBERS, TEXTS
from fuzz.seeds import SEEDS, space

HERE = Path(__file__).parent

whole = st.sampled_from(NUMBERS) | st.integers(0, 5)
times = st.integers(0, 10**9) | st.sampled_from(NUMBERS)
names = st.sampled_from(
    [
        "train",
        "Iterator::Root::Map",
        "a/MatMul:MatMul",
        "gradients/a/MatMul_grad/MatMul:MatMul",
        "MemoryAllocation",
        "MemoryDeallocation",
        "PartitionedCall",
        "EagerLocalExecute: f",
        "KernelLaunch",
        "%fusion = f32[2]{0} fusion(f32[2] %a)",
        "MemcpyH2D",
        "cell line 2",
        *TEXTS,
    ]
)
stats = st.dictionaries(
    st.sampled_from(
        [
            *("step_num", "_r", "group_id", "_p", "_c", "_pt", "_ct", "correlation_id", "id", "parent_id", "iter_num"),
            *("tf_op", "hlo_category", "flops", "bytes_accessed", "kernel_details", "memcpy_details", "shape"),
            *("allocator_name", "bytes_allocated", "allocation_bytes", "address", "peak_bytes_in_use", "tracing_count"),
        ]
    ),
    whole.map(lambda value: value if value < 2**63 else Uint(value)) | st.floats() | names | names.map(Ref),
    max_size=6,
)
event = st.tuples(names, times, times, stats)
line = st.tuples(names, st.sampled_from([0, 5, -5, 17 * 10**17, 2**63 - 1]), st.lists(event, max_size=12))
planes = st.lists(
    st.tuples(st.sampled_from(["/host:CPU", "/device:GPU:0", "/device:TPU:0", "x"]), st.lists(line, max_size=4)),
    min_size=1,
    max_size=3,
)


def built(drawn):
    made = XSpace()
    for name, lines in drawn:
        plane = made.plane(name)
        for label, timestamp_ns, events in lines:
            row = plane.line(label, timestamp_ns=timestamp_ns)
            for event_name, start, duration, values in events:
                row.event(event_name, start_ps=start, duration_ps=duration, **values)
    return made.to_bytes()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(planes)
def test_drawn_structures(drawn):
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder), "xspace", built(drawn), RESULTS)


@pytest.mark.parametrize("kind", SEEDS)
def test_the_files_that_mutations_start_from_are_read_with_all_their_pages(tmp_path, kind):
    for seed in SEEDS[kind]:
        assert check(tmp_path, kind, seed(), OUTPUTS, space())


@pytest.mark.parametrize("file", sorted((HERE / "corpus").glob("*-*")), ids=lambda file: file.name)
def test_an_input_that_failed_once(tmp_path, file):
    check(tmp_path, file.name.partition("-")[0], file.read_bytes(), OUTPUTS, space())


@pytest.mark.nightly
def test_a_short_run():
    command = [sys.executable, HERE / "run.py", "--inputs", "150", "--seconds", "1e9", "--jobs", "1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "inputs: 150" in done.stdout
