"""`homologue certs` shows, renews and revokes an event's certificates."""

import json
import ssl
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.files import EVENT
from broker.mqtt.certificates import NO_END, SERVER_LASTS, Certificates
from broker.people import Actor, Authentication
from broker.protocol import SigningKey
from broker.web.alerts import TOLD_ACTIONS

KEY = SigningKey.new()
ENDS = "-----END CERTIFICATE-----\n"


@pytest.fixture
def event(tmp_path: Path) -> Path:
    Certificates.ensure(tmp_path / "cup").issue(3, KEY.public)
    return tmp_path / "cup"


def ask(*words: object) -> Result:
    return CliRunner().invoke(homologue, ["certs", *map(str, words)])


def test_show_lists_the_certificates_and_no_secret(event: Path) -> None:
    said = json.loads(ask("show", event, "--json").output)
    known = Certificates.of_event(event)
    assert said["authority"] == known.fingerprint
    assert {"localhost", "127.0.0.1"} <= set(said["server"]["names"])
    assert said["tables"] == [{"table": 3, "device": KEY.device, "revoked": None}]
    shown = ask("show", event).output
    assert (KEY.device in shown, "PRIVATE" in shown) == (True, False)


def test_show_gives_the_desks_fingerprint_as_a_browser_shows_it(event: Path) -> None:
    server = ssl.PEM_cert_to_DER_cert((event / "tls" / "server.crt").read_text().partition("-----END")[0] + ENDS)
    shown = sha256(server).hexdigest()
    assert json.loads(ask("show", event, "--json").output)["server"]["fingerprint"] == shown
    assert f"server     {bytes.fromhex(shown).hex(':').upper()}\n" in ask("show", event).output


def test_an_event_without_certificates_is_reported_and_can_get_them(tmp_path: Path) -> None:
    (tmp_path / EVENT).touch()
    told = ask("show", tmp_path).output
    assert ("certificates_missing" in told, "homologue certs new" in told) == (True, True)
    assert ask("new", tmp_path, "--host", "192.0.2.9").exit_code == 0
    assert "192.0.2.9" in json.loads(ask("show", tmp_path, "--json").output)["server"]["names"]


def test_a_renewed_server_certificate_keeps_its_names_and_authority(event: Path) -> None:
    before = Certificates.of_event(event)
    key, names = before.server_key.read_bytes(), before.server_names
    assert ask("renew", event, "--host", "hall.example.org").exit_code == 0
    after = Certificates.of_event(event)
    assert after.server_key.read_bytes() != key
    assert {*names, "hall.example.org"} <= {*after.server_names}
    assert after.authority == before.authority


def test_another_host_name_is_added_to_the_servers_names(event: Path) -> None:
    before = Certificates.ensure(event, ["hall.example.org"]).server_names
    assert {*before, "192.0.2.9"} <= {*Certificates.ensure(event, ["192.0.2.9"]).server_names}


def test_a_tables_device_can_be_revoked_once(event: Path) -> None:
    assert ask("revoke", event, 3, "--device", KEY.device[:6]).output == f"table 3: device {KEY.device} is revoked\n"
    assert json.loads(ask("show", event, "--json").output)["tables"][0]["revoked"] == "command"
    assert "certificate_unknown" in ask("revoke", event, 3).output
    assert "certificate_unknown" in ask("revoke", event, 4).output


def test_a_revocation_by_command_is_audited_and_alerts_people(event: Path) -> None:
    with closing(Authentication(event)) as auth:
        auth.accounts.add("anne", "Anne", "head_arbiter", "four winds and a dragon", Actor("test"))
        ask("revoke", event, 3)
        (last,) = auth.audit.newest(1)
    assert (last.action, last.about, last.detail, last.action in TOLD_ACTIONS) == (
        "device_revoked",
        "3",
        KEY.device,
        True,
    )


def test_a_device_paired_again_after_revocation_gets_a_new_certificate(event: Path) -> None:
    known = Certificates.of_event(event)
    first = known.issue(3, KEY.public)
    assert known.issue(3, KEY.public) == first
    known.revoke(3)
    assert known.issue(3, KEY.public) != first
    assert [one.revoked for one in known.tables()] == [None]


def test_private_files_are_accessible_to_their_owner_only(event: Path) -> None:
    files = [*(event / "tls").iterdir()]
    assert [path.name for path in files if path.stat().st_mode & 0o077] == []
    assert (event / "tls").stat().st_mode & 0o077 == 0


def test_the_server_certificate_is_renewed_before_it_expires_and_for_a_new_address(tmp_path: Path) -> None:
    then = datetime(2026, 5, 1, tzinfo=UTC)
    first = Certificates.ensure(tmp_path, now=lambda: then).server.read_bytes()
    assert Certificates.ensure(tmp_path, now=lambda: then).server.read_bytes() == first
    moved = Certificates.ensure(tmp_path, ["192.0.2.9"], now=lambda: then)
    assert moved.server.read_bytes() != first
    late = then + SERVER_LASTS
    assert Certificates.ensure(tmp_path, ["192.0.2.9"], now=lambda: late).server_ends > late


@pytest.mark.parametrize("year", [2003, 2090])
def test_after_the_clock_is_corrected_the_server_certificate_is_valid_again(tmp_path: Path, year: int) -> None:
    wrong, right = datetime(year, 1, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
    Certificates.ensure(tmp_path, now=lambda: wrong)
    made = Certificates.ensure(tmp_path, now=lambda: right)
    assert right < made.server_ends < NO_END


def test_without_the_authoritys_key_renewal_is_refused(event: Path) -> None:
    (event / "tls" / "ca.key").unlink()
    refused = ask("renew", event)
    assert (refused.exit_code, "certificates_missing" in refused.output) == (1, True)
    assert ask("show", event).exit_code == 0


def test_a_corrupted_authority_is_reported(event: Path) -> None:
    (event / "tls" / "ca.crt").write_text("rubbish")
    assert "certificates_broken" in ask("show", event).output
