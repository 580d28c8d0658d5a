"""The next move in a sentence."""

from kiosk.screens.words import Words
from kiosk.table.restoring.moves import Move, PutIn, Shift, Swap, TakeOut, places_of
from kiosk.table.restoring.places import Place


def sentence(words: Words, move: Move, *, face: bool) -> str:
    """Say a move. Places of two trays are named with their seat; `face`: what is turned lies face up."""
    across = len({place.seat for place in places_of(move)}) > 1
    one = place_name(words, move.one, seat=across)
    match move:
        case Swap(other=other):
            return words("move_swap", one=one, other=place_name(words, other, seat=across))
        case Shift(other=other):
            return words("move_shift", one=one, other=place_name(words, other, seat=across))
        case TakeOut():
            return words("move_out", one=one)
        case PutIn(serial=serial):
            return words("move_in", one=one, serial=serial)
        case _:
            return words("move_over" if face else "move_round", one=one)


def place_name(words: Words, place: Place, *, seat: bool) -> str:
    """Name a place, counted from 1."""
    row, col = place.row + 1, place.col + 1
    if seat:
        return words("place_of", seat=words.seat(place.seat), row=row, col=col)
    return words("place_here", row=row, col=col)
