"""Sidecars with one value changed: a section is right, or left out with a note."""

import copy
import gzip
import json
import random

import pytest

from builders import XSpace
from fuzz import seeds
from fuzz.mutations import ODD
from tfprof_nb import load
from tfprof_nb.formats.files import sidecar_of


def sidecar():
    return json.loads(seeds.sidecar())


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(3):
        line.event("train", start_us=100 * number, duration_us=90, step_num=number, _r=1)
        line.event("cell line 2", start_us=100 * number + 1, duration_us=80)
        line.event("EagerLocalExecute: f", start_us=100 * number + 5, duration_us=70)
        line.event("layer/MatMul:MatMul", start_us=100 * number + 10, duration_us=20)
        line.event("gradients/layer/MatMul_grad/MatMul:_FusedMatMul", start_us=100 * number + 40, duration_us=20)
    return space.write(tmp_path_factory.mktemp("run") / "h.xplane.pb")


def opened(profile, content):
    sidecar_of(profile).write_bytes(gzip.compress(json.dumps(content).encode()))
    return load(profile)


def everything(p):
    text = str(p) + "".join(str(getattr(p, name)) for name in ("source", "graph", "memory", "functions", "advice"))
    assert (p.source.table["self_ms"].fillna(0) >= 0).all()
    return text


def places(value, above=()):
    """The places of all values, as keys and indices."""
    yield above
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from places(one, (*above, key))


def changed(content, place, value):
    content = copy.deepcopy(content)
    holder = content
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return content


def test_a_whole_sidecar_is_not_damaged(profile):
    p = opened(profile, sidecar())
    assert not any("damaged" in note for note in p.overview.notes)
    assert "dense" in everything(p)


def check(profile, seed):
    rng = random.Random(seed)
    content = sidecar()
    place = rng.choice([place for place in places(content) if place and place != ("version",)])
    everything(opened(profile, changed(content, place, rng.choice(ODD))))


@pytest.mark.parametrize("seed", range(8))
def test_one_changed_value_never_raises(profile, seed):
    check(profile, seed)


@pytest.mark.nightly
@pytest.mark.timeout(3000)
def test_many_changed_values_never_raise(profile):
    for seed in range(8, 3000):
        check(profile, seed)


IMPOSSIBLE = [
    (("cell", "estimated"), "x"),
    (("cell", "spent_ns"), [-(9 * 10**12)]),
    (("cell", "first"), 1e308),
    (("cell", "last"), 2**63),
    (("graphs", "functions", 0, "name"), 5),
    (("graphs", "functions", 0, "calls"), [[7, "call", 1]]),
    (("graphs", "functions", 0, "calls"), [[0, "call", 9]]),
    (("graphs", "functions", 0, "inputs", 1), [99]),
    (("graphs", "functions", 0, "names"), [0, -2, 0]),
    (("graphs", "frames", "line"), ["x"]),
    (("graphs", "strings", 0), {}),
    (("metrics", "times_ns"), [float("inf")]),
    (("capture", "stopped", "seconds"), -2.5),
    (("capture", "stopped", "seconds"), 1e308),
    (("machine_load", "own_s"), -3.0),
]


@pytest.mark.parametrize(("place", "value"), IMPOSSIBLE)
def test_a_section_with_an_impossible_value_is_left_out(profile, place, value):
    p = opened(profile, changed(sidecar(), place, value))
    assert any(f"The section {place[0]} of" in note and "is damaged" in note for note in p.overview.notes)


@pytest.mark.parametrize("section", sorted({place[0] for place, _ in IMPOSSIBLE}))
def test_everything_is_shown_without_a_section_that_was_left_out(profile, section):
    """Whatever is wrong with it: nothing of it is left."""
    place, value = next(one for one in IMPOSSIBLE if one[0][0] == section)
    everything(opened(profile, changed(sidecar(), place, value)))


def test_graphs_and_functions_that_go_in_a_circle_end(profile):
    content = sidecar()
    one, two = content["graphs"]["functions"]
    one["inputs"] = [[0, 1, 2]] * 3
    one["forward"] = [1, 2, 0]
    one["calls"] = [[node, "call", function] for node in range(3) for function in range(2)] * 3
    two["calls"] = [[node, "then", function] for node in range(2) for function in range(2)] * 3
    everything(opened(profile, content))


def test_samples_that_were_late_take_no_more_memory_than_a_capture_can_have(profile):
    content = sidecar()
    count = 20_000
    content["python"] |= {"interval_ns": 1000}
    content["python"]["samples"] = {
        "time_ns": list(range(count)),
        "thread": [1] * count,
        "stack": [0] * count,
        "late_ns": [10**9] * count,
    }
    p = opened(profile, content)
    assert any("python of the file" in note and "is damaged" in note for note in p.overview.notes)
    everything(p)
