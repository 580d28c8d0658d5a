"""The installed command, run as a child process as scripts do."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.patience import PATIENCE_S

HOMOLOGUE: Final = Path(sys.executable).with_name("homologue")

PLAIN: Final = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}


def run(*arguments: str, said: bytes = b"", **settings: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([HOMOLOGUE, *arguments], input=said, capture_output=True, check=False, env=PLAIN | settings)


def test_points_answers_each_line_and_succeeds() -> None:
    said = b'{"win": "discard", "winners": {"east": 18}, "discarder": "north"}\n?\n{"win": "draw"}\n'
    done = run("points", "--json", said=said)
    first, second, third = done.stdout.splitlines()
    assert first == b'{"points":{"east":42,"south":-8,"west":-8,"north":-26}}'
    assert json.loads(second)["error"]["code"] == "malformed"
    assert third == b'{"points":{"east":0,"south":0,"west":0,"north":0}}'
    assert (done.returncode, done.stderr) == (0, b"")


def test_imp_answers_in_utf_8_whatever_the_locale() -> None:
    done = run("imp", "--json", said='{"difference": "八"}\n'.encode(), LC_ALL="C", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout.decode("utf-8"))["error"]["code"] == "not_a_number"
    assert (done.returncode, done.stderr) == (0, b"")


def test_score_answers_once() -> None:
    done = run("score", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"travellers":[],"standings":[]}\n', b"")


def test_each_question_is_answered_before_the_next_one() -> None:
    with subprocess.Popen([HOMOLOGUE, "imp", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(2):
            child.stdin.write(b'{"difference": "8.6"}\n')
            child.stdin.flush()
            assert child.stdout.readline() == b'{"imp":3}\n'
        child.stdin.close()
        assert child.wait(timeout=PATIENCE_S) == 0


def closed(command: str, redirection: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command with a standard stream closed or broken, which is simplest in a shell."""
    line = f'echo \'{{"win": "draw"}}\' | "$0" {command} --json {redirection}'
    return subprocess.run(["sh", "-c", line, HOMOLOGUE], capture_output=True, check=False, env=PLAIN)


@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        ("<&-", b"homologue: there is no standard input [unreadable]\n"),
        (">&-", b"homologue: there is no standard output [unwritable]\n"),
        (">/dev/full", b"homologue: standard output: No space left on device [unwritable]\n"),
    ],
    ids=["no input", "no output", "disk full"],
)
def test_an_unusable_standard_stream_is_reported_in_one_sentence(redirection: str, said: bytes) -> None:
    done = closed("points", redirection)
    assert done.returncode != 0
    assert done.stderr.startswith(said)
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe_ends_the_command_quietly(tmp_path: Path) -> None:
    questions = tmp_path / "questions"
    questions.write_text('{"win": "draw"}\n' * 20_000)
    line = '("$0" points --json <"$1"; echo ended with $? >&2) | head -n 1'
    done = subprocess.run(["sh", "-c", line, HOMOLOGUE, questions], capture_output=True, check=True, env=PLAIN)
    assert done.stdout == b'{"points":{"east":0,"south":0,"west":0,"north":0}}\n'
    assert done.stderr == b"ended with 1\n"
