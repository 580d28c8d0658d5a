"""Tables with newer or older programs than the scorer's, over a real broker."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from broker.event import open_event
from broker.protocol import SEATS, Confirmed, Fact, LogMessage, Restored, Result, Seated, TableState, fact_hash
from broker.scorer import open_stored_event
from broker.sim.demo_event import NAME
from broker.store import STORE
from tests.broker.protocol.other_versions import grown, shrunk
from tests.demo_event import MakeEvent
from tests.e2e.test_wire import TABLE, Room, signed
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture(params=["embedded", "mosquitto"])
def room(request: pytest.FixtureRequest, tmp_path: Path, demo_event: MakeEvent) -> Iterator[Room]:
    room = Room(tmp_path / "event", request.param, demo_event(tmp_path / "event", 1))
    yield room
    room.close()


def drawn_play(room: Room) -> list[Fact]:
    """Return a table's facts about the first play, a draw."""
    event = open_event(room.folder)
    booking = event.bookings[TABLE, 1]
    deal, players, nothing = booking.deal, booking.players, dict.fromkeys(SEATS, 0)
    return [
        Restored(round=1, deal=deal, verified=True, form=event.form(deal), refusals=0),
        Seated(round=1, deal=deal, players=players),
        Confirmed(round=1, deal=deal),
        Result(
            round=1,
            deal=deal,
            profile=event.profile.id,
            players=players,
            win="draw",
            winners={},
            discarder=None,
            points=nothing,
            fines={},
        ),
    ]


def chained(room: Room, said: list[Fact], written: Callable[[object], Any]) -> Iterator[bytes]:
    """Return facts signed by a device whose program writes them like this, each linked to the one before."""
    before = None
    for seq, fact in enumerate(said, 1):
        message = LogMessage(id=f"made-elsewhere-{seq}", event=NAME, table=TABLE, seq=seq, at=1000 + seq, fact=fact)
        body = {"schema": 1} | written(message) | {"before": before}
        for behind in ("device", "signature", "sender"):
            body.pop(behind, None)
        payload = signed(body, room.key)
        before = fact_hash(payload)
        yield payload


def stored(room: Room) -> list[bytes]:
    with closing(sqlite3.connect(f"{(room.folder / STORE).as_uri()}?mode=ro", uri=True)) as store:
        return [body for (body,) in store.execute("SELECT body FROM journal WHERE table_no > 0 ORDER BY height")]


@pytest.mark.parametrize("written", [grown, shrunk], ids=["newer", "older"])
def test_a_play_of_a_table_of_another_version_counts_and_is_stored_as_signed(
    room: Room, written: Callable[[object], Any]
) -> None:
    state = TableState(
        id="other-state",
        event=NAME,
        table=TABLE,
        seq=0,
        device=room.key.device,
        start=1,
        count=1,
        lifecycle="ready",
        state="waiting",
        round=None,
        deal=None,
        unsent=0,
        calling=False,
        health={},
    )
    room.intruder.send(json.dumps({"schema": 1} | written(state)).encode(), f"hm/{NAME}/table/{TABLE}/state")
    sent = [*chained(room, drawn_play(room), written)]
    for payload in sent:
        room.intruder.send(payload)
    while room.intruder.receipts.get(timeout=PATIENCE_S)["upto"] < len(sent):
        pass
    alerts = {room.intruder.alerts.get()["code"] for _ in range(room.intruder.alerts.qsize())}
    assert alerts <= {"table_silent"}  # possible on a busy machine
    assert room.scorer.exit_code is None
    assert stored(room) == sent
    assert open_stored_event(room.folder).state.plays_in == 1
