"""What GitHub and its like leave of the static form: elements and pictures; no script, style, class or id."""

import bleach

import tfprof_nb as tp
from builders import XSpace

TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
ELEMENTS = {*bleach.ALLOWED_TAGS, *TABLE, "div", "span", "br", "details", "summary", "img"}


def test_the_answer_and_the_pictures_survive_a_sanitizer(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("IteratorGetNext::Batch", start_us=1000 * step, duration_us=500)
        python.event("MatMul:MatMul", start_us=1000 * step + 500, duration_us=300)
    html = tp.load(space.write(tmp_path / "host.xplane.pb")).dashboard().to_html()
    left = bleach.clean(
        html, tags=ELEMENTS, attributes={"img": ["src", "alt"], "details": ["open"]}, protocols={"data"}, strip=True
    )
    assert "55.6%" in left
    assert "MatMul" in left
    assert left.count('src="data:image/svg+xml;base64,') == html.count("<img") > 3
    assert not any(element in html for element in ("<script", "<style", "<svg"))
