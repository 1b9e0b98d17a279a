"""The magics in a real shell and in a real kernel: the cell behaves as without them, and the profile is there."""

import ast
import builtins
import re
import sys

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

import tfprof_nb as tp
from tfprof_nb.capture.tensorflow import profiler_is_started

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
    patch.setattr(sys, "displayhook", sys.displayhook)
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    yield shell
    InteractiveShell.clear_instance()
    patch.undo()


def plain(text):
    """Text without the colours of the terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def run(shell, tmp_path, monkeypatch):
    """Run a cell as a notebook does; the result has the outputs, in ``shown``, and the texts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(builtins, "_", raising=False)  # left by Python's own displayhook, it would shadow the shell's
    shell.reset()
    shell.run_line_magic("load_ext", "tfprof_nb")

    def run_cell(text):
        with capture_output() as output:
            result = shell.run_cell(text, store_history=True)
        result.stdout, result.stderr, result.shown = output.stdout, output.stderr, output.outputs
        return result

    yield run_cell
    assert not profiler_is_started()


def test_the_profile_is_in_its_name_and_shown_below_the_cells_own_output(run, shell):
    result = run("%%tfprofile base\nimport tensorflow as tf\nprint('hello')\nint(tf.add(1, 1)) + 40")
    assert result.result == 42
    assert shell.user_ns["_"] == 42
    assert shell.user_ns["Out"] == {shell.displayhook.prompt_count: 42}
    assert result.stdout.startswith("hello\n")
    assert shell.user_ns["base"] is tp.last()
    assert tp.last().name == "base"
    assert "base · " in result.stdout


def test_files_are_an_ordinary_logdir_beside_the_notebook(run, tmp_path):
    run("%%tfprofile --quiet\n1")
    assert list(tmp_path.glob("tfprof_logs/plugins/profile/*/*.xplane.pb")) == list(tp.last().files)
    assert len(tp.last().files) == 1


def test_files_go_where_out_says(run, tmp_path):
    run('%%tfprofile --quiet --out "my logs"\n1')
    assert len(list(tmp_path.glob("my logs/plugins/profile/*/*.xplane.pb"))) == 1


def test_the_newest_profiles_stay_and_their_place_and_size_are_said(run, shell, tmp_path):
    for _ in range(3):
        run("%%tfprofile --quiet\n1")
    oldest, newer, newest = tp.find_runs(tmp_path)
    shell.user_ns["kept"] = tp.load(oldest.path)
    result = run("%%tfprofile named --keep 1\n1")
    runs = tp.find_runs(tmp_path)
    assert [run.path for run in runs[:-1]] == [oldest.path]  # a variable holds its profile
    assert not newer.path.exists()
    assert not newest.path.exists()
    said = " ".join(result.stdout.split())
    assert re.search(r"Saved in `tfprof_logs`: [\d.,]+ [KM]?i?B; its 2 profiles take [\d.,]+ [KM]?i?B\.", said)
    (opens,) = re.findall(r"`(%tfprofile_load .*)` opens this one again", said)
    assert run(opens).success
    assert runs[-1].label.startswith("named · ")
    assert runs[-1].label.endswith("No step times")


def test_quiet_shows_nothing(run):
    result = run("%%tfprofile base --quiet\nx = 1")
    assert (result.stdout, result.stderr, result.shown) == ("", "", [])
    assert repr(tp.last()) == repr(run("base").result)


def test_views_chooses_the_pages(run):
    text = run("%%tfprofile base --views trace,memory\nx = 1").stdout
    assert [page in text for page in ("── Trace", "── Memory", "── Ops")] == [True, True, False]


def test_a_semicolon_hides_the_value(run, shell):
    assert run("%%tfprofile --quiet\n3;  # hidden").result is None
    assert shell.user_ns["Out"] == {}


@pytest.mark.parametrize(("mode", "values"), [("all", [1, 2]), ("last_expr", [2]), ("none", [])])
def test_the_shells_way_of_showing_values_holds(run, shell, monkeypatch, mode, values):
    monkeypatch.setattr(shell, "ast_node_interactivity", mode)
    result = run("%%tfprofile --quiet\n1\n2")
    assert result.stdout == "".join(f"Out[{shell.displayhook.prompt_count}]: {value}\n" for value in values)


def test_magics_and_commands_work_inside(run):
    result = run("%%tfprofile --quiet\n%%time\nfound = !echo inside\nfound[0]")
    assert result.result == "inside"
    assert "Wall time" in result.stdout


def test_braces_and_dollars_are_not_expanded(run):
    assert run("%%tfprofile --quiet\nx = 3\n'{x} $x'").result == "{x} $x"


def test_future_imports_hold(run, shell):
    assert run("%%tfprofile --quiet\nfrom __future__ import annotations\ndef f(a: Unknown): ...").success
    shell.compile.reset_compiler_flags()


@pytest.mark.parametrize("blank_lines", [0, 2])
def test_an_error_names_the_users_line_once(run, blank_lines):
    result = run("%%tfprofile broken\n" + "\n" * blank_lines + "x = 5\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert f"line {3 + blank_lines}\n" in plain(result.stdout)
    assert plain(result.stdout).count("Traceback (most recent call last)") == 1
    assert "magics.py" not in result.stdout
    assert "profiled_cell.py" not in result.stdout
    assert tp.last().name == "broken"
    assert run("x, broken.name").result == (5, "broken")


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit(3)"])
def test_an_interrupt_goes_on_and_the_profile_is_kept(run, error):
    result = run(f"%%tfprofile kept\nraise {error}")
    assert type(result.error_in_exec).__name__ == error.removesuffix("(3)")
    assert tp.last().name == "kept"
    how = "was interrupted" if error == "KeyboardInterrupt" else "ended with SystemExit"
    assert f"The code {how}: this profile shows what ran up to then." in tp.last().overview.notes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%%tfprofile 1a\n1", "'1a' cannot be the name of a variable"),
        ("%%tfprofile class\n1", "'class' cannot be the name of a variable"),
        ("%%tfprofile --nonsense\n1", "unrecognized arguments: --nonsense"),
        ("%%tfprofile --host-level 9\n1", "invalid choice: 9"),
        ("%%tfprofile --warmup -1\n1", "warmup must be a whole number of steps, 0 or more, not -1"),
        ("%%tfprofile --steps 0\n1", "steps must be a whole number of steps, 1 or more, not 0"),
        ("%%tfprofile --steps few\n1", "argument --steps: invalid int value: 'few'"),
        ("%%tfprofile --max-seconds 0\n1", "max_seconds must be a number of seconds above 0, not 0.0"),
        ("%%tfprofile --delay-ms -5\n1", "delay_ms must be a number of milliseconds, 0 or more, not -5.0"),
        ("%tfprofile await x", "takes a statement without await"),
        ("%%tfprofile --views ops,nowhere\n1", "no view 'nowhere': choose from overview, advice"),
        ("%tfprofile", "takes one statement"),
        ("%tfprofile --quiet 1", "takes one statement"),
        ("%tfprofile_load", "required: PATH"),
    ],
)
def test_wrong_use_is_a_usage_error(run, tmp_path, line, message):
    result = run(line)
    assert type(result.error_in_exec).__name__ == "UsageError"
    assert message in str(result.error_in_exec)
    assert list(tmp_path.iterdir()) == []


def test_a_syntax_error_captures_nothing(run, tmp_path):
    result = run("%%tfprofile\nx ==== 3")
    assert isinstance(result.error_before_exec, SyntaxError)
    assert result.error_before_exec.lineno == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ["x ==== 3", "return 3", "print((1", "yield 3", "await = 3"])
def test_a_syntax_error_looks_as_it_does_without_the_magic(run, line):
    def shown(cell):
        return re.sub(r"ipython-input-\S+|In\[\d+\]", "cell", plain(run(cell).stdout))

    assert shown(f"%%tfprofile\n{line}") == shown(f"x = 1\n{line}")


def test_a_syntax_error_names_its_own_cell(run):
    names = [re.search(r"ipython-input-(\d+)", str(run("%%tfprofile\nx ==== 3").error_before_exec))[1] for _ in "ab"]
    assert names == ["1", "2"]


def test_a_warning_about_the_code_comes_once(run):
    with pytest.warns(SyntaxWarning) as warned:
        run("%%tfprofile --quiet\nx = 1\nx is 3")
    assert len(warned) == 1


def test_a_place_that_cannot_be_written_stops_before_the_cell_runs(run, shell):
    result = run("%%tfprofile --out /proc/nowhere\nran = True")
    assert isinstance(result.error_in_exec, tp.CaptureError)
    assert "ran" not in shell.user_ns


def test_a_capture_that_fails_to_be_saved_lets_the_cells_own_error_through(run):
    cell = "%%tfprofile lost\nimport pathlib\nnext(pathlib.Path('tfprof_logs').iterdir()).joinpath('plugins').touch()\n"
    assert isinstance(run(cell).error_in_exec, tp.CaptureError)
    result = run(cell + "1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert result.stderr.startswith("No profile: The profile could not be saved in ")
    assert "It is kept in memory" in str(run("lost.steps").error_in_exec)


@pytest.mark.parametrize(
    ("options", "steps"),
    [("--warmup 3", 6), ("--steps 4", 4), ("--warmup 3 --steps 4", 4), ("--max-seconds 60", 9), ("--delay-ms 0", 9)],
)
def test_a_part_of_a_long_cell(run, shell, options, steps):
    cell = "import tfprof_nb as tp\nfor i in range(9):\n    with tp.step(i):\n        done = i\ndone"
    assert run(f"%%tfprofile part --quiet {options}\n{cell}").result == 8
    assert shell.user_ns["part"].steps.summary["steps"] == steps


def test_a_cell_that_ends_before_its_part_begins_is_no_error(run):
    result = run("%%tfprofile part --delay-ms 60000\nx = 1\nx")
    assert (result.success, result.result) == (True, 1)
    assert result.stderr.startswith("No profile: Nothing was recorded: the block ended before the delay")
    assert "before the delay of 60000 ms was over" in str(run("part.steps").error_in_exec)


def test_lines_and_metrics_are_as_asked_for(run):
    def sections():
        from tfprof_nb.decode.sidecar import read_sidecar

        return set(read_sidecar(tp.last().files[0]).sections)

    run("%%tfprofile --quiet\nx = 1")
    assert "cell" in sections()
    assert "metrics" not in sections()
    run("%%tfprofile --quiet --no-lines --metrics\nx = 1")
    assert "cell" not in sections()
    assert "metrics" in sections()


def test_a_cell_that_awaits(run, shell):
    setup = "import asyncio, tensorflow as tf\nasync def later(x):\n    await asyncio.sleep(0)\n    return x\n"
    run(setup)
    result = run("%%tfprofile base --quiet\nx = await later(40)\nwith_tf = tf.add(1, 1)\nawait later(x) + 2")
    assert result.result == 42
    assert len(shell.user_ns["base"].events) > 0
    assert run("%%tfprofile --quiet\nawait later(3);").result is None
    result = run("%%tfprofile broken --quiet\n\nx = await later(5)\nawait later(1 / 0)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "line 4\n" in plain(result.stdout)
    assert plain(result.stdout).count("Traceback (most recent call last)") == 1
    assert tp.last().name == "broken"
    assert run("%%tfprofile --quiet\n[i async for i in 3]").error_in_exec is not None
    assert run("%%tfprofile --quiet --nonsense\nawait later(3)").error_in_exec is not None


def test_where_the_shell_does_not_await_neither_does_the_magic(run, shell, monkeypatch):
    monkeypatch.setattr(shell, "autoawait", False)
    assert isinstance(run("%%tfprofile\nawait x").error_before_exec, SyntaxError)


def test_a_view_that_fails_does_not_harm_the_cell(run, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no picture")

    monkeypatch.setattr("tfprof_nb.views.dashboard.content", fail)
    result = run("%%tfprofile base\n42")
    assert (result.success, result.result) == (True, 42)
    assert "cannot be shown (RuntimeError: no picture). It is saved in /" in result.stderr
    assert run("base.name").result == "base"


def test_slow_saving_is_announced_and_the_announcement_goes_away(run, monkeypatch):
    monkeypatch.setattr("tfprof_nb.notebook.profiled_cell.SAVING_NOTE_S", 0.0)
    written = run("%%tfprofile --quiet\nimport time\nprint('work')").stdout
    assert written == "work\nsaving the profile ...\r                      \r"


def test_a_statement_gives_its_profile(run, shell):
    result = run("y = 1\np = %tfprofile y += 1")
    assert result.success
    assert shell.user_ns["p"] is tp.last()
    assert run("y").result == 2
    assert run("%tfprofile y + 1").result is tp.last()


def test_a_saved_profile_opens_again(run, shell):
    run("%%tfprofile --quiet\n1")
    result = run("folder = 'tfprof_logs'\n%tfprofile_load $folder again")
    assert result.success
    assert [file.resolve() for file in shell.user_ns["again"].files] == list(tp.last().files)
    assert shell.user_ns["again"].name == "again"


def test_code_of_advice_finds_the_package(run, shell):
    run("%unload_ext tfprof_nb\ntfprof_nb = 'mine'\n%load_ext tfprof_nb")
    assert shell.user_ns["tfprof_nb"] == "mine"
    result = run("del tfprof_nb\n%reload_ext tfprof_nb\nwith tfprof_nb.step(0):\n    pass")
    assert result.success


def test_unloading_leaves_nothing_behind(run, shell):
    def registered():
        manager = shell.magics_manager
        names = {kind: sorted(names) for kind, names in manager.magics.items()}
        return names, sorted(manager.registry), list(shell.input_transformers_post)

    run("%unload_ext tfprof_nb")
    before = registered()
    run("%load_ext tfprof_nb")
    assert registered() != before
    run("%unload_ext tfprof_nb")
    assert registered() == before


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Run cells in one kernel; a cell that fails raises, as it stops Run All."""
    notebook = nbformat.v4.new_notebook()
    folder = tmp_path_factory.mktemp("kernel")
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})

    def run_cell(source):
        notebook.cells.append(nbformat.v4.new_code_cell(source))
        client.execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
        return notebook.cells[-1].outputs

    patch = pytest.MonkeyPatch()
    patch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)  # as users have it: TensorFlow logs into the cell
    with client.setup_kernel():
        patch.undo()
        run_cell("import tensorflow\ntensorflow.add(1, 1)\n%load_ext tfprof_nb")
        yield run_cell, notebook


def test_in_a_kernel_the_answer_stands_above_the_cells_own_output_and_nothing_else_is_printed(kernel):
    run_cell, _ = kernel
    *shown, printed, value = run_cell("%%tfprofile base\nprint('hello')\n40 + 2")
    assert printed.output_type == "stream"
    assert printed.text == "hello\n"
    assert value.output_type == "execute_result"
    assert value.data["text/plain"] == "42"
    assert [output.output_type for output in shown] == ["display_data"] * 2
    assert "base · " in shown[0].data["text/plain"]


def test_static_shows_no_widget(kernel):
    run_cell, _ = kernel
    (shown,) = run_cell("%%tfprofile base --static\nx = 1")
    assert set(shown.data) == {"text/html", "text/plain"}
    assert "base · " in shown.data["text/html"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)", "KeyboardInterrupt"),
    ],
)
def test_in_a_kernel_an_error_stops_run_all(kernel, body, error):
    run_cell, notebook = kernel
    with pytest.raises(CellExecutionError):
        run_cell(f"%%tfprofile failed\n{body}")
    errors = [output for output in notebook.cells[-1].outputs if output.output_type == "error"]
    assert [output.ename for output in errors] == [error]
    assert any(output.output_type == "display_data" for output in notebook.cells[-1].outputs)
    assert run_cell("print(failed.name)")[0].text == "failed\n"


def test_a_line_of_a_cell_that_was_profiled_before_is_told_by_the_cells_number(kernel):
    run_cell, notebook = kernel
    body = "@tensorflow.function\ndef squared(x):\n    return tensorflow.matmul(x, x)\n"
    run_cell(f"%%tfprofile --quiet\n{body}squared(tensorflow.ones((300, 300)))")
    number = notebook.cells[-1].execution_count
    run_cell("%%tfprofile later --quiet\nfor _ in range(5):\n    y = squared(tensorflow.ones((300, 300)))")
    files = run_cell("print(later.source.table.query('code.str.contains(\"matmul\")').file.tolist())")
    assert files[0].text == f"['In[{number}]']\n"


def completions(run_cell, cell):
    """What a front end is offered at the end of a cell."""
    first, *_ = run_cell(f"print(get_ipython().kernel.do_complete({cell!r}, {len(cell)})['matches'])")
    return sorted(ast.literal_eval(first.text))


def test_tab_offers_options_and_profiles_and_nothing_else(kernel):
    run_cell, _ = kernel
    run_cell("%%tfprofile baseline --quiet\nbase = 1")
    assert completions(run_cell, "%%tfprofile base --wa") == ["--warmup"]
    everything = completions(run_cell, "%%tfprofile --")
    assert {"--host-level", "--keep", "--help"} < set(everything)
    assert all(name.startswith("--") for name in everything)
    assert completions(run_cell, "%tfprofile --") == ["--help"]
    assert "input_pipeline" in completions(run_cell, "%%tfprofile --views ")
    assert completions(run_cell, "%%tfprofile --views overview,mem") == ["overview,memory"]
    assert completions(run_cell, "%%tfprofile --views=overview,mem") == ["--views=overview,memory"]
    assert completions(run_cell, "%%tfprofile --host-level ") == ["0", "1", "2", "3"]
    assert completions(run_cell, "x = 1\n%tfprofile_compare ba") == ["baseline"]
    assert "base" not in completions(run_cell, "%tfprofile_compare baseline ")
    assert completions(run_cell, "%tfprofile_check --") == ["--help", "--out"]


def test_tab_offers_run_folders_newest_first_with_what_each_is(kernel, tmp_path):
    run_cell, _ = kernel
    run_cell("%%tfprofile early\nfirst = 1")
    run_cell(f"%%tfprofile late --quiet --out '{tmp_path}/my logs'\nimport time\ntime.sleep(1)")
    line = "%tfprofile_load "
    reply = f"get_ipython().kernel.do_complete({line!r}, {len(line)})"
    shown = f"[(one['text'], one['type']) for one in {reply}['metadata']['_jupyter_types_experimental']]"
    (late, what_late), (early, what_early) = ast.literal_eval(run_cell(f"print({shown}[:2])")[0].text)
    assert (what_late, what_early) == ("late", "early · No step times".replace(" ", "\N{NO-BREAK SPACE}"))
    assert late.startswith(f"'{tmp_path}/my logs/plugins/profile/")
    assert early.startswith("tfprof_logs/plugins/profile/")
    assert run_cell(f"again = {line}{late}\nprint(again.files == late.files)")[0].text == "True\n"
    assert completions(run_cell, line + early) == [early]
    assert early in completions(run_cell, "%tfprofile_compare late ")
    assert early not in completions(run_cell, f"{line}{early} ")


@pytest.mark.parametrize("line", ["%%tfprofile --help", "%%tfprofile --help\nx = 1", "%tfprofile --help"])
def test_help_is_shown(run, line):
    result = run(line)
    assert result.success
    assert "  %%tfprofile [--warmup N]" in result.stdout


def test_help_of_the_other_magics_is_shown(run):
    assert "AFTER" in run("%tfprofile_compare --help").stdout
    assert "PATH" in run("%tfprofile_load --help").stdout
    assert "--out" in run("%tfprofile_check --help").stdout


def test_a_misspelt_option_is_named_with_the_right_one(run):
    result = run("%%tfprofile --wramup 2\nx = 1")
    assert "unrecognized arguments: --wramup" in str(result.error_in_exec)
    assert "Did you mean --warmup?" in str(result.error_in_exec)
    assert "Did you mean --out?" in str(run("%%tfprofile --logdir x\nx = 1").error_in_exec)
    assert "The options are --warmup, --steps, " in str(run("%%tfprofile --zzz\nx = 1").error_in_exec)


MARKED = "for i in range(6):\n    with tp.step(i): pass\n"


def test_repeat_runs_the_cell_so_often_and_holds_the_profiles(run, shell):
    run("count = 0")
    result = run(f"%%tfprofile base --repeat 3\nimport tfprof_nb as tp\ncount += 1\n{MARKED}")
    base = shell.user_ns["base"]
    assert [profile.name for profile in base] == ["base 1", "base 2", "base 3"]
    assert shell.user_ns["count"] == 3
    assert [len(profile.steps.table) for profile in base] == [6, 6, 6]
    assert tp.last() is base[-1]
    assert base.table.index.tolist() == [1, 2, 3]
    assert base.summary["time_ms"] == sorted(base.table["time_ms"])[1]
    assert re.search(
        r"3 runs: one step took .* \(the median; .* to .*\)\. The slowest run took ", " ".join(result.stdout.split())
    )
    assert "base 1, base 2, base 3" in result.stdout
    compared = tp.compare(base, base)
    assert compared.summary["measured_before"] == 3


def test_repeat_of_a_cell_that_awaits(run, shell):
    run("%%tfprofile base --repeat 2 --quiet\nimport asyncio\nawait asyncio.sleep(0)")
    assert len(shell.user_ns["base"]) == 2


def test_an_error_in_a_later_run_leaves_those_before(run, shell):
    run("count = 0")
    result = run("%%tfprofile base --repeat 5\ncount += 1\n1 / (count - 3)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "line 3\n" in plain(result.stdout)
    assert "magics.py" not in result.stdout
    assert "profiled_cell.py" not in result.stdout
    assert [profile.name for profile in shell.user_ns["base"]] == ["base 1", "base 2"]
    assert tp.last().name == "base 3"
    assert "2 runs: " in result.stdout


def test_an_error_in_the_first_run_leaves_its_profile(run, shell):
    run("%%tfprofile base --repeat 5\n1 / 0")
    assert [profile.name for profile in shell.user_ns["base"]] == ["base 1"]


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5"])
def test_repeat_takes_a_number(run, number):
    assert "is not a whole number above zero" in str(run(f"%%tfprofile --repeat {number}\n1").error_in_exec)


def test_repeat_without_a_name(run):
    assert "run 1, run 2" in run("%%tfprofile --repeat 2\n1").stdout
