"""The hands of a record: where each stood, how it ended, and where the players stood then."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from broker.riichi.mjlog.attributes import number, player, some
from broker.riichi.mjlog.tags import Tag
from broker.riichi.mjlog.wins import yaku_of
from broker.rules.errors import RuleError
from broker.rules.riichi.session import yakuman
from broker.rules.riichi.session.events import Abort, Event, ExhaustiveDraw, Ron, Tsumo, Win
from broker.rules.riichi.session.state import PLAYERS, ROUNDS, Player, Points, State, added

STICK: Final = 1000

ENDS: Final = ("AGARI", "RYUUKYOKU")

PAID: Final = 2
"""The step of a riichi at which its deposit is paid: nobody has won on its discard."""

ABORTS: Final[Mapping[str, str]] = {
    "yao9": "nine_terminals",
    "kaze4": "four_winds",
    "reach4": "four_riichi",
    "kan4": "four_kans",
    "ron3": "triple_ron",
}
"""Why a hand is broken off, as a record writes it."""

NAGASHI: Final = "nm"


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand as it is told: its number, from 1, where it stood, who paid a deposit, and the tags of its end.

    Two winners have a tag each, and so have two players with fantastic discards.
    """

    number: int
    before: State
    riichi: tuple[Player, ...] = ()
    ends: tuple[Tag, ...] = ()

    def event(self) -> Event:
        """Give what happened. Raises RuleError `bad_record`, or the codes of the event."""
        kinds = {tag.name for tag in self.ends}
        if len(kinds) != 1:
            raise RuleError("bad_record", f"hand {self.number} has {'two ends' if kinds else 'no end'}")
        return _won(self) if kinds == {"AGARI"} else _drawn(self)

    def paid(self) -> Points:
        """Give what each wins or loses, the own deposit included. Raises RuleError `bad_record`."""
        laid = tuple(-STICK if player in self.riichi else 0 for player in PLAYERS)
        return added(_points(laid), *map(_paid, self.ends))

    def lay(self) -> tuple[int, int]:
        """Give the counters and deposits that the end tells. Raises RuleError `bad_record`."""
        counters, deposits = some(self.ends[0], "ba", 2)
        return counters, deposits

    def final(self) -> Points | None:
        """Give the scores at the end of the session, where this hand has ended it. Raises RuleError `bad_record`."""
        told = [tag.attributes["owari"].split(",") for tag in self.ends if "owari" in tag.attributes]
        if not told:
            return None
        scores = Tag("owari", {"scores": ",".join(told[-1][::2])})  # between them are points of the site
        return _points(tuple(100 * one for one in some(scores, "scores", len(PLAYERS))))


def hands_of(tags: Sequence[Tag]) -> Iterator[Hand | RuleError]:
    """Give each hand of a record, or why it cannot be read."""
    hand: Hand | None = None
    count = 0
    for tag in tags:
        try:
            if tag.name == "INIT":
                if hand is not None:
                    yield hand
                hand, count = None, count + 1
                hand = Hand(count, _before(tag))
            elif hand is not None:
                hand = _followed(hand, tag)
        except RuleError as problem:
            yield problem
            hand = None
    if hand is not None:
        yield hand


def _before(tag: Tag) -> State:
    """Raises RuleError `bad_record`, `negative_counters`, `negative_deposits`."""
    round_, counters, deposits, *_ = some(tag, "seed", 6)
    scores = tuple(100 * one for one in some(tag, "ten", len(PLAYERS)))
    if round_ not in range(len(ROUNDS) * len(PLAYERS)):
        raise RuleError("bad_record", f"INIT: there is no hand {round_}")
    return State(ROUNDS[round_ // len(PLAYERS)], player(tag, "oya"), counters, deposits, _points(scores))


def _followed(hand: Hand, tag: Tag) -> Hand:
    if tag.name == "REACH" and number(tag, "step") == PAID:
        return replace(hand, riichi=(*hand.riichi, player(tag, "who")))
    return replace(hand, ends=(*hand.ends, tag)) if tag.name in ENDS else hand


def _won(hand: Hand) -> Event:
    wins = tuple(map(_win, hand.ends))
    sources = {player(tag, "fromWho") for tag in hand.ends}
    if len(sources) != 1:
        raise RuleError("bad_record", f"hand {hand.number} is won on the tiles of two players")
    (source,) = sources
    if source == wins[0].winner:
        if len(wins) > 1:
            raise RuleError("bad_record", f"hand {hand.number} is won twice by a drawn tile")
        return Tsumo(win=wins[0], riichi=hand.riichi)
    return Ron(loser=source, wins=wins, riichi=hand.riichi)


def _win(tag: Tag) -> Win:
    yaku = yaku_of(tag)
    responsible = player(tag, "paoWho") if "paoWho" in tag.attributes else None
    names = tuple(one for one in yaku if "yakuman" in tag.attributes and one in yakuman.WRITTEN)
    if names:
        return Win(player(tag, "who"), yakuman=names, responsible=responsible)
    fu, *_ = some(tag, "ten", 3)
    return Win(player(tag, "who"), han=sum(yaku.values()), fu=fu, responsible=responsible)


def _drawn(hand: Hand) -> Event:
    kinds = {tag.attributes.get("type", "") for tag in hand.ends}
    kind = kinds.pop()
    if kinds or (len(hand.ends) > 1 and kind != NAGASHI):
        raise RuleError("bad_record", f"hand {hand.number} ends twice without a win")
    if kind in ABORTS:
        return Abort(reason=ABORTS[kind], riichi=hand.riichi)
    if kind not in ("", NAGASHI):
        raise RuleError("bad_record", f"no hand ends by {kind[:20]!r}")
    tenpai = tuple(one for one in PLAYERS if f"hai{one}" in hand.ends[0].attributes)
    nagashi = tuple(_gainer(tag) for tag in hand.ends) if kind == NAGASHI else ()
    return ExhaustiveDraw(tenpai=tenpai, nagashi=nagashi, riichi=hand.riichi)


def _gainer(tag: Tag) -> Player:
    paid = _paid(tag)
    return max(PLAYERS, key=lambda one: paid[one])


def _paid(tag: Tag) -> Points:
    return _points(tuple(100 * one for one in some(tag, "sc", 2 * len(PLAYERS))[1::2]))


def _points(of_players: tuple[int, ...]) -> Points:
    east, south, west, north = of_players
    return east, south, west, north
