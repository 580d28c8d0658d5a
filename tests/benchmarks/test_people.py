"""Recorded players are found to choose as recorded; here they are the simulated players themselves."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from broker.export.pmn.event import record_play
from broker.export.pmn.notation import write_records
from broker.protocol import SEATS
from broker.rules import load_mcr
from broker.rules.mcr import Action
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable, SimulatedPlay
from tests.benchmarks.club import STYLES
from tests.benchmarks.people import DOES, HONOURS, SUITS, Done, choices, read_plays, recorded
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import JUDGE, dealt

PROFILE = load_mcr("oedmc-2020")
NAMES = {ours: theirs for theirs, ours in HONOURS.items()} | {
    f"{rank}{suit}": f"{theirs}{rank}" for theirs, suit in SUITS.items() for rank in range(1, 10)
}


def written(seed: int, actions: tuple[Action, ...]) -> Iterator[str]:
    """Record a play of simulated players. East is their first player."""
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


SEEDS = [16, 32, 48]


def test_players_choose_as_themselves(tmp_path: Path) -> None:
    """The same plays are in the folder in both formats."""
    plays = [played(seed) for seed in SEEDS]
    text = "\n".join(line for seed, play in zip(SEEDS, plays, strict=True) for line in written(seed, play.actions))
    (tmp_path / "a.txt").write_text(text, encoding="ascii")
    records = [record_play(dealt(seed), play.actions, PROFILE, JUDGE) for seed, play in zip(SEEDS, plays, strict=True)]
    (tmp_path / "b.pmn").write_text(write_records(records), encoding="utf-8")
    for _, read in recorded(tmp_path):
        for play, found in zip(plays, read, strict=True):
            wanted = [one for one in play.actions if one.do in DOES.values()]
            assert [(one.action.do, one.action.actors) for one in found.done] == [
                (one.do, one.actors) for one in wanted
            ]
            same = [same for kind, style, same in choices(found, Random(1)) if (kind, style) == ("discard", "plain")]
            assert len(same) == sum(one.do == "discard" for one in wanted)
            assert all(same)


HANDS = """\
Player 0 Deal W1 W2 W3 W4 W5 W6 W7 W8 W9 F1 F2 F3 F4
Player 1 Deal T1 T2 T4 T6 T7 T8 T9 J1 J1 J2 J2 J3 J3
Player 2 Deal B1 B1 B2 B2 B3 B3 B4 B4 T5 T5 B7 B8 B9
Player 3 Deal B1 B2 B3 B4 B5 B6 B7 B8 B9 W1 W2 W3 F1
"""

TWO_PLAYS = f"""\
Match one
Wind 1
{HANDS}Player 0 Draw T5
Player 0 Play T5
Player 2 Peng T5 Ignore Player 1 Chi T5
Score 0 0 0 0
Match two
Wind 0
{HANDS}Player 0 Draw T3
Player 0 Play T3
Player 1 Chi T2
"""
"""An invented play in the format of Botzone's data sets."""


def test_botzones_format_is_parsed_with_winds_overtaken_claims_and_chows_by_their_middle_tile() -> None:
    first, second = read_plays(TWO_PLAYS.splitlines())
    assert (first.deal.prevalent_wind, second.deal.prevalent_wind) == ("south", "east")
    assert first.deal.faces["south"][:13] == tuple(f"{rank}s" for rank in (1, 2, 4, 6, 7, 8, 9)) + tuple(
        f"{honour}z" for honour in (7, 7, 6, 6, 5, 5)
    )
    assert first.done == (
        Done(Action("draw", "east"), frozenset({"east"})),
        Done(Action("discard", "east", "5s"), frozenset({"east"})),
        Done(Action("pung", "west"), frozenset({"south", "west"})),
    )
    assert second.done[-1].action == Action("chow", "south", "1s")


def played(seed: int) -> SimulatedPlay:
    players = {seat: SimulatedPlayer(1.0, Random(1), STYLES["plain"]) for seat in SEATS}
    return DealTable(dealt(seed), OEDMC, JUDGE).play(players)
