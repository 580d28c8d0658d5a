"""What each ruling changed: how what it is about counted before it, and with it. Pure, and of any ruling, old or new.

Rulings that were given later are left out of both, so that an old line of the history says what its author did.
"""

from collections.abc import Iterable

from msgspec import Struct

from broker.contract.rulings import OF_THE_PLAN, Fouled, Reopen, Substitute, Undo, Withdrawn
from broker.scorer.event import Event
from broker.scorer.room import Room
from broker.scorer.rulings import plan
from broker.scorer.rulings.absences import last_word, sits
from broker.scorer.rulings.book import Book
from broker.scorer.rulings.entry import WHO_PLAYS, Entry, PlayKey
from broker.scorer.rulings.laying import Laid

Groups = tuple[tuple[int, ...], ...]


class Held(Struct, frozen=True, kw_only=True):
    """What counted at one time. Of it that alone is there which the ruling is about."""

    play: Laid | None = None
    sits: str | None = None
    """Who sat in somebody's seats; an empty name: nobody."""
    groups: Groups = ()
    """Tables of a fouled deal that had the tiles alike; none: as they were restored."""
    said: tuple[str, ...] = ()
    """What the plan had: who a player was, the title, the sessions."""
    until: int | None = None
    """End of the correction period, ms since 1970."""


class Change(Struct, frozen=True):
    """One ruling, and what it changed."""

    entry: Entry
    undoes: Entry | None
    """The ruling that it takes back."""
    root: Entry
    """What it is about in the end: of an undo the first that was undone; else the ruling itself."""
    before: Held | None
    """None where it is no longer known: the table was reopened since, and has entered another result."""
    after: Held


class Changes:
    """Tells of the rulings of a room. `room` must not change meanwhile."""

    def __init__(self, event: Event, room: Room) -> None:
        self._event, self._room = event, room
        self._order = {id_: number for number, id_ in enumerate(room.book.entries)}

    def of(self, entry: Entry) -> Change:
        """Say what one ruling changed."""
        book = self._room.book
        undoes = book.entries.get(entry.decision.ruling) if isinstance(entry.decision, Undo) else None
        root, number = book.root(entry), self._order[entry.id]
        subject = book.subject(entry)
        about = [one for one in book.all_of(subject) if self._order[one.id] <= number]
        if root.play is not None and root.play in self._event.bookings:
            about += [one for one in book.all_of(WHO_PLAYS) if self._order[one.id] < number]
        before, after = self._held(about, root, entry, apart=entry.id), self._held(about, root, entry)
        return Change(entry, undoes, root, before if self._is_known(root.play, entry) else None, after)

    def _held(self, about: Iterable[Entry], root: Entry, entry: Entry, apart: str = "") -> Held:
        """Give what counted by these rulings, but for one."""
        book = Book()
        for one in about:
            if one.id != apart:
                book.add(one)
        if root.play is not None:
            there = root.play in self._event.bookings
            entered = self._entered(root.play, entry)
            return Held(play=self._room.laid_by(root.play, book, entered=entered) if there else None)
        said = root.decision
        if isinstance(said, Substitute | Withdrawn):
            return Held(sits=self._sits(book, said))
        if isinstance(said, Fouled) and root.deal is not None:
            last = book.of(root.deal)
            return Held(groups=last[-1].decision.groups if last and isinstance(last[-1].decision, Fouled) else ())
        if isinstance(said, OF_THE_PLAN):
            return Held(said=plan.texts(self._room.planned, book, root))
        return Held(until=book.deadline)

    def _sits(self, book: Book, said: Substitute | Withdrawn) -> str:
        last = last_word(book.of(WHO_PLAYS), said.player, said.first_round)
        return sits(last, self._event.name_of(said.player))

    def _entered(self, key: PlayKey, entry: Entry) -> bool:
        """Say whether the result that a play has was there when the ruling was taken."""
        result = self._room.results.get(key)
        if result is None or entry.id in self._room.early:
            return False
        return result.seq < entry.number if entry.at_table else not self._reopened_since(key, entry)

    def _is_known(self, key: PlayKey | None, entry: Entry) -> bool:
        if key is None or self._room.results.get(key) is None or entry.id in self._room.early:
            return True
        return self._entered(key, entry)

    def _reopened_since(self, key: PlayKey, entry: Entry) -> bool:
        result, number = self._room.results[key], self._order[entry.id]
        return any(
            isinstance(one.decision, Reopen) and one.at_table and one.number < result.seq
            for one in self._room.book.all_of(key)
            if self._order[one.id] > number
        )
