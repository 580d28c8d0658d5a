"""Tab completes commands, options and files in real shells, also where only a part of the program is installed."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from broker.cli.main import GROUP, homologue
from tests.broker.cli.test_parts import absent, run
from tests.patience import PATIENCE_S

HOMOLOGUE: Final = Path(sys.executable).with_name("homologue")

SHELLS: Final = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
}
"""Shells to which keys are sent. Fish has a command of its own that lists completions."""

READY: Final = {
    "bash": "source ./completion; echo rea''dy",
    "zsh": "autoload -Uz compinit; compinit -D -u; source ./completion; echo rea''dy",
}
"""`rea''dy` is written so because a terminal echoes what is typed, and the test waits for `ready`."""

TYPED: Final = {
    "homologue ev\t": "homologue event ",
    "homologue rules furi\t": "homologue rules furiten ",
    "homologue scorer --desk-n\t": "homologue scorer --desk-name ",
    "homologue completion z\t": "homologue completion zsh ",
    "homologue read pict\t": r"homologue read picture\ one.png ",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file whose name has a space."""
    (tmp_path / "picture one.png").touch()
    return tmp_path


def program(shell: str) -> str:
    return CliRunner().invoke(homologue, ["completion", shell]).stdout


class Keyboard:
    """Types into a shell and reads its output."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal

    def type(self, keys: str, until: str) -> None:
        """Type keys and wait until the terminal shows `until`."""
        os.write(self._terminal, keys.encode())
        shown, end = b"", time.monotonic() + PATIENCE_S
        while until.encode() not in shown:
            assert select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))[0], (keys, shown.decode())
            shown += os.read(self._terminal, 4096)


@contextmanager
def typing(shell: str, folder: Path) -> Iterator[Keyboard]:
    """Start a shell that has loaded our command's completion."""
    (folder / "completion").write_text(program(shell))
    place = {"PATH": f"{HOMOLOGUE.parent}:/usr/bin:/bin", "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    ours, its = pty.openpty()
    with subprocess.Popen(
        SHELLS[shell], stdin=its, stdout=its, stderr=its, cwd=folder, env=place, start_new_session=True
    ) as running:
        os.close(its)
        try:
            keyboard = Keyboard(ours)
            keyboard.type(f"{READY[shell]}\r", until="ready")
            yield keyboard
        finally:
            running.kill()
            os.close(ours)


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_commands_options_choices_and_files(shell: str, folder: Path) -> None:
    with typing(shell, folder) as keyboard:
        for keys, completed in TYPED.items():
            keyboard.type(keys, until=completed.removeprefix(keys.removesuffix("\t")))
            keyboard.type("\x15echo to''gether\r", until="together")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("homologue ev", ["event"]),
        ("homologue completion ", ["bash", "fish", "zsh"]),
        ("homologue scorer --broker-", ["--broker-name"]),
        ("homologue read pict", ["picture one.png"]),
    ],
)
def test_fish_completes_too(typed: str, offered: list[str], folder: Path) -> None:
    assert [line.partition("\t")[0] for line in fish(typed, folder)] == offered


def test_fish_shows_the_whole_help_of_an_option(folder: Path) -> None:
    (said,) = (line for line in fish("homologue scorer --brok", folder) if line.startswith("--broker\t"))
    assert "mosquitto, embedded (nats-server), or" in said


def fish(typed: str, folder: Path) -> list[str]:
    """Return the completions that fish offers for a command line."""
    (folder / "completion").write_text(program("fish"))
    asked = f"source ./completion; complete --do-complete '{typed}'"
    place = {"PATH": f"{HOMOLOGUE.parent}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["fish", "-c", asked], cwd=folder, env=place, capture_output=True, check=True, text=True)
    return done.stdout.splitlines()


HEAVY: Final = ("numpy", "msgspec", "sqlalchemy", "starlette", "broker.event", "kiosk", "vision")


@pytest.mark.parametrize("words", ["homologue event ", "homologue event check ", "homologue take-over --"])
def test_completion_imports_no_command(words: str) -> None:
    asked = {"_HOMOLOGUE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", HOMOLOGUE],
        env=os.environ | asked,
        capture_output=True,
        check=True,
        text=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.stdout
    assert imported & {*HEAVY} == set()


def test_completion_works_on_a_table_without_the_scorers_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_HOMOLOGUE_COMPLETE", "bash_complete")
    found = {}
    for words, at in (("homologue ", "1"), ("homologue scorer --", "2")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", at)
        (found[words],) = run(absent("table"), ())
    names = {point.name for point in entry_points(group=GROUP) if "." not in point.name}
    assert {line for line in found["homologue "].stdout.splitlines() if line != "0"} == {
        f"plain,{name}" for name in names
    }
    assert {ended.stderr for ended in found.values()} == {""}
