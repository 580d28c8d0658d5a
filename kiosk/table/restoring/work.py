"""The work on one carrier: what lies where, the next move, and who has vouched for which tray."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce

from msgspec.structs import replace as replace_fields

from broker.contract.words import SEATS, Seat, Verifier
from broker.rules.deal import ROWS
from kiosk.table.events import RowTicked, TrayChecked
from kiosk.table.restoring.fewest import fewest, next_move
from kiosk.table.restoring.lying import BLANK, Carrier, remembered
from kiosk.table.restoring.moves import Move, is_done
from kiosk.table.restoring.places import Deal

Row = tuple[Seat, int]


@dataclass(frozen=True, slots=True)
class Work:
    """What is known and what comes next; `move` None where nothing more is known to be wrong."""

    looks: tuple[TrayChecked, ...] = ()
    """The last look at each tray that was shown, the latest last; their times are taken out."""
    move: Move | None = None
    left: int = 0
    """Moves that are left, with this one."""
    done: int = 0
    """Moves that were told and then seen done."""
    ticked: bool = False
    """The move that was told last was done; else staff did something else, and the plan has followed them."""
    by: Mapping[Seat, Verifier] = field(default_factory=dict)
    """By whom each tray that is right was found so."""
    rows: frozenset[Row] = frozenset()
    """Rows that were ticked by hand."""

    @property
    def carrier(self) -> Carrier:
        """What lies at each place as far as is known."""
        return carrier_of(self.looks)

    @property
    def verified(self) -> frozenset[Seat]:
        """The trays that are right."""
        return frozenset(self.by)

    @property
    def verifier(self) -> Verifier:
        """The least sure of those who have vouched for a tray."""
        return next((one for one in ("hand", "scanner") if one in self.by.values()), "camera")


def looked(work: Work, look: TrayChecked, deal: Deal, *, right: bool) -> Work:
    """Take one look at a tray in. `right`: all its 34 places are as they should be."""
    looks = (*(one for one in work.looks if one.seat != look.seat), replace_fields(look, at=0))
    before, carrier = work.carrier, carrier_of(looks)
    by = {seat: who for seat, who in work.by.items() if seat != look.seat and _still(before, carrier, seat)}
    if right:
        by[look.seat] = look.by
    rows = frozenset(row for row in work.rows if row[0] != look.seat)
    if (carrier, by, rows) == (before, work.by, work.rows):
        return work
    done = work.move is not None and is_done(work.move, before, carrier)
    return Work(
        looks=looks,
        move=next_move(carrier, deal, None if right else look.seat),
        left=fewest(carrier, deal),
        done=work.done + done,
        ticked=done,
        by=by,
        rows=rows,
    )


@lru_cache(maxsize=8)
def carrier_of(looks: tuple[TrayChecked, ...]) -> Carrier:
    """Put looks at trays together, the latest last."""
    return reduce(remembered, looks, BLANK)


def _still(before: Carrier, now: Carrier, seat: Seat) -> bool:
    """Tell whether nothing has left a tray since: a tile of it that is seen in another lies there no more."""
    return all(now[place] == lying for place, lying in before.items() if place.seat == seat)


def ticked(work: Work, event: RowTicked) -> Work:
    """Take a tick at a row in, or take it back; a tray whose rows are all ticked counts, by hand."""
    row = (event.seat, event.row)
    rows = work.rows | {row} if event.right else work.rows - {row}
    by = {seat: who for seat, who in work.by.items() if seat != event.seat}
    if all((event.seat, at) in rows for at in range(len(ROWS))):
        by[event.seat] = "hand"
    return replace(work, by=by, rows=rows)


def left_by_hand(work: Work) -> tuple[Row, ...]:
    """Give the rows that are still to be ticked, in their order; none of trays that are right."""
    rows = ((seat, row) for seat in SEATS if seat not in work.by for row in range(len(ROWS)))
    return tuple(row for row in rows if row not in work.rows)
