"""Conventions of every command: its place in the help, its errors, and its output for programs."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner, Result

from broker.cli.main import MOVED, SECTIONS, SHORT, homologue, load_command
from tests.refusals import codes

HOMOLOGUE: Final = Path(sys.executable).with_name("homologue")

ROOT: Final = Path(__file__).parents[3]

FIRST_CLASS: Final = (
    "demo", "kiosk", "scorer", "read", "camera", "labels", "deal", "movement", "points", "imp", "score", "fan",
    "referee", "riichi", "session", "export", "certs",
)  # fmt: skip
"""Command names that scripts rely on."""

Path_ = tuple[str, ...]


def tree(group: click.Group = homologue, path: Path_ = ()) -> Iterator[tuple[Path_, click.Command]]:
    """Yield every command that is not a group, with its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        if isinstance(command, click.Group):
            yield from tree(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS: Final = dict(tree())


def run(*words: object, said: str = "") -> Result:
    return CliRunner().invoke(homologue, [*map(str, words)], input=said)


def test_the_help_of_the_calculators_names_their_json_option() -> None:
    asked = ("points", "imp", "score", "fan", "referee")
    assert [name for name in asked if "--json" not in run(name, "--help").stdout] == []


def test_the_main_help_lists_every_command_in_a_section() -> None:
    written = run("--help").stdout
    headings = [line.removesuffix(":") for line in written.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == ["Options", *SECTIONS]
    for name in {path[0] for path in COMMANDS}:
        assert re.search(rf"^  {name} ", written, re.MULTILINE), name


@pytest.mark.parametrize("name", [*MOVED, *SHORT])
def test_a_former_name_runs_todays_command(name: str) -> None:
    path = MOVED.get(name, f"rules.{name}")
    command = load_command(path)
    assert command is not None
    before, today = run(name, "--help"), run(*path.split("."), "--help")
    assert (before.exit_code, today.exit_code) == (0, 0)
    assert before.stdout.partition("\n\n")[2] == today.stdout.partition("\n\n")[2]


@pytest.mark.parametrize("name", FIRST_CLASS)
def test_names_that_scripts_rely_on_still_work(name: str) -> None:
    assert run(name, "--help").exit_code == 0


NO_JSON: Final = {
    ("centre",): "runs until it is stopped",
    ("completion",): "prints a program for a shell",
    ("deal", "draw", "make"): "asks people for words",
    ("deal", "draw", "words"): "secret words, for one person to write down",
    ("deal", "recover"): "asks people for shares",
    ("demo",): "runs until it is stopped",
    ("event", "desk"): "runs until it is stopped",
    ("event", "new"): "asks for what is missing",
    ("event", "people", "audit"): "prints JSON lines without being asked",
    ("event", "seating"): "prints a document",
    ("event", "sheets"): "prints a document",
    ("export", "all"): "prints a document",
    ("export", "booklet"): "prints a document",
    ("export", "certificates"): "prints a document",
    ("export", "ema"): "prints a document",
    ("export", "json"): "prints JSON without being asked",
    ("export", "next-event"): "prints a document",
    ("export", "pdf"): "prints a document",
    ("export", "plays"): "prints JSON lines without being asked",
    ("export", "pmn"): "prints a document",
    ("export", "replay"): "prints a document",
    ("export", "results"): "prints a document",
    ("export", "standings"): "prints a document",
    ("kiosk",): "runs until it is stopped",
    ("record", "laid"): "prints JSON without being asked",
    ("record", "show"): "prints records to read, or a document; `record check --json` is for programs",
    ("rehearse",): "runs until it is stopped",
    ("rules", "riichi", "table"): "prints a page to read",
    ("rules", "sheet"): "prints a document",
    ("scorer",): "runs until it is stopped",
    ("table", "run"): "runs until it is stopped",
}


def test_every_command_that_reports_something_has_a_json_option() -> None:
    without = {path for path, command in COMMANDS.items() if not any("--json" in one.opts for one in command.params)}
    assert sorted(without) == sorted(NO_JSON)


OUTPUTS: Final = ("output", "target", "new_folder")

VALUES: Final = {
    "--name": "cup", "--title": "Cup", "--rounds": "2", "--person": f"a={'0' * 64}", "--for": "0" * 64,
    "--to": "postgresql://anne@localhost/cup", "--code": "12345678", "--set": "1", "--key": "0" * 64,
}  # fmt: skip

MADE: Final = {"deal new", "deal draw announce", "deal key", "deal set new", "event desk", "upgrade key"}
"""Commands whose folder or file need not exist yet."""


def words_of(command: click.Command) -> tuple[list[str], list[str]]:
    """Return arguments with which a command would run if its files existed, and those files."""
    words: list[str] = []
    gone: list[str] = []
    for one in command.params:
        is_path = isinstance(one.type, click.Path)
        if not (one.required or (is_path and isinstance(one, click.Argument)) or getattr(one, "prompt", None)):
            continue
        word = value_of(one)
        if is_path and one.name not in OUTPUTS:
            gone.append(word)
        words += [one.opts[-1], word] if isinstance(one, click.Option) else [word]
    return words, gone


def value_of(one: click.Parameter) -> str:
    if isinstance(one.type, click.Path):
        return "output.pdf" if one.name in OUTPUTS else f"gone-{one.name}"
    if isinstance(one.type, click.Choice):
        return str(one.type.choices[0])
    if one.type.name in {"integer", "integer range"}:
        return "3"
    return VALUES.get(one.opts[-1], "x")


READING: Final = [path for path, one in COMMANDS.items() if words_of(one)[1] and " ".join(path) not in MADE]


def test_a_missing_file_is_an_error_and_nothing_is_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in READING:
        words, gone = words_of(COMMANDS[path])
        result = run(*path, *words, said="y\n")
        told = result.exit_code, codes(result.stderr)
        assert told in [(1, ["file_missing"]), (1, ["picture_missing"])], (path, result.output)
        assert any(name in result.stderr for name in gone), path
        assert [*tmp_path.iterdir()] == [], path


@pytest.mark.parametrize(
    "words",
    [
        ("movement", "new", "--rounds", 4, "--teams", "gone"),
        ("movement", "new", "--rounds", 4, "--event", "gone"),
        ("rules", "sheet", "--event", "gone", "--table", 1),
        ("rules", "profile", "show", "gone.toml"),
        ("rules", "fan", "--profile", "gone.toml"),
        ("set", "enrol", 3, "--folder", "gone", "x.jpg"),
        ("table", "hardware", "gone"),
    ],
    ids=str,
)
def test_a_missing_file_named_by_an_option_is_an_error(
    words: Path_, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words, said="{}\n")
    assert (result.exit_code == 1 and "gone" in result.stderr) or '"error":' in result.stdout
    assert [*tmp_path.iterdir()] == []


def test_with_json_an_error_is_an_object(tmp_path: Path) -> None:
    result = run("certs", "show", tmp_path / "gone", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    assert json.loads(result.stdout)["error"]["code"] == "file_missing"


def test_a_usage_error_is_reported_as_click_does() -> None:
    result = run("rules", "riichi", "points", "three")
    assert (result.exit_code, "Usage:" in result.stderr, "Error: " in result.stderr) == (2, True, True)


def test_errors_are_reported_in_one_place_only() -> None:
    """Commands raise their errors; `broker.console` prints them."""
    own = [path for room in ("broker", "kiosk", "vision", "firmware") for path in (ROOT / room).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in own
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"raise click\.ClickException|(error|problem|refusal)\.code\}: .*err=True", line)
        and path.name != "mosquitto.py"
    ]
    assert found == []


def in_a_terminal(*command: str | Path, **environment: str) -> str:
    """Run a command whose standard error is a terminal; return what the terminal shows."""
    ours, its = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "TERM"}}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its, env=kept | {"TERM": "xterm"} | environment)
    os.close(its)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:
        pass  # Linux reports a closed other end as an error
    finally:
        os.close(ours)
        child.wait()
    return shown.decode()


def test_colours_are_for_terminals_without_no_color() -> None:
    words = (HOMOLOGUE, "rules", "profile", "show", "none")
    assert "\x1b[" in in_a_terminal(*words)
    assert "\x1b[" not in in_a_terminal(*words, NO_COLOR="1")
    assert "\x1b[" not in run(*words[1:]).stderr


PROGRESS: Final = "from broker.console import progress; print([*progress([1, 2], 'Counting')])"


def test_progress_is_for_terminals() -> None:
    assert "Counting" in in_a_terminal(sys.executable, "-c", PROGRESS)
    done = subprocess.run([sys.executable, "-c", PROGRESS], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"[1, 2]\n", b"")


def test_verbose_logs_to_standard_error_and_changes_no_output() -> None:
    words = ("profile", "list")
    verbose = subprocess.run([HOMOLOGUE, "-v", *words], capture_output=True, check=True, text=True)
    plain = run(*words)
    assert (plain.stdout, plain.stderr) == (verbose.stdout, "")
    assert "homologue profile is called homologue rules profile now" in verbose.stderr


RUBBISH: Final = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "Latin-1": "name;team\nJosé;Genève\n".encode("latin-1"),
    "another kind": b'{"format": 1, "name": null, "players": [1, 2]}\n',
    "a list": b"[]\n",
    "deep": b"a = " + b"[" * 5000,
}

INTERNAL: Final = re.compile(r"Traceback|Errno|_ssl|codec|substring|Expected `|object at 0x|recursion|<class|\bNone\b")
"""Words that only programmers understand."""

TAKEN: Final = {
    "certs new folder": "makes certificates in any folder",
    "deal seal folder": "there is nothing to seal",
    "deal verify published": "a file needs --commitment",
    "event device folder": "may come before the plan",
    "event key folder": "may come before the plan",
    "event people audit folder": "accounts may come before the plan",
    "event people list folder": "as above",
    "event people token add folder": "as above",
    "event people token list folder": "as above",
    "event people webhook list folder": "as above",
    "export results source": "no plays have no results",
    "export standings source": "as above",
    "set enrol folder": "the folder for enrolled sets; there is nothing to enrol",
    "table run config": "starts the kiosk again and again, whose screen says what is wrong",
}
"""Parameters for which an empty folder or a file with any content is not an error."""

GIVEN: Final = [
    (path, one)
    for path in READING
    for one in COMMANDS[path].params
    if isinstance(one.type, click.Path) and one.type.exists and f"{' '.join(path)} {one.name}" not in TAKEN
]
"""Every file or folder parameter that a command reads."""


@pytest.mark.parametrize(("path", "param"), GIVEN, ids=[f"{' '.join(path)} {one.name}" for path, one in GIVEN])
def test_a_file_with_rubbish_is_refused_in_plain_words(
    path: Path_, param: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for kind, content in RUBBISH.items():
        (tmp_path / kind).write_bytes(content)
    for given in ("folder", *RUBBISH):
        result = run(*path, *_words_with(COMMANDS[path], param, given), said="y\n")
        assert (result.exit_code, type(result.exception)) == (1, SystemExit), (given, result.output, result.exception)
        assert not INTERNAL.search(result.output), (given, result.output)


def _words_with(command: click.Command, param: click.Parameter, given: str) -> list[str]:
    words: list[str] = []
    for one in command.params:
        if one is param:
            word = given
        elif one.required or getattr(one, "prompt", None):
            word = "folder" if isinstance(one.type, click.Path) and one.type.exists else value_of(one)
        else:
            continue
        words += [one.opts[-1], word] if isinstance(one, click.Option) else [word]
    return words
