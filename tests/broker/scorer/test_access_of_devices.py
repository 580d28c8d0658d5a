"""Which facts the scorer believes: those signed by an admitted device, each following its table's previous fact."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.errors import NoDeviceWaits
from broker.event import ListedDevice, write_devices
from broker.protocol import (
    Confirmed,
    DeviceAdmitted,
    FineRuled,
    Kept,
    KeptBack,
    LogMessage,
    Receipt,
    Ruled,
    SigningKey,
    TilesLaid,
    Void,
    decode,
    encode,
    fact_hash,
    is_signed_by,
    stored_form,
    topics,
    with_sender,
)
from broker.protocol.link import Incoming
from broker.protocol.signing import EVENT_KEY_FILE, open_event_key, signed_part
from broker.scorer import access, intake
from broker.scorer.access import Admissions
from broker.scorer.service import Scorer
from broker.store import LOST, Fault
from tests.broker.scorer.hall import NOW, STORE, Clock, Ear, Hall, open_journal
from tests.broker.scorer.small import NAME, event, fact, restored, result, state, whole_play

OURS, OTHER = SigningKey.from_bytes(b"1" * 32), SigningKey.from_bytes(b"2" * 32)
TABLE = 1
LOG = topics.LOG.at(NAME, table=TABLE)


def open_hall(folder: Path, leaving: ExitStack) -> Hall:
    """Start a scorer that admits only the devices in its journal and its folder."""
    journal, clock, ear = leaving.enter_context(open_journal(folder)), Clock(), Ear()
    scorer = Scorer(event(), journal, folder, clock)
    scorer.publisher.link = ear
    return Hall(scorer, journal, folder, ear, clock)


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with ExitStack() as leaving:
        yield open_hall(tmp_path, leaving)


def chained(key: SigningKey, *facts: LogMessage, before: str | None = None) -> list[LogMessage]:
    """Sign facts, each with the hash of the one before."""
    made = []
    for one in facts:
        made.append(key.sign(replace(one, device=key.device, before=before, signature=None, sender=None)))
        before = fact_hash(encode(made[-1]))
    return made


FACTS = (
    fact(TABLE, 1, restored(TABLE)),
    fact(TABLE, 2, Confirmed(round=1, deal=event().bookings[TABLE, 1].deal)),
    fact(TABLE, 3, result(TABLE)),
)
SIGNED = chained(OURS, *FACTS)


def bytes_of(message: LogMessage, sender: str = OURS.device) -> bytes:
    """Return what a device sends."""
    return with_sender(stored_form(encode(message)), sender)


def codes(hall: Hall) -> list[str]:
    """Return the refusal codes in the last receipt."""
    return [one["code"] for one in hall.ear.told(f"receipt/{TABLE}")["refused"]]


def stored(hall: Hall) -> list[object]:
    return [one for one in hall.journal.messages() if isinstance(one, LogMessage)]


def test_signed_facts_are_stored_byte_for_byte_and_stay_verifiable(hall: Hall) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    for one in SIGNED:
        hall.arrive(LOG, bytes_of(one))
    bodies = [body for _, body in hall.journal.entries()][1:]
    assert bodies == [stored_form(encode(one)) for one in SIGNED]
    assert all(is_signed_by(OURS.public, body, decode(LogMessage, body).signature) for body in bodies)


def test_the_next_scorer_knows_an_admitted_device_from_the_journal(tmp_path: Path) -> None:
    with ExitStack() as leaving:
        open_hall(tmp_path, leaving).scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.arrive(LOG, bytes_of(SIGNED[0]))
        assert (codes(hall), len(stored(hall))) == ([], 1)


def test_listed_devices_are_admitted_once_and_stay_revoked(tmp_path: Path) -> None:
    write_devices(tmp_path, [ListedDevice(TABLE, OURS.public, "pi-1"), ListedDevice(99, OTHER.public)])
    for expected in (1, 0):
        with ExitStack() as leaving:
            devices = open_hall(tmp_path, leaving).scorer.live.devices
            assert len(devices.admissions.all()) == expected
            if expected:
                devices.revoke(TABLE, OURS.device, "stolen", "Tao Lin", "tao")


def damage(folder: Path, before: bytes, after: bytes) -> None:
    """Change bytes in the store's file, as a failing disk does."""
    path = folder / STORE
    path.write_bytes(path.read_bytes().replace(before, after))


def test_a_revoked_listed_device_stays_revoked_although_its_admission_record_is_damaged(tmp_path: Path) -> None:
    write_devices(tmp_path, [ListedDevice(TABLE, OURS.public, "pi-1")])
    with ExitStack() as leaving:
        open_hall(tmp_path, leaving).scorer.live.devices.revoke(TABLE, OURS.device, "stolen", "Tao Lin", "tao")
    damage(tmp_path, b'"machine":"pi-1"', b'"machine":"pi-7"')
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.arrive(LOG, bytes_of(SIGNED[0]))
        assert (codes(hall), stored(hall)) == (["unknown_device"], [])


def test_a_device_can_be_admitted_although_the_last_record_is_damaged(tmp_path: Path) -> None:
    with ExitStack() as leaving:
        open_hall(tmp_path, leaving).scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    damage(tmp_path, b'"machine":"pi-1"', b'"machine":"pi-7"')
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
        hall.arrive(LOG, bytes_of(SIGNED[0]))
        assert (codes(hall), len(stored(hall))) == ([], 1)


def test_a_revocation_returned_by_a_table_holds_although_other_devices_were_admitted_since(tmp_path: Path) -> None:
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
        hall.scorer.live.devices.revoke(TABLE, OURS.device, "stolen", "Tao Lin", "tao")
        hall.scorer.live.devices.admit(2, OTHER.public, "pi-2")
        hall.connect(up=True)
        at_table = [one for one in hall.ear.heard(f"kept/{TABLE}") if isinstance(one, Kept)][-1].records
    damage(tmp_path, b'"reason":"stolen"', b'"reason":"stolon"')
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        back = KeptBack(id="given-back", event=NAME, table=TABLE, records=at_table)
        hall.arrive(topics.KEPT_BACK.at(NAME, table=TABLE), encode(back))
        hall.arrive(LOG, bytes_of(SIGNED[0]))
        assert (codes(hall), stored(hall)) == (["unknown_device"], [])


def test_a_revocation_holds_although_its_number_was_used_again_after_a_restore(tmp_path: Path) -> None:
    folder, older = tmp_path / "event", tmp_path / "older"
    folder.mkdir()
    with ExitStack() as leaving:
        open_hall(folder, leaving).scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    shutil.copytree(folder, older, ignore=shutil.ignore_patterns("*.lock", "*.witness"))
    with ExitStack() as leaving:
        hall = open_hall(folder, leaving)
        hall.scorer.live.devices.revoke(TABLE, OURS.device, "stolen", "Tao Lin", "tao")
        hall.connect(up=True)
        at_table = [one for one in hall.ear.heard(f"kept/{TABLE}") if isinstance(one, Kept)][-1].records
    back = KeptBack(id="given-back", event=NAME, table=TABLE, records=at_table)
    for _ in range(2):
        with ExitStack() as leaving:
            hall = open_hall(older, leaving)
            hall.scorer.live.devices.admit(2, OTHER.public, "pi-2")
            hall.arrive(topics.KEPT_BACK.at(NAME, table=TABLE), encode(back))
            hall.arrive(LOG, bytes_of(SIGNED[0]))
            assert (codes(hall), stored(hall)) == (["unknown_device"], [])
            assert [one.device for one in hall.scorer.live.devices.admissions.all()] == [OTHER.device]
            assert hall.journal.height == 3


REFUSED = {
    "a fact that nobody signed": (encode(replace(FACTS[0], signature=None, device=None)), "unsigned"),
    "a fact that nobody signed, by the name of a device": (
        encode(replace(FACTS[0], signature=None, device=None, sender=OURS.device)),
        "unsigned",
    ),
    "a device of another table": (bytes_of(chained(OTHER, FACTS[0])[0]), "unknown_device"),
    "a device by another's name": (bytes_of(replace(chained(OTHER, FACTS[0])[0], device=OURS.device)), "bad_signature"),
    "a ruling in an arbiter's name": (
        encode(
            replace(
                FACTS[0],
                device=OURS.device,
                signature="0" * 128,
                fact=Ruled(
                    round=1,
                    deal=FACTS[0].fact.deal,
                    decision=Void(),
                    author="Tao Lin",
                    role="table_arbiter",
                    reason="forged",
                ),
            )
        ),
        "bad_signature",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_fact_not_signed_by_a_device_of_the_table_is_refused_with_an_alert(hall: Hall, name: str) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    hall.scorer.live.devices.admit(2, OTHER.public, "pi-2")
    payload, code = REFUSED[name]
    hall.arrive(LOG, payload)
    assert (codes(hall), stored(hall), hall.alerts()) == ([code], [], [(code, TABLE)])


@given(st.data())
def test_a_fact_is_refused_if_any_byte_is_changed(data: st.DataObject) -> None:
    admissions = Admissions([admitted(OURS)])
    payload = stored_form(encode(SIGNED[0]))
    at = data.draw(st.integers(0, len(payload) - 1))
    forged = (
        payload[:at]
        + bytes([data.draw(st.integers(0, 255).filter(lambda one: one != payload[at]))])
        + payload[at + 1 :]
    )
    admissions.verify_batch([forged])
    assert fact_hash(forged) not in admissions._verified


@pytest.mark.parametrize("more", [b',"note":"mine"', b',"seq":2', b" "])
def test_a_fact_with_fields_behind_its_signature_is_refused(hall: Hall, more: bytes) -> None:
    """Readers skip fields that they do not know, but nothing behind the signature is signed."""
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    hall.arrive(LOG, stored_form(encode(SIGNED[0])).removesuffix(b"}") + more + b"}")
    assert (stored(hall), hall.ear.told("alert")["code"]) == ([], "malformed" if b"seq" in more else "bad_signature")


def test_a_field_behind_the_signature_does_not_vouch_for_the_previous_fact(hall: Hall) -> None:
    """Of two equal fields the last one counts, so the previous hash is read only from the signed part."""
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    forged = encode(replace(FACTS[0], device=OURS.device, signature="0" * 128))
    for names in (b',"before":"%b"', b',"sender":"0","before":"%b"', b',"sender":"0","more":1,"before":"%b"'):
        vouching = stored_form(encode(SIGNED[1])).removesuffix(b"}") + names % fact_hash(forged).encode() + b"}"
        for payload in (forged, vouching):
            hall.scorer._inbox.put(Incoming(LOG, payload, lambda: None))
        hall.scorer.step(timeout=0)
    assert (stored(hall), codes(hall)) == ([], ["bad_signature"])


def admitted(key: SigningKey) -> DeviceAdmitted:
    return DeviceAdmitted(
        id="admitted-0001", event=NAME, number=1, table=TABLE, device=key.device, key=key.public, at=NOW
    )


@given(st.lists(st.sampled_from(["ours", "other", "forged", "cut"]), min_size=1, max_size=8))
def test_verifying_facts_together_accepts_the_same_as_one_by_one(kinds: list[str]) -> None:
    """A signature proves the facts before it only where the same device has chained them."""
    admissions, payloads, before = Admissions([admitted(OURS)]), [], None
    for seq, kind in enumerate(kinds, 1):
        key = OTHER if kind == "other" else OURS
        (made,) = chained(key, replace(FACTS[0], seq=seq), before=None if kind == "cut" else before)
        if kind == "forged":
            made = replace(made, signature="0" * 128)
        payloads.append(stored_form(encode(made)))
        before = fact_hash(payloads[-1])
    admissions.verify_batch(payloads)
    proven = False
    for kind, after, payload in reversed([*zip(kinds, [*kinds[1:], "cut"], payloads, strict=True)]):
        vouched = proven and after != "cut" and kind != "other"  # the device has named these bytes as its own
        proven = vouched or kind in ("ours", "cut")
        assert (fact_hash(payload) in admissions._verified) == proven


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The facts whose signatures were verified."""
    found = list[bytes]()

    def noting(public: str, payload: bytes, signature: str | None) -> bool:
        found.append(payload)
        return is_signed_by(public, payload, signature)

    monkeypatch.setattr(access, "is_signed_by", noting)
    return found


def test_a_resent_fact_is_listed_in_the_receipt_without_being_verified_again(
    tmp_path: Path, verified: list[bytes]
) -> None:
    sent = [bytes_of(one) for one in SIGNED]
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
        for payload in (*sent, *sent):
            hall.arrive(LOG, payload)
        taken = [one["seq"] for one in hall.ear.told(f"receipt/{TABLE}")["taken"]]
        assert (verified, taken, codes(hall), stored(hall)) == (sent, [1, 2, 3], [], SIGNED)
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        for payload in sent:
            hall.arrive(LOG, payload)
        assert (verified, codes(hall), stored(hall)) == (sent, [], SIGNED)


@pytest.mark.parametrize(
    ("again", "code"),
    [
        (chained(OURS, replace(FACTS[0], at=7))[0], "conflict"),
        (replace(chained(OURS, replace(FACTS[0], at=7))[0], signature=SIGNED[0].signature), "bad_signature"),
        (replace(SIGNED[0], signature="0" * 128), "bad_signature"),
    ],
)
def test_a_changed_fact_under_a_known_number_is_verified_and_refused(
    hall: Hall, verified: list[bytes], again: LogMessage, code: str
) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    for one in (*SIGNED, again):
        hall.arrive(LOG, bytes_of(one))
    assert (codes(hall), stored(hall), bytes_of(again) in verified) == ([code], SIGNED, True)


def test_a_resent_fact_of_a_revoked_device_is_refused(hall: Hall) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    hall.arrive(LOG, bytes_of(SIGNED[0]))
    hall.scorer.live.devices.revoke(TABLE, OURS.device, "lost", "Tao Lin", "tao")
    hall.arrive(LOG, bytes_of(SIGNED[0]))
    assert hall.ear.told("alert")["code"] == "unknown_device"


def test_a_fact_whose_row_was_damaged_does_not_count_as_verified(hall: Hall) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    for one in SIGNED:
        hall.arrive(LOG, bytes_of(one))

    def has_accepted() -> list[bool]:
        return [hall.scorer.live.intake.has_accepted(TABLE, one.seq, fact_hash(encode(one))) for one in SIGNED]

    assert has_accepted() == [True] * 3
    hall.scorer.live.intake.request_again(Fault(LOST, 1, TABLE, 2))
    assert has_accepted() == [True, False, True]


def test_the_hash_of_a_fact_is_computed_once(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = list[bytes]()

    def hashing(payload: bytes) -> str:
        hashed.append(payload)
        return fact_hash(payload)

    for module in (access, intake):
        monkeypatch.setattr(module, "fact_hash", hashing)
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    for one in SIGNED:
        hall.arrive(LOG, bytes_of(one))
    assert (hashed, hall.ear.told(f"receipt/{TABLE}")["upto"]) == ([bytes_of(one) for one in SIGNED], len(SIGNED))


def test_a_fact_that_breaks_the_chain_is_refused_with_those_after_it(hall: Hall) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    first, *_ = chained(OURS, FACTS[0])
    _, second, third = chained(OURS, replace(FACTS[0], at=7), *FACTS[1:])
    for one in (first, second, third):
        hall.arrive(LOG, bytes_of(one))
    assert (codes(hall), stored(hall)) == (["chain_broken"] * 2, [first])
    told = hall.ear.told(f"receipt/{TABLE}")
    assert (told["upto"], told["head"]) == (1, fact_hash(encode(first)))
    for one in chained(OURS, *FACTS[1:], before=told["head"]):
        hall.arrive(LOG, bytes_of(one))
    assert (codes(hall), len(stored(hall))) == ([], 3)


def of_a_newer_kind(message: LogMessage) -> bytes:
    """Return the fact that tiles were laid, under a kind that no program knows yet, signed."""
    content = signed_part(encode(message)).replace(b'"type":"laid"', b'"type":"swept"')
    return b'%b,"signature":"%b"}' % (content, OURS.sign_bytes(content).encode())


def test_a_fact_of_an_unknown_newer_kind_is_passed_over_until_the_scorer_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later facts count, also after a restart, and the unknown fact keeps its place in the chain."""
    play = whole_play(TABLE)
    begun = chained(OURS, *play[:2])
    laid = TilesLaid(round=1, deal=play[0].fact.deal, seats={})
    before = fact_hash(encode(begun[-1]))
    newer = of_a_newer_kind(replace(fact(TABLE, 3, laid, id_="swept-0001"), device=OURS.device, before=before))
    ended = chained(OURS, *(replace(one, seq=one.seq + 1) for one in play[2:]), before=fact_hash(newer))
    upto = ended[-1].seq
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
        hall.arrive(LOG, newer.replace(b'"signature":"', b'"signature":"00')[:-4] + b'"}')
        assert (codes(hall), hall.scorer.state.plays_at(TABLE)) == (["bad_signature"], 0)
        for payload in (*map(bytes_of, begun), newer, *map(bytes_of, ended)):
            hall.arrive(LOG, payload)
        assert (codes(hall), hall.scorer.state.plays_at(TABLE)) == (["unknown_fact"], 1)
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        assert (hall.scorer.state.plays_at(TABLE), hall.scorer.state.undecided((TABLE, 1))) == (1, [])
        older = topics.decode_fact
        monkeypatch.setattr(
            topics, "decode_fact", lambda said: older(said.replace(b'"type":"swept"', b'"type":"laid"'))
        )
        hall.arrive(LOG, newer)
        told = hall.ear.told(f"receipt/{TABLE}")
        assert (codes(hall), told["upto"], told["gaps"]) == ([], upto, [])
        assert hall.scorer.state.plays_at(TABLE) == 1


def test_a_fact_that_fills_a_gap_must_match_the_hash_in_the_next_one(hall: Hall) -> None:
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    first, second, third = SIGNED
    hall.arrive(LOG, bytes_of(third))
    (other,) = chained(OURS, replace(FACTS[1], at=7), before=fact_hash(encode(first)))
    hall.arrive(LOG, bytes_of(other))
    assert codes(hall) == ["chain_broken"]
    for one in (second, first):
        hall.arrive(LOG, bytes_of(one))
    assert {one.seq for one in stored(hall)} == {1, 2, 3}  # type: ignore[attr-defined] # facts
    assert hall.ear.told(f"receipt/{TABLE}")["head"] == fact_hash(encode(third))


@pytest.mark.parametrize("player", ["sender", "signature", "before"])
def test_a_player_id_may_equal_the_name_of_a_field(player: str) -> None:
    """A stored fact is recognised by the hash that the table names, and by its signature, also after a restart."""
    fined = FineRuled(takes={"p01": 2, player: 2})
    ruled = Ruled(round=1, deal=1, decision=fined, author="Ada", role="table_arbiter", reason="a false hu")
    (said,) = chained(OURS, replace(FACTS[0], fact=ruled))
    kept = stored_form(bytes_of(said))
    assert (stored_form(kept), fact_hash(kept)) == (kept, fact_hash(bytes_of(said)))
    assert is_signed_by(OURS.public, kept, said.signature)


def test_receipts_are_signed_with_the_key_in_the_event_folder(hall: Hall) -> None:
    hall.connect(up=True)
    payload = next(payload for topic, payload, _ in hall.ear.said if topic.endswith(f"receipt/{TABLE}"))
    key = open_event_key(hall.folder)
    assert is_signed_by(key.public, payload, decode(Receipt, payload).signature)
    assert (hall.folder / EVENT_KEY_FILE).stat().st_mode & 0o077 == 0


def test_a_changed_event_key_raises_an_alert(tmp_path: Path) -> None:
    for expected in ([], ["event_key_changed"], []):
        with ExitStack() as leaving:
            hall = open_hall(tmp_path, leaving)
            hall.hear(state(TABLE, device=OURS.device))
            assert [code for code, _ in hall.alerts() if code == "event_key_changed"] == expected
        if not expected and (tmp_path / EVENT_KEY_FILE).exists():
            (tmp_path / EVENT_KEY_FILE).unlink()


def said_by(key: SigningKey, **more: object) -> object:
    return replace(state(TABLE, device=key.device), key=key.public, **more)


def test_an_unknown_device_is_refused_until_accepted_and_then_its_facts_count(hall: Hall) -> None:
    hall.hear(said_by(OURS))  # type: ignore[arg-type] # a state
    hall.arrive(LOG, bytes_of(SIGNED[0]))
    assert (hall.ear.told(f"served/{TABLE}")["unknown"], codes(hall)) == (OURS.device, ["unknown_device"])
    assert hall.scorer.live.devices.serving.of(TABLE) == (None, None)
    assert ("device_waits", TABLE) in hall.alerts()
    hall.scorer.live.devices.accept(TABLE, OURS.device, "Tao Lin", "tao")
    assert hall.ear.told(f"served/{TABLE}")["unknown"] is None
    hall.hear(said_by(OURS, count=2))  # type: ignore[arg-type] # a state
    hall.arrive(LOG, bytes_of(SIGNED[0]))
    assert (codes(hall), stored(hall)) == ([], [SIGNED[0]])
    assert hall.scorer.live.devices.serving.of(TABLE)[0] == OURS.device


def test_an_unknown_device_that_came_first_does_not_block_a_known_one(hall: Hall) -> None:
    """Anybody with the table's password can claim that a device is there."""
    hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
    hall.hear(state(TABLE, device="forged-device"))
    hall.hear(said_by(OURS))  # type: ignore[arg-type] # a state
    hall.arrive(LOG, bytes_of(SIGNED[0]))
    assert (codes(hall), hall.scorer.live.devices.serving.of(TABLE)) == ([], (OURS.device, None))


def test_a_revoked_device_is_refused_and_can_be_accepted_again(hall: Hall) -> None:
    devices = hall.scorer.live.devices
    devices.admit(TABLE, OURS.public, "pi-1")
    hall.hear(said_by(OURS))  # type: ignore[arg-type] # a state
    hall.arrive(LOG, bytes_of(SIGNED[0]))
    devices.revoke(TABLE, OURS.device, "lost", "Tao Lin", "tao")
    assert (devices.serving.of(TABLE)[0], hall.ear.told(f"served/{TABLE}")["unknown"]) == (None, OURS.device)
    hall.arrive(LOG, bytes_of(SIGNED[1]))
    assert (codes(hall), stored(hall)) == (["unknown_device"], [SIGNED[0]])
    devices.accept(TABLE, OURS.device, "Tao Lin", "tao")
    hall.arrive(LOG, bytes_of(SIGNED[1]))
    assert stored(hall) == SIGNED[:2]


def test_only_waiting_devices_can_be_accepted_and_only_admitted_ones_revoked(hall: Hall) -> None:
    with pytest.raises(NoDeviceWaits):
        hall.scorer.live.devices.accept(TABLE, OURS.device, "Tao Lin", "tao")
    with pytest.raises(NoDeviceWaits):
        hall.scorer.live.devices.revoke(TABLE, OURS.device, "why", "Tao Lin", "tao")


def test_a_device_of_the_previous_version_is_refused_until_accepted_without_a_key(hall: Hall) -> None:
    """It names itself in `device`, as its version did, and has no key."""
    old = encode(replace(FACTS[0], device="old-device-1", signature=None))
    hall.hear(state(TABLE, device="old-device-1"))
    hall.arrive(LOG, old)
    assert codes(hall) == ["unsigned"]
    hall.scorer.live.devices.accept(TABLE, "old-device-1", "Tao Lin", "tao")
    hall.arrive(LOG, old)
    assert (codes(hall), len(stored(hall))) == ([], 1)
    hall.arrive(LOG, encode(replace(FACTS[1], device="another-one", signature=None)))
    assert codes(hall) == ["unsigned"]


def test_facts_stored_unsigned_stay_and_the_chain_continues_after_them(tmp_path: Path) -> None:
    old = replace(FACTS[0], device=None, signature=None)
    with open_journal(tmp_path) as journal, journal.commit():
        journal.append(old, NOW)
    with ExitStack() as leaving:
        hall = open_hall(tmp_path, leaving)
        hall.scorer.live.devices.admit(TABLE, OURS.public, "pi-1")
        hall.connect(up=True)
        head = hall.ear.told(f"receipt/{TABLE}")["head"]
        (after,) = chained(OURS, FACTS[1], before=head)
        hall.arrive(LOG, bytes_of(after))
        assert (head, stored(hall)) == (fact_hash(encode(old)), [old, after])
