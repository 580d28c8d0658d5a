"""How simulated players choose beside recorded ones: `python -m tests.benchmarks.people FILE_OR_FOLDER...`.

Replays recorded plays of MCR through the referee. At every discard, and wherever a chow or pung could be claimed, asks
simulated players what they would do with what that seat sees, and prints how often it is the same, with the interval of
90 % over the plays. `blind` reads nobody, `plain` neither weighs what others may give, `random` draws lots.

A file `.pmn` is what `homologue export pmn` writes, with its plays as `homologue record rivers --save` or *Keep the
play* have found them. Any other is in the text format of Botzone's data sets: `Match ID`, `Wind 0`, `Player 0 Deal W1
W2 ...` with thirteen tiles a player, then a line an action: `Player 0 Draw T9`, `Play`, `Chi` (the middle tile),
`Peng`, `Gang`, `AnGang`, `BuGang`, `Hu`, with `Ignore Player 1 Chi ...` for claims that were overtaken. W are
characters, T bamboo, B dots, F1 to F4 winds, J1 to J3 red, green and white. Walls are filled up with what nobody drew.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from math import sqrt
from pathlib import Path
from random import Random
from typing import BinaryIO, Final, NamedTuple

import click
import numpy as np

from broker.export.pmn.check import deal_of_record
from broker.export.pmn.notation import read_records
from broker.export.pmn.record import actions_of
from broker.protocol import SEATS, Seat
from broker.rules import FULL_SET, TRAY, Deal, RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import Action, ActionKind, PlayState, apply_action, open_play
from broker.sim.plans import COLUMN, NONE
from broker.sim.player import Claim, Hold, Offer, SimulatedPlayer, best_claims, discards_or_kongs
from broker.sim.table import NEEDED
from tests.benchmarks.club import STYLES, Z90
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import JUDGE, view_from

SUITS: Final = {"W": "m", "T": "s", "B": "p"}
HONOURS: Final = {f"F{at}": f"{at}z" for at in range(1, 5)} | {"J1": "7z", "J2": "6z", "J3": "5z"}
DOES: Final[Mapping[str, ActionKind]] = {
    "Draw": "draw",
    "Play": "discard",
    "Chi": "chow",
    "Peng": "pung",
    "Gang": "melded_kong",
    "AnGang": "concealed_kong",
    "BuGang": "added_kong",
}
CLAIMS: Final = ("chow", "pung", "melded_kong")
ASKED: Final = ("sure", "blind", "plain")
"""Styles that make no random errors."""

Choice = tuple[str, str, bool]
"""The kind of decision, the seat, and whether the same was chosen."""


class Done(NamedTuple):
    """An action, and who had claimed the discard before it."""

    action: Action
    claimed: frozenset[Seat]


class RecordedPlay(NamedTuple):
    """A play until somebody wins."""

    deal: Deal
    done: tuple[Done, ...]


def tile(name: str) -> str:
    """Return a tile in our notation."""
    return HONOURS.get(name) or name[1] + SUITS[name[0]]


def read_plays(lines: Iterable[str]) -> Iterator[RecordedPlay]:
    """Yield the lines of a file play by play, since a Botzone data set has 100,000 plays."""
    match = list[list[str]]()
    number = count(1)
    for words in map(str.split, lines):
        if words[:1] == ["Match"] and match:
            yield _play(next(number), match)
            match = []
        match.append(words)
    if match:
        yield _play(next(number), match)


def _play(number: int, match: Iterable[Sequence[str]]) -> RecordedPlay:
    drawn: dict[Seat, list[str]] = {}
    done, wind = list[Done](), 0
    for words in match:
        if words[:1] == ["Wind"]:
            wind = int(words[1])
        if words[:1] != ["Player"]:
            continue
        seat, did, *names = SEATS[int(words[1])], *words[2:]
        if did == "Deal":
            drawn[seat] = [tile(one) for one in names]
        elif did in DOES:
            ignored = (words[at + 2] for at, word in enumerate(words) if word == "Ignore")
            claimed = frozenset({seat, *(SEATS[int(one)] for one in ignored)})
            done.append(Done(_action(DOES[did], seat, tile(names[0])), claimed))
        if did == "Draw":
            drawn[seat].append(tile(names[0]))
    return RecordedPlay(_deal(number, SEATS[wind], drawn), tuple(done))


def read_pmn(file: BinaryIO) -> Iterator[RecordedPlay]:
    """Read the records that contain a play; they do not say who else had claimed a discard. Raises RuleError."""
    for found in read_records(file):
        if isinstance(found.record, RuleError):
            raise found.record
        if found.record.steps:
            done = (Done(one.action, frozenset(one.action.actors)) for one in actions_of(found.record.steps))
            yield RecordedPlay(
                deal_of_record(found.record), tuple(one for one in done if one.action.do in DOES.values())
            )


def recorded(path: Path) -> Iterator[tuple[str, Iterator[RecordedPlay]]]:
    """Return the plays of a file, or of each file of a folder."""
    for file in sorted(path.iterdir()) if path.is_dir() else (path,):
        if file.suffix == ".pmn":
            with file.open("rb") as opened:
                yield file.name, read_pmn(opened)
        else:
            with file.open(encoding="ascii", errors="replace") as lines:
                yield file.name, read_plays(lines)


def _action(do: ActionKind, seat: Seat, name: str) -> Action:
    if do == "chow":
        return Action(do, seat, f"{int(name[0]) - 1}{name[1]}")
    return Action(do, seat, None if do in ("draw", "pung", "melded_kong") else name)


def _deal(number: int, wind: Seat, drawn: Mapping[Seat, Sequence[str]]) -> Deal:
    """Return a deal in which everybody draws the recorded tiles. Raises RuleError `not_a_deal`."""
    left = Counter(FULL_SET)
    left.subtract(one for tray in drawn.values() for one in tray)
    rest, trays = [*left.elements()], {}
    for seat in SEATS:
        more = max(TRAY - len(drawn[seat]), 0)
        trays[seat], rest = (*drawn[seat], *rest[:more]), rest[more:]
    return Deal(number, wind, SEATS[0], trays)


def choices(recorded: RecordedPlay, chance: Random) -> Iterator[Choice]:
    """Compare the decisions of a play, up to the first action that the referee refuses (rules on walls differ)."""
    play = open_play(recorded.deal, OEDMC)
    for at, (action, _) in enumerate(recorded.done):
        try:
            if action.do == "discard":
                yield from _discards(play, action, chance)
            play = apply_action(play, action, JUDGE)
            then = recorded.done[at + 1] if at + 1 < len(recorded.done) else None
            if action.do == "discard" and then:
                yield from _claims(play, then, chance)
            if action.do in ("discard", "added_kong") and then and then.action.do not in CLAIMS:
                play = apply_action(play, Action("no_claim"), JUDGE)
        except RuleError:
            return


def _discards(play: PlayState, action: Action, chance: Random) -> Iterator[Choice]:
    view, chosen = view_from(play, action.actors[0]), COLUMN[action.tile or ""]
    for style in ASKED:
        would = discards_or_kongs([Hold(view, (), SimulatedPlayer(1.0, chance, STYLES[style]))])[0]
        yield "discard", style, would == chosen
    yield (
        "discard",
        "random",
        chance.choice([int(one) for one in np.repeat(np.arange(len(view.held)), view.held)]) == chosen,
    )


def _claims(play: PlayState, then: Done, chance: Random) -> Iterator[Choice]:
    """Ask all seats that could claim; if a claim was overtaken, the others' decisions are not known."""
    taken = then.action.do in CLAIMS
    for seat in SEATS:
        wished = taken and seat in then.claimed
        if seat == play.turns.turn or (taken and not wished):
            continue
        view = view_from(play, seat)
        claims = [Claim("pung", NONE, (view.offered,) * 2)] if view.held[view.offered] > 1 else []
        if seat == NEXT_SEAT[play.turns.turn]:
            claims += [
                Claim("chow", COLUMN[low], (one, other))
                for low, one, other in NEEDED.get(view.offered, ())
                if view.held[one] and view.held[other]
            ]
        if claims:
            kind = "claimed" if wished else "left"
            for style in ASKED:
                offer = Offer(view, claims, SimulatedPlayer(1.0, chance, STYLES[style]))
                yield kind, style, (best_claims([offer])[0] is not None) == wished
            yield kind, "random", (chance.random() < 1 / 2) == wished


def told(found: Iterable[Iterable[Choice]]) -> Iterator[str]:
    """Print how often the same was chosen."""
    counts: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for of_play in found:
        here: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
        for kind, style, same in of_play:
            here[kind, style].append(same)
        for key, sames in here.items():
            counts[key].append((sum(sames), len(sames)))
    for (kind, style), plays in sorted(counts.items()):
        same, asked = (sum(one) for one in zip(*plays, strict=True))
        share = same / asked
        half = Z90 * sqrt(sum((one - share * of) ** 2 for one, of in plays)) / asked
        yield f"{kind:8} {style:7} {share:6.1%} ± {half:.1%} of {asked}"


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--plays", default=400, show_default=True, help="At most so many plays of each file.")
def people(paths: tuple[Path, ...], plays: int) -> None:
    """Measure and print."""
    for name, found in (one for path in paths for one in recorded(path)):
        read = [*islice(found, plays)]
        print(f"{name}: {len(read)} plays")
        for line in told(choices(play, Random(number)) for number, play in enumerate(read)):
            print(line)


if __name__ == "__main__":
    people()
