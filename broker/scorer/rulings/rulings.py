"""Rulings given: judged, stored, and only then told. On the scorer's thread alone."""

from collections.abc import Callable, Iterable
from typing import Protocol

from broker.contract.messages import Ruling
from broker.contract.wire import Refused
from broker.scorer.event import Event
from broker.scorer.room import Room
from broker.scorer.rulings.changes import Changes
from broker.scorer.rulings.effects import Compared, Effects, moved, of_groups, plays_moved
from broker.scorer.rulings.entry import Author, Draft, Entry
from broker.scorer.rulings.judging import check
from broker.store.journal import Journal


class Ids(Protocol):
    """Knows which ids were taken, from the desk or a table."""

    def has(self, id_: str) -> bool:
        """Say whether a message of this id was taken."""


class Rulings:
    """Gives rulings of one event. `told` hears of each once it is stored, with the deals that it has changed."""

    def __init__(
        self,
        event: Event,
        room: Room,
        journal: Journal,
        ids: Ids,
        clock: Callable[[], int],
        told: Callable[[Ruling, frozenset[int]], None],
    ) -> None:
        self._event, self.room, self._journal, self._ids, self._clock, self._told = (
            event,
            room,
            journal,
            ids,
            clock,
            told,
        )

    def history(self) -> tuple[Entry, ...]:
        """Give everything that was ruled, oldest first."""
        return tuple(self.room.book.entries.values())

    def now(self) -> int:
        """Give the scorer's wall clock, ms since 1970: by it the correction period ends."""
        return self._clock()

    def effects(self, draft: Draft, author: Author) -> Effects:
        """Say what a ruling would move. Raises Refused, as `give` would."""
        ruling, after = self._judged(draft, author), self.room.fork()
        deals = after.apply(ruling)
        return Effects(
            players=moved(self.room.standings(), after.standings()),
            teams=moved(self.room.team_standings(), after.team_standings()),
            plays=plays_moved(_compared(self.room, deals), _compared(after, deals)),
            change=Changes(after.event, after).of(after.book.entries[ruling.id]),
        )

    def give(self, draft: Draft, author: Author, looked_at: str | None = None) -> Entry:
        """Store a ruling, and let it count. One that was sent twice is given once. Raises Refused, StoreError.

        `looked_at`: the mark of the effects that its author has seen; `effects_changed` where they are others by now.
        """
        if known := self.room.book.entries.get(draft.id):
            if (known.decision, known.account, known.reason) == (draft.decision, author.account, draft.reason):
                return known
            raise Refused("id_reused", "another ruling has this id")
        if looked_at is not None and looked_at != self.effects(draft, author).mark:
            raise Refused("effects_changed", "whom this moves has changed since it was shown: look again")
        ruling = self._judged(draft, author)
        with self._journal.commit():
            self._journal.append(ruling, ruling.at)
        deals = self.room.apply(ruling)
        self._told(ruling, deals)
        return self.room.book.entries[ruling.id]

    def _judged(self, draft: Draft, author: Author) -> Ruling:
        now = self._clock()
        check(self.room.event, self.room, draft, author, now)
        if self._ids.has(draft.id):
            raise Refused("id_reused", "another message has this id")
        deal = self.room.play((draft.table, draft.round)).planned if draft.table and draft.round else draft.deal
        return Ruling(
            id=draft.id,
            event=self._event.name,
            number=1 + sum(not entry.at_table for entry in self.room.book.entries.values()),
            after=draft.after,
            table=draft.table,
            round=draft.round,
            deal=deal,
            decision=draft.decision,
            author=author.name,
            account=author.account,
            role=author.role,
            reason=draft.reason,
            at=now,
        )


def _compared(room: Room, deals: Iterable[int]) -> Compared:
    wanted = set(deals)
    return of_groups((group for group in room.groups() if group.deal in wanted), room.key_of)
