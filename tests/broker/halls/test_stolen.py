"""Whoever has a hall's folder, with everything its machine has created there, can pose only as that hall."""

import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.halls import hall
from broker.event import read_centre, save_event, write_halls
from broker.halls.link import IDENTITY_FILE, FromCentre, addresses_of
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import Broker, MqttBrokerSettings, probe_broker
from broker.mqtt.programs import Kind, broker_of
from broker.protocol import CentreState, SigningKey, encode, topics
from broker.protocol.link import Incoming
from broker.protocol.signing import EVENT_KEY_FILE, open_event_key
from broker.protocol.tls import Identity, event_context
from tests.broker.halls.places import CENTRE, HALLS, places, plan_apart
from tests.broker.mqtt.client import Client, Heard
from tests.broker.mqtt.test_tls import shake_hands
from tests.broker.scorer.small import deals, registry


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Return a folder with the folders of a centre and its halls, each completed as at its machine's first start."""
    centre = tmp_path / "centre"
    save_event(centre, plan_apart(), deals(), registry())
    write_halls(centre, HALLS)
    split = ["split", str(centre), "--to", str(tmp_path), "--address", "127.0.0.1"]
    assert CliRunner().invoke(hall, split).exit_code == 0
    for one in HALLS:
        Certificates.ensure(tmp_path / one.name)
        Credentials.ensure(tmp_path / one.name / "credentials.json", 4)
        open_event_key(tmp_path / one.name)
    return tmp_path


@pytest.fixture(params=["embedded", "mosquitto"])
def kind(request: pytest.FixtureRequest) -> Kind:
    kinds: dict[str, Kind] = {"embedded": "embedded", "mosquitto": "mosquitto"}
    return kinds[request.param]


def broker_at(world: Path, name: str, kind: Kind) -> Broker:
    """Return the broker of the centre or of a hall, not yet started."""
    folder = world / name
    settings = MqttBrokerSettings(
        folder=folder / "broker",
        event="cup",
        credentials=Credentials.load(folder / "credentials.json"),
        tables=4,
        certificates=Certificates.of_event(folder),
        halls=lambda: tuple(one.name for one in HALLS) if name == "centre" else None,
    )
    return broker_of(kind, settings)


@pytest.fixture
def leaving() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


def client_of(broker: Broker, authority: Path, identity: Identity, leaving: ExitStack) -> Client:
    made = leaving.enter_context(Client(broker))
    made.trust(authority.read_text("ascii"), identity)
    assert made.connect()
    return made


def proofs_of(folder: Path) -> set[str]:
    """Return all private keys and passwords in a folder."""
    pem = [*folder.rglob("*.pem"), *(folder / "tls").glob("*.key")]
    blocks = [block for path in pem for block in path.read_text("ascii").split("-----BEGIN ")]
    return {
        *(block for block in blocks if block.startswith("PRIVATE KEY")),
        (folder / EVENT_KEY_FILE).read_text("ascii").strip(),
        *Credentials.load(folder / "credentials.json").passwords.values(),
    }


def test_no_hall_has_a_secret_of_the_centre_or_of_another_hall(world: Path) -> None:
    for place in ("centre", "paris", "osaka"):
        proofs = proofs_of(world / place)
        assert len(proofs) > 10
        for other in {"centre", "paris", "osaka"} - {place}:
            files = [path.read_bytes() for path in (world / other).rglob("*") if path.is_file()]
            assert [one for one in proofs if any(one.encode() in content for content in files)] == []


def test_at_the_centres_broker_a_hall_can_use_only_its_own_topics(world: Path, kind: Kind, leaving: ExitStack) -> None:
    broker = leaving.enter_context(broker_at(world, "centre", kind))
    certificates = Certificates.of_event(world / "centre")
    scorer = client_of(broker, certificates.ca, certificates.office("scorer"), leaving)
    assert all(scorer.subscribe(topics.HALL_ROW.at("cup"), topics.HALL_STATE.at("cup"), topics.LOG.at("cup")))
    row, receipt = topics.HALL_ROW.at("cup", hall="paris"), topics.HALL_RECEIPT.at("cup", hall="paris")
    forged = (
        topics.HALL_ROW.at("cup", hall="osaka"),
        topics.HALL_STATE.at("cup", hall="osaka"),
        topics.LOG.at("cup", table=3),
        topics.HALL_RECEIPT.at("cup", hall="osaka"),
        topics.CENTRE.at("cup"),
    )
    osaka = client_of(broker, certificates.ca, Identity(world / "osaka" / IDENTITY_FILE), leaving)
    assert all(osaka.subscribe(topics.HALL_RECEIPT.at("cup", hall="osaka"), topics.CENTRE.at("cup")))
    for topic in forged:
        thief = client_of(broker, certificates.ca, Identity(world / "paris" / IDENTITY_FILE), leaving)
        thief.attempt(topic, b"forged")
    thief = client_of(broker, certificates.ca, Identity(world / "paris" / IDENTITY_FILE), leaving)
    thief.subscribe(receipt, topics.HALL_RECEIPT.at("cup", hall="osaka"))
    thief.say(row, b"own")
    assert scorer.hear() == Heard(row, b"own")
    for hall_ in ("osaka", "paris"):
        scorer.say(topics.HALL_RECEIPT.at("cup", hall=hall_), b"of the centre")
    assert thief.hear().topic == receipt
    assert osaka.hear() == Heard(topics.HALL_RECEIPT.at("cup", hall="osaka"), b"of the centre")


def test_a_hall_admits_no_identity_of_another_hall(world: Path, kind: Kind, leaving: ExitStack) -> None:
    own, key = Certificates.of_event(world / "paris"), SigningKey.new()
    table = world / "table-3.crt"
    table.write_text(own.issue(3, key.public), "ascii")
    known = Credentials.load(world / "paris" / "credentials.json")
    thieves = {
        "its identity at the centre": (Identity(world / "paris" / IDENTITY_FILE), None),
        "its own scorer": (own.office("scorer"), ("scorer", known.password("scorer"))),
        "a table of the other hall": (Identity(table, key), known.table(3)),
    }
    broker = leaving.enter_context(broker_at(world, "osaka", kind))
    authority = Certificates.of_event(world / "osaka").authority
    office = Certificates.of_event(world / "osaka").office("scorer")
    assert probe_broker(broker.host, broker.port, None, event_context(authority, office)) is None
    for who, (identity, login) in thieves.items():
        assert probe_broker(broker.host, broker.port, login, event_context(authority, identity)) is not None, who


@pytest.mark.parametrize("proof", [IDENTITY_FILE, "tls/server"])
def test_a_hall_does_not_mistake_another_halls_server_for_the_centre(world: Path, proof: str) -> None:
    centre = read_centre(world / "osaka")
    assert centre is not None
    (address,) = addresses_of(world / "osaka", centre)
    assert address.ca is not None
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    chain = world / "paris" / proof
    if proof == IDENTITY_FILE:
        serving.load_cert_chain(chain)
    else:
        serving.load_cert_chain(f"{chain}.crt", f"{chain}.key")
    here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = event_context(address.ca.read_text("ascii"), address.identity).wrap_bio(here, there)
    with pytest.raises(ssl.SSLError, match="certificate"):
        shake_hands(client, serving.wrap_bio(there, here, server_side=True))


def test_a_message_signed_by_another_hall_is_not_accepted_as_the_centres(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        osaka = made.halls["osaka"].scorer
        complete = tuple(sorted(osaka.state.planned.expected))
        word = CentreState(id="forged-word", event="cup", seq=99, complete=complete, halls=2)
        for name in ("paris", CENTRE):
            said = encode(open_event_key(made.folder / name).sign(word))
            osaka._inbox.put(FromCentre(Incoming(topics.CENTRE.at("cup"), said, lambda: None)))
            made.halls["osaka"].step()
            assert (osaka.state.elsewhere == frozenset(complete)) is (name == CENTRE)
