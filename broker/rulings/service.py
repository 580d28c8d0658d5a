"""Giving rulings: checked, stored, and only then published. On the scorer's thread only."""

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec.structs import asdict, replace

from broker.event import Event
from broker.protocol import Refused, Ruling, decode, encode
from broker.rulings.model import RulingAuthor, RulingDraft, RulingEntry
from broker.rulings.preview import (
    ComparedImps,
    RulingChanges,
    RulingEffects,
    imps_of_groups,
    play_changes,
    standing_changes,
)
from broker.rulings.validate import check_ruling
from broker.scorer import EventState, Judged
from broker.store import Journal


class Ids(Protocol):
    """The ids already used by the desk or a table."""

    def has(self, id_: str) -> bool:
        """Return whether a message with this id exists."""


class RulingService:
    """Issues and publishes the rulings of one event.

    `given` is called for each ruling once it is stored, with the deals that it has changed; `judged` for each fact of a
    table that counts because of it.
    """

    def __init__(
        self,
        event: Event,
        state: EventState,
        journal: Journal,
        ids: Ids,
        clock: Callable[[], int],
        given: Callable[[Ruling, frozenset[int]], None],
        judged: Callable[[Judged], None] = lambda _one: None,
    ) -> None:
        self._event, self.room, self._journal = event, state, journal
        self._ids, self._clock, self._given, self._judged = ids, clock, given, judged
        self.known: Callable[[], int] = lambda: 0
        """Returns the highest number of a ruling known to have been given, though it may be missing here."""

    def history(self) -> tuple[RulingEntry, ...]:
        """Return all rulings, oldest first."""
        return tuple(self.room.book.entries.values())

    def now(self) -> int:
        """Return the scorer's wall clock in ms since 1970, which decides when the correction period ends."""
        return self._clock()

    def effects(self, draft: RulingDraft, author: RulingAuthor) -> RulingEffects:
        """Return what a ruling would change. Raises Refused as `give` would."""
        ruling, after = self._checked(draft, author), self.room.fork()
        deals = after.apply(ruling)
        return RulingEffects(
            players=standing_changes(self.room.snapshot().ranking, after.snapshot().ranking),
            teams=standing_changes(self.room.team_standings(), after.team_standings()),
            plays=play_changes(_compared(self.room, deals), _compared(after, deals)),
            change=RulingChanges(after.event, after).of(after.book.entries[ruling.id]),
        )

    def give(self, draft: RulingDraft, author: RulingAuthor, seen: str | None = None) -> RulingEntry:
        """Store a ruling and apply it. One sent twice is given once. Raises Refused, StoreError.

        `seen`: the fingerprint of the effects that its author has seen. Raises Refused `effects_changed` if they have
        changed.
        """
        if entry := self.room.book.entries.get(draft.id):
            if (entry.decision, entry.account, entry.reason) == (draft.decision, author.account, draft.reason):
                return entry
            raise Refused("id_reused", "another ruling has this id")
        if seen is not None and seen != self.effects(draft, author).fingerprint:
            raise Refused("effects_changed", "the effects of this ruling have changed: check them again")
        ruling = self._checked(draft, author)
        with self._journal.commit():
            self._journal.append(ruling, ruling.at)
        deals = self.room.apply(ruling, self._judged)
        self._given(ruling, deals)
        return self.room.book.entries[ruling.id]

    def adopt(self, ruling: Ruling) -> Ruling:
        """Store a ruling from another desk under our next number, and apply it. Raises Refused, StoreError.

        Whether its deadline has passed is judged by that desk's clock.
        """
        check_ruling(self.room.event, self.room, ruling if ruling.table is None else replace(ruling, deal=None))
        numbered = replace(ruling, number=1 + self._highest())
        with self._journal.commit():
            self._journal.append(numbered, self._clock())
        self._given(numbered, self.room.apply(numbered, self._judged))
        return numbered

    def _highest(self) -> int:
        given = (entry.number for entry in self.room.book.entries.values() if not entry.at_table)
        return max(self.known(), max(given, default=0))

    def _checked(self, draft: RulingDraft, author: RulingAuthor) -> Ruling:
        ruling = Ruling(
            **asdict(draft),
            event=self._event.name,
            number=1 + self._highest(),
            author=author.name,
            account=author.account,
            role=author.role,
            at=self._clock(),
        )
        check_ruling(self.room.event, self.room, ruling)
        if self._ids.has(draft.id):
            raise Refused("id_reused", "another message has this id")
        if booking := self._event.places.get((draft.table or 0, draft.round or 0)):
            ruling = replace(ruling, deal=booking.deal)
        decode(Ruling, encode(ruling))  # a ruling that cannot be decoded would be lost after a restart
        return ruling


def _compared(state: EventState, deals: Iterable[int]) -> ComparedImps:
    wanted = set(deals)
    return imps_of_groups((group for group in state.groups() if group.deal in wanted), state.key_of)
