"""A timeline as HTML of its own: within its budget, whole where that fits."""

import base64
import json
import re
import zlib

import pytest

from tfprof_nb.render.embedded import embedded_timeline


class Source:
    """A source whose payload has 300,000 bytes, and a level of ``bins`` ten for each bin."""

    name = "</script><script>alert(1)</script>"

    def header(self):
        return {"names": [self.name], "merged": False}

    def payload(self):
        return bytes(300_000)

    def level(self, bins):
        return {"names": [self.name], "merged": True, "bins": bins}, bytes(10 * bins)


def embedded(html):
    """Return header and payload as the viewer reads them."""
    [text] = re.findall(r'<script type="application/json" class="tfp-trace-data">(.*?)</script>', html)
    told = json.loads(text)
    header = json.loads(zlib.decompress(base64.b64decode(told["header"])))
    return header, base64.b64decode(told["payload"])


def test_all_events_are_in_it_where_they_fit():
    html = embedded_timeline(Source(), 1_000_000)
    header, payload = embedded(html)
    assert (header, len(payload)) == (Source().header() | {"alone": True}, 300_000)


@pytest.mark.parametrize("budget", [20_000, 100_000, 400_000])
def test_it_keeps_to_its_budget_with_the_finest_level_that_fits(budget):
    html = embedded_timeline(Source(), budget)
    header, payload = embedded(html)
    assert len(html.encode()) <= budget
    assert len(payload) == 10 * header["bins"]
    finer = len(html.encode()) + 10 * header["bins"] * 4 / 3
    assert finer > budget - 100 or header["bins"] == 65_536


def test_names_from_a_file_end_no_script():
    html = embedded_timeline(Source(), 100_000)
    assert html.count("<script") == html.count("</script") == 1
    assert "http" not in html
