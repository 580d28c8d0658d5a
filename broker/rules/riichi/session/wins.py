"""What a win pays: shares, counters, responsibility, deposits (MONTREAL, RIICHI-POINTS)."""

from broker.rules.riichi.points import share
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.events import Ron, Tsumo, Win
from broker.rules.riichi.session.state import NOTHING, PLAYERS, Player, Points, State, added, distance, paid
from broker.rules.riichi.session.worth import Worth, worth


def counted(state: State, ron: Ron, rules: RiichiProfile) -> tuple[Win, ...]:
    """Give the wins that count, in turn order after the loser: none where the hand is broken off."""
    in_turn = tuple(sorted(ron.wins, key=lambda win: distance(ron.loser, win.winner)))
    for win in in_turn:
        worth(state, win, rules)  # a win that cannot be is refused, even where another comes first
    several = rules.session.ron.several.value
    if several == "nearest":
        return in_turn[:1]
    return () if several == "triple_aborts" and len(in_turn) > len(PLAYERS) - 2 else in_turn


def ron_payment(state: State, loser: Player, win: Win, counters: int, rules: RiichiProfile) -> Points:
    """Give what one win on a discard pays, with so many counters. The responsible pays half (MONTREAL)."""
    value, times = worth(state, win, rules), 6 if win.winner == state.dealer else 4
    more = counters * rules.points.counter.value
    fed = share(value.of_pao, times) // 2  # a yakuman's half is a multiple of 1000 too
    owed = {loser: share(value.base, times) - fed}
    responsible = loser if win.responsible is None else win.responsible
    owed[responsible] = owed.get(responsible, 0) + fed
    owed[responsible if rules.session.pao.counters.value == "responsible" else loser] += more
    return paid(owed, win.winner)


def tsumo_payment(state: State, tsumo: Tsumo, rules: RiichiProfile) -> Points:
    """Give what a win on a drawn tile pays. Who is responsible, for a yakuman or a live kan, pays for the others."""
    win, value = tsumo.win, worth(state, tsumo.win, rules)
    more = state.counters * rules.points.counter.value // 3
    if win.responsible is not None:
        return _fed(state, win, win.responsible, value, more)
    if tsumo.kan_from is not None and rules.session.pao.live_kan.value:
        return _all_by(tsumo.kan_from, state, win.winner, value.base, more)
    return _each(state, win.winner, value.base, more)


def _fed(state: State, win: Win, responsible: Player, value: Worth, more: int) -> Points:
    covered = _all_by(responsible, state, win.winner, value.of_pao, more)
    left = value.base - value.of_pao
    return added(covered, _each(state, win.winner, left, 0)) if left else covered


def _each(state: State, winner: Player, base: int, more: int) -> Points:
    dealer_wins = winner == state.dealer
    owed = {player: share(base, 2 if dealer_wins or player == state.dealer else 1) + more for player in PLAYERS}
    return paid(owed, winner)


def _all_by(responsible: Player, state: State, winner: Player, base: int, more: int) -> Points:
    return paid({responsible: _each(state, winner, base, more)[winner]}, winner)


def deposits_to(winner: Player, deposits: int, rules: RiichiProfile) -> Points:
    """Give the points of deposits that somebody takes from the table."""
    east, south, west, north = (deposits * rules.points.deposit.value if player == winner else 0 for player in PLAYERS)
    return east, south, west, north


def laid_down(players: tuple[Player, ...], rules: RiichiProfile, times: int = 1) -> Points:
    """Give the points of deposits that players lay on the table."""
    return added(NOTHING, *(_negated(deposits_to(player, times, rules)) for player in players))


def _negated(points: Points) -> Points:
    east, south, west, north = (-each for each in points)
    return east, south, west, north
