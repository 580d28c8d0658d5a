"""The table's side of the line to the button box. Pure: bytes and times in, reports and bytes out.

Whatever comes is garbage until its CRC says otherwise. A box is known by its boot id: with another one it has started
anew, and nothing that was open before is carried over.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from firmware.box.codec import VERSION, Splitter, encode
from firmware.box.session import Session, Told
from firmware.errors import BoxReset, BoxSilent, BoxVersion
from firmware.reports import Health

MS: Final = 1_000_000
"""Nanoseconds."""

PART: Final = "buttons"
"""As `Health` names all four."""

SILENT_NS: Final = 1_500 * MS
"""A box says something every 100 ms. With the pause between two looks this is told well within 2 s."""

QUERY_NS: Final = 250 * MS
"""Between two queries of the time: what it is known to grows by 0.2 ms meanwhile (`clock.DOUBT`)."""

FIRST_QUERY_NS: Final = 50 * MS
"""The same until the clock is ready, where no answer comes; an answer is followed by the next query at once."""

OUTSTANDING: Final = 8
"""Queries without an answer that are remembered."""

LAMPS_NS: Final = 200 * MS
"""Between two commands to the lamps, where the box does not say that it shows them."""


@dataclass(frozen=True, slots=True)
class Said:
    """What came of an event: tell the reports first, then send the bytes."""

    reports: tuple[Told, ...]
    outgoing: bytes


class Link:
    """A line to a box, open or not."""

    def __init__(self) -> None:
        self._splitter, self._version = Splitter(), VERSION
        self._session: Session | None = None
        self._health: str | None = ""
        """The code that was told last; none yet."""
        self._heard_at = 0
        self._queries: deque[int] = deque(maxlen=OUTSTANDING)
        """When the latest were asked. That is their token too, so that an answer to another program is no answer."""
        self._query_at = 0
        self.lamps = 0
        """What they are to show: see `L` in `codec.FIELDS`."""
        self._lamps_at = 0
        self._reports: list[Told] = []
        self._outgoing: list[bytes] = []

    @property
    def refused(self) -> int:
        """Give how many lines were no frames."""
        return self._splitter.refused

    def opened(self, now: int) -> Said:
        """Begin to listen."""
        self._splitter, self._heard_at, self._query_at = Splitter(), now, now
        self._queries.clear()
        if self._session is not None:
            self._session.clock.renew()
        return self._said()

    def closed(self, code: str, text: str) -> Said:
        """Say that the line is gone. What the box has stored comes when it is back."""
        self._tell_health(code, text)
        return self._said()

    def received(self, chunk: bytes, now: int) -> Said:
        """Take in what came, maybe nothing, and let the time pass until `now`, in ns of the monotonic clock."""
        for kind, numbers in self._splitter.feed(chunk):
            self._hear(kind, numbers, now)
        if now - self._heard_at > SILENT_NS:
            self._tell_health(BoxSilent.code, "nothing comes from the box: is it flashed?")
        if self._session is not None and now >= self._query_at:
            self._query(now)
        return self._said()

    def _hear(self, kind: str, numbers: list[int], now: int) -> None:
        if kind == "B":
            self._name(numbers[0], now)
        elif self._version != VERSION:
            return
        if kind == "H":
            self._heard_at = now
            self._heartbeat(numbers, now)
        elif kind == "E" and self._session is not None:
            boot, number, seat, closed, us = numbers
            if boot == self._session.boot:
                self._report(self._session.edge(number, seat, closed, us, now))
        elif kind == "R" and self._session is not None and numbers[0] in self._queries:
            asked, us = numbers
            self._queries.remove(asked)
            self._session.clock.add(us, asked, now)
            self._query_at = now + (QUERY_NS if self._session.clock.ready else 0)

    def _name(self, version: int, now: int) -> None:
        """Take in which version the box speaks."""
        self._version = version
        if version != VERSION:
            self._heard_at, self._session = now, None
            self._tell_health(BoxVersion.code, f"the box speaks version {version}, this table {VERSION}: flash it anew")

    def _heartbeat(self, numbers: list[int], now: int) -> None:
        boot, first, following, closed, lamps, us = numbers
        session = self._session
        if session is None or session.boot != boot:
            session = self._begin(boot, first, closed, now)
        if session.clock.ready:
            self._tell_health(None, "")
        self._report(session.heartbeat(first, following, us, now))
        if lamps != self.lamps and now - self._lamps_at >= LAMPS_NS:
            self._lamps_at = now
            self._outgoing.append(encode("L", self.lamps))

    def _begin(self, boot: int, first: int, closed: int, now: int) -> Session:
        """Get to know a box."""
        if self._session is not None:
            self._report(self._session.let_go(now))
            self._tell_health(BoxReset.code, "the box has started anew")
        self._session = Session(boot, first)
        self._report(self._session.begin(closed))
        self._queries.clear()
        self._query_at = now
        return self._session

    def _query(self, now: int) -> None:
        """Ask for the box's time."""
        self._queries.append(now)
        ready = self._session is not None and self._session.clock.ready
        self._query_at = now + (QUERY_NS if ready else FIRST_QUERY_NS)
        self._outgoing.append(encode("Q", now))

    def _report(self, told: list[Told]) -> None:
        """Pass on what the session tells."""
        for one in told:
            if isinstance(one, Health) and one.part == PART:
                self._tell_health(one.code, one.text)
            else:
                self._reports.append(one)

    def _tell_health(self, code: str | None, text: str) -> None:
        """Tell what is new."""
        if code != self._health:
            self._health = code
            self._reports.append(Health(PART, code, text))

    def _said(self) -> Said:
        outgoing = self._outgoing
        if self._session is not None:
            outgoing = outgoing + self._session.outgoing
            self._session.outgoing.clear()
        said = Said(tuple(self._reports), b"".join(outgoing))
        self._reports.clear()
        self._outgoing.clear()
        return said
