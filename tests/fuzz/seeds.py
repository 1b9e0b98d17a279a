"""Small files of each kind, with something for every page: what mutations start from."""

import json

import numpy as np
import pandas as pd

from builders import XSpace
from graph_sections import Function, Node, graphs_section
from tfprof_nb.decode.run_metadata import MESSAGES
from tfprof_nb.formats.packed import pack

US, NS = 10**6, 10**3
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/device:GPU:0"


def space():
    """A training loop on a GPU: steps, a pipeline, ops, kernels, memory, functions."""
    made = XSpace("host")
    made.plane("Task Environment", profile_start_time=17 * 10**17, profile_stop_time=17 * 10**17 + 4 * 10**6)
    host, gpu = made.plane("/host:CPU"), made.plane(GPU, compute_cap_major=8, memory_bandwidth=1)
    python, pool, data = host.line("python"), host.line("tf_pool/1"), host.line("tf_data", timestamp_ns=5)
    stream, ops = gpu.line("Stream #13(Compute)"), gpu.line("XLA Ops")
    for step in range(4):
        at, flow = 1000 * step, 100 + step
        python.event("train", start_us=at, duration_us=900, step_num=step, _r=1, group_id=step, step_name=str(step))
        python.event("PartitionedCall", start_us=at + 10, duration_us=800, tracing_count=step // 2, function="f")
        python.event("IteratorGetNext", start_us=at + 1, duration_us=8, iter_num=step, consumer_type=1, consumer_id=7)
        pool.event("layer/MatMul:MatMul", start_us=at + 20, duration_us=300, group_id=step, _pt=3, _p=flow)
        pool.event("gradients/layer/MatMul_grad/MatMul:MatMul", start_us=at + 400, duration_us=200, group_id=step)
        pool.event("KernelLaunch", start_us=at + 50, duration_us=5, correlation_id=flow, _ct=3, _c=flow)
        about = {
            "allocator_name": "GPU_0_bfc",
            "bytes_allocated": 2048,
            "bytes_available": 10_000,
            "peak_bytes_in_use": 4096,
        }
        about |= {"requested_bytes": 2000, "allocation_bytes": 2048, "address": step, "tf_op": "layer/MatMul:MatMul"}
        about |= {"id": step, "region_type": "temp", "data_type": 1, "shape": "[2,3]"}
        pool.event("MemoryAllocation", start_us=at + 60, **about)
        pool.event("MemoryDeallocation", start_us=at + 600, **about)
        data.event(
            "Iterator::Root::Prefetch", start_us=at, duration_us=500, id=1, parent_id=0, producer_type=1, producer_id=7
        )
        data.event("Iterator::Root::Prefetch::ParallelMapV2", start_us=at + 1, duration_us=400, id=2, parent_id=1)
        kernel = {
            "correlation_id": flow,
            "tf_op": "layer/MatMul:MatMul",
            "group_id": step,
            "kernel_details": "regs:8 grid:1,2,3 block:4,5,6 occ_pct:50",
        }
        stream.event("void gemm<float>(int)", start_us=at + 100, duration_us=150, **kernel)
        stream.event(
            "MemcpyH2D",
            start_us=at + 300,
            duration_us=20,
            memcpy_details="kind:H2D size:4096 dest:0 async:1",
            correlation_id=flow,
        )
        ops.event(
            "%fusion.1 = f32[2,3] fusion(f32[2] %a)",
            start_us=at + 100,
            duration_us=90,
            hlo_category="fusion",
            flops=100,
            bytes_accessed=64,
            program_id=1,
        )
    return made.to_bytes()


def chrome():
    """Events of all phases."""
    at = {"pid": 1, "tid": 2}
    events = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "M", "name": "thread_name", **at, "args": {"name": "python"}},
        *(
            {"ph": "X", "name": "train", "ts": 100 * n, "dur": 90, **at, "args": {"step_num": n, "_r": 1}}
            for n in range(3)
        ),
        {
            "ph": "X",
            "name": "MatMul",
            "ts": 5,
            "dur": 20.5,
            **at,
            "args": {"long_name": "a/MatMul:MatMul", "shape": "(2,3)"},
        },
        {"ph": "B", "name": "open", "ts": 110, **at},
        {"ph": "E", "name": "open", "ts": 150, **at},
        {"ph": "b", "cat": "io", "id": "0x1", "name": "read", "ts": 10, **at},
        {"ph": "e", "cat": "io", "id": "0x1", "name": "read", "ts": 30, **at},
        {"ph": "i", "name": "mark", "ts": 40, **at},
        {"ph": "C", "name": "memory", "ts": 50, **at, "args": {"bytes": 7}},
        {"ph": "s", "id": 1, "name": "flow", "ts": 50, **at},
    ]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()


def timeline():
    """A timeline of TensorFlow 1, with the lifetime of a tensor."""
    described = "allocator_name: cpu\nrequested_bytes: 64\ndtype: DT_FLOAT\nshape {\n dim {\n size: 4 } \n}"
    tensor = {"cat": "Tensor", "name": "x", "pid": 2, "tid": 0, "id": 5}
    events = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": f"{CPU} Compute"}},
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": f"{CPU} Tensors"}},
        *(
            {
                "ph": "X",
                "cat": "Op",
                "pid": 1,
                "tid": n % 2,
                "ts": 100 * n,
                "dur": 50,
                "name": op,
                "args": {"name": f"n{n}", "op": op, "input0": "x"},
            }
            for n, op in enumerate(["_SOURCE", "MatMul", "Relu", "_SOURCE", "MatMul"])
        ),
        {"ph": "N", **tensor, "ts": 5},
        {"ph": "O", **tensor, "ts": 5, "args": {"snapshot": {"tensor_description": described}}},
        {"ph": "D", **tensor, "ts": 300},
    ]
    return json.dumps({"traceEvents": events}).encode()


def run_metadata():
    """Two runs of a session on a CPU and a GPU."""
    message = MESSAGES["RunMetadata"]()
    for device in (CPU, "/gpu:0", "/device:GPU:0/stream:all", "/device:GPU:0/stream:7"):
        stats = message.step_stats.dev_stats.add(device=device)
        for run in range(2):
            for number, op in enumerate(["_SOURCE", "MatMul", "Relu"]):
                begin = 10**9 + 1000 * run + 100 * number
                node = stats.node_stats.add(node_name="_SOURCE" if not number else f"a/n{number}", thread_id=number)
                node.all_start_micros, node.op_start_rel_micros, node.op_end_rel_micros, node.all_end_rel_micros = (
                    begin,
                    1,
                    50,
                    60,
                )
                node.timeline_label = f"a/n{number} = {op}(a/n{number - 1}, ^b)" if number else "_SOURCE = NoOp()"
                node.memory.add(allocator_name="cpu", total_bytes=64, peak_bytes=64, live_bytes=10)
                output = node.output.add(slot=0).tensor_description
                output.dtype = 1
                output.shape.dim.add(size=4)
                output.allocation_description.requested_bytes = 64
                output.allocation_description.allocator_name = "cpu"
    return message.SerializeToString()


def sidecar():
    """All sections."""
    line = ("train.py", 3, "y = tf.matmul(x, w)")
    nodes = [
        Node("layer/x", "Placeholder"),
        Node("layer/MatMul", "MatMul", (line,), (0,), layer=("dense", "Dense"), phase="forward"),
        Node("gradients/layer/MatMul_grad/MatMul", "MatMul", inputs=(1,), forward=1, phase="backward"),
    ]
    samples = {"times_ns": [1, 2], "series": [{"metric": "process memory", "unit": "bytes", "values": [1.0, None]}]}
    cell = {
        "text": "%%tfprofile\nstep()",
        "file": "<cell>",
        "line": [2],
        "hits": [3],
        "spent_ns": [900],
        "estimated": [],
    }
    return json.dumps(
        {
            "version": 1,
            "capture": {"notes": ["a note"], "stopped": {"why": "memory", "seconds": 2.5}},
            "versions": {"tensorflow": "2.20"},
            "graphs": graphs_section(Function("f", nodes, [(1, "call", 1)]), Function("g", nodes[:2], called=False)),
            "cell": cell | {"first": 1, "last": 2},
            "cells": {"<cell>": "In[1]"},
            "process_memory": samples,
            "metrics": samples,
            "python": {
                "interval_ns": 5 * 10**6,
                "strings": ["f", "train.py", "g"],
                "functions": {"name": [0, 2], "file": [1, 1], "users": [True, False]},
                "places": {"function": [0, 1], "line": [3, 4]},
                "stacks": [[0], [0, 1]],
                "samples": {
                    "time_ns": [17 * 10**17 + n * 10**6 for n in range(3)],
                    "thread": [0, 0, 1],
                    "stack": [0, 1, 1],
                    "late_ns": [0, 12 * 10**6, 0],
                },
                "sources": {"train.py": "import tensorflow as tf\n\ny = tf.matmul(x, w)\n"},
            },
            "cell_texts": {"<other>": "data = tf.data.Dataset.range(9).map(f)\nmodel.compile('adam', 'mse')"},
            "machine_load": {"seconds": 4.0, "processors": 2, "busy_s": 6.0, "own_s": 3.0},
        }
    ).encode()


def cache():
    """The JSON of kept results: frames with all kinds of columns."""
    index = pd.MultiIndex.from_arrays([["a"] * 3, [0] * 3], names=["host", "step"])
    epoch = pd.array([1, None, 3], dtype="Int64")
    columns = {"op": ["x", "y", "x"], "ms": [0.5, 2.0, 1.0], "warm": [True, False, False], "epoch": epoch}
    frame = pd.DataFrame({**columns, "bound_by": np.array([None, "memory", 1], dtype=object)}, index=index)
    summary = {"steps": 3, "mean": np.float64(1.5), "none": None, "spans": [(1, 2.0), "text"]}
    data = pack(("content", {"table": frame, "other": frame.reset_index(), "summary": summary, "notes": ["a"]}))
    return data[48 : 48 + int.from_bytes(data[40:48], "little")]


SEEDS = {
    "xspace": [space],
    "chrome": [chrome, timeline],
    "metadata": [run_metadata],
    "sidecar": [sidecar],
    "cache": [cache],
}
