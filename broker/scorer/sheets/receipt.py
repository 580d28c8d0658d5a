"""What a player is shown at home for a receipt's code: what four seats confirmed, and what is published now."""

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from broker.contract.messages import LogMessage, Result
from broker.contract.receipt_code import confirmed_text, receipt_code, receipt_digest
from broker.contract.words import SEATS
from broker.scorer.moment import Moment
from broker.scorer.sheets.deal import PlayLine, play_line

MINUTE_MS = 60_000


class ReceiptSheet(Struct, frozen=True):
    """What may be told of one confirmed result. Under embargo, only that it is stored: from `play` on all is None."""

    code: str
    table: int
    round: int
    deal: int
    play: PlayLine | None = None
    """As published, rulings included."""
    equal: bool | None = None
    """Whether players, points and fines are those that the four seats confirmed."""
    text: str | None = None
    """What was hashed."""
    digest: str | None = None
    objections_until: int | None = None
    """End of the correction period, ms since 1970; None: none is set."""


class ReceiptIndex:
    """Finds a confirmed result by its code; what came since the last question is added when somebody asks."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._seen = 0

    def find(self, moment: Moment, code: str) -> LogMessage | None:
        """Give the result of a code."""
        fresh = list(islice(moment.results.items(), self._seen, None))  # at once: the scorer goes on adding
        self._seen += len(fresh)
        self._places.update((receipt_code(message), place) for place, message in fresh)
        place = self._places.get(code)
        found = moment.results.get(place) if place else None
        return found if found is not None and receipt_code(found) == code else None


def receipt_sheet(moment: Moment, message: LogMessage) -> ReceiptSheet:
    """Give what may be told in a moment of a result, embargoed or not."""
    fact = message.fact
    code = receipt_code(message)
    if not isinstance(fact, Result) or (said := moment.result(fact.deal, message.table)) is None or said[0] != message:
        return ReceiptSheet(code=code, table=message.table, round=fact.round, deal=fact.deal)
    play = play_line(moment, fact.deal, message.table)
    return ReceiptSheet(
        code=code,
        table=message.table,
        round=fact.round,
        deal=fact.deal,
        play=play,
        equal=play is not None and _equal(play, fact),
        text=confirmed_text(message),
        digest=receipt_digest(message),
        objections_until=objections_until(moment, fact.deal),
    )


def _equal(play: PlayLine, fact: Result) -> bool:
    fines = {seat: fine.imp for seat, fine in fact.fines.items()}
    return all(
        (line.player, line.points, line.fine, line.award)
        == (fact.players[seat], fact.points[seat], fines.get(seat, 0), 0)
        for seat in SEATS
        for line in (play.seats[seat],)
    )


def objections_until(moment: Moment, deal: int) -> int | None:
    """Give the end of a deal's correction period: so many minutes after its last table, by the tables' clocks."""
    minutes = moment.event.plan.correction_minutes
    if not minutes or deal not in moment.complete:
        return None
    return max(_times(moment, deal), default=0) + minutes * MINUTE_MS


def _times(moment: Moment, deal: int) -> Iterator[int]:
    for row in moment.by_deal.get(deal, ()):
        for play in row.group.members:
            if said := moment.result(deal, play.table):
                yield said[0].at
