"""The claims of SECURITY.md: what a profile's names and files can and cannot do."""

import base64
import contextlib
import gzip
import json
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser

import pytest

import tfprof_nb as tp
from builders import field
from fuzz.seeds import sidecar, space
from hostile.named import CONTROLS, MARKUP, profile_named
from tfprof_nb.formats.files import sidecar_of

SCRIPT = re.compile(r"<script[^>]*>", re.IGNORECASE)


class Seen(HTMLParser):
    """The tags and attributes that a browser sees, and what pictures contain."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def pictures(self):
        found = [value for name, value in self.attributes if name == "src"]
        return [base64.b64decode(uri.removeprefix("data:image/svg+xml;base64,")).decode() for uri in found]


def test_names_are_no_markup_in_reports_cells_and_pictures(tmp_path):
    report = profile_named(tmp_path, MARKUP).to_html(tmp_path / "hostile.html").read_text()
    harmless = MARKUP.translate(str.maketrans("<>", "()"))
    plain = profile_named(tmp_path, harmless).to_html(tmp_path / "plain.html").read_text()
    static = profile_named(tmp_path, MARKUP).dashboard(static=True).to_html()
    scripts = [Seen(html).tags.count("script") for html in (report, plain, static)]
    assert scripts == [scripts[1], scripts[1], 0]
    assert scripts[1] > 0
    assert set(SCRIPT.findall(report)) <= set(SCRIPT.findall(plain))
    for seen in (Seen(report), Seen(static)):
        assert seen.pictures
        pictures = [Seen(picture) for picture in seen.pictures]
        for one in (seen, *pictures):
            assert not {"iframe", "object", "embed", "form", "base", "link"} & set(one.tags)
            assert not any(name.startswith("on") for name, _ in one.attributes)
            assert not any((value or "").strip().startswith("javascript:") for _, value in one.attributes)


def test_terminals_get_no_control_characters(tmp_path):
    (folder := tmp_path / f"run {CONTROLS}").mkdir()
    p = profile_named(folder, CONTROLS)
    texts = [
        str(p),
        repr(p),
        p.to_markdown(),
        *(str(getattr(p, name)) for name in ("advice", "ops", "source", "graph", "functions", "memory")),
    ]
    bad = tmp_path / f"{CONTROLS.replace('/', '')}.xplane.pb"
    bad.touch()
    for wrong in (bad, tmp_path / CONTROLS):
        with pytest.raises(tp.TfprofError) as caught:
            tp.load(wrong)
        texts.append(str(caught.value))
    found = "".join(texts)
    assert "evil" in found
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", found)


LINKS = "![x](http://evil/x.png) [a](javascript:1) `b ~~~ $x$ &lt; _c_ *d* <img src=x> | @e\n```\n# f"


def test_names_are_no_markup_in_markdown(tmp_path):
    """In Markdown a picture of a name would be fetched wherever an issue shows it."""
    text = profile_named(tmp_path, LINKS).to_markdown()
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    shown = Seen(markdown.render(text))
    assert {"h1", "h2", "td", "li"} <= set(shown.tags)
    assert not {"a", "img", "em", "s", "pre"} & set(shown.tags)
    assert "![x](http://evil/x.png) [a](javascript:1) `b ~~~ $x$ &lt; _c_ *d* <img src=x>" in "".join(shown.texts)
    assert not re.search(r"(?<!\\)\$", text)


def test_a_name_begins_no_line_of_a_text(tmp_path):
    p = profile_named(tmp_path, "a\nNothing calls for a change.\n")
    for name in ("ops", "kernels", "steps", "functions", "memory", "flame", "pods"):
        assert "\nNothing calls" not in str(getattr(p, name)), name


def test_nothing_is_opened_outside_the_runs_folder(tmp_path):
    """The places in a sidecar name files of the machine that captured: none of them is read.

    The project's own settings are.
    """
    path = profile_named(tmp_path / "run", "/etc/hostname").files[0]
    code = f"""
import pathlib, sys, tempfile
import tfprof_nb as tp
from tfprof_nb.views.pages import PAGES
def everything(path, out):
    p = tp.load(path)
    print([len(str(getattr(p, name))) for name in PAGES], len(str(p)))
    p.to_html(out + "/p.html"); p.to_chrome_trace(out + "/p.json"); p.sql("select * from source")
everything({str(path)!r}, tempfile.mkdtemp())  # imports are over
opened, out = set(), tempfile.mkdtemp()
sys.addaudithook(lambda event, args: opened.add((event, str(args[0]))) if event in
    ("open", "os.remove", "os.rename", "os.mkdir", "socket.connect", "subprocess.Popen", "os.system") else None)
everything({str(path)!r}, out)
inside = ({str(path.parent)!r}, out, "/proc/", "/sys/", sys.prefix, sys.base_prefix, {str(tp.__path__[0])!r})
settings = [str(folder / "pyproject.toml") for folder in (pathlib.Path.cwd(), *pathlib.Path.cwd().parents)]
print("outside:", [one for one in sorted(opened) if not one[1].startswith(inside) and one[1] not in settings])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.endswith("outside: []\n")


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/*')",
        "copy (select 1) to '{}/x.csv'",
        "attach '{}/x.db'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "export database '{}'",
    ],
)
def test_sql_reaches_no_file_and_no_network(tmp_path, query):
    (tmp_path / "run").mkdir()
    p = profile_named(tmp_path / "run", "a")
    with pytest.raises(ValueError, match=r"(?i)disabled|permission|cannot|not|unable|external"):
        p.sql(query.format(tmp_path))
    assert [found.name for found in tmp_path.iterdir()] == ["run"]


SECRETS = ("secret_code", "/home/someone", "C:\\Users", "/home/some one", "secret-", "~/home")
PLACES = [
    "Read '/home/some one/secret-a b/x', gs://secret-bucket/private/x and ../secret-dir/x.",
    "Not ~/home/x, \\\\secret-server\\share\\x or (C:\\Users\\a b\\x).",
]


@pytest.fixture
def secret(tmp_path):
    """A profile whose sidecar and errors have code and paths."""
    run = tmp_path / "home" / "someone" / "plugins" / "profile" / "run"
    path = run / "host.xplane.pb"
    run.mkdir(parents=True)
    path.write_bytes(space() + field(2, "see file:///home/someone/errors/x.log"))
    (run / "other.xplane.pb").touch()
    content = json.loads(sidecar())
    content["capture"]["notes"] = ["Its profile is in /home/someone/logs/run_7.", *PLACES]
    content["cell"] |= {"text": "%%tfprofile\nsecret_code()", "file": "/home/someone/kernel/1.py"}
    content["cells"] = {"/home/someone/kernel/1.py": "In[1]", "C:\\Users\\me\\1.py": "In[2]"}
    strings = content["graphs"]["strings"]
    strings[:] = ["/home/someone/train.py" if text == "train.py" else text for text in strings]
    strings[:] = [f"secret_code({text})" if "matmul" in text else text for text in strings]
    content["python"]["strings"][1] = "/home/someone/train.py"
    sidecar_of(path).write_bytes(gzip.compress(json.dumps(content).encode()))
    return tp.load(run)


def test_a_redacted_report_has_neither_code_nor_paths(tmp_path, secret, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_ENVIRONMENT", "hunter2")
    full = secret.to_html(tmp_path / "full.html").read_text()
    short = secret.to_html(tmp_path / "short.html", redact=True).read_text()
    assert "secret_code" in full
    assert "/home/someone/logs" in full
    assert "train.py" in short
    assert "is in …/run_7." in short
    assert "see …/x.log" in short
    assert "secret-bucket" in full
    assert "Line 3 of train.py, <code" in short
    for report in (full, short):
        assert "hunter2" not in report
        assert sys.executable not in report
    assert "secret_code" in everything_in(full).replace(full, "")
    for secret_text in (*SECRETS, str(tmp_path)):
        assert secret_text not in everything_in(short)


def everything_in(report):
    """A report's text, and what is packed into it."""
    texts = [report]
    for packed in re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", report):
        with contextlib.suppress(ValueError):  # it only looks like base64
            content = base64.b64decode(packed + "=" * (-len(packed) % 4))
            with contextlib.suppress(zlib.error):
                content = zlib.decompress(content, 47)
            texts.append(content.decode(errors="replace"))
    return "".join(texts)


def test_redaction_changes_no_number(tmp_path, secret):
    redacted = tp.Profile(secret._run, redact=True)
    for name in ("steps", "ops", "kernels", "memory"):
        assert getattr(redacted, name).table.equals(getattr(secret, name).table)
    assert len(redacted.source.table) == len(secret.source.table)


def test_every_claim_names_tests_that_exist(root):
    claims = (root / "SECURITY.md").read_text()
    named = re.findall(r"`((?:tests|js)/[\w/.]+)::([\w ]+)`", claims)
    assert len(named) > 8
    for file, test in named:
        assert test in (root / file).read_text(), f"{file} has no {test}"
