"""Hosts that differ in everything that merging could mix up, and profiles of them compared bit by bit."""

import pandas as pd

from builders import XSpace

RESULTS = ("steps", "overview", "ops", "input_pipeline", "tf_data", "kernels", "memory", "pods", "advice", "functions")


def host(number):
    """Return a host with steps, eager ops, a function, a pipeline, a GPU's kernels and memory of two allocators."""
    space = XSpace()
    space.errors.append(f"problem {number}")
    space.plane("Task Environment", profile_start_time=1_700_000_000_000_000_000 + 1000 * number)
    cpu = space.plane("/host:CPU")
    python, worker = cpu.line("python"), cpu.line("worker")
    stream = space.plane("/device:GPU:0", compute_cap_major=9).line("Stream #13(Compute)")
    for step in range(4 + number % 2):
        at = 1000 * step
        length = 700 + 100 * number
        python.event("train", start_us=at, duration_us=length, step_num=step, _r=1)
        python.event("Callback.on_batch_end", start_us=at + 600, duration_us=20)
        python.event(
            "train_step", start_us=at + 1, duration_us=300, tf_function_call="notTraced-nonXla", tracing_count=1
        )
        python.event("MatMul:MatMul", start_us=at + 10, duration_us=90 + number, correlation_id=step + 1)
        python.event("IteratorGetNextOp::DoCompute", start_us=at + 400, duration_us=100 + 50 * number)
        worker.event("Iterator::Batch::Map", start_us=at + 400, duration_us=80, id=10 * step + 1, parent_id=0)
        for event, size in (("MemoryAllocation", 512), ("MemoryDeallocation", 0)):
            worker.event(
                event,
                start_us=at + 500 + (size == 0),
                allocator_name=f"GPU_{step % 2}_bfc",
                bytes_allocated=1024 * (step + 1) + size,
                bytes_available=4096,
                bytes_reserved=0,
                peak_bytes_in_use=9000,
                requested_bytes=500,
                allocation_bytes=512,
                addr=77 + step,
                tf_op=f"MatMul:MatMul{number}",
                region_type="output",
                shape="[2,3]",
                data_type=1,
                fragmentation=0.25,
            )
        stream.event(
            "gemm_fp16" if number else "gemm_fp32",
            start_us=at + 120,
            duration_us=50 + step,
            correlation_id=step + 1,
            kernel_details="regs:32 static_shared:7 dynamic_shared:8 grid:3,2,1 block:64,1,1 occ_pct:50",
            tf_op="MatMul:MatMul",
        )
    return space


def assert_same(one, other):
    """Compare all results of two profiles, except those that show single hosts."""
    for name in RESULTS:
        mine, theirs = vars(getattr(one, name)), vars(getattr(other, name))
        for key in mine:
            if isinstance(mine[key], pd.DataFrame) and key != "_ready":  # the timeline, which is read when it is used
                pd.testing.assert_frame_equal(theirs[key], mine[key], check_exact=True, obj=f"{name}.{key}")
        for key in ("summary", "notes"):
            assert repr(theirs[key]) == repr(mine[key]), (name, key)
    assert vars(one.measured.pace).keys() == vars(other.measured.pace).keys()
    assert repr(one.measured.work) == repr(other.measured.work)
    assert str(one) == str(other)
