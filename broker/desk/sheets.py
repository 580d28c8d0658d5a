"""Travellers, players' sheets, standings and receipts for whoever asks: what a visitor may not know is not in them."""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from broker.desk.access import Visitor
from broker.desk.errors import SheetUnknown
from broker.scorer.moment import Embargo, Moment
from broker.scorer.sheets.deal import DealSheet, deal_sheet
from broker.scorer.sheets.ladder import Ladder, ladder
from broker.scorer.sheets.player import PlayerSheet, player_sheet
from broker.scorer.sheets.receipt import ReceiptIndex, ReceiptSheet, receipt_sheet
from broker.scorer.sheets.team import TeamSheet, team_sheet

Moments = Callable[[], Moment]
"""Gives all plays as the scorer knows them now."""


class DealLine(NamedTuple):
    """One deal in the list of deals. `plays_in` is None where it may not be told."""

    deal: int
    expected: int
    plays_in: int | None
    complete: bool


LONG_S: Final = 0.1
REST: Final = 10
"""What takes long is not done again for so many times as long: of a thousand tables one sees it a little later."""


class _Kept(NamedTuple):
    of: Moment
    ladder: Ladder
    until: float


class Sheets:
    """Gives sheets. For one thread alone."""

    def __init__(self, moments: Moments, now: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        """`now` in ms since 1970; `clock` counts on, in seconds."""
        self._moments, self._now, self._clock = moments, now, clock
        self._embargo = Embargo()
        self._ladders: dict[bool, _Kept] = {}
        self._receipts = ReceiptIndex()

    def moment(self, visitor: Visitor) -> Moment:
        """Give what a visitor may know. This is the only way in here to what the scorer knows."""
        now = self._moments()
        return now if visitor.may("see_room") else self._embargo.open_part(now)

    def ladder(self, visitor: Visitor) -> Ladder:
        """Give the standings; computed once a moment, and of a great event not all the time."""
        moment, arbiter = self.moment(visitor), visitor.may("see_room")
        kept = self._ladders.get(arbiter)
        if kept is None or (kept.of is not moment and (self._clock() >= kept.until or _taken_back(kept.of, moment))):
            began = self._clock()
            made = ladder(moment, self._now())
            took = self._clock() - began
            until = self._clock() + REST * took if took > LONG_S else began
            kept = self._ladders[arbiter] = _Kept(moment, made, until)
        final = kept.of.is_final(self._now())  # with the correction period's end, though no play has changed
        if final != kept.ladder.final:
            kept = self._ladders[arbiter] = kept._replace(ladder=replace(kept.ladder, final=final))
        return kept.ladder

    def deals(self, visitor: Visitor) -> tuple[DealLine, ...]:
        """List the deals of the event."""
        moment, arbiter = self.moment(visitor), visitor.may("see_room")
        return tuple(
            DealLine(
                deal,
                len(moment.plays_with(deal)),
                _plays_in(moment, deal) if arbiter else None,
                deal in moment.complete,
            )
            for deal in sorted(moment.event.expected)
        )

    def deal(self, visitor: Visitor, deal: int) -> DealSheet:
        """Give a traveller. Raises SheetUnknown."""
        try:
            return deal_sheet(self.moment(visitor), deal)
        except KeyError:
            raise SheetUnknown(f"this event has no deal {deal}") from None

    def player(self, visitor: Visitor, player: str) -> PlayerSheet:
        """Give a player's sheet. Raises SheetUnknown."""
        try:
            return player_sheet(self.moment(visitor), self.ladder(visitor), player)
        except KeyError:
            raise SheetUnknown("this event has no such player") from None

    def team(self, visitor: Visitor, number: int) -> TeamSheet:
        """Give the sheet of a team, by its number in the event's list. Raises SheetUnknown."""
        try:
            return team_sheet(self.moment(visitor), self.ladder(visitor), number)
        except KeyError:
            raise SheetUnknown("this event has no such team") from None

    def receipt(self, visitor: Visitor, code: str) -> ReceiptSheet:
        """Give what a code stands for. Raises SheetUnknown."""
        message = self._receipts.find(self._moments(), code)
        if message is None:
            raise SheetUnknown("no result has this code")
        return receipt_sheet(self.moment(visitor), message)


def _taken_back(before: Moment, now: Moment) -> bool:
    """Tell whether a deal is under embargo again: of it nothing may be shown a moment longer."""
    return not before.complete <= now.complete


def _plays_in(moment: Moment, deal: int) -> int:
    rows = moment.by_deal.get(deal, ())
    return sum(len(row.group.members) for row in rows) + len(moment.unplayed.get(deal, ()))


PER_PAGE: Final = 100
"""Lines of a table on one page: a phone draws them at once, and a hall of a thousand tables has ten such pages."""


class Leaf(NamedTuple):
    """Which lines of a long list are on a page. `number` from 1 to `of`."""

    number: int
    of: int

    @classmethod
    def at(cls, asked: str, length: int, per_page: int = PER_PAGE) -> "Leaf":
        """Give the page that was asked for, or the nearest that there is."""
        of = max(1, -(-length // per_page))
        number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= 6 else 1  # noqa: PLR2004 - digits
        return cls(min(max(1, number), of), of)

    def lines(self, per_page: int = PER_PAGE) -> slice:
        """Give its lines."""
        return slice((self.number - 1) * per_page, self.number * per_page)
