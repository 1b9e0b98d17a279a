"""The server for agents, asked by the client of the protocol's own SDK, in this process and over pipes."""

import asyncio
import json
import os
import sys

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.mcp_server import server_of

RUN = "logs/plugins/profile/2026_01_02_03_04_05"
ALONE = "other/alone.xplane.pb"
TOOLS = {"find_runs", "answer", "page", "sql", "compare"}


def space(step_us):
    made = XSpace()
    python = made.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=step_us, step_num=step, _r=1)
        python.event("MatMul:MatMul", start_us=1000 * step, duration_us=300)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A served folder with a run and a single file, and beside it a file that is not served."""
    beside = tmp_path_factory.mktemp("beside")
    served = beside / "served"
    (served / RUN).mkdir(parents=True)
    space(900).write(served / RUN / "host.xplane.pb")
    (served / "other").mkdir()
    space(450).write(served / "other" / "alone.xplane.pb")
    space(900).write(beside / "secret.xplane.pb")
    (served / "link").mkdir()
    (served / "link" / "leads_out.xplane.pb").symlink_to(beside / "secret.xplane.pb")
    return served


def asked(server, *questions):
    """What the client is told, for each tool and its arguments."""

    from mcp import Client

    async def ask():
        async with Client(server) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in questions]

    return asyncio.run(ask())


def told(folder, tool, /, **arguments):
    (result,) = asked(server_of(folder), (tool, arguments))
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


def test_the_tools_say_that_they_read_only(folder):
    from mcp import Client

    async def listed():
        async with Client(server_of(folder)) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(listed())
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)


def test_found_runs_are_what_other_tools_take(folder):
    found = [told(folder, "find_runs"), told(folder, "find_runs", folder="other")]
    assert [[run["run"] for run in one["runs"]] for one in found] == [[RUN], [ALONE]]
    for run in (RUN, ALONE):
        assert told(folder, "answer", run=run)["steps"]["captured"] == 3
    assert told(folder, "answer", run="logs") == tp.load(folder / RUN).to_dict()


def test_pages_and_sql(folder):
    page = told(folder, "page", run=RUN, page="steps", rows=2)
    assert [row["step_ms"] for row in page["rows"]] == [0.9, 0.9]
    assert page["row_count"] == 3
    assert told(folder, "sql", run=RUN, query="select sum(step_ms) as ms from steps")["rows"] == [{"ms": 2.7}]


def test_a_comparison(folder):
    compared = told(folder, "compare", before=RUN, after=ALONE)
    assert compared["notes"]
    assert compared["page"] == "compare"


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("answer", {"run": "../secret.xplane.pb"}, "not in the served folder"),
        ("answer", {"run": "/etc"}, "not in the served folder"),
        ("answer", {"run": "$HOME"}, "not in the served folder"),
        ("answer", {"run": "link/leads_out.xplane.pb"}, "not in the served folder"),
        ("answer", {"run": "link"}, "leads out"),
        ("find_runs", {"folder": ".."}, "not in the served folder"),
        ("answer", {"run": "nothing"}, "no file or folder"),
        ("page", {"run": RUN, "page": "secrets"}, "secrets"),
        ("sql", {"run": RUN, "query": "select * from read_text('/etc/passwd')"}, "disabled"),
        ("sql", {"run": RUN, "query": "select * from nothing"}, "The tables are"),
    ],
)
def test_what_is_outside_or_wrong_is_refused_in_words(folder, tool, arguments, says):
    (result,) = asked(server_of(folder), (tool, arguments))
    assert result.is_error
    assert says in result.content[0].text


def test_a_folder_that_is_no_folder(tmp_path):
    with pytest.raises(tp.ProfileNotFoundError, match="There is no folder"):
        server_of(tmp_path / "nothing")


def test_over_pipes_as_agents_start_it(folder):
    from mcp.client.stdio import StdioServerParameters

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "tfprof_nb", "mcp", str(folder)], env=dict(os.environ)
    )
    runs, answer = asked(command, ("find_runs", {}), ("answer", {"run": RUN}))
    assert [run["run"] for run in json.loads(runs.content[0].text)["runs"]] == [RUN]
    assert json.loads(answer.content[0].text)["format"] == "tfprof_nb digest"
