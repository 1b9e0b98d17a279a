"""Memory that grows from step to step is told with the op whose tensors stay."""

import pytest

from builders import XSpace
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rules.memory.growing_memory import check
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.api.load import load

RULE = "growing-memory"


def grown(table):
    return table[table["rule"] == RULE]


def test_tensors_in_a_list(advised, place_of, the_one):
    """Each step keeps 1024 × 512 numbers of 4 bytes, which are 2 MiB, and little more."""
    found = the_one(advised("memory/tensors_in_list"), RULE)
    assert found["finding"].startswith("Memory grows by 2.")
    assert place_of("memory/tensors_in_list", "activations", "relu") in found["finding"]
    assert found["proved_by"] == "memory"


def test_numbers_in_a_list(advised):
    assert grown(advised("memory/numbers_in_list")).empty


def test_where_tensorflow_records_no_allocation_the_process_tells(advised, the_one):
    found = the_one(advised("memory_of_process/tensors_in_list"), RULE)
    assert found["finding"].startswith("Memory grows by ")
    assert "`kept.append(activations(tf.ones((1024, 1024))))`" in found["finding"] + found["evidence"]


MB = 2**20


def steps(in_use_mb, tmp_path):
    """Steps of 1 ms, each of which allocates what makes the memory in use what is given; None: it is not recorded."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    before = in_use_mb[0]
    for i, now in enumerate(in_use_mb):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        if now is None:
            continue
        size, name = abs(now - before) * MB, "MemoryAllocation" if now >= before else "MemoryDeallocation"
        stats = {"allocator_name": "GPU_0_bfc", "bytes_allocated": now * MB, "bytes_available": 0, "addr": i}
        stats |= {"bytes_reserved": 0, "peak_bytes_in_use": 0, "requested_bytes": size, "allocation_bytes": size}
        python.event(name, start_us=1000 * i + 500, tf_op="model/embed", **stats)
        before = now
    return load(space.write(tmp_path / "host.xplane.pb"))


@pytest.mark.parametrize(
    ("in_use_mb", "grows"),
    [
        ([20 + 10 * k for k in range(12)], True),
        ([20 + 10 * k for k in range(6)] + [None] * 12 + [200 + 10 * k for k in range(4)] + [None] * 12, True),
        ([20 + 10 * k for k in range(6)] + [None] * 12 + [60] * 4, False),
        ([20] * 6 + [200] * 6, False),  # once: a cache, a new batch size
        ([1000 + 10 * k for k in range(12)], True),  # a large model
        ([200 - 180 // 2**k for k in range(12)], False),  # a buffer that fills
        ([20 + k for k in range(12)], False),
        ([20 + 10 * k for k in range(5)], False),
    ],
)
def test_only_steady_growth_counts(tmp_path, in_use_mb, grows):
    found = grown(steps(in_use_mb, tmp_path).advice.table)
    assert len(found) == grows
    assert not grows or found["finding"].iloc[0] == (
        "Memory grows by 10.0 MiB in each step: the tensors of model/embed stay"
    )


WATCHER = """
class Watcher:
    def watch(self, i, out):
        self.last = out
        self.seen[i] = out
"""


def test_a_dictionary_of_an_object_is_told_with_its_line(tmp_path):
    p = steps([20 + 10 * k for k in range(12)], tmp_path)
    results = {name: getattr(p, name) for name in ("overview", "steps", "ops", "functions", "tf_data", "python")}
    told = {"code": Code({"watch.py": WATCHER}), "memory": lambda: p.memory, "source": lambda: p.source}
    (found,) = check(Evidence(**results, **told), {})
    assert found.place == "watch.py line 5"
    assert "`self.seen[i] = out`" in found.evidence


@pytest.mark.parametrize(
    ("available_mb", "fragmentation", "told"),
    [(200, 0.9, True), (200, 0.1, False), (900, 0.95, False), (10, 0.9, False)],
    ids=["in pieces", "in one piece", "little in use", "full"],
)
def test_free_memory_in_pieces_is_told_where_an_op_could_not_get_its_own(tmp_path, available_mb, fragmentation, told):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    stats = {"allocator_name": "GPU_0_bfc", "bytes_reserved": 0, "peak_bytes_in_use": 0, "tf_op": "model/embed"}
    sizes = {"bytes_allocated": 800 * MB, "requested_bytes": 100 * MB, "allocation_bytes": 100 * MB, "addr": 1}
    free = {"bytes_available": available_mb * MB, "fragmentation": fragmentation}
    line.event("MemoryAllocation", start_us=1, **stats, **sizes, **free)
    table = load(space.write(tmp_path / "host.xplane.pb")).advice.table
    found = table[table["rule"] == "fragmented-memory"]
    assert len(found) == told
    if told:
        assert found["finding"].iloc[0] == (
            "Free memory of GPU_0_bfc lies in pieces: the largest has 20.0 MiB of 200 MiB"
        )
