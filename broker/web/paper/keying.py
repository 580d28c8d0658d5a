"""Blind double keying: two people key in each sheet, and neither sees the other's reading.

Readings are stored separately and never changed. What both agree on counts; differences are decided by an arbiter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace
from sqlalchemy import func, insert, select

from broker.people import Account, Authentication, database
from broker.protocol import SEATS
from broker.rules import RuleError
from broker.rulings import PlayKey, RulingAuthor
from broker.rulings.paper import PAPER_REASON, KeyedSheet, PaperSheet, SheetResult, accept_sheets, sheet_of
from broker.scorer import EventState
from broker.web.services import RULING_NOTED, ScorerThread, author_of

Verdict = Literal["first", "agrees", "differs"]

BOTH_READ: Final = 2


class Keying(NamedTuple):
    """One person's reading of one sheet, as stored."""

    number: int
    """Number that grows with each keying; 0 if not yet stored."""
    at: int
    """Wall clock, ms since 1970 (UTC)."""
    who: str
    """Login name of the person who made this entry."""
    whose: str
    """Login name of the person whose reading it is; differs from `who` if an arbiter sets it aside."""
    round: int
    table: int
    after: str
    """Id of the last result or ruling on the play; empty if there is none."""
    body: bytes
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of one play that count now: none, one, or two that differ."""

    current: tuple[Keying, ...]

    @property
    def differ(self) -> bool:
        """Whether an arbiter has to decide."""
        return len(self.current) == BOTH_READ

    def of(self, account: str) -> Keying | None:
        """Return a person's own reading."""
        return next((one for one in self.current if one.whose == account), None)

    def judge(self, account: str, body: bytes) -> Verdict:
        """Compare a further reading with those that count now. Raises RuleError `keyings_differ`."""
        if self.differ:
            raise RuleError("keyings_differ", "two people have keyed this sheet differently: an arbiter settles it")
        others = [one for one in self.current if one.whose != account]
        if not others:
            return "first"
        return "agrees" if others[0].body == body else "differs"


def open_readings(keyings: Iterable[Keying], play: tuple[int, int], after: str | None) -> Readings:
    """Return the readings of a play (table and round) that were made when `after` was the last entry on it."""
    here = (one for one in keyings if (one.table, one.round) == play and one.after == (after or ""))
    latest: dict[str, Keying] = {}
    for one in sorted(here, key=lambda one: one.number):
        latest.pop(one.whose, None)
        latest[one.whose] = one
    return Readings(tuple(one for one in latest.values() if one.body))


def body_of(sheet: PaperSheet) -> bytes:
    """Encode a sheet, so that readings with the same content are equal whether or not the points were keyed."""
    right = sheet.decision.points
    return msgspec.json.encode(replace(sheet.keyed, points={seat: right[seat] for seat in SEATS}))


_SHEETS: Final = msgspec.json.Decoder(KeyedSheet)


def keyed_from(body: bytes) -> KeyedSheet:
    """Decode the output of `body_of`."""
    return _SHEETS.decode(body)


def reading_differences(one: KeyedSheet, other: KeyedSheet) -> Sequence[str]:
    """List the differences between two readings of a sheet: `win`, `discarder`, or `SEAT FIELD`."""
    plain = [name for name in ("win", "discarder") if getattr(one, name) != getattr(other, name)]
    of_seats = [
        f"{seat} {name}"
        for name in ("winners", "points", "fines")
        for seat in SEATS
        if getattr(one, name).get(seat) != getattr(other, name).get(seat)
    ]
    return plain + of_seats


SET_ASIDE: Final = b""
"""The body of a keying that withdraws the same person's earlier one."""


class Keyings:
    """All keyings of an event."""

    def __init__(self, store: database.PeopleDatabase) -> None:
        self._store = store

    def keep(self, keying: Keying) -> None:
        """Store a keying with the next number. Raises PeopleStoreBroken."""
        with self._store.commit() as sql:
            last = sql.execute(select(func.max(database.KEYINGS.c.number))).scalar() or 0
            sql.execute(insert(database.KEYINGS).values(tuple(keying._replace(number=last + 1))))

    def all(self) -> list[Keying]:
        """Return all keyings, oldest first. Raises PeopleStoreBroken."""
        return [Keying(*row) for row in self._store.rows(select(database.KEYINGS).order_by(database.KEYINGS.c.number))]


LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class WaitingSheet:
    """A play whose sheet has been keyed in by one person."""

    sheet: PaperSheet
    mine: bool


@dataclass(frozen=True, slots=True)
class KeyingDifference:
    """Two different readings of a sheet, for an arbiter to decide."""

    sheets: tuple[PaperSheet, PaperSheet]
    numbers: tuple[int, int]
    authors: tuple[str, str]
    """The full names of the two people."""
    where: Sequence[str]


class DoubleKeying:
    """The readings of one event's sheets."""

    def __init__(self, room: EventState, scorer: ScorerThread, auth: Authentication) -> None:
        self._room, self._scorer, self._auth = room, scorer, auth
        self._keyings = Keyings(auth.store)

    def key(self, sheets: Sequence[PaperSheet], account: Account, address: str) -> list[SheetResult]:
        """Store one person's readings; a refused one does not affect others. Raises StoreError, PeopleStoreBroken."""
        with self._auth.store.commit():  # of two people keying a sheet at once, the second finds the first's reading
            now = self._readings(sheet.keyed.key for sheet in sheets)
            return [self._key(sheet, now[sheet.keyed.key], account, address) for sheet in sheets]

    def _key(
        self, sheet: PaperSheet, there: tuple[str | None, bool, Readings], account: Account, address: str
    ) -> SheetResult:
        after, settled, known = there
        if settled:
            return self._take(sheet, account, address)
        try:
            verdict = known.judge(account.name, body_of(sheet))
        except RuleError as problem:
            return SheetResult(sheet, None, problem)
        if verdict == "agrees":
            result = self._take(sheet, account, address, f"{PAPER_REASON}, {self._both(known, account)}")
            if result.taken != "taken":
                return result
        self._keep(sheet.keyed.key, after, account, address, body_of(sheet))
        return SheetResult(sheet, verdict)

    def _both(self, known: Readings, account: Account) -> str:
        first = next(one.whose for one in known.current if one.whose != account.name)
        return f"keyed by {self._auth.accounts.get(first).full} and by {account.full}"

    def settle(
        self, play: PlayKey, numbers: tuple[int, int], chosen: int, typed: str, account: Account, address: str
    ) -> SheetResult | None:
        """Let one of two readings count, or neither: then two people key in the sheet again, and None is returned.

        `chosen` is the number of one of them, or 0; `typed` is the reason. Raises RuleError `keying_gone` or
        `reason_wrong`, or what a ruling raises; StoreError, PeopleStoreBroken.
        """
        reason = " ".join(typed.split())
        if not 1 <= len(reason) <= LONGEST_REASON or not reason.isprintable():
            raise RuleError("reason_wrong", f"a reason has 1 to {LONGEST_REASON} printable characters")
        with self._auth.store.commit():
            after, _, known = self._readings([play])[play]
            if tuple(one.number for one in known.current) != numbers:
                raise RuleError("keying_gone", "these two readings are no longer open: reload the page")
            if chosen:
                return self._chosen(known, chosen, account, address, reason)
            for one in known.current:
                self._keep(play, after, account, address, SET_ASIDE, whose=one.whose, reason=reason)
        return None

    def _chosen(self, known: Readings, number: int, account: Account, address: str, reason: str) -> SheetResult:
        one = next((one for one in known.current if one.number == number), None)
        if one is None:
            raise RuleError("keying_gone", "this reading is not one of the two")
        result = self._take(self._sheet(one), account, address, reason)
        if result.problem:
            raise result.problem
        return result

    def take_back(self, play: PlayKey, account: Account, address: str) -> None:
        """Withdraw one's own reading before there is a second. Raises RuleError `keying_gone`, `keyings_differ`."""
        with self._auth.store.commit():
            after, _, known = self._readings([play])[play]
            if known.of(account.name) is None:
                raise RuleError("keying_gone", "you have no open reading of this sheet")
            if known.differ:
                raise RuleError("keyings_differ", "two people have keyed this sheet differently: an arbiter settles it")
            self._keep(play, after, account, address, SET_ASIDE)

    def open(self, account: Account) -> tuple[list[KeyingDifference], list[WaitingSheet]]:
        """Return differences to decide, and sheets that wait for a second person. Raises PeopleStoreBroken."""
        found = [known for _, settled, known in self._readings(None).values() if known.current and not settled]
        found.sort(key=lambda known: (known.current[0].round, known.current[0].table))
        waiting = [known.current[0] for known in found if not known.differ]
        return (
            [self._difference(known) for known in found if known.differ],
            [WaitingSheet(self._sheet(one), mine=one.whose == account.name) for one in waiting],
        )

    def _difference(self, known: Readings) -> KeyingDifference:
        first, second = known.current
        keyed = keyed_from(first.body), keyed_from(second.body)
        return KeyingDifference(
            (self._sheet(first), self._sheet(second)),
            (first.number, second.number),
            (self._auth.accounts.get(first.whose).full, self._auth.accounts.get(second.whose).full),
            reading_differences(*keyed),
        )

    def _sheet(self, one: Keying) -> PaperSheet:
        return sheet_of(keyed_from(one.body), self._room.planned)

    def _readings(self, plays: Iterable[PlayKey] | None) -> Mapping[PlayKey, tuple[str | None, bool, Readings]]:
        """Return each play's last entry, whether it is settled, and its readings. `plays` None: all that were keyed."""
        keyings = self._keyings.all()
        wanted = {(one.table, one.round) for one in keyings} if plays is None else set(plays)
        room = self._scorer.rulings.room
        there = self._scorer.ask(lambda: {key: (room.last_message_id(key), room.play(key).settled) for key in wanted})
        return {play: (after, settled, open_readings(keyings, play, after)) for play, (after, settled) in there.items()}

    def _take(self, sheet: PaperSheet, account: Account, address: str, reason: str = PAPER_REASON) -> SheetResult:
        (result,), given = apply_sheets(self._scorer, (sheet,), author_of(account), reason)
        for id_ in given:
            self._auth.audit.note(self._auth.clock(), account.name, RULING_NOTED, id_, reason, address=address)
        return result

    def _keep(
        self,
        play: PlayKey,
        after: str | None,
        account: Account,
        address: str,
        body: bytes,
        *,
        whose: str = "",
        reason: str = "",
    ) -> None:
        """Store a reading, and an audit entry that does not contain what was read."""
        now, (table, round_) = self._auth.clock(), play
        owner = whose or account.name
        self._keyings.keep(Keying(0, now, account.name, owner, round_, table, after or "", body, reason))
        action = "sheet_keyed" if body else "keying_set_aside"
        about = f"table {table}, round {round_}" + (f", of {whose}" if whose else "")
        self._auth.audit.note(now, account.name, action, about, reason, address=address)


def apply_sheets(
    scorer: ScorerThread, sheets: Sequence[PaperSheet], author: RulingAuthor, reason: str
) -> tuple[list[SheetResult], list[str]]:
    """Apply sheets on the scorer's thread; return the results, and the ids of rulings for the audit log."""

    def work() -> tuple[list[SheetResult], list[str]]:
        before = len(scorer.rulings.history())
        results = accept_sheets(scorer.rulings, sheets, author, reason)
        return results, [entry.id for entry in scorer.rulings.history()[before:]]

    return scorer.ask(work)
