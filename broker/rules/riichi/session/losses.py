"""What hands pay that nobody won: tenpai, nagashi, grave faults (MONTREAL)."""

from broker.rules.riichi.points import MANGAN, share
from broker.rules.riichi.session.events import Chombo, ExhaustiveDraw
from broker.rules.riichi.session.settings import SessionRules
from broker.rules.riichi.session.state import NOTHING, PLAYERS, Player, Points, added, paid


def draw_payment(dealer: Player, draw: ExhaustiveDraw, rules: SessionRules) -> Points:
    """Give what an exhaustive draw pays. Nagashi takes the place of tenpai payments, without counters or deposits."""
    if draw.nagashi and rules.draw.nagashi.value:
        return added(*(mangan_tsumo(player, dealer) for player in draw.nagashi))
    return _tenpai(draw.tenpai, rules.draw.tenpai.value)


def _tenpai(tenpai: tuple[Player, ...], pot: int) -> Points:
    noten = len(PLAYERS) - len(tenpai)
    if not tenpai or not noten:
        return NOTHING
    east, south, west, north = (pot // len(tenpai) if player in tenpai else -pot // noten for player in PLAYERS)
    return east, south, west, north


def mangan_tsumo(winner: Player, dealer: Player) -> Points:
    """Give what a mangan pays that is drawn."""
    owed = {player: share(MANGAN, 2 if dealer in (player, winner) else 1) for player in PLAYERS}
    return paid(owed, winner)


def chombo_payment(dealer: Player, chombo: Chombo, rules: SessionRules) -> Points:
    """Give what grave faults pay: each a mangan the other way round, and more where a yakuman was spoilt."""
    paying = [player for player in chombo.offenders if player not in chombo.dependent]
    parts = [_reversed(player, dealer) for player in paying for _ in range(_times(player, chombo, rules))]
    return added(NOTHING, *parts)


def _times(offender: Player, chombo: Chombo, rules: SessionRules) -> int:
    spoilt = any(player != offender for player in chombo.yakuman_tenpai)
    return 1 + (rules.faults.yakuman_tenpai.value if spoilt else 0)


def _reversed(offender: Player, dealer: Player) -> Points:
    east, south, west, north = (-points for points in mangan_tsumo(offender, dealer))
    return east, south, west, north
