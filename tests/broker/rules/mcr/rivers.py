"""Reading faults at the end of a play: an overlooked tile and a reversed river."""

from random import Random

from msgspec.structs import replace

from broker.protocol import SEATS, LaidSeat
from broker.sim.laid import LaidTiles


def overlook_tile(play: LaidTiles, rng: Random) -> LaidTiles:
    """Return the play with one tile of a river, meld or hand unread."""
    seat = rng.choice(SEATS)
    one = play.laid[seat]
    rows = [row for row in (one.river, *one.melds, one.hand or ()) if any(row)]
    row = rng.choice(rows)
    overlooked = rng.choice([serial for serial in row if serial])

    def seen(serials: tuple[int | None, ...]) -> tuple[int | None, ...]:
        return tuple(None if serial == overlooked else serial for serial in serials)

    changed = LaidSeat(
        seen(one.river), tuple(map(seen, one.melds)), None if one.hand is None else seen(one.hand), one.gaps
    )
    return play._replace(laid={**play.laid, seat: changed})


def reverse_river(play: LaidTiles, rng: Random) -> LaidTiles:
    """Return the play with one river read in the wrong direction."""
    seat = rng.choice([seat for seat in SEATS if play.laid[seat].river])
    one = play.laid[seat]
    return play._replace(laid={**play.laid, seat: replace(one, river=one.river[::-1])})
