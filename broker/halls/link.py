"""A hall's link with the centre: its journal goes there row by row, and the centre's word comes back.

The journal is the outbox: nothing is queued beside it. What the centre has, its receipt says; whatever is after that is
sent (again), so that a link that was cut for hours needs nothing but the next receipt. On the scorer's thread alone.
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

AT_ONCE: Final = MOST_ROWS
"""Rows that are sent in one round of the scorer, in one message: tables do not wait for the centre."""

AT_ONCE_BYTES: Final = 262_144
"""Of rows in one message, as they are stored: JSON in JSON has at most twice as many, which brokers take."""

LEAST_ON_WAY, MOST_ON_WAY = AT_ONCE, 2000
"""Rows on their way at one time: twice as many after each receipt that came soon, half as many after one that did not,
and the fewest after one that did not come. A busy centre has no longer queue for that, and no hall waits in it."""

SOON_S, LATE_S = 1.0, 2.0

PATIENCE_S: Final = 5.0
"""After so long without a receipt, or four times what the last one took, what is on its way is sent again."""

PATIENCE: Final = 4

MOST_PATIENCE_S: Final = 60.0
"""Each time in vain it waits twice as long, up to this: a busy centre would be kept busy by what it has already."""


KEPT: Final = "at-centre"
"""Under which key the store keeps what the centre has, for a start without a link."""


class CentreView(Struct, frozen=True):
    """What the desk of a hall shows of the centre."""

    title: str
    """The hall's own."""
    connected: bool
    rows: int
    """In this hall's journal."""
    upto: int
    """Of them at the centre."""
    heard_at: int | None
    """Ms since 1970 by our clock; None: never since this start."""
    refused: int
    revoked: bool
    turned_away: bool = False
    """A broker of the centre answers, and does not let us in."""
    tried: tuple[str, ...] = ()
    """Where the centre is looked for."""


class RowsAtCentre(Struct, frozen=True):
    """What the centre has of this journal, by its last report."""

    upto: int
    """Number of the last row."""
    lacks: tuple[tuple[int, int], ...] = ()
    """Table and number of the facts up to there that it has refused."""


class FromCentre(NamedTuple):
    """What came from the centre, or was found of the connection with it."""

    item: Incoming | LinkChanged


PASSWORD_FILE, IDENTITY_FILE, AUTHORITY_FILE = "centre.password", "centre.pem", "centre.crt"
"""In the folder of a hall: who it is at the centre's broker, and who vouches for that."""


def addresses_of(folder: Path, centre: CentreAddress) -> tuple[Address, ...]:
    """Return where the centre's brokers are, and who we are there. Raises CredentialsMissing."""
    known = folder / AUTHORITY_FILE if (folder / AUTHORITY_FILE).exists() else None
    identity = Identity(folder / IDENTITY_FILE) if known else None
    password = ""
    if identity is None:
        try:
            password = (folder / PASSWORD_FILE).read_text("ascii").strip()
        except OSError as error:
            raise CredentialsMissing(f"{folder / PASSWORD_FILE}: {error.strerror}") from None
    found = []
    for broker in centre.brokers:
        host, _, port = broker.rpartition(":")
        found.append(Address(host.strip("[]"), int(port), f"hall-{centre.hall}", password, known, identity=identity))
    return tuple(found)


HallNews = Literal["centre_found", "centre_lost", "centre_has_more", "centre_refuses", "hall_revoked"]


class HallLink:
    """Sends a hall's journal to the centre, and takes what it says."""

    def __init__(
        self,
        centre: CentreAddress,
        event: str,
        journal: Journal,
        passed_over: Callable[[], Iterable[tuple[int, int]]],
        clock: Callable[[], int],
        seconds: Callable[[], float],
    ) -> None:
        """`passed_over`: returns table and number of the facts that were refused, and that nobody waits for."""
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
        self._patience_s, self._sent_again = PATIENCE_S, 0
        """How long a receipt is waited for, and the number of the last row that was sent again."""
        self._window = LEAST_ON_WAY
        """Rows that may be on their way."""
        self._timed: tuple[int, float] | None = None
        """The number of a row, and when it was sent, for the first time: its receipt tells how busy the centre is."""
        self._beat_at = 0.0
        self._up = self._turned_away = False
        self.has: RowsAtCentre | None = journal.stored_structs(KEPT, RowsAtCentre).get("")
        """None until it is heard of for the first time."""
        self._kept = self.has
        self._heard: tuple[int, float] | None = None
        self.news: list[HallNews] = []
        """What the arbiters are to be told."""
        self.released: frozenset[int] | None = None
        """Deals that all halls have played, if the centre has said so since this was looked at last."""
        self._said: tuple[str | None, int] = None, -1
        """The centre's store and its height when it said so."""

    def connect(self, addresses: tuple[Address, ...], folder: Path, received: Callable[[FromCentre], None]) -> None:
        """Begin to connect with the centre, and go on trying, one node after the other.

        `received` is called from the link's thread.
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
        """Say good-bye to the centre."""
        if link := self._link:
            link.publish(self._state_topic, encode(self._state("gone")), retain=True)
            link.stop()
        self._link = None

    # ---- what comes -------------------------------------------------------------------------

    def take(self, news: FromCentre) -> None:
        """Take what has come. What is not signed by the centre is nothing."""
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
        self._heard = self._clock(), self._seconds()
        if isinstance(message, CentreState):
            store, height = self._said
            if message.seq >= height or message.store != store:  # of another store: a standby's, or a restored one's
                self._said, self.released = (message.store, message.seq), frozenset(message.complete)
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
        self._follow(receipt)
        self.has = RowsAtCentre(receipt.upto if receipt.attempt == self._attempt else 0, receipt.lacks)

    def _follow(self, receipt: HallReceipt) -> None:
        """Go on sending where the centre is."""
        before, self._receipt = self._receipt, receipt
        if receipt.revoked and not (before and before.revoked):
            self.news.append("hall_revoked")
        if before is not None and receipt.refused > before.refused:
            self.news.append("centre_refuses")
        if receipt.attempt < self._attempt:
            return  # it was said before the centre heard that we begin again
        if before is None or receipt.attempt != self._attempt or not self._is_ours(receipt):
            self._patience_s, self._sent_again, self._window = PATIENCE_S, 0, LEAST_ON_WAY
            self._begin(receipt)
        elif before.upto != receipt.upto:
            self._progress_at = self._seconds()
            if self._timed and receipt.upto >= self._timed[0]:
                self._suit(self._progress_at - self._timed[1])
                self._timed = None
            if receipt.upto > self._sent:  # it arrived before all was sent again
                self._begin(receipt)

    def _suit(self, took_s: float) -> None:
        """Have as much on its way, and wait as long, as suits a centre that has answered after so long."""
        self._patience_s = min(max(PATIENCE * took_s, PATIENCE_S), MOST_PATIENCE_S)
        wider = 2 * self._window if took_s <= SOON_S else self._window // 2 if took_s > LATE_S else self._window
        self._window = min(max(wider, LEAST_ON_WAY), MOST_ON_WAY)

    def _begin(self, receipt: HallReceipt) -> None:
        """Go on after the last row that the centre has of this journal, or with the first where it has another's."""
        self._progress_at, self._timed = self._seconds(), None
        if self._is_ours(receipt):
            self._attempt, self._sent = receipt.attempt, receipt.upto
            self._sent_link = bytes.fromhex(receipt.link) if receipt.link else FIRST_LINK
            return
        if receipt.upto > self._journal.height or receipt.store == self._journal.store:
            self.news.append("centre_has_more")
        self._attempt, self._sent, self._sent_link = receipt.attempt + 1, 0, FIRST_LINK

    def _is_ours(self, receipt: HallReceipt) -> bool:
        """Return whether the row that the centre has last is in this journal as it is there."""
        if not receipt.upto:
            return True
        link = self._journal.link_at(receipt.upto) or FIRST_LINK  # as a row that is missing was sent
        return receipt.upto <= self._journal.height and link.hex() == receipt.link

    # ---- what goes --------------------------------------------------------------------------

    def step(self) -> None:
        """Send what the centre lacks, as far as it is due."""
        now, link = self._seconds(), self._link
        if link is None or not link.up:
            return
        if now >= self._beat_at:
            self._beat_at = now + BEAT_S
            link.publish(self._state_topic, encode(self._state("there")), retain=True)
            self._keep()
        receipt = self._receipt
        if receipt is None or receipt.revoked:
            return
        # Of an earlier attempt: the centre has nothing of what was sent since we began again.
        upto = receipt.upto if receipt.attempt == self._attempt else 0
        if self._sent > upto and now - self._progress_at > self._patience_s:
            self._send_again(receipt)
        room = min(AT_ONCE, upto + self._window - self._sent)
        if room > 0 and self._sent < self._journal.height and (row := self._next_rows(room)):
            if row.height == upto + 1:
                self._progress_at = now
            if self._timed is None and self._sent > self._sent_again:
                self._timed = self._sent, now
            link.publish(topics.HALL_ROW.at(self._event, hall=self.centre.hall), encode(row), retain=False)

    def _keep(self) -> None:
        """Keep what the centre has, seldom: it is looked at only where a start finds no link."""
        if self.has and self.has != self._kept:
            self._kept = self.has
            with self._journal.commit():
                self._journal.set_struct(KEPT, self.has)

    def _send_again(self, receipt: HallReceipt) -> None:
        """Go on where the centre is after all, and wait longer for its next receipt."""
        self._patience_s, self._window = min(2 * self._patience_s, MOST_PATIENCE_S), LEAST_ON_WAY
        self._sent_again, self._timed = max(self._sent_again, self._sent), None
        if receipt.attempt == self._attempt:
            self._begin(receipt)
        else:
            self._progress_at, self._sent, self._sent_link = self._seconds(), 0, FIRST_LINK

    def _next_rows(self, most: int) -> HallRow | None:
        """Return the next rows, as they are stored, in one message: as many as fit. None: there is none."""
        found, size = list[NextRow](), 0
        before, first = self._sent_link, self._sent + 1
        with closing(self._rows_after(self._sent, most)) as rows:
            for height, at, body, link in islice(rows, most):
                text = bytes(body).decode(errors="replace")  # a damaged row may be none: the centre passes it over
                size += len(body)
                if found and size > AT_ONCE_BYTES:
                    break
                told_at = at if 0 <= at <= LATEST_MS else 0  # nor is the time of one a time
                found.append(NextRow(link.hex(), told_at, text if len(text) <= LONGEST_ROW else ""))
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
        """Return the rows after one; in the place of one that is missing an empty one, without a link."""
        with closing(self._journal.linked_rows(height, most)) as rows:
            for row in rows:
                if height < row[0] <= self._journal.height:  # else its number was changed
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
        """Return what the desk shows."""
        receipt = self._receipt
        return CentreView(
            title=self.centre.title,
            connected=self._up,
            rows=self._journal.height,
            upto=self.has.upto if self.has else 0,
            heard_at=self._heard[0] if self._heard else None,
            refused=receipt.refused if receipt else 0,
            revoked=bool(receipt and receipt.revoked),
            turned_away=self._turned_away,
            tried=self.centre.brokers,
        )
