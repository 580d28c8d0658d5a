"""What a riichi hand is worth that lies face down: from serials, and what is said of the win, to han, fu and yaku."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from broker.contract.counting import CountedFu, CountedYaku, RiichiDeclared, RiichiValue, SaidOfRiichi
from broker.contract.words import Seat
from broker.rules.deal import seat_wind
from broker.rules.errors import RuleError
from broker.rules.laid_hand import KONG, LaidMeld
from broker.rules.riichi.hand import Hand, Meld, Situation
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.value import value
from broker.rules.said_hand import SaidHand
from broker.rules.tiles import RED, has_red

NO_RIICHI: Final = (0, False)

DECLARED: Final[Mapping[RiichiDeclared | None, tuple[int, bool]]] = {
    None: NO_RIICHI,
    "riichi": (1, False),
    "double_riichi": (2, False),
    "open_riichi": (1, True),
    "double_open_riichi": (2, True),
}
"""How riichi was declared: `riichi` and `open_riichi` of a situation."""


def counted(
    laid: SaidHand, said: SaidOfRiichi, winner: Seat, faces: Mapping[int, str], profile: RiichiProfile
) -> RiichiValue:
    """Count a hand.

    Raises RuleError with the codes of `Hand`, `Meld`, `Situation` and `value`, `red_fives_unclear` or
    `tile_laid_twice`.
    """
    held = (*laid.concealed, *(serial for meld in laid.melds for serial in meld.serials), laid.winning)
    if len({*held, *said.dora, *said.ura}) < len(held) + len(said.dora) + len(said.ura):
        raise RuleError("tile_laid_twice", "one serial is there twice")
    face = _faces(held, faces, said.red_fives)
    hand = Hand(tuple(map(face, laid.concealed)), face(laid.winning), tuple(_meld(meld, face) for meld in laid.melds))
    worth = value(hand, _situation(said, winner, faces, self_drawn=laid.self_drawn), profile)
    return RiichiValue(
        han=worth.han,
        fu=worth.fu.rounded if worth.fu else 0,
        yakuman=worth.yakuman,
        yaku=tuple(CountedYaku(id=one.id, han=one.han, yakuman=one.yakuman) for one in worth.yaku),
        items=tuple(CountedFu(id=one.id, fu=one.fu) for one in worth.fu.items) if worth.fu else (),
    )


def _faces(held: Iterable[int], faces: Mapping[int, str], red: int) -> Callable[[int], str]:
    """Give what names a tile's face. Of each suit one five may be red: so many are, of suits that have a five here.

    A set that is registered with its red fives tells by itself. Of all four fives of a suit one is red; else whose
    suit's they are changes nothing that is counted. Raises RuleError `red_fives_unclear`.
    """
    if has_red(faces.values()):
        return faces.__getitem__
    fives: dict[str, list[int]] = {}
    for serial in held:
        if faces[serial] in RED.values():
            fives.setdefault(faces[serial], []).append(serial)
    if red > len(fives):
        raise RuleError("red_fives_unclear", f"{red} red fives, and fives of {len(fives)} suits")
    named = {five: name for name, five in RED.items()}
    most = sorted(fives, key=lambda five: -len(fives[five]))
    reds = {fives[five][0]: named[five] for five in most[:red]}
    return lambda serial: reds.get(serial, faces[serial])


def _situation(said: SaidOfRiichi, winner: Seat, faces: Mapping[int, str], *, self_drawn: bool) -> Situation:
    riichi, is_open = DECLARED[said.riichi]
    last, kan = said.moment == "last_tile", said.moment == "kan"
    return Situation(
        seat_wind=seat_wind(winner, said.dealer),
        round_wind=said.round_wind,
        self_drawn=self_drawn,
        riichi=riichi,
        open_riichi=is_open,
        ippatsu=said.ippatsu,
        rinshan=kan and self_drawn,
        chankan=kan and not self_drawn,
        haitei=last and self_drawn,
        houtei=last and not self_drawn,
        first_turn=said.moment == "first_turn",
        dora_indicators=tuple(faces[serial] for serial in said.dora),
        ura_indicators=tuple(faces[serial] for serial in said.ura),
    )


def _meld(meld: LaidMeld, face: Callable[[int], str]) -> Meld:
    """Give a meld by its faces. Raises RuleError `not_a_meld`."""
    tiles = tuple(map(face, meld.serials))
    if len(tiles) == KONG:
        return Meld("kan", tiles, open=not meld.concealed)
    kind = "pon" if len({RED.get(tile, tile) for tile in tiles}) == 1 else "chii"
    return Meld(kind, tuple(sorted(tiles, key=lambda tile: RED.get(tile, tile))))
