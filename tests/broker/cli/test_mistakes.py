"""An organiser's mistakes: commands say what to do and leave folders unchanged, whatever the machine's locale."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from broker.cli import event
from broker.cli.main import homologue
from broker.console import problems_of
from broker.export import document
from broker.files import EVENT
from broker.protocol.link import Address, Link
from broker.store import backup
from tests.broker.cli.asking import ask_bytes
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import plan
from tests.refusals import codes

HOMOLOGUE: Final = Path(sys.executable).with_name("homologue")

MAKING: Final = (
    "event people list FOLDER",
    "event people add FOLDER anne --full=Anne --role=organiser --password-stdin",
    "event people token add FOLDER board --role=public",
    "event key FOLDER",
    f"event device FOLDER --table=1 --key={'00' * 32}",
    "certs new FOLDER",
    "upgrade take BUNDLE FOLDER",
)
"""Commands that create files in an event's folder."""


@pytest.mark.parametrize("said", MAKING)
def test_nothing_is_created_in_a_folder_that_is_not_an_event(tmp_path: Path, said: str) -> None:
    (folder := tmp_path / "holidays").mkdir()
    (bundle := tmp_path / "homologue.upgrade").touch()
    words = {"FOLDER": str(folder), "BUNDLE": str(bundle)}
    asked = [words.get(word, word) for word in said.split()]
    told = CliRunner().invoke(homologue, asked, input="four winds and a dragon\n")
    assert (told.exit_code, codes(told.stderr), [*folder.iterdir()]) == (1, ["no_event"], [])
    assert EVENT in told.stderr


def run(encoding: str, *words: object) -> bytes:
    """Run a command that must succeed with this encoding for its output; return what it prints."""
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    return subprocess.run([HOMOLOGUE, *map(str, words)], capture_output=True, env=environment, check=True).stdout


@pytest.mark.parametrize("encoding", ["latin-1", "gbk"])
def test_a_name_that_the_locale_cannot_encode_is_escaped(tmp_path: Path, encoding: str) -> None:
    """A French or Chinese locale cannot encode every foreign name; JSON has all names unchanged."""
    first, *others = plan().players
    folder = event_folder(tmp_path / "cup", of=replace(plan(), players=(replace(first, name="Łukasz אורי"), *others)))
    lines = run(encoding, "event", "checkin", folder).decode(encoding).splitlines()
    assert (len(lines), lines[0]) == (16, r"p01 \u0141ukasz \u05d0\u05d5\u05e8\u05d9: not yet seen")
    assert json.loads(run(encoding, "event", "checkin", folder, "--json").splitlines()[0])["name"] == "Łukasz אורי"


def test_a_file_name_that_is_not_utf_8_is_reported_in_json() -> None:
    (told,) = ask_bytes("imp", b'{"difference": 8}', options=("--profile", os.fsdecode(b"caf\xe9.toml")))
    assert (told["error"]["code"], "caf\udce9.toml" in told["error"]["message"]) == ("bad_profile", True)


def test_a_file_that_cannot_be_written_is_reported_under_the_given_name(tmp_path: Path) -> None:
    asked = ["riichi", "table", "--output", str(tmp_path / "missing" / "points.pdf")]
    told = CliRunner().invoke(homologue, asked)
    assert told.stderr == f"homologue: {asked[-1]}: No such file or directory [file_missing]\n"


def test_a_file_that_is_not_a_certificate_is_reported_by_name(tmp_path: Path) -> None:
    (authority := tmp_path / "ca.crt").write_text("name\n")
    with pytest.raises(OSError, match="certificate") as refused:
        Link(Address("127.0.0.1", 1, "scorer", "", authority), "scorer", [], lambda _: None)
    assert problems_of(refused.value) == [("file_failed", f"{authority}: no certificate or crl found")]


OVER: Final = (
    "riichi table --output FILE",
    "rules sheet --pdf FILE",
    "doctor hall http://127.0.0.1:1 --token-file FILE --bundle FILE",
    "deal draw words --output FILE",
)
"""Commands that write a file and may overwrite an older one of the same kind."""


@pytest.mark.parametrize("said", OVER)
def test_an_output_never_overwrites_a_file_of_another_kind(tmp_path: Path, said: str) -> None:
    (listed := tmp_path / "players.csv").write_text("name\n")
    told = CliRunner().invoke(
        homologue, said.replace("FILE", str(listed)).split(), input='{"event":{"type":"game_end"}}'
    )
    assert (told.exit_code, codes(told.stderr)[0] in {"export_exists", "file_exists"}) == (1, True)
    assert listed.read_text() == "name\n"


def test_secret_words_are_not_overwritten(tmp_path: Path) -> None:
    words = ["deal", "draw", "words", "--output", str(tmp_path / "words.pdf")]
    assert CliRunner().invoke(homologue, words).exit_code == 0
    page = (tmp_path / "words.pdf").read_bytes()
    assert codes(CliRunner().invoke(homologue, words).stderr) == ["file_exists"]
    assert (tmp_path / "words.pdf").read_bytes() == page


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a folder with a copy of an event, its document, and a list of players."""
    folder, stick = event_folder(tmp_path / "cup"), tmp_path / "stick"
    stick.mkdir()
    for words in (
        ["store", "backup", folder, "--to", stick],
        ["export", "json", folder, "--whole", "--output", tmp_path / "cup.json"],
    ):
        assert CliRunner().invoke(homologue, [*map(str, words)]).exit_code == 0
    (tmp_path / "list.csv").write_text("name\n" + "".join(f"Player {number}\n" for number in range(16)))
    return tmp_path


BREAKING: Final = {
    "event new . --name=cup --title=Cup --profile=mcr --players=../list.csv --rounds=5": (event, "open_event_key"),
    "event import ../cup.json .": (document, "write_plan"),
    "store restore ../stick .": (backup, "_sync_names"),
}
"""Commands that create an event, and the step at which each is interrupted."""


@pytest.mark.parametrize("said", BREAKING)
@pytest.mark.parametrize("there", [True, False])
def test_an_interrupted_command_can_be_run_again(
    saved: Path, monkeypatch: pytest.MonkeyPatch, said: str, *, there: bool
) -> None:
    """Ctrl-C leaves an empty folder empty, even the current one, and leaves no new folder."""
    (folder := saved / "here").mkdir()
    monkeypatch.chdir(folder)
    words = [("." if there else "new") if word == "." else word for word in said.split()]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as hand:
        hand.setattr(*BREAKING[said], interrupt)
        assert CliRunner().invoke(homologue, words).exit_code == 1
    assert [*folder.iterdir()] == []
    assert CliRunner().invoke(homologue, words).exit_code == 0
    assert (folder / ("" if there else "new") / EVENT).exists()
