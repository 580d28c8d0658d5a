"""`homologue hall` splits an event into halls, each with only the files it needs."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.encryption import certificates_of
from broker.cli.halls import hall, make_node
from broker.cli.main import homologue
from broker.event import (
    ListedDevice,
    open_event,
    read_centre,
    read_halls,
    read_nodes,
    save_event,
    write_devices,
    write_halls,
)
from broker.halls.link import addresses_of
from broker.mqtt.certificates import Certificates
from broker.protocol import SigningKey
from broker.protocol.signing import open_event_key
from tests.broker.halls.places import HALLS, plan_apart
from tests.broker.scorer.small import deals, plan, registry


@pytest.fixture
def event(tmp_path: Path) -> Path:
    folder = tmp_path / "world cup"
    save_event(folder, plan_apart(), deals(), registry())
    write_halls(folder, HALLS)
    return folder


def run(*arguments: str | Path) -> str:
    ran = CliRunner().invoke(hall, [str(one) for one in arguments], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_each_hall_gets_its_tables_the_deals_and_its_login_at_the_centre(event: Path, tmp_path: Path) -> None:
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


def test_a_player_in_two_halls_is_reported_before_anything_is_written(event: Path, tmp_path: Path) -> None:
    save_event(event, plan(), deals(), registry())
    refused = CliRunner().invoke(homologue, ["hall", "split", str(event), "--to", str(tmp_path / "halls")])
    assert re.search(r"\S+ plays in two halls: (Paris and Osaka|Osaka and Paris)", refused.output), refused.output
    assert not (tmp_path / "halls").exists()


def test_an_event_whose_players_stay_in_the_halls_of_their_clubs_can_be_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.cli.event.SEARCH_S", 0)
    places = ["Club de Paris", "Ōsaka", "Café", "東京"]
    rows = "".join(f"P{at},{places[at % 4]}\n" for at in range(17))
    (tmp_path / "list.csv").write_text(f"name,club\n{rows}", "utf-8")
    new = ["event", "new", str(tmp_path / "cup"), "--title", "Cup", "--players", str(tmp_path / "list.csv")]
    made = CliRunner().invoke(homologue, [*new, "--rounds", "3", "--halls-by", "club"])
    assert made.exit_code == 0, made.output
    assert f"homologue hall split {tmp_path / 'cup'}" in made.output
    run("split", tmp_path / "cup", "--to", tmp_path / "halls", "--address", "127.0.0.1")
    assert [(one.name, one.title, one.tables) for one in read_halls(tmp_path / "cup")] == [
        ("club-de-paris", "Club de Paris", "1-1"),
        ("osaka", "Ōsaka", "2-2"),
        ("cafe", "Café", "3-3"),
        ("hall-4", "東京", "4-4"),
    ]
    assert {one.name for one in (tmp_path / "halls").iterdir()} == {"club-de-paris", "osaka", "cafe", "hall-4"}


def test_without_tls_each_hall_has_its_own_password(event: Path, tmp_path: Path) -> None:
    run("split", event, "--to", tmp_path, "--address", "10.0.0.1", "--only", "paris", "--plain")
    centre = read_centre(tmp_path / "paris")
    assert centre is not None
    (address,) = addresses_of(tmp_path / "paris", centre)
    known = json.loads((event / "credentials.json").read_text("utf-8"))["users"]
    assert (address.password, address.identity) == (known["hall-paris"], None)
    assert not (tmp_path / "osaka").exists()


THREE = [f"{name}.example.org" for name in "abc"]


def name_nodes(event: Path, to: Path) -> None:
    run("nodes", event, "--to", to, *(part for host in THREE for part in ("--address", host)))


def test_a_machine_for_a_node_only_gets_neither_deals_nor_signing_keys(event: Path, tmp_path: Path) -> None:
    name_nodes(event, tmp_path / "nodes")
    nodes = read_nodes(event)
    assert nodes is not None
    assert (nodes.nodes[1], nodes.routes[1]) == ("b.example.org:1883", "b.example.org:1884")
    assert {path.name for path in (tmp_path / "nodes").iterdir()} == set(THREE[1:])
    for folder in (tmp_path / "nodes").iterdir():
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        tls = {"ca.crt", "display.pem", "node.pem", "revoked.crl", "server.crt", "server.key"}
        assert files == {"halls.toml", "nodes.toml", *(f"tls/{name}" for name in tls)}
        assert {path.name for path in folder.rglob("*") if path.stat().st_mode & 0o077} == set()
        assert read_nodes(folder) == nodes
        assert make_node(folder, 2, "127.0.0.1", Certificates.of_event(folder)).port == 1883


def test_halls_get_the_addresses_of_the_nodes_which_keep_their_certificate(event: Path, tmp_path: Path) -> None:
    name_nodes(event, tmp_path / "nodes")
    before = (event / "tls" / "node.pem").read_bytes()
    name_nodes(event, tmp_path / "nodes")
    assert (event / "tls" / "node.pem").read_bytes() == before
    run("split", event, "--to", tmp_path / "halls")
    centre = read_centre(tmp_path / "halls" / "paris")
    assert centre is not None
    assert centre.brokers == tuple(f"{host}:1883" for host in THREE)


@pytest.mark.parametrize(
    "command",
    [
        ("hall", "nodes", "{}", "--to", "{}-nodes", "--address", "a", "--address", "b"),
        ("hall", "nodes", "{}", "--to", "{}-nodes", "--address", "a", "--address", "b", "--address", "a"),
        ("hall", "nodes", "{}", "--to", "{}-nodes", "--address", "a:1883", "--address", "a:1893", "--address", "b"),
        ("hall", "nodes", "{}", "--to", "{}-nodes", "--address", "a:x", "--address", "b", "--address", "c"),
        ("hall", "nodes", "{}", "--to", "{}-nodes", "--address", "a:65535", "--address", "b", "--address", "c"),
        ("hall", "split", "{}", "--to", "{}-halls"),
        ("centre", "{}", "--node", "1"),
        ("centre", "{}", "--node", "1", "--plain"),
        ("centre", "{}", "--node", "4"),
    ],
)
def test_wrong_nodes_are_refused(event: Path, command: tuple[str, ...], tmp_path: Path) -> None:
    if command[-1] in {"--plain", "4"}:
        name_nodes(event, tmp_path / "nodes")
    ran = CliRunner().invoke(homologue, [one.format(event) for one in command])
    assert (ran.exit_code, "[nodes_wrong]" in ran.output) == (1, True), ran.output


def test_a_centre_with_nodes_needs_the_node_option(event: Path, tmp_path: Path) -> None:
    name_nodes(event, tmp_path / "nodes")
    ran = CliRunner().invoke(homologue, ["centre", str(event)])
    assert (ran.exit_code, "--node is missing" in ran.output) == (2, True), ran.output


def test_a_hall_can_be_revoked_and_admitted_again(event: Path) -> None:
    run("revoke", event, "osaka")
    assert [one.revoked for one in read_halls(event)] == [False, True]
    assert "REVOKED" in run("list", event).splitlines()[1]
    run("admit", event, "osaka")
    listed = json.loads(run("list", event, "--json"))
    assert [(one["hall"], one["revoked"]) for one in listed] == [("paris", False), ("osaka", False)]


def test_revoking_a_hall_of_three_nodes_lists_the_machines_where_to_repeat_it(event: Path, tmp_path: Path) -> None:
    assert "each machine" not in run("revoke", event, "osaka")
    name_nodes(event, tmp_path / "nodes")
    assert f"each machine of the centre: {', '.join(THREE)}" in run("admit", event, "osaka")
    said = [json.loads(line) for line in run("revoke", event, "osaka", "--json").splitlines()]
    assert said == [{"hall": "osaka"}, {"machines": list(THREE)}]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("hall", "revoke", "{}", "rome"), "unknown_hall"),
        (("hall", "split", "{}", "--to", "{}/../halls", "--address", "centre", "--only", "rome"), "unknown_hall"),
        (("centre", "{}"), "no_halls"),
    ],
)
def test_an_unknown_hall_is_refused(event: Path, command: tuple[str, ...], code: str) -> None:
    if code == "no_halls":
        (event / "halls.toml").unlink()
    ran = CliRunner().invoke(homologue, [one.format(event) for one in command])
    assert (ran.exit_code, f"[{code}]" in ran.output) == (1, True), ran.output


def test_the_centre_issues_no_certificates_for_tables_of_halls(event: Path) -> None:
    write_devices(event, [ListedDevice(1, SigningKey.new().public)])
    made = certificates_of(event, ["centre.example.org"], plain=False)
    assert made is not None
    assert made.tables() == []
