"""One play as recorded in PMN: its tiles, its fan, and its steps, four characters each."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct, field

from broker.protocol import SEATS, Seat, Wind
from broker.rules import ROWS, SEAT_INDEX, RuleError, seat_wind
from broker.rules.mcr import Action, ActionKind, FanCount, fan_81, fan_index, fan_value

Tiles = Mapping[Seat, tuple[str, ...]]


class PmnFan(Struct, frozen=True):
    """One fan of a hand: its PMN number, its value in fan points, and how often it counts."""

    number: int
    fan: int
    times: int = 1

    def __str__(self) -> str:
        """Return the fan in PMN."""
        return f"{self.number}/{self.fan}/{self.times}"


class Step(Struct, frozen=True):
    """One step: its letter, the seat, and our name of the tile. Hu and a drawn play have no tile."""

    letter: str
    seat: Seat
    tile: str | None = None


class PmnRecord(Struct, frozen=True):
    """A play. As in PMN, seats are named by their seat wind, so `east` is the dealer.

    None means that something is unknown or not revealed: the hands of deals under embargo, the steps of most plays.
    """

    board: int
    """Number of the deal."""
    prevalent_wind: Wind
    points: Mapping[Seat, int]
    hands: Tiles | None = None
    """13 tiles each, sorted, because the order of a hand has no meaning."""
    walls: Tiles | None = None
    """21 tiles each, in the order of drawing."""
    steps: tuple[Step, ...] | None = None
    fans: Mapping[Seat, tuple[PmnFan, ...]] = field(default_factory=dict)
    """The fan of each winner."""
    fines: Mapping[Seat, int] = field(default_factory=dict)
    """IMPs taken off for a false hu."""
    event: str = "?"
    site: str = "?"
    date: str = "?"
    """YYYY.MM.DD; unknown parts are question marks."""
    players: Mapping[Seat, str] = field(default_factory=lambda: dict.fromkeys(SEATS, "?"))
    dealer: Seat | None = None
    """The chair of `east`; the others follow in turn order."""
    table: int | None = None
    round: int | None = None
    profile: str | None = None

    @property
    def winners(self) -> dict[Seat, int]:
        """Hand values of the winners."""
        return {seat: hand_value(self.fans[seat]) for seat in SEATS if self.fans.get(seat)}


class RecordError(RuleError):
    """A record that is refused. A file may contain many: reading continues with the next record."""

    def __init__(
        self, code: str, text: str, *, tag: str | None = None, line: int | None = None, step: int | None = None
    ) -> None:
        super().__init__(code, text)
        self.tag = tag
        """The tag whose value is wrong."""
        self.line = line
        """The line in the file, counted from 1."""
        self.step = step
        """The wrong action in Play, counted from 1."""


@contextmanager
def within_tag(tag: str, line: int | None = None) -> Iterator[None]:
    """Add the tag, and its line, to every refusal raised inside."""
    try:
        yield
    except RuleError as problem:
        nearer = problem if isinstance(problem, RecordError) else RecordError(problem.code, problem.text)
        raise RecordError(
            problem.code, problem.text, tag=nearer.tag or tag, line=nearer.line or line, step=nearer.step
        ) from None


LETTERS: Final = "cdbwr"

FLOWERS: Final = "f"
"""PMN has eight flowers; duplicate plays have none (MIL). A hand ends with the bare letter."""

OUR_TILE: Final[dict[str, str]] = {
    **{f"{letter}{rank}": f"{rank}{suit}" for letter, suit in zip("cdb", "mps", strict=True) for rank in range(1, 10)},
    **{f"w{rank}": f"{rank}z" for rank in range(1, 5)},
    "r1": "7z",
    "r2": "6z",
    "r3": "5z",
}
"""Our name for each of PMN's tiles. PMN does not define the order of the dragons: red, green, white is our reading."""

PMN_TILE: Final[dict[str, str]] = {ours: theirs for theirs, ours in OUR_TILE.items()}

ORDER: Final[dict[str, int]] = {ours: at for at, ours in enumerate(OUR_TILE.values())}
"""A tile's position in a hand as PMN writes it."""


def read_tile(written: str) -> str:
    """Return our name for one of PMN's tiles. Raises RuleError `unknown_pmn_tile`."""
    if written not in OUR_TILE:
        raise RuleError("unknown_pmn_tile", f"{written[:20]!r} is no tile: c1..c9, d1..d9, b1..b9, w1..w4, r1..r3")
    return OUR_TILE[written]


def read_tiles(written: str) -> tuple[str, ...]:
    """Parse tiles in order; a letter applies to all digits up to the next one. Raises RuleError `unknown_pmn_tile`."""
    letter, tiles = "", []
    for character in written:
        if character in LETTERS + FLOWERS:
            letter = character
        else:
            tiles.append(read_tile(letter + character))
    return tuple(tiles)


def write_hand(tiles: Iterable[str]) -> str:
    """Return a hand in PMN, sorted: `c7d345677b3689w2r1f`."""
    digits = dict.fromkeys(LETTERS + FLOWERS, "")
    for tile in in_order(tiles):
        written = PMN_TILE[tile]
        digits[written[0]] += written[1]
    return "".join(letter + found for letter, found in digits.items())


def write_wall(tiles: Iterable[str]) -> str:
    """Return tiles in PMN in the order in which they lie: `r2b66d1`."""
    runs = groupby((PMN_TILE[tile] for tile in tiles), key=lambda written: written[0])
    return "".join(letter + "".join(written[1] for written in run) for letter, run in runs)


def in_order(tiles: Iterable[str]) -> tuple[str, ...]:
    """Return tiles sorted as in PMN."""
    return tuple(sorted(tiles, key=ORDER.__getitem__))


T = TypeVar("T")


def by_wind(by_chair: Mapping[Seat, T], dealer: Seat) -> dict[Seat, T]:
    """Return values by seat wind instead of by chair, in turn order. The dealer is east."""
    turned = {seat_wind(chair, dealer): value for chair, value in by_chair.items()}
    return {wind: turned[wind] for wind in SEATS if wind in turned}


def tray_hands(faces: Tiles, dealer: Seat) -> Tiles:
    """Return the hands of trays, sorted."""
    return by_wind({chair: in_order(tray[: ROWS[0]]) for chair, tray in faces.items()}, dealer)


def tray_walls(faces: Tiles, dealer: Seat) -> Tiles:
    """Return the walls of trays, in the order of drawing."""
    return by_wind({chair: tuple(tray[ROWS[0] :]) for chair, tray in faces.items()}, dealer)


NO_FAN: Final = 0
"""Our number for a hand value whose fan are unknown; PMN has none."""

KONGS: Final = "concealed_kong_and_melded_kong"
"""PMN's number 82, in addition to the book's 81."""

INTERCHANGEABLE: Final = {**dict.fromkeys(range(69, 73), 69), **dict.fromkeys(range(77, 80), 77)}
"""Fan of one point among which the winner may choose, each mapped to the first of its kind: pairs of chows, of which a
chow may join only some, and the wait (the 3 that ends 1233 is an edge wait and a single wait). Any choice is
correct."""

LAST_FAN_NUMBER: Final = 82
HIGHEST_HAND_VALUE: Final = 999

ENTRY: Final = re.compile(r"(?P<number>[0-9]{1,2})(?:/(?P<fan>[0-9]{1,3}))?/(?P<times>[0-9]{1,2})")
"""Number, value, times. PMN's first release had no value; the Green Book's is used then."""


def total_only(hand_value: int) -> tuple[PmnFan, ...]:
    """Return a hand value without its fan."""
    return (PmnFan(NO_FAN, hand_value),)


def counted_fans(counted: FanCount) -> tuple[PmnFan, ...]:
    """Return the fan of a counted hand, ordered by number."""
    # A fan's number is its place in the book, counted from 1.
    times = Counter((fan_index(element.id) + 1, element.fan) for element in counted.elements)
    return tuple(PmnFan(number, fan, count) for (number, fan), count in sorted(times.items()))


def hand_value(fans: tuple[PmnFan, ...]) -> int:
    """Return the sum of the fan."""
    return sum(fan.fan * fan.times for fan in fans)


def differs_from_count(named: tuple[PmnFan, ...], right: tuple[PmnFan, ...]) -> bool:
    """Return whether fan are named that the hand does not have, or does not have that often."""
    return bool(_kinds(fan for fan in named if fan.number != NO_FAN) - _kinds(right))


def _kinds(fans: Iterable[PmnFan]) -> Counter[tuple[int, int]]:
    kinds: Counter[tuple[int, int]] = Counter()
    for fan in fans:
        kinds[INTERCHANGEABLE.get(fan.number, fan.number), fan.fan] += fan.times
    return kinds


def read_fans(written: str) -> tuple[PmnFan, ...]:
    """Parse one winner's fan: `39/8/1.62/2/1`. Raises RuleError `bad_tag`."""
    fans = tuple(_read_fan(entry) for entry in written.split("."))
    if not 0 < hand_value(fans) <= HIGHEST_HAND_VALUE:
        raise RuleError("bad_tag", f"a hand value of {hand_value(fans)} cannot be")
    return fans


def _read_fan(entry: str) -> PmnFan:
    found = ENTRY.fullmatch(entry)
    if not found or int(found["number"]) > LAST_FAN_NUMBER:
        raise RuleError("bad_tag", f"{entry[:20]!r} is no fan: number/value/times, numbers up to {LAST_FAN_NUMBER}")
    number = int(found["number"])
    if found["fan"] is None and number == NO_FAN:
        raise RuleError("bad_tag", "a hand value whose fan are not told is written 0/VALUE/1")
    fan = int(found["fan"]) if found["fan"] else fan_value([*fan_81(), KONGS][number - 1], "green-book")
    return PmnFan(number, fan, int(found["times"]))


def write_fans(fans: tuple[PmnFan, ...]) -> str:
    """Return one seat's fan in PMN; `None` if it has not won."""
    return ".".join(map(str, fans)) if fans else "None"


ACTION_OF_LETTER: Final[dict[str, ActionKind]] = {
    "T": "draw",
    "D": "discard",
    "C": "chow",
    "P": "pung",
    "Z": "melded_kong",
    "A": "concealed_kong",
    "B": "added_kong",
}
"""Letters of actions with a tile. Flowers (`R`) are not played."""

LETTER_OF_ACTION: Final[dict[ActionKind, str]] = {do: letter for letter, do in ACTION_OF_LETTER.items()}

HU: Final = "H"
OLD_HU: Final = "M"
"""Used in the example of PMN's first release."""
NOBODY: Final = "N"
JUST_TAKEN: Final = "z1"

TOKEN: Final = re.compile(
    rf"(?:[{''.join(ACTION_OF_LETTER)}][0-3][a-z][0-9]|[{HU}{OLD_HU}][0-3](?:[a-z][0-9])?|{NOBODY}[0-3])"
)


class NumberedAction(NamedTuple):
    """An action, and the number (from 1) of the step that it comes from."""

    step: int
    action: Action


def read_play(written: str) -> tuple[Step, ...]:
    """Parse Play. Raises RecordError `bad_play` or `unknown_pmn_tile`, with the step."""
    text = "".join(written.split())
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise RecordError("bad_play", f"{text[at : at + 4]!r} is no action", step=len(steps) + 1)
        steps.append(_read_step(found[0], steps))
        at = found.end()
    return tuple(steps)


def _read_step(token: str, before: list[Step]) -> Step:
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
    """Return a hu step. Its tile, if given, must be that of the last step that has one."""
    last = next((step.tile for step in reversed(before) if step.tile), None)
    if tile is not None and tile != last:
        raise RuleError("bad_play", f"the tile that {seat} can win on is {PMN_TILE.get(last or '', 'none')}")
    return Step(HU, seat)


def write_play(steps: Iterable[Step]) -> str:
    """Return the steps as the value of Play, without blanks."""
    written, taken = [], None
    for step in steps:
        tile = PMN_TILE[step.tile] if step.tile else ""
        just_taken = step.letter == "D" and taken == (step.seat, step.tile)
        written.append(f"{step.letter}{SEAT_INDEX[step.seat]}{JUST_TAKEN if just_taken else tile}")
        taken = (step.seat, step.tile) if step.letter == "T" else None
    return "".join(written)


def actions_of(steps: Iterable[Step]) -> Iterator[NumberedAction]:
    """Yield the referee's actions. All seats that declare hu on the same tile do so in one action."""
    last = ""
    for declaring, run in groupby(enumerate(steps, 1), key=lambda numbered: numbered[1].letter == HU):
        listed = list(run)
        yield from _hu_actions(listed, last) if declaring else _other_actions(listed, last)
        number, last = listed[-1][0], listed[-1][1].letter
    if last == "D":
        yield NumberedAction(number, Action("no_claim"))


def _other_actions(numbered: list[tuple[int, Step]], last: str) -> Iterator[NumberedAction]:
    for number, step in numbered:
        if step.letter == NOBODY or (step.letter == "T" and last == "D"):
            yield NumberedAction(number, Action("no_claim"))
        if step.letter != NOBODY:
            yield NumberedAction(number, Action(ACTION_OF_LETTER[step.letter], step.seat, _referee_tile(step)))
        last = step.letter


def _hu_actions(numbered: list[tuple[int, Step]], last: str) -> Iterator[NumberedAction]:
    """Yield the actions of a run of hu. On another's tile all win together; on a drawn tile only the first can."""
    own = 0 if last in ("D", "B") else 1
    yield from (NumberedAction(number, Action("self_hu", step.seat)) for number, step in numbered[:own])
    if others := numbered[own:]:
        yield NumberedAction(others[0][0], Action("hu_on_discard", seats=tuple(step.seat for _, step in others)))


def _referee_tile(step: Step) -> str | None:
    """Return the tile by which the referee knows the action. For a chow it is the lowest, PMN names the middle one."""
    if step.letter != "C" or not step.tile:
        return step.tile
    return f"{int(step.tile[0]) - 1}{step.tile[1]}"


def steps_of(actions: Iterable[Action]) -> Iterator[Step]:
    """Yield the steps of legal actions; draws and claims must name their tile."""
    passed = False
    for action in actions:
        passed = action.do == "no_claim"
        if action.do in ("self_hu", "hu_on_discard"):
            yield from (Step(HU, seat) for seat in sorted(action.actors, key=SEAT_INDEX.__getitem__))
        elif action.do == "chow" and action.tile:
            yield Step("C", action.actors[0], f"{int(action.tile[0]) + 1}{action.tile[1]}")
        elif action.do != "no_claim":
            yield Step(LETTER_OF_ACTION[action.do], action.actors[0], action.tile)
    if passed:
        yield Step(NOBODY, SEATS[0])
