"""The value of a face-down hand under either rule book: from a table's request to the answer.

Faces are looked up here and never sent out. A fault that serials alone show is answered with its own code. Where faces
decide, every hand that does not win gets the same answer, whatever is wrong with it: finer answers would tell which
tiles are alike or consecutive.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from broker.errors import RuleError
from broker.protocol import (
    AnyCountAnswer,
    AnyWinDetails,
    CountedFan,
    CountedFu,
    CountedYaku,
    CountRequest,
    HandLayout,
    McrValue,
    McrWinDetails,
    NotCounted,
    RiichiDeclared,
    RiichiValue,
    RiichiWinDetails,
    Seat,
    Wind,
)
from broker.rules.deal import RED, SerialTray, has_red, seat_wind
from broker.rules.hand_from_serials import KONG, DescribedHand, LaidHand, LaidMeld, sort_as_described, sort_by_walls
from broker.rules.mcr import McrHand, McrMeld, McrSituation, count_fan
from broker.rules.profiles import Rules
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.hand import RiichiHand, RiichiHandMeld, RiichiSituation
from broker.rules.riichi.value import riichi_value

SerialOrder = Mapping[Seat, SerialTray]


@dataclass(frozen=True, slots=True)
class KnownTiles:
    """The tiles of a play as far as they are known. `faces`: by serial, of the set in use."""

    faces: Mapping[int, str]
    order: SerialOrder | None = None
    """The serials dealt to each seat; None if they were not read."""
    prevalent_wind: Wind = "east"
    dealer: Seat = "east"


def answer_count(request: CountRequest, tiles: KnownTiles, rules: Rules) -> AnyCountAnswer:
    """Return what a hand is worth, or the code of the reason why it cannot be counted."""
    try:
        value = _value_by_faces(request, tiles, rules)
    except RuleError as refusal:
        return NotCounted(code=refusal.code)
    try:
        return value(request.said)
    except RuleError as refusal:
        return NotCounted(code=refusal.code if _wins(value, request.said) else NOT_WINNING)


NOT_WINNING: Final = "not_winning"
"""The single answer for all hands that are not complete."""

COMPLETE: Final = frozenset({"no_yaku", "fan_counter_missing", "yaku_counter_failed"})
"""Codes of hands that are complete, though they have no value."""

ValueByFaces = Callable[[AnyWinDetails], AnyCountAnswer]


def _wins(value: ValueByFaces, details: AnyWinDetails) -> bool:
    """Return whether the tiles form a winning hand, whatever was said about how it was won."""
    try:
        value(_layout_only(details))
    except RuleError as refusal:
        return refusal.code in COMPLETE
    return True


def _layout_only(details: AnyWinDetails) -> AnyWinDetails:
    if isinstance(details, McrWinDetails):
        return McrWinDetails(laid=details.laid)
    return RiichiWinDetails(laid=details.laid, round_wind=details.round_wind, dealer=details.dealer)


def _value_by_faces(request: CountRequest, tiles: KnownTiles, rules: Rules) -> ValueByFaces:
    """Return a function that counts the hand for given win details. Raises RuleError for what serials alone show."""
    requested = request.said
    if isinstance(rules, RiichiProfile):
        if not isinstance(requested, RiichiWinDetails):
            raise RuleError("no_fan_here", "this is played under riichi rules")
        hand = _as_described(request, requested.laid)
        _refuse_repeated_serials(hand, requested)
        return lambda details: _riichi_value(hand, cast("RiichiWinDetails", details), request.seat, tiles.faces, rules)
    if not isinstance(requested, McrWinDetails):
        raise RuleError("no_han_here", "this is played under MCR rules")
    laid, minimum = _classified(request, requested, tiles.order), rules.payments.minimum.value
    return lambda details: _mcr_value(request, cast("McrWinDetails", details), laid, tiles, minimum)


def _refuse_repeated_serials(hand: DescribedHand, details: RiichiWinDetails) -> None:
    serials = _all_serials(hand)
    if len({*serials, *details.dora, *details.ura}) < len(serials) + len(details.dora) + len(details.ura):
        raise RuleError("tile_laid_twice", "a serial appears twice")


def _all_serials(hand: DescribedHand) -> tuple[int, ...]:
    return (*hand.concealed, *(serial for meld in hand.melds for serial in meld.serials), hand.winning)


def _as_described(request: CountRequest, laid: HandLayout) -> DescribedHand:
    return sort_as_described(request.groups, self_drawn=laid.self_drawn, concealed_kongs=laid.concealed_kongs)


def _mcr_value(
    request: CountRequest, details: McrWinDetails, laid: LaidHand | DescribedHand, tiles: KnownTiles, minimum: int
) -> McrValue:
    face = tiles.faces.__getitem__
    hand = McrHand(
        tuple(map(face, laid.concealed)), face(laid.winning), tuple(_mcr_meld(meld, face) for meld in laid.melds)
    )
    counted = count_fan(
        hand,
        McrSituation(
            self_drawn=laid.self_drawn,
            seat_wind=seat_wind(request.seat, tiles.dealer),
            prevalent_wind=tiles.prevalent_wind,
            last_of_kind=details.last_of_kind,
            last_tile=details.last_tile,
            kong=details.kong,
        ),
    )
    elements = tuple(CountedFan(id=one.id, fan=one.fan) for one in counted.elements)
    return McrValue(fan=counted.fan, minimum=minimum, elements=elements)


def _classified(request: CountRequest, details: McrWinDetails, order: SerialOrder | None) -> LaidHand | DescribedHand:
    """Classify the tiles by the walls, or as described if no wall was read. Raises RuleError `walls_not_read`."""
    if order is not None:
        return sort_by_walls(request.groups, order, request.seat)
    if details.laid is None:
        raise RuleError("walls_not_read", "the walls were not read, so it is not known who drew which tile")
    return _as_described(request, details.laid)


def _mcr_meld(meld: LaidMeld, face: Callable[[int], str]) -> McrMeld:
    """Return the faces of a meld. Raises RuleError `not_a_meld`."""
    tiles = tuple(sorted(map(face, meld.serials)))
    if len(tiles) == KONG:
        return McrMeld("kong", tiles, concealed=meld.concealed)
    return McrMeld("pung" if len(set(tiles)) == 1 else "chow", tiles)


NO_RIICHI: Final = (0, False)

DECLARED: Final[Mapping[RiichiDeclared | None, tuple[int, bool]]] = {
    None: NO_RIICHI,
    "riichi": (1, False),
    "double_riichi": (2, False),
    "open_riichi": (1, True),
    "double_open_riichi": (2, True),
}
"""The `riichi` and `open_riichi` of a situation, for each way of declaring riichi."""


def _riichi_value(
    laid: DescribedHand, details: RiichiWinDetails, winner: Seat, faces: Mapping[int, str], profile: RiichiProfile
) -> RiichiValue:
    """Count a riichi hand.

    Raises RuleError with the codes of `RiichiHand`, `RiichiHandMeld`, `RiichiSituation` and `riichi_value`, or
    `red_fives_unclear`.
    """
    face = _faces(_all_serials(laid), faces, details.red_fives)
    hand = RiichiHand(
        tuple(map(face, laid.concealed)), face(laid.winning), tuple(_riichi_meld(meld, face) for meld in laid.melds)
    )
    value = riichi_value(hand, _riichi_situation(details, winner, faces, self_drawn=laid.self_drawn), profile)
    return RiichiValue(
        han=value.han,
        fu=value.rounded_fu,
        yakuman=value.yakuman,
        yaku=tuple(CountedYaku(id=one.id, han=one.han, yakuman=one.yakuman) for one in value.yaku),
        items=tuple(CountedFu(id=one.id, fu=one.fu) for one in value.fu.items) if value.fu else (),
    )


def _faces(serials: Iterable[int], faces: Mapping[int, str], red: int) -> Callable[[int], str]:
    """Return a function from serials to faces, with `red` fives as red ones, at most one of each suit.

    A set registered with red fives needs no such choice. Otherwise suits with the most fives come first: of all four
    fives of a suit one must be red, and elsewhere the choice of suit does not change the value. Raises RuleError
    `red_fives_unclear`.
    """
    if has_red(faces.values()):
        return faces.__getitem__
    fives: dict[str, list[int]] = {}
    for serial in serials:
        if faces[serial] in RED.values():
            fives.setdefault(faces[serial], []).append(serial)
    if red > len(fives):
        raise RuleError("red_fives_unclear", f"{red} red fives, and fives of {len(fives)} suits")
    red_names = {five: name for name, five in RED.items()}
    by_count = sorted(fives, key=lambda five: -len(fives[five]))
    reds = {fives[five][0]: red_names[five] for five in by_count[:red]}
    return lambda serial: reds.get(serial, faces[serial])


def _riichi_situation(
    details: RiichiWinDetails, winner: Seat, faces: Mapping[int, str], *, self_drawn: bool
) -> RiichiSituation:
    riichi, is_open = DECLARED[details.riichi]
    last, kan = details.moment == "last_tile", details.moment == "kan"
    return RiichiSituation(
        seat_wind=seat_wind(winner, details.dealer),
        round_wind=details.round_wind,
        self_drawn=self_drawn,
        riichi=riichi,
        open_riichi=is_open,
        ippatsu=details.ippatsu,
        rinshan=kan and self_drawn,
        chankan=kan and not self_drawn,
        haitei=last and self_drawn,
        houtei=last and not self_drawn,
        first_turn=details.moment == "first_turn",
        dora_indicators=tuple(faces[serial] for serial in details.dora),
        ura_indicators=tuple(faces[serial] for serial in details.ura),
    )


def _riichi_meld(meld: LaidMeld, face: Callable[[int], str]) -> RiichiHandMeld:
    """Return the faces of a meld. Raises RuleError `not_a_meld`."""
    tiles = tuple(map(face, meld.serials))
    if len(tiles) == KONG:
        return RiichiHandMeld("kan", tiles, open=not meld.concealed)
    kind = "pon" if len({RED.get(tile, tile) for tile in tiles}) == 1 else "chii"
    return RiichiHandMeld(kind, tuple(sorted(tiles, key=lambda tile: RED.get(tile, tile))))
