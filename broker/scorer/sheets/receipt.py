"""What a player is shown at home for a receipt's code: what four seats confirmed, and what is published now."""

from itertools import islice

from msgspec import Struct

from broker.contract.facts import Result
from broker.contract.messages import LogMessage
from broker.contract.receipt_code import confirmed_text, receipt_code, receipt_digest
from broker.contract.words import SEATS
from broker.scorer.moment import Moment
from broker.scorer.sheets.deal import PlayLine, play_line


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
    stored = ReceiptSheet(code=code, table=message.table, round=fact.round, deal=fact.deal)
    if not isinstance(fact, Result) or (said := moment.result(fact.deal, message.table)) is None or said[0] != message:
        return stored
    play = play_line(moment, fact.deal, message.table)
    if play is None:  # ruled to be of another deal, which may be under embargo
        return stored
    return ReceiptSheet(
        code=code,
        table=message.table,
        round=fact.round,
        deal=fact.deal,
        play=play,
        equal=_equal(play, fact),
        text=confirmed_text(message),
        digest=receipt_digest(message),
        objections_until=moment.deadline,
    )


def _equal(play: PlayLine, fact: Result) -> bool:
    fines = {seat: fine.imp for seat, fine in fact.fines.items()}
    return all(
        (line.player, line.points, line.fine, line.award)
        == (fact.players[seat], fact.points[seat], fines.get(seat, 0), 0)
        for seat in SEATS
        for line in (play.seats[seat],)
    )
