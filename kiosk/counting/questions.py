"""A winner's hand as read by the camera, and the questions about it, under MCR and under riichi rules. Pure functions.

Keys for MCR: `l` (last tile), `k` (replacement tile, robbed kong), `o` (the other three are visible). For riichi: `i`
(riichi), `p` (ippatsu), `s` (special moment), `f` (red fives), `j` (indicators turned). If the walls were not read,
also `t` (whose tile) and `g` (concealed kongs).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Final, NamedTuple, TypeVar

from broker.protocol import HandLayout, McrWinDetails, RiichiDeclared, RiichiWinDetails, Seat, Wind, WinTiming
from broker.rules import RuleError
from broker.rules.hand_from_serials import KONG, DescribedHand, Group, LaidHand, sort_as_described, sort_by_walls
from kiosk.camera.observations import HandObservation, Winner

Serials = tuple[tuple[int, ...], ...]

MOST_INDICATORS: Final = 5


def serials_by_group(observation: HandObservation) -> Serials:
    """Return the serials by group.

    Raises RuleError `hand_not_seen`, `hand_face_up`, `hand_foreign` or `hand_unread`.
    """
    tiles = [*chain.from_iterable(observation.groups)]
    if not tiles:
        raise RuleError("hand_not_seen", "no tile is in view")
    if any(tile.face_up for tile in tiles):
        raise RuleError("hand_face_up", "a tile lies face up")
    if any(tile.foreign for tile in tiles):
        raise RuleError("hand_foreign", "a tile of another set lies there")
    if any(tile.serial is None for tile in tiles):
        raise RuleError("hand_unread", "a tile could not be read")
    return tuple(tuple(tile.serial or 0 for tile in group) for group in observation.groups)


class WithIndicators(NamedTuple):
    """A hand, and the dora and ura indicators in a row below it, apart from each other."""

    groups: Serials
    hand: DescribedHand
    dora: tuple[int, ...] = ()
    ura: tuple[int, ...] = ()


class CountQuestion(NamedTuple):
    """A question about a hand: the key that answers it, its name, and its current answer."""

    key: str
    name: str
    answer: str
    """The name of a sentence, or a text as it is."""
    strong: bool = False
    """Whether the answer differs from the usual one."""


@dataclass(frozen=True, slots=True)
class HandAnswers:
    """The answers about how a hand lies."""

    self_drawn: bool | None = None
    """None until somebody has said; the scorer is not asked before."""
    concealed: frozenset[int] = frozenset()
    """Numbers of the groups that are concealed kongs, among those that can be."""

    def sort(self, groups: Sequence[Group]) -> DescribedHand:
        """Return the hand. Raises RuleError with the codes of `sort_as_described`."""
        kongs = self.concealed & {*_kongs(groups)}
        return sort_as_described(groups, self_drawn=bool(self.self_drawn), concealed_kongs=kongs)

    def layout(self, groups: Sequence[Group]) -> HandLayout:
        """Return the answers as sent to the scorer."""
        kongs = tuple(sorted(self.concealed & {*_kongs(groups)}))
        return HandLayout(self_drawn=bool(self.self_drawn), concealed_kongs=kongs)

    def press(self, key: str, groups: Sequence[Group]) -> "HandAnswers":
        """Handle a key: whose tile it was, or the next choice of concealed kongs."""
        if key == DRAWN:
            return replace(self, self_drawn=not self.self_drawn)
        if key == CONCEALED:
            kongs = _kongs(groups)
            chosen = sum(1 << at for at, kong in enumerate(kongs) if kong in self.concealed) + 1
            return replace(self, concealed=frozenset(kong for at, kong in enumerate(kongs) if chosen >> at & 1))
        return self

    def questions(self, groups: Sequence[Group]) -> Iterator[CountQuestion]:
        """Yield the questions about how this hand lies."""
        yield CountQuestion(DRAWN, "count_tile", ANSWERS[self.self_drawn], strong=self.self_drawn is None)
        if kongs := _kongs(groups):
            chosen = ", ".join(str(kong) for kong in kongs if kong in self.concealed)
            yield CountQuestion(CONCEALED, "count_concealed_kong", chosen or "do_riichi_no", strong=bool(chosen))


def split_indicators(observation: HandObservation, answers: HandAnswers) -> WithIndicators:
    """Separate a hand from the indicators below it: the hand has the fewest rows that make a complete one.

    Raises RuleError with the codes of `serials_by_group` and `sort_as_described`, or `indicators_unclear`.
    """
    groups = serials_by_group(observation)
    for end in accumulate(observation.rows):
        try:
            hand = answers.sort(groups[:end])
        except RuleError:
            continue
        under = groups[end:]
        if len(under) > 2 or any(len(group) > MOST_INDICATORS for group in under):  # noqa: PLR2004 - dora and ura
            raise RuleError("indicators_unclear", f"{len(under)} groups lie under the hand, of at most 5 tiles each")
        return WithIndicators(groups[:end], hand, *under)
    return WithIndicators(groups, answers.sort(groups))


DRAWN, CONCEALED = "t", "g"
"""The keys of these questions."""

ANSWERS: Final[dict[bool | None, str]] = {None: "count_unsaid", True: "self_drawn", False: "count_discarded"}


def yes_or_no(key: str, name: str, *, yes: bool) -> CountQuestion:
    """Return a question with its answer."""
    return CountQuestion(key, name, "do_riichi_yes" if yes else "do_riichi_no", strong=yes)


def _kongs(groups: Sequence[Group]) -> tuple[int, ...]:
    """Return the numbers of the groups that are kongs."""
    return tuple(number for number, group in enumerate(groups[1:-1], 2) if len(group) == KONG)


AnyHand = LaidHand | DescribedHand


@dataclass(frozen=True, slots=True)
class McrQuestions:
    """What was said about the win. `laid`: how the hand lies, if the walls were not read."""

    laid: HandAnswers | None = None
    last_tile: bool = False
    kong: bool = False
    last_of_kind: bool = False

    def hand(self, observation: HandObservation, winner: Winner) -> AnyHand:
        """Return the hand. Raises RuleError as `serials_by_group`, `sort_by_walls` or `sort_as_described`."""
        groups = serials_by_group(observation)
        return sort_by_walls(groups, winner.play.order, winner.seat) if self.laid is None else self.laid.sort(groups)

    def groups(self, observation: HandObservation) -> Serials:
        """Return the serials of the hand by group. Raises RuleError as `serials_by_group`."""
        return serials_by_group(observation)

    @property
    def ready(self) -> bool:
        """Whether the necessary questions are answered."""
        return self.laid is None or self.laid.self_drawn is not None

    def press(self, key: str, observation: HandObservation, winner: Winner) -> "McrQuestions":
        """Handle a key; one without meaning for this hand changes nothing. Raises RuleError as `hand`."""
        hand = self.hand(observation, winner)
        if key == "l" and hand.may_be_last_tile:
            return replace(self, last_tile=not self.last_tile)
        if key == "k" and self._may_be_kong(hand):
            return replace(self, kong=not self.kong)
        if key == "o":
            return replace(self, last_of_kind=not self.last_of_kind)
        if self.laid is not None:
            return replace(self, laid=self.laid.press(key, serials_by_group(observation)))
        return self

    def questions(self, observation: HandObservation, winner: Winner) -> Iterator[CountQuestion]:
        """Yield the questions that tiles cannot answer and this hand allows. Raises RuleError as `hand`."""
        hand, details = self.hand(observation, winner), self.details(observation, winner)
        if self.laid is not None:
            yield from self.laid.questions(serials_by_group(observation))
        if hand.may_be_last_tile:
            yield yes_or_no("l", "count_last_tile", yes=details.last_tile)
        if self._may_be_kong(hand):
            yield yes_or_no("k", "count_replacement" if hand.self_drawn else "count_robbed", yes=details.kong)
        yield yes_or_no("o", "count_last_of_kind", yes=details.last_of_kind)

    def details(self, observation: HandObservation, winner: Winner) -> McrWinDetails:
        """Return the answers that apply to this hand; those about an earlier hand may not.

        Raises RuleError as `hand`.
        """
        hand, laid = self.hand(observation, winner), None
        if self.laid is not None:
            laid = self.laid.layout(serials_by_group(observation))
        return McrWinDetails(
            last_tile=self._is_last_tile(hand),
            kong=self.kong and self._may_be_kong(hand),
            last_of_kind=self.last_of_kind,
            laid=laid,
        )

    def _is_last_tile(self, hand: AnyHand) -> bool:
        return self.last_tile and hand.may_be_last_tile

    def _may_be_kong(self, hand: AnyHand) -> bool:
        """Return whether to ask about a replacement tile or, for a claimed tile, a robbed kong."""
        return hand.has_kong if hand.self_drawn else not self._is_last_tile(hand)


T = TypeVar("T")

CLOSED: Final[tuple[RiichiDeclared, ...]] = ("riichi", "double_riichi")
OPEN: Final[tuple[RiichiDeclared, ...]] = ("open_riichi", "double_open_riichi")

PLAIN: Final = {None: "do_riichi_no", "riichi": "do_riichi_yes"}
"""Names of the answers about riichi; its other kinds have names of their own."""

RED_SUITS: Final = 3


@dataclass(frozen=True, slots=True)
class RiichiContext:
    """What the table itself knows of the win."""

    round_wind: Wind
    dealer: Seat
    deposit: bool | None = None
    """Whether the winner has laid a deposit; None if deposits are not laid, and riichi is only said."""
    open_riichi: bool = False
    """Whether open riichi is allowed."""
    red_fives: bool = False
    """Whether red fives count."""
    any_hand: bool = False
    """Whether this hand needs no yaku, as it follows eight counters."""
    dead_wall: tuple[int, ...] = ()
    """The five indicators from the left, then those under them; empty if no wall was read."""


@dataclass(frozen=True, slots=True)
class RiichiQuestions:
    """What was said about the win."""

    context: RiichiContext
    laid: HandAnswers = field(default_factory=HandAnswers)
    riichi: RiichiDeclared | None = None
    ippatsu: bool = False
    moment: WinTiming | None = None
    red_fives: int = 0
    turned: int | None = None
    """Number of indicators turned; None: one, plus one for each of the winner's kans."""

    def hand(self, observation: HandObservation, winner: Winner) -> DescribedHand:  # noqa: ARG002 - as in McrQuestions
        """Return the hand. Raises RuleError with the codes of `split_indicators`."""
        return split_indicators(observation, self.laid).hand

    def groups(self, observation: HandObservation) -> Serials:
        """Return the serials of the hand by group. Raises RuleError as `hand`."""
        return split_indicators(observation, self.laid).groups

    @property
    def ready(self) -> bool:
        """Whether the necessary questions are answered."""
        return self.laid.self_drawn is not None

    def press(self, key: str, observation: HandObservation, winner: Winner) -> "RiichiQuestions":
        """Handle a key; one without meaning for this hand changes nothing. Raises RuleError as `hand`."""
        if key not in {question.key for question in self.questions(observation, winner)}:
            return self
        split, details = split_indicators(observation, self.laid), self.details(observation, winner)
        match key:
            case "i":
                after = replace(self, riichi=_next_choice(self._kinds, details.riichi))
            case "p":
                after = replace(self, ippatsu=not self.ippatsu)
            case "s":
                after = replace(self, moment=_next_choice(self._moments(split.hand), details.moment))
            case "f":
                after = replace(self, red_fives=(self.red_fives + 1) % (RED_SUITS + 1))
            case "j":
                after = replace(self, turned=self._turned_count(split.hand) % MOST_INDICATORS + 1)
            case _:
                after = replace(self, laid=self.laid.press(key, split.groups))
        return after

    def questions(self, observation: HandObservation, winner: Winner) -> Iterator[CountQuestion]:
        """Yield what neither tiles nor table can answer and this hand allows. Raises RuleError as `hand`."""
        split, details = split_indicators(observation, self.laid), self.details(observation, winner)
        yield from self.laid.questions(split.groups)
        if len(self._kinds) > 1 and _is_closed(split.hand):
            yield CountQuestion(
                "i", "count_riichi", PLAIN.get(details.riichi, str(details.riichi)), strong=details.riichi is not None
            )
        if details.riichi:
            yield yes_or_no("p", "count_ippatsu", yes=details.ippatsu)
        if self.ready:
            yield CountQuestion("s", "count_moment", _moment_name(details), strong=details.moment is not None)
        if self.context.red_fives:
            yield CountQuestion("f", "count_red_fives", str(self.red_fives), strong=self.red_fives > 0)
        if self.context.dead_wall:
            turned = self._turned_count(split.hand)
            yield CountQuestion("j", "count_turned", str(turned), strong=turned > 1)

    def details(self, observation: HandObservation, winner: Winner) -> RiichiWinDetails:  # noqa: ARG002 - as in McrQuestions
        """Return the answers that apply to this hand; those about an earlier hand may not.

        Raises RuleError as `hand`.
        """
        split = split_indicators(observation, self.laid)
        riichi, (dora, ura) = self._declared(split.hand), self._indicators(split)
        return RiichiWinDetails(
            laid=self.laid.layout(split.groups),
            round_wind=self.context.round_wind,
            dealer=self.context.dealer,
            riichi=riichi,
            ippatsu=self.ippatsu and riichi is not None,
            moment=self.moment if self.moment in self._moments(split.hand) else None,
            red_fives=self.red_fives if self.context.red_fives else 0,
            dora=dora,
            ura=ura if riichi else (),
        )

    def _indicators(self, split: WithIndicators) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the serials of the dora and the ura indicators, from the dead wall or as they lie."""
        wall = self.context.dead_wall
        if not wall:
            return split.dora, split.ura
        turned = self._turned_count(split.hand)
        return wall[:turned], wall[MOST_INDICATORS : MOST_INDICATORS + turned]

    def _turned_count(self, hand: DescribedHand) -> int:
        return self.turned or min(MOST_INDICATORS, 1 + hand.kongs)

    @property
    def _kinds(self) -> tuple[RiichiDeclared | None, ...]:
        """The ways in which riichi may have been declared. At a table with deposits, it is known whether it was."""
        kinds = CLOSED + OPEN if self.context.open_riichi else CLOSED
        return {None: (None, *kinds), True: kinds, False: (None,)}[self.context.deposit]

    def _declared(self, hand: DescribedHand) -> RiichiDeclared | None:
        if not _is_closed(hand):
            return None
        return self.riichi if self.riichi in self._kinds else self._kinds[0]

    def _moments(self, hand: DescribedHand) -> tuple[WinTiming | None, ...]:
        kan: tuple[WinTiming, ...] = ("kan",) if hand.has_kong or not hand.self_drawn else ()
        first: tuple[WinTiming, ...] = () if hand.melds or self._declared(hand) else ("first_turn",)
        return (None, "last_tile", *kan, *first)


def _moment_name(details: RiichiWinDetails) -> str:
    """Return the name of the moment, which differs between a drawn and a claimed tile."""
    if details.moment is None:
        return "do_riichi_no"
    return f"count_{details.moment}_{'drawn' if details.laid.self_drawn else 'claimed'}"


def _is_closed(hand: DescribedHand) -> bool:
    return all(meld.concealed for meld in hand.melds)


def _next_choice(choices: Sequence[T], now: T) -> T:
    """Return the next choice; the first follows the last."""
    return choices[(choices.index(now) + 1) % len(choices)]
