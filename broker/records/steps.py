"""The tag Play: what was done, four characters a step.

`T` take from the wall, `D` discard (`z1`: the tile just taken), `C` chow (by its middle tile), `P` pung, `Z` melded
kong, `A` concealed kong, `B` kong added to a pung, `H` hu, `N` nobody won. Seats are 0 to 3, east first. That the
others let a tile pass is not written: it follows.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from msgspec import Struct

from broker.contract.words import SEATS, Seat
from broker.records.errors import RecordError
from broker.records.tiles import THEIRS, read_tile
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT, Action, Do

DOES: Final[dict[str, Do]] = {
    "T": "draw",
    "D": "discard",
    "C": "chow",
    "P": "pung",
    "Z": "melded_kong",
    "A": "concealed_kong",
    "B": "added_kong",
}
"""Letters of actions with a tile. Flowers (`R`) are not played."""

LETTER: Final[dict[Do, str]] = {do: letter for letter, do in DOES.items()}

HU: Final = "H"
OLD_HU: Final = "M"
"""In the example of PMN's first release."""
NOBODY: Final = "N"
JUST_TAKEN: Final = "z1"

TOKEN: Final = re.compile(rf"(?:[{''.join(DOES)}][0-3][a-z][0-9]|[{HU}{OLD_HU}][0-3](?:[a-z][0-9])?|{NOBODY}[0-3])")


class Step(Struct, frozen=True):
    """One step: its letter, whose it is, and our name for its tile. Hu and a drawn play have none."""

    letter: str
    seat: Seat
    tile: str | None = None


class Moved(NamedTuple):
    """An action, and the step (from 1) that it comes from."""

    step: int
    action: Action


def read_play(written: str) -> tuple[Step, ...]:
    """Read Play. Raises RecordError `bad_play` or `unknown_pmn_tile`, with the step."""
    text = "".join(written.split())
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise RecordError("bad_play", f"{text[at : at + 4]!r} is no action", step=len(steps) + 1)
        steps.append(_read(found[0], steps))
        at = found.end()
    return tuple(steps)


def _read(token: str, before: list[Step]) -> Step:
    letter, seat, written = token[0], SEATS[int(token[1])], token[2:]
    try:
        if letter in HU + OLD_HU:
            return _hu(seat, read_tile(written) if written else None, before)
        if letter == NOBODY:
            return Step(NOBODY, SEATS[0])
        if letter == "D" and written == JUST_TAKEN:
            return Step(letter, seat, _just_taken(seat, before))
        return Step(letter, seat, read_tile(written))
    except RuleError as problem:
        raise RecordError(problem.code, problem.text, step=len(before) + 1) from None


def _just_taken(seat: Seat, before: list[Step]) -> str:
    if not before or before[-1].letter != "T" or before[-1].seat != seat:
        raise RuleError("bad_play", f"z1 is the tile just taken, and {seat} has taken none")
    return before[-1].tile or ""


def _hu(seat: Seat, tile: str | None, before: list[Step]) -> Step:
    """Read a hu; the tile is that of the last step with one, whether it is said or not."""
    last = next((step.tile for step in reversed(before) if step.tile), None)
    if tile is not None and tile != last:
        raise RuleError("bad_play", f"the tile that {seat} can win on is {THEIRS.get(last or '', 'none')}")
    return Step(HU, seat)


def write_play(steps: Iterable[Step]) -> str:
    """Write Play, without blanks."""
    written, taken = [], None
    for step in steps:
        tile = THEIRS[step.tile] if step.tile else ""
        just_taken = step.letter == "D" and taken == (step.seat, step.tile)
        written.append(f"{step.letter}{AT[step.seat]}{JUST_TAKEN if just_taken else tile}")
        taken = (step.seat, step.tile) if step.letter == "T" else None
    return "".join(written)


def actions_of(steps: Iterable[Step]) -> Iterator[Moved]:
    """Give the referee's actions. All who declare hu on a tile do so in one action."""
    last = ""
    for declaring, run in groupby(enumerate(steps, 1), key=lambda numbered: numbered[1].letter == HU):
        listed = list(run)
        yield from _declared(listed, last) if declaring else _done(listed, last)
        number, last = listed[-1][0], listed[-1][1].letter
    if last == "D":
        yield Moved(number, Action("no_claim"))


def _done(numbered: list[tuple[int, Step]], last: str) -> Iterator[Moved]:
    for number, step in numbered:
        if step.letter == NOBODY or (step.letter == "T" and last == "D"):
            yield Moved(number, Action("no_claim"))
        if step.letter != NOBODY:
            yield Moved(number, Action(DOES[step.letter], step.seat, _named(step)))
        last = step.letter


def _declared(numbered: list[tuple[int, Step]], last: str) -> Iterator[Moved]:
    """Give who wins on a tile of another, together; on an own tile only the first can."""
    own = 0 if last in ("D", "B") else 1
    yield from (Moved(number, Action("self_hu", step.seat)) for number, step in numbered[:own])
    if others := numbered[own:]:
        yield Moved(others[0][0], Action("hu_on_discard", seats=tuple(step.seat for _, step in others)))


def _named(step: Step) -> str | None:
    """Give the tile by which the referee knows the action: a chow's lowest, where PMN names its middle one."""
    if step.letter != "C" or not step.tile:
        return step.tile
    return f"{int(step.tile[0]) - 1}{step.tile[1]}"


def steps_of(actions: Iterable[Action]) -> Iterator[Step]:
    """Give the steps of actions that the referee has found legal; draws and claims must name their tile."""
    passed = False
    for action in actions:
        passed = action.do == "no_claim"
        if action.do in ("self_hu", "hu_on_discard"):
            yield from (Step(HU, seat) for seat in sorted(action.actors, key=AT.__getitem__))
        elif action.do == "chow" and action.tile:
            yield Step("C", action.actors[0], f"{int(action.tile[0]) + 1}{action.tile[1]}")
        elif action.do != "no_claim":
            yield Step(LETTER[action.do], action.actors[0], action.tile)
    if passed:
        yield Step(NOBODY, SEATS[0])
