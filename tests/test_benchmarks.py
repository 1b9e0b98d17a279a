"""The benchmarks' own workings: large captures are true to the small one, parts are kept and put together."""

import sys

import pytest

import tfprof_nb as tp
from builders import XSpace


@pytest.fixture(autouse=True)
def benchmarks(root, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])


def test_a_repeated_capture_lasts_longer_and_is_the_same_otherwise(tmp_path):
    from benchmarks.repeated import repeated

    space = XSpace()
    cpu = space.plane("/host:CPU")
    python, pool = cpu.line("python", timestamp_ns=7_000), cpu.line("pool", timestamp_ns=9_000)
    for step in range(2):
        python.event("train", start_us=100 * step, duration_us=90, step_num=step, _r=1, group_id=step)
        python.event("launch", start_us=100 * step + 5, duration_us=5, _pt=3, _p=2**63 - 1 - step)
        pool.event("MatMul:MatMul", start_us=100 * step + 10, duration_us=30, _ct=3, _c=2**63 - 1 - step)
    path = tmp_path / "h.xplane.pb"
    path.write_bytes(repeated(space.to_bytes(), 3))
    p = tp.load(path)
    assert p.steps.table.index.tolist() == [0, 1, 2, 3, 4, 5]
    assert p.steps.table["step_ms"].tolist() == [0.09] * 6
    assert p.ops.table["self_us"].sum() == pytest.approx(6 * 30)
    assert p.duration_ms == pytest.approx(3 * 0.19 + 0.007)
    links = p.data.forests[0].host.ints("_p"), p.data.forests[0].host.ints("_c")
    assert links[0].values.tolist() == links[1].values.tolist()
    assert len(set(links[0].values.tolist())) == 6


def test_parts_are_kept_and_the_page_says_what_is_missing(tmp_path, monkeypatch, capsys):
    from benchmarks import performance

    monkeypatch.setattr(performance, "KEPT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["performance", "shown", "--out", str(tmp_path / "page.md")])
    monkeypatch.setitem(performance.PARTS, "shown", performance.Part("Shown", "decode --help", None))
    performance.main()
    page = (tmp_path / "page.md").read_text()
    assert "## Shown\n\n`python -m benchmarks.decode --help`" in page
    assert "```text\nusage: decode.py" in page
    assert "Not measured: Opening 0.1 million events, " in page
    assert "shown       not measured" not in capsys.readouterr().out
    monkeypatch.setattr(performance, "machine", lambda: "another machine")
    assert performance.kept("decode --help") is None
