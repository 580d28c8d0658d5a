"""What can go wrong with what is read of a play at its end: a tile is overlooked, a river is turned."""

from random import Random

from msgspec.structs import replace

from broker.protocol import SEATS, LaidSeat
from broker.sim.laid import LaidTiles


def unread(play: LaidTiles, chance: Random) -> LaidTiles:
    """Overlook one tile of a river, a meld or a hand."""
    seat = chance.choice(SEATS)
    one = play.laid[seat]
    rows = [row for row in (one.river, *one.melds, one.hand or ()) if any(row)]
    row = chance.choice(rows)
    overlooked = chance.choice([serial for serial in row if serial])

    def seen(serials: tuple[int | None, ...]) -> tuple[int | None, ...]:
        return tuple(None if serial == overlooked else serial for serial in serials)

    changed = LaidSeat(
        seen(one.river), tuple(map(seen, one.melds)), None if one.hand is None else seen(one.hand), one.gaps
    )
    return play._replace(laid={**play.laid, seat: changed})


def turned(play: LaidTiles, chance: Random) -> LaidTiles:
    """Lay one river the wrong way round."""
    seat = chance.choice([seat for seat in SEATS if play.laid[seat].river])
    one = play.laid[seat]
    return play._replace(laid={**play.laid, seat: replace(one, river=one.river[::-1])})
