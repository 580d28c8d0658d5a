"""A hall's link with the centre: sends the hall's journal row by row, and receives receipts and the centre's state.

The journal is the outbox: there is no other queue. A receipt says which rows the centre has, and all later rows are
sent, some of them again. So a link that was down for hours only needs the next receipt. Used only on the scorer's
thread.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from broker.errors import CredentialsMissing
from broker.event import CentreAddress
from broker.protocol import (
    BEAT_S,
    LATEST_MS,
    LONGEST_ROW,
    MOST_PASSED,
    MOST_ROWS,
    CentreState,
    HallReceipt,
    HallRow,
    HallState,
    NextRow,
    Refused,
    decode_on_topic,
    encode,
    is_signed_by,
    topics,
)
from broker.protocol.link import Address, Incoming, Link, LinkChanged, LinkRefused, Will, session_id
from broker.protocol.tls import Identity
from broker.read_ahead import StoredRow
from broker.store import FIRST_LINK, Journal
from broker.version import program_version

ROWS_PER_MESSAGE: Final = MOST_ROWS
"""Rows that are sent in one message in each round of the scorer, few enough for tables not to wait."""

BYTES_PER_MESSAGE: Final = 262_144
"""Bytes of stored rows in one message. As JSON within JSON they take at most twice as many, which brokers accept."""

MIN_WINDOW, MAX_WINDOW = ROWS_PER_MESSAGE, 2000
"""Rows in flight: twice as many after a receipt that came soon, half as many after one that came late, and the fewest
after one that never came. So the queue of a busy centre stays short, and no hall waits in it."""

SOON_S, LATE_S = 1.0, 2.0

RECEIPT_TIMEOUT_S: Final = 5.0
"""After so long without a receipt, or four times as long as the last one took, rows in flight are sent again."""

TIMEOUT_FACTOR: Final = 4

MAX_TIMEOUT_S: Final = 60.0
"""Each retry doubles the wait up to this, so that a busy centre is not kept busy by rows that it already has."""


POSITION_KEY: Final = "at-centre"
"""Key under which the store has the centre's last known position, for a start without a link."""


class CentreView(Struct, frozen=True):
    """What the desk of a hall shows of the centre."""

    title: str
    """Title of this hall."""
    connected: bool
    rows: int
    """Number of rows in this hall's journal."""
    upto: int
    """Number of those rows that the centre has."""
    heard_at: int | None
    """Time of the centre's last message, in ms since 1970 by our clock; None if none came since this start."""
    refused: int
    revoked: bool
    turned_away: bool = False
    """Whether a broker of the centre answers but rejects our login."""
    tried: tuple[str, ...] = ()
    """Addresses of the centre's brokers."""


class RowsAtCentre(Struct, frozen=True):
    """The part of this journal that the centre has, according to its last receipt."""

    upto: int
    """Number of the last row."""
    lacks: tuple[tuple[int, int], ...] = ()
    """Table and number of the facts up to that row that the centre has refused."""


class FromCentre(NamedTuple):
    """A message from the centre, or a change of the connection with it."""

    item: Incoming | LinkChanged


PASSWORD_FILE, IDENTITY_FILE, AUTHORITY_FILE = "centre.password", "centre.pem", "centre.crt"
"""Files in a hall's folder: its credentials at the centre's broker, and the authority that signs certificates."""


def addresses_of(folder: Path, centre: CentreAddress) -> tuple[Address, ...]:
    """Return the addresses of the centre's brokers, with our credentials. Raises CredentialsMissing."""
    authority = folder / AUTHORITY_FILE if (folder / AUTHORITY_FILE).exists() else None
    identity = Identity(folder / IDENTITY_FILE) if authority else None
    password = ""
    if identity is None:
        try:
            password = (folder / PASSWORD_FILE).read_text("ascii").strip()
        except OSError as error:
            raise CredentialsMissing(f"{folder / PASSWORD_FILE}: {error.strerror}") from None
    found = []
    for broker in centre.brokers:
        host, _, port = broker.rpartition(":")
        user = f"hall-{centre.hall}"
        found.append(Address(host.strip("[]"), int(port), user, password, authority, identity=identity))
    return tuple(found)


HallNews = Literal["centre_found", "centre_lost", "centre_has_more", "centre_refuses", "hall_revoked"]


class HallLink:
    """Sends a hall's journal to the centre, and receives the centre's messages."""

    def __init__(
        self,
        centre: CentreAddress,
        event: str,
        journal: Journal,
        passed_over: Callable[[], Iterable[tuple[int, int]]],
        clock: Callable[[], int],
        seconds: Callable[[], float],
    ) -> None:
        """`passed_over` returns table and number of the facts that were refused and are no longer waited for."""
        self._passed_over = passed_over
        self.centre, self._event, self._journal = centre, event, journal
        self._clock, self._seconds = clock, seconds
        self._link: Link | None = None
        self._receipt: HallReceipt | None = None
        self._attempt = 0
        self._sent = 0
        """Number of the last row that was sent."""
        self._sent_link = FIRST_LINK
        self._progress_at = 0.0
        self._timeout_s, self._sent_again = RECEIPT_TIMEOUT_S, 0
        """How long to wait for a receipt, and the number of the last row that was sent again."""
        self._window = MIN_WINDOW
        """Maximum number of rows in flight."""
        self._timed: tuple[int, float] | None = None
        """Number and time of a row that was sent for the first time: its receipt shows how busy the centre is."""
        self._beat_at = 0.0
        self._up = self._turned_away = False
        self.at_centre: RowsAtCentre | None = journal.kept(POSITION_KEY, RowsAtCentre).get("")
        """None until the first receipt ever."""
        self._stored = self.at_centre
        self._last_heard: tuple[int, float] | None = None
        self.news: list[HallNews] = []
        """News for the arbiters."""
        self.released: frozenset[int] | None = None
        """Deals that all halls have played, if the centre has published them since the scorer last took them."""
        self._last_state: tuple[str | None, int] = None, -1
        """The centre's store, and its height when these deals were published."""

    def connect(self, addresses: tuple[Address, ...], folder: Path, received: Callable[[FromCentre], None]) -> None:
        """Start connecting to the centre, trying one broker after the other until one accepts.

        `received` is called on the link's thread.
        """
        self._link = Link(
            addresses[0],
            client_id=session_id(f"homologue-{self._event}-hall-{self.centre.hall}", folder),
            topics=(
                topics.HALL_RECEIPT.at(self._event, hall=self.centre.hall),
                topics.CENTRE.at(self._event),
            ),
            tell=lambda item: received(FromCentre(item)),
            will=Will(self._state_topic, encode(self._state("gone"))),
            kept=False,
        )
        self._link.reach(*((one.host, one.port) for one in addresses[1:]))
        self._link.start()

    @property
    def _state_topic(self) -> str:
        return topics.HALL_STATE.at(self._event, hall=self.centre.hall)

    def close(self) -> None:
        """Tell the centre that this hall is gone, and disconnect."""
        if link := self._link:
            link.publish(self._state_topic, encode(self._state("gone")), retain=True)
            link.stop()
        self._link = None

    # ---- receiving --------------------------------------------------------------------------

    def receive(self, news: FromCentre) -> None:
        """Process what was received. Messages that are not signed by the centre are ignored."""
        item = news.item
        if isinstance(item, LinkChanged):
            self._changed(item)
            return
        item.acknowledge()
        try:
            _, message = decode_on_topic(item.topic, item.payload)
        except Refused:
            return
        if not isinstance(message, HallReceipt | CentreState) or not is_signed_by(
            self.centre.key, item.payload, message.signature
        ):
            return
        self._last_heard = self._clock(), self._seconds()
        if isinstance(message, CentreState):
            store, height = self._last_state
            if message.seq >= height or message.store != store:  # another store is that of a standby, or a restored one
                self._last_state, self.released = (message.store, message.seq), frozenset(message.complete)
        else:
            self._take_receipt(message)

    def _changed(self, change: LinkChanged) -> None:
        if change.up or change.why:
            self._turned_away = isinstance(change.why, LinkRefused)
        if change.up != self._up:
            self._up = change.up
            self.news.append("centre_found" if change.up else "centre_lost")
            self._receipt, self._beat_at = None, 0.0

    def _take_receipt(self, receipt: HallReceipt) -> None:
        self._apply_receipt(receipt)
        self.at_centre = RowsAtCentre(receipt.upto if receipt.attempt == self._attempt else 0, receipt.lacks)

    def _apply_receipt(self, receipt: HallReceipt) -> None:
        """Adjust sending to what the centre has."""
        before, self._receipt = self._receipt, receipt
        if receipt.revoked and not (before and before.revoked):
            self.news.append("hall_revoked")
        if before is not None and receipt.refused > before.refused:
            self.news.append("centre_refuses")
        if receipt.attempt < self._attempt:
            return  # the receipt is older than our new beginning
        if before is None or receipt.attempt != self._attempt or not self._is_ours(receipt):
            self._timeout_s, self._sent_again, self._window = RECEIPT_TIMEOUT_S, 0, MIN_WINDOW
            self._restart_from(receipt)
        elif before.upto != receipt.upto:
            self._progress_at = self._seconds()
            if self._timed and receipt.upto >= self._timed[0]:
                self._adapt(self._progress_at - self._timed[1])
                self._timed = None
            if receipt.upto > self._sent:  # earlier rows arrived before all of them were sent again
                self._restart_from(receipt)

    def _adapt(self, took_s: float) -> None:
        """Adapt window and patience to the time in which the centre has answered."""
        self._timeout_s = min(max(TIMEOUT_FACTOR * took_s, RECEIPT_TIMEOUT_S), MAX_TIMEOUT_S)
        wider = 2 * self._window if took_s <= SOON_S else self._window // 2 if took_s > LATE_S else self._window
        self._window = min(max(wider, MIN_WINDOW), MAX_WINDOW)

    def _restart_from(self, receipt: HallReceipt) -> None:
        """Continue after the last row of this journal that the centre has; start over if it has another journal's."""
        self._progress_at, self._timed = self._seconds(), None
        if self._is_ours(receipt):
            self._attempt, self._sent = receipt.attempt, receipt.upto
            self._sent_link = bytes.fromhex(receipt.link) if receipt.link else FIRST_LINK
            return
        if receipt.upto > self._journal.height or receipt.store == self._journal.store:
            self.news.append("centre_has_more")
        self._attempt, self._sent, self._sent_link = receipt.attempt + 1, 0, FIRST_LINK

    def _is_ours(self, receipt: HallReceipt) -> bool:
        """Return whether the last row that the centre has is the same in this journal."""
        if not receipt.upto:
            return True
        link = self._journal.link_at(receipt.upto) or FIRST_LINK  # the link with which a missing row was sent
        return receipt.upto <= self._journal.height and link.hex() == receipt.link

    # ---- sending ----------------------------------------------------------------------------

    def step(self) -> None:
        """Send the next rows that the centre lacks, as far as the window allows, and our state if it is due."""
        now, link = self._seconds(), self._link
        if link is None or not link.up:
            return
        if now >= self._beat_at:
            self._beat_at = now + BEAT_S
            link.publish(self._state_topic, encode(self._state("there")), retain=True)
            self._store_position()
        receipt = self._receipt
        if receipt is None or receipt.revoked:
            return
        # After a receipt for an earlier attempt, the centre has no row of this attempt yet.
        upto = receipt.upto if receipt.attempt == self._attempt else 0
        if self._sent > upto and now - self._progress_at > self._timeout_s:
            self._send_again(receipt)
        room = min(ROWS_PER_MESSAGE, upto + self._window - self._sent)
        if room > 0 and self._sent < self._journal.height and (row := self._next_rows(room)):
            if row.height == upto + 1:
                self._progress_at = now
            if self._timed is None and self._sent > self._sent_again:
                self._timed = self._sent, now
            link.publish(topics.HALL_ROW.at(self._event, hall=self.centre.hall), encode(row), retain=False)

    def _store_position(self) -> None:
        """Store what the centre has. Once a beat is enough: it is needed only for a start without a link."""
        if self.at_centre and self.at_centre != self._stored:
            self._stored = self.at_centre
            with self._journal.commit():
                self._journal.keep(POSITION_KEY, self.at_centre)

    def _send_again(self, receipt: HallReceipt) -> None:
        """Go back to the row after the last one that the centre has, and wait longer for its next receipt."""
        self._timeout_s, self._window = min(2 * self._timeout_s, MAX_TIMEOUT_S), MIN_WINDOW
        self._sent_again, self._timed = max(self._sent_again, self._sent), None
        if receipt.attempt == self._attempt:
            self._restart_from(receipt)
        else:
            self._progress_at, self._sent, self._sent_link = self._seconds(), 0, FIRST_LINK

    def _next_rows(self, most: int) -> HallRow | None:
        """Return the next stored rows, as many as fit into one message, or None if there are none."""
        found, size = list[NextRow](), 0
        before, first = self._sent_link, self._sent + 1
        with closing(self._rows_after(self._sent, most)) as rows:
            for height, at, body, link in islice(rows, most):
                text = bytes(body).decode(errors="replace")  # a damaged row may not be UTF-8: the centre ignores it
                size += len(body)
                if found and size > BYTES_PER_MESSAGE:
                    break
                received_at = at if 0 <= at <= LATEST_MS else 0  # the time of a damaged row may be out of range
                found.append(NextRow(link.hex(), received_at, text if len(text) <= LONGEST_ROW else ""))
                self._sent, self._sent_link = height, link
        if not found:
            return None
        return HallRow(
            id=found[0].link[:32],
            event=self._event,
            hall=self.centre.hall,
            store=self._journal.store,
            attempt=self._attempt,
            height=first,
            before=before.hex(),
            link=found[0].link,
            at=found[0].at,
            body=found[0].body,
            then=tuple(found[1:]),
        )

    def _rows_after(self, height: int, most: int) -> Generator[StoredRow, None, None]:
        """Return the rows after a height. A missing row is replaced by an empty one without a link."""
        with closing(self._journal.linked_rows(height, most)) as rows:
            for row in rows:
                if height < row[0] <= self._journal.height:  # otherwise its number was changed
                    yield from ((missing, 0, b"", FIRST_LINK) for missing in range(height + 1, row[0]))
                    height = row[0]
                    yield row

    def _state(self, lifecycle: Literal["there", "gone"]) -> HallState:
        return HallState(
            id=f"{self._journal.store[:20]}-state",
            event=self._event,
            hall=self.centre.hall,
            lifecycle=lifecycle,
            height=self._journal.height,
            version=program_version(),
            at=self._clock(),
            passed_over=tuple(islice(self._passed_over(), MOST_PASSED)),
        )

    def view(self) -> CentreView:
        """Return what the hall's desk shows of the centre."""
        receipt = self._receipt
        return CentreView(
            title=self.centre.title,
            connected=self._up,
            rows=self._journal.height,
            upto=self.at_centre.upto if self.at_centre else 0,
            heard_at=self._last_heard[0] if self._last_heard else None,
            refused=receipt.refused if receipt else 0,
            revoked=bool(receipt and receipt.revoked),
            turned_away=self._turned_away,
            tried=self.centre.brokers,
        )
