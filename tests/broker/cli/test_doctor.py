"""`homologue doctor scorer` and `hall` report each fault by its code, and nothing else."""

import json
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pytest
from click.testing import CliRunner, Result

from broker.checkup import TAKEN_OUT, Examined, Finding, secret_words, versions, without_secrets, write_bundle
from broker.cli.doctor import hall_findings
from broker.cli.main import homologue
from broker.event import CentreAddress, Nodes, open_event, write_centre, write_nodes
from broker.event.deals.commitment import commit_folder
from broker.files import write_private
from broker.halls.link import PASSWORD_FILE
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.people import Actor, Authentication
from broker.protocol.signing import open_event_key
from broker.store import STORE, open_journal
from broker.store.backup import make_copy
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.demo_event import MakeEvent, exchange_two_tiles

BY: Final = Actor("test")


def ask(*words: object) -> Result:
    return CliRunner().invoke(homologue, ["doctor", *map(str, words)])


def codes(*words: object) -> set[str]:
    """Return the codes of the findings that must be dealt with."""
    answer = ask("scorer", *words, "--json")
    found = json.loads(answer.output)["findings"]
    must = {one["code"] for one in found if one["must"]}
    assert answer.exit_code == (1 if must else 0)
    assert [one for one in found if not (one["what"] and one["why"] and one["do"])] == []
    return must


@pytest.fixture
def event(tmp_path: Path, demo_event: MakeEvent, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An event with everything that has secrets."""
    quick_hashes(monkeypatch)
    folder = tmp_path / "cup"
    folder.mkdir()
    demo_event(folder, 4)
    commit_folder(folder, open_event(folder).name)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    Certificates.ensure(folder)
    Credentials.ensure(folder / "credentials.json", 4)
    open_event_key(folder)
    with closing(Authentication(folder)) as auth:
        auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
    return folder


def test_findings_are_printed_even_if_the_bundle_cannot_be_written(event: Path, tmp_path: Path) -> None:
    answer = ask("scorer", event, "--bundle", tmp_path / "missing" / "help.zip")
    assert (answer.exit_code, "examined: event, store" in answer.stdout) == (1, True)
    assert "[file_missing]" in answer.stderr


def test_a_sound_event_has_no_findings(event: Path) -> None:
    assert codes(event) == set()
    assert "nothing to do" in ask("scorer", event).output


def other_deals(event: Path) -> None:
    exchange_two_tiles(event, 1)


def open_secret(event: Path) -> None:
    (event / "credentials.json").chmod(0o644)


def no_event(event: Path) -> None:
    (event / "event.toml").unlink()


def broken_certificate(event: Path) -> None:
    (event / "tls" / "ca.crt").write_text("none")


def broken_store(event: Path) -> None:
    (event / STORE).write_bytes(b"no database at all" * 100)


def broken_audit(event: Path) -> None:
    with closing(Authentication(event)) as auth, auth.store.commit() as sql:
        sql.exec_driver_sql("DROP TRIGGER audit_append_only_update")
        sql.exec_driver_sql("UPDATE audit SET who = 'somebody else'")


def nodes_away(event: Path) -> None:
    write_nodes(event, Nodes("cup", ("127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1")))


def centre_away(event: Path) -> None:
    write_centre(event, CentreAddress("paris", "Paris", ("127.0.0.1:1", "127.0.0.2:1"), open_event_key(event).public))
    write_private(event / PASSWORD_FILE, b"secret")


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (nodes_away, {"node_away"}),
        (centre_away, {"centre_away"}),
        (other_deals, {"deal_differs"}),
        (open_secret, {"secret_readable"}),
        (broken_certificate, {"certificates_broken"}),
        (broken_store, {"backup_broken"}),
        (broken_audit, {"audit_broken"}),
    ],
    ids=lambda one: one.__name__ if callable(one) else "",
)
def test_each_fault_of_an_event_is_found_and_nothing_else(
    event: Path, spoil: Callable[[Path], None], expected: set[str]
) -> None:
    spoil(event)
    assert codes(event) == expected


def test_copies_that_are_missing_or_old_are_found(event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(event, "--backup", tmp_path / "no stick") == {"backup_missing"}
    stick = tmp_path / "stick"
    stick.mkdir()
    with closing(open_journal(event, open_event(event).name)):
        pass
    make_copy(event, open_event(event).name, stick, int((time.time() - 60 * 61) * 1000), 5)
    assert codes(event, "--backup", stick) == set()  # nothing was stored since the copy
    monkeypatch.setattr("broker.cli.doctor._messages", lambda *_: 1)
    assert codes(event, "--backup", stick) == {"backup_old"}
    assert codes(event, "--backup", stick, "--backup-age", 62) == set()


def test_a_full_disk_is_found(event: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.cli.doctor.disk_room", lambda _: (1_000_000, 10**12))
    assert codes(event) == {"scorer_disk_low"}


# ---- the bundle --------------------------------------------------------------------------


@contextmanager
def opened(bundle: Path) -> Iterator[dict[str, str]]:
    with zipfile.ZipFile(bundle) as packed:
        yield {name: packed.read(name).decode() for name in packed.namelist()}


def test_a_bundle_contains_no_secret(event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if the log contains one."""
    secrets = secret_words([event])
    assert len(secrets) > 50
    monkeypatch.setattr("broker.checkup.journal_of_units", lambda: "\n".join(sorted(secrets)))
    open_secret(event)
    ask("scorer", event, "--bundle", tmp_path / "bundle.zip")
    assert (tmp_path / "bundle.zip").stat().st_mode & 0o077 == 0
    with opened(tmp_path / "bundle.zip") as texts:
        whole = "\n".join(texts.values())
        assert {"findings.json", "findings.txt", "versions.json", "log.txt", "event.txt"} == texts.keys()
    assert TAKEN_OUT in whole
    assert [word for word in secrets if word in whole] == []


def test_the_words_of_all_secret_files_are_known(event: Path) -> None:
    """Everything that grants access or reveals tile faces. Of people only hashes are stored, in no file of a bundle."""
    words = secret_words([event])
    credentials = json.loads((event / "credentials.json").read_text())
    flat = json.dumps(credentials)
    assert [one for one in flat.split('"') if len(one) >= 30 and one not in words] == []
    keys = [path for path in event.rglob("*") if path.is_file() and b"PRIVATE KEY" in path.read_bytes()]
    assert len(keys) >= 2
    for path in keys:
        lines = [line for line in path.read_text().splitlines() if "-----" not in line and len(line) >= 12]
        private = path.read_text().partition("PRIVATE KEY-----")[2]
        assert [line for line in lines if line in private and line not in words] == [], path


def test_words_that_are_not_secret_stay() -> None:
    assert without_secrets("table 3 hides abcdefghijkl here", ["abcdefghijkl"]) == f"table 3 hides {TAKEN_OUT} here"
    assert {"homologue", "python", "system", "click"} <= versions().keys()


def test_a_bundle_may_have_no_files_to_include(tmp_path: Path) -> None:
    finding = Finding("a_code", "what", "why", "do", must=False)
    write_bundle(tmp_path / "b.zip", Examined(("all",), (finding,)), {}, [tmp_path / "nowhere"])
    with opened(tmp_path / "b.zip") as texts:
        assert json.loads(texts["findings.json"])["findings"][0]["code"] == "a_code"


# ---- the hall ----------------------------------------------------------------------------

WELL: Final = """\
homologue_broker_connected 1.0
homologue_build_info{version="0.1.0"} 1.0
homologue_disk_level{level="ample"} 1.0
homologue_disk_level{level="full"} 0.0
homologue_table_away{table="1"} 0.0
homologue_table_build_info{table="1",version="0.1.0"} 1.0
homologue_table_last_heard_seconds{table="1"} 4.0
homologue_table_clock_offset_seconds{table="1"} -0.5
homologue_table_temperature_celsius{table="1"} 61.0
homologue_table_disk_free_bytes{table="1"} 4e+09
"""


def test_a_sound_hall_has_no_findings() -> None:
    assert list(hall_findings(WELL)) == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("connected 1.0", "connected 0.0", "broker_away"),
        ('away{table="1"} 0', 'away{table="1"} 1', "tables_away"),
        ("} 4.0", "} 31.0", "tables_silent"),
        ("-0.5", "-61", "clocks_off"),
        ("61.0", "76", "tables_hot"),
        ("4e+09", "4e+07", "tables_full"),
        ('table="1",version="0.1.0"', 'table="1",version="0.0.9"', "versions_differ"),
        ('level="ample"} 1', 'level="ample"} 0', ""),
        ('level="full"} 0', 'level="full"} 1', ""),
    ],
)
def test_each_fault_of_a_hall_is_found(before: str, after: str, code: str) -> None:
    assert before in WELL
    found = list(hall_findings(WELL.replace(before, after)))
    assert [one.code for one in found] == ([code] if code else [])
    assert [one for one in found if code.startswith("tables") and " 1 " not in f"{one.what} "] == []


def test_the_scorers_full_disk_is_found() -> None:
    told = WELL.replace('level="ample"} 1', 'level="ample"} 0').replace('level="full"} 0', 'level="full"} 1')
    assert [one.code for one in hall_findings(told)] == ["scorer_disk_low"]


class _Desk(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        right = self.headers["Authorization"] == "Bearer a-token" and self.path == "/metrics"
        self.send_response(200 if right else 401)
        self.end_headers()
        self.wfile.write(WELL.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library calls it
        """Say nothing."""


def test_the_desks_metrics_need_the_token_and_a_failed_request_is_a_finding(tmp_path: Path) -> None:
    token = tmp_path / "token"
    with ThreadingHTTPServer(("127.0.0.1", 0), _Desk) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/"
        token.write_text("a-token\n")
        well = ask("hall", address, "--token-file", token, "--json")
        token.write_text("another\n")
        refused = ask("hall", address, "--token-file", token, "--json")
        server.shutdown()
        thread.join()
    gone = ask("hall", address, "--token-file", token, "--json")
    assert json.loads(gone.output)["findings"][0]["what"] == f"{address}: Connection refused"
    token.write_bytes(b"caf\xe9")
    assert "the file does not contain a token" in ask("hall", address, "--token-file", token).output
    assert (well.exit_code, json.loads(well.output)["findings"]) == (0, [])
    for answer in (refused, gone, ask("hall", "file:///etc/passwd", "--token-file", token, "--json")):
        assert [one["code"] for one in json.loads(answer.output)["findings"]] == ["desk_unread"]
        assert answer.exit_code == 1
