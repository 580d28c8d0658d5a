"""`homologue hall`: an event is parted into halls, each with what it needs and no more."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.halls import hall
from broker.cli.main import homologue
from broker.event import open_event, save_event
from broker.event.halls import read_centre, read_halls, write_halls
from broker.halls.link import addresses_of
from broker.scorer.event_key import open_event_key
from tests.broker.halls.places import HALLS
from tests.broker.scorer.small import deals, plan, registry


@pytest.fixture
def event(tmp_path: Path) -> Path:
    folder = tmp_path / "world cup"
    save_event(folder, plan(), deals(), registry())
    write_halls(folder, HALLS)
    return folder


def run(*arguments: str | Path) -> str:
    ran = CliRunner().invoke(hall, [str(one) for one in arguments], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_each_hall_gets_its_own_tables_the_deals_and_who_it_is_at_the_centre(event: Path, tmp_path: Path) -> None:
    run(
        "split", event, "--to", tmp_path / "halls", "--address", "centre.example.org", "--address", "[2001:db8::1]:2000"
    )
    for one in HALLS:
        folder = tmp_path / "halls" / one.name
        opened, centre = open_event(folder), read_centre(folder)
        assert (set(opened.tables), opened.among_halls, opened.name) == (set(one.numbers), True, "cup")
        assert centre is not None
        assert (centre.hall, centre.key) == (one.name, open_event_key(event).public)
        assert [(at.host, at.port, at.user, bool(at.identity)) for at in addresses_of(folder, centre)] == [
            ("centre.example.org", 1883, f"hall-{one.name}", True),
            ("2001:db8::1", 2000, f"hall-{one.name}", True),
        ]
        assert {path.name for path in folder.iterdir() if path.stat().st_mode & 0o077} == set()


def test_without_tls_a_hall_has_a_password_of_its_own(event: Path, tmp_path: Path) -> None:
    run("split", event, "--to", tmp_path, "--address", "10.0.0.1", "--only", "paris", "--plain")
    centre = read_centre(tmp_path / "paris")
    assert centre is not None
    (address,) = addresses_of(tmp_path / "paris", centre)
    known = json.loads((event / "credentials.json").read_text("utf-8"))["users"]
    assert (address.password, address.identity) == (known["hall-paris"], None)
    assert not (tmp_path / "osaka").exists()


def test_a_hall_is_revoked_listed_so_and_admitted_again(event: Path) -> None:
    run("revoke", event, "osaka")
    assert [one.revoked for one in read_halls(event)] == [False, True]
    assert "REVOKED" in run("list", event).splitlines()[1]
    run("admit", event, "osaka")
    listed = json.loads(run("list", event, "--json"))
    assert [(one["hall"], one["revoked"]) for one in listed] == [("paris", False), ("osaka", False)]


@pytest.mark.parametrize(
    ("command", "code"), [(("hall", "revoke", "{}", "rome"), "unknown_hall"), (("centre", "{}"), "no_halls")]
)
def test_what_is_no_hall_is_refused(event: Path, command: tuple[str, ...], code: str) -> None:
    if code == "no_halls":
        (event / "halls.toml").unlink()
    ran = CliRunner().invoke(homologue, [one.format(event) for one in command])
    assert (ran.exit_code, f"[{code}]" in ran.output) == (1, True), ran.output
