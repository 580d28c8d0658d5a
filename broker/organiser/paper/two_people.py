"""Two people key each sheet: their readings are kept apart, and what they agree on, or an arbiter settles, counts.

Asked from the desk's threads. Readings are kept in the store of the desk's people; a result goes into the journal by
the scorer's thread, as a ruling, and first: where this machine stops between the two, the sheet counts and says who
keyed it, and no reading is left open.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from broker.contract.words import RulerRole
from broker.desk.rulings.bench import NOTED
from broker.organiser.paper.keyed import Sheet, sheet_of
from broker.organiser.paper.taking import REASON, Told, take_all
from broker.organiser.paper.twice import Readings, body_of, differences, keyed_in, readings
from broker.people.accounts import Account
from broker.people.door import Door
from broker.people.keyings import SET_ASIDE, Keying, Keyings
from broker.rules.errors import RuleError
from broker.scorer.event import Event
from broker.scorer.rulings.entry import Author, PlayKey
from broker.scorer.rulings.rulings import Rulings

LONGEST_REASON: Final = 200

T = TypeVar("T")


class Desk(Protocol):
    """What is needed of the scorer: its rulings, on its own thread."""

    rulings: Rulings

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done by the scorer's thread, and wait for it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A play of which one person has keyed the sheet."""

    sheet: Sheet
    at: int
    """Wall clock, ms since 1970 (UTC)."""
    mine: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """Two readings of a sheet that differ; what arbiters settle."""

    sheets: tuple[Sheet, Sheet]
    numbers: tuple[int, int]
    authors: tuple[str, str]
    """Full names."""
    where: Sequence[str]


@dataclass(frozen=True, slots=True)
class Settlement:
    """What an arbiter decides on two readings: `chosen` is the number of one of them, or 0: neither."""

    play: PlayKey
    numbers: tuple[int, int]
    chosen: int
    reason: str


def author_of(account: Account) -> Author:
    """Give who rules. The account is one that may `rule`."""
    role: RulerRole = "head_arbiter" if account.role == "head_arbiter" else "table_arbiter"
    return Author(account.full, account.name, role)


class TwoPeople:
    """The readings of one event's sheets."""

    def __init__(self, event: Event, scorer: Desk, door: Door) -> None:
        self._event, self._scorer, self._door = event, scorer, door
        self._keyings = Keyings(door.store)

    def key(self, sheets: Sequence[Sheet], account: Account, address: str) -> list[Told]:
        """Take one person's readings; one that is refused holds up no other. Raises StoreError, PeopleStoreBroken."""
        with self._door.store.commit():  # of two who key one sheet at once the second finds the first's reading
            now = self._readings(sheet.keyed.key for sheet in sheets)
            return [self._key(sheet, now[sheet.keyed.key], account, address) for sheet in sheets]

    def _key(self, sheet: Sheet, there: tuple[str | None, bool, Readings], account: Account, address: str) -> Told:
        after, settled, known = there
        if settled:
            return self._take(sheet, account, address)
        try:
            verdict = known.judge(account.name, body_of(sheet))
        except RuleError as problem:
            return Told(sheet, None, problem)
        if verdict == "agrees":
            told = self._take(sheet, account, address, f"{REASON}, {self._both(known, account)}")
            if told.taken != "taken":
                return told
        self._keep(sheet.keyed.key, after, account, address, body_of(sheet))
        return Told(sheet, verdict)

    def _both(self, known: Readings, account: Account) -> str:
        first = next(one.whose for one in known.kept if one.whose != account.name)
        return f"keyed by {self._door.accounts.get(first).full} and by {account.full}"

    def settle(self, wish: Settlement, account: Account, address: str) -> Told | None:
        """Let one of two readings count, or neither: then two people key the sheet anew, and None is given.

        Raises RuleError `keying_gone`, `reason_wrong`, and as a ruling; StoreError, PeopleStoreBroken.
        """
        reason = " ".join(wish.reason.split())
        if not 1 <= len(reason) <= LONGEST_REASON or not reason.isprintable():
            raise RuleError("reason_wrong", f"a reason has 1 to {LONGEST_REASON} printable characters")
        with self._door.store.commit():
            after, _, known = self._readings([wish.play])[wish.play]
            if tuple(one.number for one in known.kept) != wish.numbers:
                raise RuleError("keying_gone", "these two readings are not open any more: look again")
            if wish.chosen:
                return self._chosen(known, wish.chosen, account, address, reason)
            for one in known.kept:
                self._keep(wish.play, after, account, address, SET_ASIDE, whose=one.whose, reason=reason)
        return None

    def _chosen(self, known: Readings, number: int, account: Account, address: str, reason: str) -> Told:
        one = next((one for one in known.kept if one.number == number), None)
        if one is None:
            raise RuleError("keying_gone", "this reading is none of the two")
        told = self._take(self._sheet(one), account, address, reason)
        if told.problem:
            raise told.problem
        return told

    def take_back(self, play: PlayKey, account: Account, address: str) -> None:
        """Take one's own reading back, until another's is there. Raises RuleError `keying_gone`, `keyings_differ`."""
        with self._door.store.commit():
            after, _, known = self._readings([play])[play]
            if known.of(account.name) is None:
                raise RuleError("keying_gone", "no reading of yours is open there")
            if known.differ:
                raise RuleError("keyings_differ", "two people have keyed this sheet differently: an arbiter settles it")
            self._keep(play, after, account, address, SET_ASIDE)

    def open(self, account: Account) -> tuple[list[Difference], list[Waiting]]:
        """Give what arbiters have to settle, and what waits for a second person. Raises PeopleStoreBroken."""
        found = [known for _, settled, known in self._readings(None).values() if known.kept and not settled]
        found.sort(key=lambda known: (known.kept[0].round, known.kept[0].table))
        waiting = [known.kept[0] for known in found if not known.differ]
        return (
            [self._difference(known) for known in found if known.differ],
            [Waiting(self._sheet(one), one.at, mine=one.whose == account.name) for one in waiting],
        )

    def _difference(self, known: Readings) -> Difference:
        first, second = known.kept
        keyed = keyed_in(first.body), keyed_in(second.body)
        return Difference(
            (self._sheet(first), self._sheet(second)),
            (first.number, second.number),
            (self._door.accounts.get(first.whose).full, self._door.accounts.get(second.whose).full),
            differences(*keyed),
        )

    def _sheet(self, one: Keying) -> Sheet:
        return sheet_of(keyed_in(one.body), self._event)

    def _readings(self, plays: Iterable[PlayKey] | None) -> Mapping[PlayKey, tuple[str | None, bool, Readings]]:
        """Give, of plays (None: of all that were keyed), what was said last, whether they are settled, readings."""
        keyings = self._keyings.all()
        wanted = {(one.table, one.round) for one in keyings} if plays is None else set(plays)
        room = self._scorer.rulings.room
        there = self._scorer.ask(lambda: {play: (room.last_word(play), room.play(play).settled) for play in wanted})
        return {play: (after, settled, readings(keyings, play, after)) for play, (after, settled) in there.items()}

    def _take(self, sheet: Sheet, account: Account, address: str, reason: str = REASON) -> Told:
        (told,), given = take_noted(self._scorer, (sheet,), author_of(account), reason)
        for id_ in given:
            self._door.audit.note(self._door.clock(), account.name, NOTED, id_, reason, address=address)
        return told

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
        """Keep a reading, and a note of it that does not say what was read."""
        now, (table, round_) = self._door.clock(), play
        self._keyings.keep(
            Keying(
                at=now,
                who=account.name,
                whose=whose or account.name,
                round=round_,
                table=table,
                after=after or "",
                body=body,
                reason=reason,
            )
        )
        action = "sheet_keyed" if body else "keying_set_aside"
        about = f"table {table}, round {round_}" + (f", of {whose}" if whose else "")
        self._door.audit.note(now, account.name, action, about, reason, address=address)


def take_noted(scorer: Desk, sheets: Sequence[Sheet], author: Author, reason: str) -> tuple[list[Told], list[str]]:
    """Take sheets on the scorer's thread; give what became of them, and the ids of the rulings to be noted."""

    def work() -> tuple[list[Told], list[str]]:
        before = len(scorer.rulings.history())
        told = take_all(scorer.rulings, sheets, author, reason)
        return told, [entry.id for entry in scorer.rulings.history()[before:]]

    return scorer.ask(work)
