"""The tables of a hall: each tells its plays in signed facts, and sends them until a receipt names them."""

import queue
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from broker.event import Event
from broker.mqtt.access import Credentials
from broker.protocol import (
    Beat,
    Confirmed,
    Declared,
    Fact,
    LogMessage,
    Press,
    Receipt,
    Refused,
    Restored,
    Result,
    ScorerState,
    ScriptedPlay,
    Seated,
    SigningKey,
    TableState,
    decode_on_topic,
    encode,
    fact_hash,
    topics,
)
from broker.protocol.link import Address, Incoming, Link, LinkChanged, session_id
from broker.rules import Outcome, load_mcr, seat_points

RESEND_S: Final = 3.0


class SimulatedTable(threading.Thread):
    """One table of a hall."""

    def __init__(
        self,
        event: Event,
        table: int,
        key: SigningKey,
        script: list[ScriptedPlay],
        told: Callable[[int, int], None],
        pace_s: float,
        clock_off_ms: int,
    ) -> None:
        """`told` is called with table and round before a result is sent; the clock is wrong by `clock_off_ms`."""
        super().__init__(daemon=True, name=f"table {table}")
        self._event, self.table, self._key, self._script = event, table, key, script
        self._told, self._pace_s, self._off = told, pace_s, clock_off_ms
        self._news: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        self._link: Link | None = None
        self._kept: dict[int, bytes] = {}
        self._safe: set[int] = set()
        self._at_centre: set[int] = set()
        self._before: str | None = None
        self._store = ""
        self.go, self.ended = threading.Event(), threading.Event()

    def connect(self, folder: Path, port: int) -> None:
        """Connect with the broker of the hall."""
        user, password = Credentials.load(folder / "credentials.json").table(self.table)
        place = folder / f"table-{self.table}"
        place.mkdir(exist_ok=True)
        name = self._event.name
        self._link = Link(
            Address("127.0.0.1", port, user, password),
            session_id(f"grow-{self.table}", place),
            [topics.RECEIPT.at(name, table=self.table), topics.SCORER.at(name)],
            self._news.put,
        )
        self._link.start()

    @property
    def unsafe(self) -> int:
        """How many facts no receipt has named."""
        return len(self._kept.keys() - self._safe)

    @property
    def not_at_centre(self) -> int:
        """How many facts the table does not know to be at the centre."""
        return len(self._kept.keys() - self._at_centre)

    def run(self) -> None:
        """Play, and go on sending until told to end."""
        due, sent_at, plays = 0.0, 0.0, list(self._script)
        while not self.ended.is_set():
            with suppress(queue.Empty):
                self._hear(self._news.get(timeout=0.1))
            now = time.monotonic()
            if self.go.is_set() and plays and now >= due:
                self._play(plays.pop(0))
                due = now + self._pace_s
            if now - sent_at > RESEND_S:
                sent_at = now
                self._send_again()
                self._beat()
        if self._link:
            self._link.stop()

    def _hear(self, news: Incoming | LinkChanged) -> None:
        if isinstance(news, LinkChanged):
            if news.up:
                self._say_state()
                self._send_again()
            return
        news.acknowledge()
        try:
            _, message = decode_on_topic(news.topic, news.payload)
        except Refused:
            return
        if isinstance(message, Receipt):
            self._safe = {*range(1, message.upto + 1)} - {*message.gaps}
            if message.centre:
                self._at_centre = {*range(1, message.centre.upto + 1)} - {*message.centre.lacks}
        elif isinstance(message, ScorerState) and message.standby and self._link:
            host, _, port = message.standby.rpartition(":")
            self._link.set_other_brokers((host, int(port)))

    def _beat(self) -> None:
        beat = Beat(id=uuid.uuid4().hex, event=self._event.name, table=self.table, device=self._key.device, start=1)
        self._publish(topics.BEAT.at(self._event.name, table=self.table), encode(beat))

    def _say_state(self) -> None:
        state = TableState(
            id=uuid.uuid4().hex,
            event=self._event.name,
            table=self.table,
            seq=len(self._kept),
            device=self._key.device,
            key=self._key.public,
            start=1,
            count=1,
            lifecycle="ready",
            state="playing",
            round=None,
            deal=None,
            unsent=self.unsafe,
            calling=False,
            health={},
        )
        self._publish(topics.STATE.at(self._event.name, table=self.table), encode(state), retain=True)

    def _play(self, staged: ScriptedPlay) -> None:
        play = self._event.places[self.table, staged.round]
        round_, deal, winners = staged.round, play.deal, dict(staged.winners)
        outcome = Outcome(staged.win, winners, staged.discarder)
        facts: list[Fact] = [
            Restored(round=round_, deal=deal, verified=True, form=self._event.form(play.deal), refusals=0),
            Seated(round=round_, deal=deal, players=dict(play.players)),
            Confirmed(round=round_, deal=deal),
        ]
        if winners:
            presses = tuple(Press(seat=seat, after_ms=40 * at) for at, seat in enumerate(winners))
            facts.append(Declared(round=round_, deal=deal, presses=presses))
        result = Result(
            round=round_,
            deal=deal,
            profile=self._event.profile.id,
            players=dict(play.players),
            win=staged.win,
            winners=winners,
            discarder=staged.discarder,
            points=seat_points(outcome, load_mcr(self._event.profile.id).payments),
            fines={},
        )
        self._told(self.table, staged.round)
        for fact in (*facts, result):
            self._say(fact)

    def _say(self, fact: Fact) -> None:
        seq = len(self._kept) + 1
        said = LogMessage(
            id=uuid.uuid4().hex,
            event=self._event.name,
            table=self.table,
            seq=seq,
            at=time.time_ns() // 1_000_000 + self._off,
            fact=fact,
            device=self._key.device,
            before=self._before,
        )
        self._kept[seq] = payload = encode(self._key.sign(said))
        self._before = fact_hash(payload)
        self._publish(topics.LOG.at(self._event.name, table=self.table), payload)

    def _send_again(self) -> None:
        for seq in sorted(self._kept.keys() - self._safe):
            self._publish(topics.LOG.at(self._event.name, table=self.table), self._kept[seq])

    def _publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        if self._link:
            self._link.publish(topic, payload, retain=retain)
