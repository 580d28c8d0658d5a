"""Whoever is recorded is found to choose as recorded: here the players themselves, whose plays are written down."""

from collections.abc import Iterator
from random import Random

from broker.protocol import SEATS
from broker.rules.mcr import Action
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable
from tests.benchmarks.club import STYLES
from tests.benchmarks.people import DOES, HONOURS, SUITS, choices, read_plays
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import JUDGE, dealt

NAMES = {ours: theirs for theirs, ours in HONOURS.items()} | {
    f"{rank}{suit}": f"{theirs}{rank}" for theirs, suit in SUITS.items() for rank in range(1, 10)
}


def written(seed: int, actions: tuple[Action, ...]) -> Iterator[str]:
    """Write a play of simulated players down. East is their first player."""
    deal = dealt(seed)
    walls = {seat: iter(deal.faces[seat][13:]) for seat in SEATS}
    yield f"Match {seed}\nWind {SEATS.index(deal.prevalent_wind)}"
    yield from (
        f"Player {at} Deal {' '.join(NAMES[one] for one in deal.faces[seat][:13])}" for at, seat in enumerate(SEATS)
    )
    did, last = {ours: theirs for theirs, ours in DOES.items()}, ""
    for action in actions:
        if action.do in did:
            (seat,) = action.actors
            low = action.tile or ""
            last = next(walls[seat]) if action.do == "draw" else low if action.do == "discard" else last
            name = f"{int(low[0]) + 1}{low[1]}" if action.do == "chow" else low or last
            yield f"Player {SEATS.index(seat)} {did[action.do]} {NAMES[name]}"


def test_players_are_found_to_choose_as_themselves() -> None:
    seeds = [16 * seed for seed in range(3)]
    for seed in seeds:
        players = {seat: SimulatedPlayer(1.0, Random(1), STYLES["plain"]) for seat in SEATS}
        played = DealTable(dealt(seed), OEDMC, JUDGE).play(players)
        (read,) = read_plays("\n".join(written(seed, played.actions)))
        wanted = [one for one in played.actions if one.do in DOES.values()]
        assert [(one.action.do, one.action.actors) for one in read.done] == [(one.do, one.actors) for one in wanted]
        same = [same for kind, style, same in choices(read, Random(1)) if (kind, style) == ("discard", "plain")]
        assert len(same) == sum(one.do == "discard" for one in wanted)
        assert all(same)
