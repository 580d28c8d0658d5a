"""What a hand is worth that lies face down: from what its table asks to the answer. Faces come in, none goes out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from broker.contract.counting import (
    AnyAnswer,
    CountedFan,
    CountRequest,
    Laid,
    McrValue,
    NotCounted,
    SaidOfMcr,
    SaidOfRiichi,
)
from broker.contract.words import Seat, Wind
from broker.rules.deal import SerialTray, seat_wind
from broker.rules.errors import RuleError
from broker.rules.fan.count import count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.laid_hand import KONG, LaidHand, LaidMeld, sort_out
from broker.rules.riichi.counted_hand import counted as counted_of_riichi
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import Rules
from broker.rules.said_hand import SaidHand, sort_as_said

Order = Mapping[Seat, SerialTray]


@dataclass(frozen=True, slots=True)
class Tiles:
    """What is known of the tiles of a play. `faces`: of each serial of the set that lies there."""

    faces: Mapping[int, str]
    order: Order | None = None
    """Who was dealt which; None where that was not read."""
    prevalent_wind: Wind = "east"
    dealer: Seat = "east"


def answered(request: CountRequest, tiles: Tiles, rules: Rules) -> AnyAnswer:
    """Give what a hand is worth, or the code of what keeps it from being counted."""
    try:
        return _answered(request, tiles, rules)
    except RuleError as refusal:
        return NotCounted(code=refusal.code)


def _answered(request: CountRequest, tiles: Tiles, rules: Rules) -> AnyAnswer:
    said = request.said
    if isinstance(rules, RiichiProfile):
        if not isinstance(said, SaidOfRiichi):
            raise RuleError("no_fan_here", "this is played under riichi rules")
        return counted_of_riichi(_as_said(request, said.laid), said, request.seat, tiles.faces, rules)
    if not isinstance(said, SaidOfMcr):
        raise RuleError("no_han_here", "this is played under MCR rules")
    return _counted_of_mcr(request, said, tiles, rules.payments.minimum.value)


def _as_said(request: CountRequest, laid: Laid) -> SaidHand:
    return sort_as_said(request.groups, self_drawn=laid.self_drawn, concealed_kongs=laid.concealed_kongs)


def _counted_of_mcr(request: CountRequest, said: SaidOfMcr, tiles: Tiles, minimum: int) -> McrValue:
    laid = _sorted(request, said, tiles.order)
    face = tiles.faces.__getitem__
    hand = Hand(tuple(map(face, laid.concealed)), face(laid.winning), tuple(_meld(meld, face) for meld in laid.melds))
    counted = count(
        hand,
        Situation(
            self_drawn=laid.self_drawn,
            seat_wind=seat_wind(request.seat, tiles.dealer),
            prevalent_wind=tiles.prevalent_wind,
            last_of_kind=said.last_of_kind,
            last_tile=said.last_tile,
            kong=said.kong,
        ),
    )
    elements = tuple(CountedFan(id=one.id, fan=one.fan) for one in counted.elements)
    return McrValue(fan=counted.fan, minimum=minimum, elements=elements)


def _sorted(request: CountRequest, said: SaidOfMcr, order: Order | None) -> LaidHand | SaidHand:
    """Give the hand as the walls tell; where none was read, as it was said. Raises RuleError `walls_not_read`."""
    if order is not None:
        return sort_out(request.groups, order, request.seat)
    if said.laid is None:
        raise RuleError("walls_not_read", "nothing has read the walls, so the tiles do not tell who drew them")
    return _as_said(request, said.laid)


def _meld(meld: LaidMeld, face: Callable[[int], str]) -> Meld:
    """Give a meld by its faces. Raises RuleError `not_a_meld`."""
    tiles = tuple(sorted(map(face, meld.serials)))
    if len(tiles) == KONG:
        return Meld("kong", tiles, concealed=meld.concealed)
    return Meld("pung" if len(set(tiles)) == 1 else "chow", tiles)
